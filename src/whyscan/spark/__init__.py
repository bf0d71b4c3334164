"""The pipeline on Spark: a whole lake, a whole query log, and proof against the engines."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Unpack

# A stage's folder has the name of its function. Imported once, a folder is not bound again: below,
# the name is the function's, which has to be defined here.
import whyscan.spark.audit  # noqa: F401 - for that alone
from whyscan.spark.inventory import inventory, write_inventory
from whyscan.spark.session import session
from whyscan.spark.verify import verify, verify_workload

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.audit.report import Audit
    from whyscan.spark.audit.run import Paths, Settings
    from whyscan.spark.frame_report import explain
    from whyscan.spark.planning import explain_parts, plan_parts
    from whyscan.spark.reading import read, reader_of, register, to_spark
    from whyscan.spark.source_tables import Source
    from whyscan.spark.workload.frames import workload_frame
    from whyscan.spark.workload.query import Workload
    from whyscan.spark.workload.reading import read_workload
    from whyscan.spark.workload.scans import workload_scans

__all__ = [
    "audit",
    "explain",
    "explain_parts",
    "inventory",
    "plan_parts",
    "read",
    "read_workload",
    "reader_of",
    "register",
    "session",
    "to_spark",
    "verify",
    "verify_workload",
    "workload_frame",
    "workload_scans",
    "write_inventory",
]

# Each is imported when it is asked for: most need one of them.
_LAZY = {
    "explain": "whyscan.spark.frame_report",
    "explain_parts": "whyscan.spark.planning",
    "plan_parts": "whyscan.spark.planning",
    "read": "whyscan.spark.reading",
    "reader_of": "whyscan.spark.reading",
    "register": "whyscan.spark.reading",
    "to_spark": "whyscan.spark.reading",
    "read_workload": "whyscan.spark.workload.reading",
    "workload_frame": "whyscan.spark.workload.frames",
    "workload_scans": "whyscan.spark.workload.scans",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def audit(
    spark: SparkSession,
    workload: Workload | DataFrame | Paths | Sequence[Paths],
    tables: Mapping[str, str] | Sequence[str | Source],
    **settings: Unpack[Settings],
) -> Audit:
    """What every query of a workload reads of the tables, and what of it in vain."""
    from whyscan.spark.audit.run import audit

    return audit(spark, workload, tables, **settings)
