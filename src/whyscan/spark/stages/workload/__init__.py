"""Read a workload (queries with their number of runs) from SQL files, query logs, dbt and Trino."""

from whyscan.spark.stages.workload.query import ActualScan, Query, Unparsed, Workload, shape_of
from whyscan.spark.stages.workload.reading import read_workload

__all__ = [
    "ActualScan",
    "Query",
    "Unparsed",
    "Workload",
    "frames",
    "logs",
    "query",
    "read_workload",
    "reading",
    "scans",
    "shape_of",
]
