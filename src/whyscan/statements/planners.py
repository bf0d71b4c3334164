"""Who plans the scans of a statement: this process, or others for it."""

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
    """Plans scans, and counts their plans for a report; whoever does it, the answer is the same."""

    def plan(self, snapshot: Snapshot, predicate: Predicate, options: Options) -> PlannedSnapshot:
        """In one piece or in parts."""
        ...

    def report(self, plan: PlannedSnapshot, *, verbose: bool) -> Report:
        """On a plan of its own, or what a LIMIT leaves of it."""
        ...


class InProcessPlanner(Struct, frozen=True):
    """This process, in one piece."""

    def plan(self, snapshot: Snapshot, predicate: Predicate, options: Options) -> ScanPlan:
        return make_plan(snapshot, predicate, options)

    def report(self, plan: PlannedSnapshot, *, verbose: bool) -> Report:
        if not isinstance(plan, ScanPlan):
            raise TypeError(f"{type(plan).__name__} was planned elsewhere")
        return make_report(plan, verbose=verbose)


HERE = InProcessPlanner()
