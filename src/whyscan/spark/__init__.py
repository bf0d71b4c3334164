"""The pipeline on Spark: inventory of many tables, audit of a workload, verification by engines."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whyscan.spark.planning import explain_parts, plan_parts
    from whyscan.spark.plans.frame_report import explain
    from whyscan.spark.reading.frames import read, reader_of, register, to_spark
    from whyscan.spark.sessions import session
    from whyscan.spark.stages.audit.run import audit
    from whyscan.spark.stages.inventory import inventory, write_inventory
    from whyscan.spark.stages.verify import verify, verify_workload
    from whyscan.spark.stages.workload.frames import workload_frame
    from whyscan.spark.stages.workload.reading import read_workload
    from whyscan.spark.stages.workload.scans import workload_scans

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

# The module of each function. A module is imported when one of its functions is first used.
_MODULES = {
    "audit": "whyscan.spark.stages.audit.run",
    "explain": "whyscan.spark.plans.frame_report",
    "explain_parts": "whyscan.spark.planning",
    "inventory": "whyscan.spark.stages.inventory",
    "plan_parts": "whyscan.spark.planning",
    "read": "whyscan.spark.reading.frames",
    "read_workload": "whyscan.spark.stages.workload.reading",
    "reader_of": "whyscan.spark.reading.frames",
    "register": "whyscan.spark.reading.frames",
    "session": "whyscan.spark.sessions",
    "to_spark": "whyscan.spark.reading.frames",
    "verify": "whyscan.spark.stages.verify",
    "verify_workload": "whyscan.spark.stages.verify",
    "workload_frame": "whyscan.spark.stages.workload.frames",
    "workload_scans": "whyscan.spark.stages.workload.scans",
    "write_inventory": "whyscan.spark.stages.inventory",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
