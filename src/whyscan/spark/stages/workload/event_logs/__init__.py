"""Spark's event logs: every execution with its scans, and what Spark says that they read.

An execution whose SQL the log has is that query. Where only its plan is known, each scan becomes a
query that is written here, of the filters that can be read surely.
"""

from whyscan.spark.stages.workload.event_logs.executions import read_events

__all__ = ["read_events"]
