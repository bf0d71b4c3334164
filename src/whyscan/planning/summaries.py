"""Plan summaries of many predicates on one snapshot, without explanations.

A summary is equal to the summary of the predicate's plan. If the snapshot is cached, most files are
counted by block, and no list of files is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.planning.plan.blockwise import kept_groups
from whyscan.planning.plan.partition_values import decide, truths_of_points
from whyscan.planning.plan.planner import make_plan, total, totals_of
from whyscan.planning.plan.scan_plan import Depth, Options, ScanPlanSummary
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.nodes import Predicate

FILES_ONLY = Options(depth=Depth.FILES)


def summaries(
    snapshot: Snapshot, predicates: Iterable[Predicate], options: Options = FILES_ONLY
) -> Iterator[ScanPlanSummary]:
    """The summary of each predicate's plan, in their order."""
    for predicate in predicates:
        summary = _in_blocks(snapshot, predicate) if options == FILES_ONLY else None
        yield make_plan(snapshot, predicate, options).summary if summary is None else summary


def _in_blocks(snapshot: Snapshot, predicate: Predicate) -> ScanPlanSummary | None:
    """The summary of a plan, counted block by block; None where blocks are not enough."""
    if snapshot.footers_describe_files or snapshot.manifests() is not None:
        return None
    session = zone(predicate.zone)
    files = snapshot.files(predicate.columns(), session, None)
    if files.containers.blocks is None or files.bytes.null_count or files.rows.null_count:
        return None
    partition = files.containers.by_partition()
    point_truths = truths_of_points(predicate, partition, session)
    if decide(predicate, point_truths, partition, session):
        return None
    grouped = kept_groups(predicate, files.containers, session)
    if grouped is None:
        return None
    groups, kept = grouped
    size, rows = (groups.sums(values) for values in (files.bytes, files.rows))
    bytes_kept, rows_kept = totals_of((size, rows), kept)
    return ScanPlanSummary(
        manifests_total=None,
        manifests_kept=None,
        files_total=files.count,
        files_kept=groups.file_count(kept),
        row_groups_total=None,
        row_groups_kept=None,
        bytes_total=total(size),
        bytes_kept=bytes_kept,
        rows_total=total(rows),
        rows_kept=rows_kept,
    )
