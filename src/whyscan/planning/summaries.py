"""Many predicates on one snapshot, counted and not explained.

What a summary says is what the plan's own says. Where the snapshot is held for many questions
most files are counted by the block, and no list of them is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.planning.plan.blockwise import kept_pieces
from whyscan.planning.plan.partition_values import decide, truths_of_points
from whyscan.planning.plan.planner import make_plan
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
        found = _in_blocks(snapshot, predicate) if options == FILES_ONLY else None
        yield make_plan(snapshot, predicate, options).summary if found is None else found


def _in_blocks(snapshot: Snapshot, predicate: Predicate) -> ScanPlanSummary | None:
    """The same, block by block; None where that is not all there is to it."""
    if snapshot.footers_describe_files or snapshot.manifests() is not None:
        return None
    session = zone(predicate.zone)
    files = snapshot.files(predicate.columns(), session, None)
    if files.containers.blocks is None or files.bytes.null_count or files.rows.null_count:
        return None
    partition = files.containers.by_partition()
    pointed = truths_of_points(predicate, partition, session)
    if decide(predicate, pointed, partition, session):
        return None
    found = kept_pieces(predicate, files.containers, session)
    if found is None:
        return None
    return ScanPlanSummary(
        manifests_total=None,
        manifests_kept=None,
        files_total=files.count,
        files_kept=found.count,
        row_groups_total=None,
        row_groups_kept=None,
        bytes_total=int(found.blocks.sums(files.bytes).sum()),
        bytes_kept=found.total(files.bytes),
        rows_total=int(found.blocks.sums(files.rows).sum()),
        rows_kept=found.total(files.rows),
    )
