"""Which conjunct removed what, independent of the order in which conjuncts are written.

`alone` is what a conjunct removes by itself, `only` what no other conjunct removes. The overlap of
partition values and statistics is counted in the same way.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import pyarrow as pa
from msgspec import Meta, Struct

from whyscan.fields import Count, Record
from whyscan.planning.plan.judgement import UNDECIDED
from whyscan.planning.plan.planner import plus, total, totals_of
from whyscan.planning.plan.replan import Metadata, kept
from whyscan.planning.why.probes import can_exclude

if TYPE_CHECKING:
    from whyscan.planning.plan.evidence import Evidence
    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.tree.nodes import Conjunct


class Share(Record, frozen=True):
    """Removed files with their bytes and rows; unknown bytes and rows are null."""

    OPTIONAL: ClassVar = ("at_least",)

    files: Count
    bytes: Count | None
    rows: Count | None
    at_least: Annotated[
        bool, Meta(description="Closed files or manifests could add to the figures.")
    ]

    def __add__(self, other: Share) -> Share:
        return Share(
            self.files + other.files,
            plus(self.bytes, other.bytes),
            plus(self.rows, other.rows),
            self.at_least or other.at_least,
        )


NOTHING = Share(0, 0, 0, at_least=False)


class Attribution(Struct, frozen=True):
    """What one conjunct removed."""

    alone: Share
    only: Share

    def __add__(self, other: Attribution) -> Attribution:
        return Attribution(self.alone + other.alone, self.only + other.only)


def attribute(plan: ScanPlan) -> tuple[Attribution, ...]:
    """The attribution of each conjunct, in their order."""
    evidence = plan.counted
    # If every file was opened, no verdict can change.
    all_opened = bool(evidence.described.all())
    settled = [all_opened or _settled(conjunct, plan) for conjunct in plan.predicate.conjuncts]
    kept = evidence.judgement.conjunct_kept
    if len(kept) == 1 and all_opened:
        alone = _removed_alone(evidence, 0, settled)
        return (Attribution(alone, alone),)
    return tuple(
        Attribution(_removed_alone(evidence, i, settled), _only(evidence, kept, i, settled))
        for i in range(len(kept))
    )


def _settled(conjunct: Conjunct, plan: ScanPlan) -> bool:
    """Opening more files cannot change a verdict of the conjunct.

    The conjunct names only partition columns, or no statistic could ever exclude it.
    """
    partition, named = plan.counted.files.containers.partition.keys(), conjunct.paths
    return named <= partition or not can_exclude(conjunct.expression, named, plan.zone)


def _removed_alone(evidence: Evidence, at: int, settled: list[bool]) -> Share:
    removed = ~evidence.judgement.conjunct_kept[at]
    more = not settled[at] and bool((~evidence.described & ~removed).any())
    return share(evidence, removed, at_least=more) + _closed(evidence, at)


def _only(evidence: Evidence, kept: Flags, at: int, settled: list[bool]) -> Share:
    other_conjuncts = [
        (k, s) for i, (k, s) in enumerate(zip(kept, settled, strict=True)) if i != at
    ]
    candidate = reduce(np.logical_and, (k for k, _ in other_conjuncts), ~kept[at])
    if all(s for _, s in other_conjuncts):
        removed_only = share(evidence, candidate, at_least=False)
    else:
        unread = candidate & ~evidence.described
        removed_only = share(evidence, candidate & evidence.described, at_least=bool(unread.any()))
    if not other_conjuncts:
        return removed_only + _closed(evidence, at)
    # A closed manifest does not say which of its files another conjunct removes as well.
    return removed_only + Share(0, 0, 0, _closed(evidence, at).files > 0)


def share(evidence: Evidence, removed: Flags, *, at_least: bool) -> Share:
    """The flagged files as a share."""
    size, rows = totals_of((evidence.bytes, evidence.rows), removed)
    return Share(evidence.file_count(removed), size, rows, at_least)


def _closed(evidence: Evidence, at: int) -> Share:
    """The files of closed manifests that the conjunct prunes; it may prune more of the others."""
    level = evidence.manifest_level
    if level is None or not evidence.closed_files:
        return NOTHING
    closed = ~level.opened
    stays = level.verdicts.conjunct_kept[at][closed]
    files = level.listed.files.to_numpy(zero_copy_only=False)[closed]
    removed = int(files[~stays].sum())
    rows = total(level.rows.filter(pa.array(closed)).filter(pa.array(~stays)))
    return Share(removed, None if removed else 0, rows, bool(files[stays].sum()))


class MechanismOverlap(Record, frozen=True):
    """What partition values remove, what statistics remove, and what both of them remove."""

    partition: Share
    statistics: Share
    both: Share

    def __add__(self, other: MechanismOverlap) -> MechanismOverlap:
        return MechanismOverlap(
            self.partition + other.partition,
            self.statistics + other.statistics,
            self.both + other.both,
        )


def overlap(plan: ScanPlan, *, partitions_stay: bool) -> MechanismOverlap:
    """Count what partition values, statistics and both of them remove.

    With `partitions_stay`, partition values remove no file.
    """
    evidence = plan.counted
    by_partition = ~evidence.by_partition.kept
    kept = evidence.before_limit.judgement.kept if partitions_stay else _kept_by_statistics(plan)
    by_statistics = ~kept
    closed = NOTHING
    if evidence.closed_files:
        closed = Share(evidence.closed_files, None, evidence.closed_rows, at_least=False)
    unread = closed.files > 0 or not evidence.described.all()
    return MechanismOverlap(
        share(evidence, by_partition, at_least=False) + closed,
        share(evidence, by_statistics, at_least=unread),
        share(evidence, by_partition & by_statistics, at_least=unread),
    )


def _kept_by_statistics(plan: ScanPlan) -> Flags:
    """One flag per group: statistics alone keep it, or it was not looked at."""
    evidence = plan.counted
    if evidence.by_statistics is not None:
        return evidence.by_statistics
    groups = evidence.describing_groups
    described = evidence.files if groups is None else groups
    named = {column.path for column in plan.predicate.columns()}
    measured = named & described.containers.statistics.keys()
    # Without statistics of its columns the predicate keeps every file that has rows.
    conjuncts = plan.predicate.conjuncts if measured else ()
    return kept(plan, conjuncts, Metadata.STATISTICS, UNDECIDED)
