"""The planner of a statement's scans: this process, or executors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.scan_plan import ScanPlan
from whyscan.reports.report import make_report

if TYPE_CHECKING:
    from whyscan.planning.plan.scan_plan import Options, PlannedSnapshot
    from whyscan.reports.report import Report
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.nodes import Predicate


class Planner(Protocol):
    """Plans scans and makes reports of the plans. Every planner gives the same answer."""

    def plan(self, snapshot: Snapshot, predicate: Predicate, options: Options) -> PlannedSnapshot:
        """Plan a scan, in one part or in several."""
        ...

    def report(self, plan: PlannedSnapshot, *, verbose: bool) -> Report:
        """The report on a plan, or on what a LIMIT leaves of it."""
        ...


class InProcessPlanner(Struct, frozen=True):
    """Plans in this process, in one part."""

    def plan(self, snapshot: Snapshot, predicate: Predicate, options: Options) -> ScanPlan:
        return make_plan(snapshot, predicate, options)

    def report(self, plan: PlannedSnapshot, *, verbose: bool) -> Report:
        if not isinstance(plan, ScanPlan):
            raise TypeError(f"{type(plan).__name__} was planned elsewhere")
        return make_report(plan, verbose=verbose)


IN_PROCESS_PLANNER = InProcessPlanner()
