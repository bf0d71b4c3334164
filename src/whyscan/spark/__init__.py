"""The pipeline on Spark: inventory of many tables, audit of a workload, verification by engines."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whyscan.spark.planning import DistributedPlan
    from whyscan.spark.plans.frame_report import explain
    from whyscan.spark.reading.frames import ReaderChoice, read, reader_of, register
    from whyscan.spark.sessions import session
    from whyscan.spark.stage_output import write_table
    from whyscan.spark.stages.advise import advise
    from whyscan.spark.stages.advise.verify_layout import verify_layout
    from whyscan.spark.stages.audit.report import Audit
    from whyscan.spark.stages.audit.result_tables import audit_frames
    from whyscan.spark.stages.audit.run import audit
    from whyscan.spark.stages.inventory.report import InventoryRun
    from whyscan.spark.stages.inventory.run import inventory, write_inventory
    from whyscan.spark.stages.verify import Verification, verify, verify_workload
    from whyscan.spark.stages.workload.frames import workload_frame
    from whyscan.spark.stages.workload.query import Workload
    from whyscan.spark.stages.workload.reading import read_workload
    from whyscan.spark.stages.workload.scans import workload_scans
    from whyscan.spark.tables import NamedTable

__all__ = [
    "Audit",
    "DistributedPlan",
    "InventoryRun",
    "NamedTable",
    "ReaderChoice",
    "Verification",
    "Workload",
    "advise",
    "audit",
    "audit_frames",
    "explain",
    "inventory",
    "read",
    "read_workload",
    "reader_of",
    "register",
    "session",
    "verify",
    "verify_layout",
    "verify_workload",
    "workload_frame",
    "workload_scans",
    "write_inventory",
    "write_table",
]

# The module of each name. It is imported when the name is first used.
_MODULES = {
    "Audit": "whyscan.spark.stages.audit.report",
    "DistributedPlan": "whyscan.spark.planning",
    "InventoryRun": "whyscan.spark.stages.inventory.report",
    "NamedTable": "whyscan.spark.tables",
    "ReaderChoice": "whyscan.spark.reading.frames",
    "Verification": "whyscan.spark.stages.verify",
    "Workload": "whyscan.spark.stages.workload.query",
    "advise": "whyscan.spark.stages.advise",
    "audit": "whyscan.spark.stages.audit.run",
    "audit_frames": "whyscan.spark.stages.audit.result_tables",
    "explain": "whyscan.spark.plans.frame_report",
    "inventory": "whyscan.spark.stages.inventory.run",
    "read": "whyscan.spark.reading.frames",
    "read_workload": "whyscan.spark.stages.workload.reading",
    "reader_of": "whyscan.spark.reading.frames",
    "register": "whyscan.spark.reading.frames",
    "session": "whyscan.spark.sessions",
    "verify": "whyscan.spark.stages.verify",
    "verify_layout": "whyscan.spark.stages.advise.verify_layout",
    "verify_workload": "whyscan.spark.stages.verify",
    "workload_frame": "whyscan.spark.stages.workload.frames",
    "workload_scans": "whyscan.spark.stages.workload.scans",
    "write_inventory": "whyscan.spark.stages.inventory.run",
    "write_table": "whyscan.spark.stage_output",
}


if not TYPE_CHECKING:  # A type checker that saw this function would accept every name.

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
