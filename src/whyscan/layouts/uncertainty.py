"""How far the numbers of a layout may be off: the intervals of its files and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from whyscan.layouts.snapshot import HypotheticalSnapshot
from whyscan.planning.plan.planner import make_plan
from whyscan.reports.hypothetical import Hypothetical, LayoutEvidence, LowHigh
from whyscan.tables.cached_snapshot import CachedSnapshot

if TYPE_CHECKING:
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.reports.report import Report

DRAWS = 20
"""So many samples are drawn from the sample; each is laid out and planned."""
_PERCENTILES = (5, 95)


def with_interval(report: Report, plan: ScanPlan, rows_at_least: int) -> Report:
    """Return the report of a layout with the interval of its numbers.

    `rows_at_least` is how many rows of the table match the predicate for sure.
    """
    snapshot = hypothetical_snapshot(plan)
    if snapshot is None:
        return report
    sampled = snapshot.sample_bytes > 0
    files, sizes = _sampled(snapshot, plan) if sampled else _proved(snapshot, plan, rows_at_least)
    return replace(
        report,
        hypothetical=Hypothetical(
            str(snapshot.layout.layout),
            LayoutEvidence.ESTIMATED if sampled else LayoutEvidence.GUARANTEED,
            files,
            sizes,
            snapshot.sample.rows if sampled else None,
        ),
    )


def hypothetical_snapshot(plan: ScanPlan) -> HypotheticalSnapshot | None:
    """The layout that was planned; None for a plan of a real table."""
    snapshot = plan.snapshot
    if isinstance(snapshot, CachedSnapshot):
        snapshot = snapshot.snapshot
    return snapshot if isinstance(snapshot, HypotheticalSnapshot) else None


def _proved(
    snapshot: HypotheticalSnapshot, plan: ScanPlan, rows_at_least: int
) -> tuple[LowHigh, LowHigh]:
    """At least the files that the matching rows fill, at most those that bounds leave open."""
    kept, kept_bytes = plan.summary.files_kept, plan.summary.bytes_kept or 0
    low = min(kept, int(-(-rows_at_least // snapshot.rows_a_file)))
    low_bytes = min(kept_bytes, round(rows_at_least * snapshot.bytes_a_row))
    return LowHigh(low, kept), LowHigh(low_bytes, kept_bytes)


def _sampled(snapshot: HypotheticalSnapshot, plan: ScanPlan) -> tuple[LowHigh, LowHigh]:
    """The numbers of tables that the sample allows, and of files that begin elsewhere."""
    files, sizes = [plan.summary.files_kept], [plan.summary.bytes_kept or 0]
    for number in range(DRAWS):
        summary = make_plan(snapshot.other_draw(number), plan.predicate, plan.options).summary
        files.append(summary.files_kept)
        sizes.append(summary.bytes_kept or 0)
    return _interval(files), _interval(sizes)


def _interval(numbers: list[int]) -> LowHigh:
    """From the 5th to the 95th percentile, with the number itself."""
    low, high = np.percentile(numbers, _PERCENTILES, method="nearest")
    return LowHigh(int(min(low, numbers[0])), int(max(high, numbers[0])))
