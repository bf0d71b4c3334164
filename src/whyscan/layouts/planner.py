"""Plans the scans of a statement, some of whose tables are in layouts that they do not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.layouts.uncertainty import hypothetical_snapshot, with_interval
from whyscan.planning.plan.planner import make_plan
from whyscan.planning.plan.scan_plan import ScanPlan
from whyscan.reports.report import make_report

if TYPE_CHECKING:
    from whyscan.planning.plan.scan_plan import Options, PlannedSnapshot
    from whyscan.reports.report import Report
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.nodes import Predicate


class LayoutPlanner(Struct, frozen=True):
    """Plans in this process; the report of a scan has the interval of its table's layout."""

    def plan(self, snapshot: Snapshot, predicate: Predicate, options: Options) -> ScanPlan:
        return make_plan(snapshot, predicate, options)

    def report(self, plan: PlannedSnapshot, *, verbose: bool) -> Report:
        if not isinstance(plan, ScanPlan):
            raise TypeError(f"{type(plan).__name__} was planned elsewhere")
        report = make_report(plan, verbose=verbose)
        snapshot = hypothetical_snapshot(plan)
        if snapshot is None:
            return report
        today = make_plan(snapshot.base, plan.predicate, plan.options)
        at_least = make_report(today, verbose=False).rows_matched.at_least
        return with_interval(report, plan, at_least or 0)


LAYOUT_PLANNER = LayoutPlanner()
