"""Read Spark's event logs: executions with their scans, and what Spark reports as read.

If the log has the SQL of an execution, that SQL is the query. If it has only the plan, each scan
becomes a query with the filters that can be read without doubt.
"""

from whyscan.spark.stages.workload.event_logs.executions import read_events

__all__ = ["read_events"]
