"""The counts of a plan, for each part of a table. The counts of a table are the sum over its parts.

Every number of a report is made from these counts. So a table can be planned in parts, of which no
process ever has all.
"""

from __future__ import annotations

from collections import Counter
from operator import add, or_
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from whyscan.planning.plan.evidence import FILES
from whyscan.planning.plan.file_scans import Residuals
from whyscan.planning.plan.judgement import flags
from whyscan.planning.plan.planner import plus, total
from whyscan.planning.why.attribution import MechanismOverlap, overlap
from whyscan.planning.why.pushdown import interpreted
from whyscan.planning.why.reason_codes import Reason
from whyscan.planning.why.reasons import Stays, Why, reasons
from whyscan.pruning.mask import any_of, materialise
from whyscan.reports.conjuncts import ConjunctCount, count_conjuncts
from whyscan.reports.coverage import Coverage, MissingStatistics, coverage, missing_statistics
from whyscan.reports.filters import add_filter_counts, filter_counts
from whyscan.reports.levels import (
    Level,
    RemovedFiles,
    RowsMatched,
    add_levels,
    levels,
    removed,
    rows_matched,
    selected_bytes,
)
from whyscan.tree.arrow import of_integers
from whyscan.tree.types import FloatType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.planning.plan.evidence import Evidence
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.tables.snapshot import FilterCount
    from whyscan.tree.nodes import Path


class CommonFacts(Struct, frozen=True):
    """Facts about the whole table that are needed before one part is counted.

    `interpreted` has one boolean per conjunct. `partitions_stay` is True if partition values remove
    no file of the table.
    """

    interpreted: tuple[bool, ...]
    partitions_stay: bool

    @classmethod
    def of(cls, plan: ScanPlan) -> CommonFacts:
        """Compute the facts of a table that is planned as one part."""
        evidence = plan.counted
        ran = interpreted(plan, evidence.decided.keys())
        return cls(ran, bool(evidence.by_partition.kept.all()))


class PlanOutcome(Struct, frozen=True):
    """The counts of kept and removed containers.

    `left` has one boolean per conjunct: whether a kept file must still check it. `selected` are the
    bytes of the selected columns, None if unknown.
    """

    levels: tuple[Level, ...]
    removed: tuple[RemovedFiles, ...]
    stays: Stays
    rows_matched: RowsMatched
    overlap: MechanismOverlap
    left: tuple[bool, ...]
    selected: int | None

    @classmethod
    def of(cls, plan: ScanPlan, common: CommonFacts, why: Why) -> PlanOutcome:
        evidence, gone = plan.counted, removed(plan)
        return cls(
            levels=levels(plan, common.interpreted, why, gone),
            removed=gone,
            stays=Stays.of(why, len(plan.predicate.conjuncts)),
            rows_matched=rows_matched(evidence),
            overlap=overlap(plan, partitions_stay=common.partitions_stay),
            left=Residuals(plan.predicate, evidence).left(),
            selected=None if plan.options.projection is None else selected_bytes(evidence),
        )

    def __add__(self, other: PlanOutcome) -> PlanOutcome:
        return PlanOutcome(
            levels=add_levels(self.levels, other.levels),
            removed=tuple(map(add, self.removed, other.removed)),
            stays=self.stays + other.stays,
            rows_matched=self.rows_matched + other.rows_matched,
            overlap=self.overlap + other.overlap,
            left=tuple(map(or_, self.left, other.left)),
            selected=plus(self.selected, other.selected),
        )


class Workings(Struct, frozen=True):
    """The counts that explain how the outcome came about.

    `listed` counts the files of opened manifests, `wanted` those of them that partition values
    keep, `closed` the files of manifests that were not opened. `footers` is True if footers had to
    be opened, and `unreached` counts, per level and reason, the files whose containers of that
    level could not be opened.
    `maybe_nan` names the float columns for which possible NaN values alone keep a container.
    `old_bytes` are the bytes of files under an old partition spec. `blind` counts the files without
    statistics whose footers were opened, `blind_kept` those of them that the footers keep.
    `unreadable` counts the statistics of files and row groups that cannot be read,
    `unreadable_files` the files that have one, and `unreadable_columns` names their columns.
    `filters` counts bloom filters and dictionaries, if footers were read for them.
    `missing_statistics` counts the files that lack asserted statistics, None if no statistics are
    asserted.
    """

    conjuncts: tuple[ConjunctCount, ...]
    coverage: tuple[Coverage, ...]
    contradictions: int
    unreadable: int
    unreadable_files: int
    unreadable_columns: frozenset[Path]
    listed: int
    wanted: int
    closed: int
    manifests_opened: int
    footers: bool
    unreached: tuple[tuple[tuple[str, str], int], ...]
    maybe_nan: frozenset[str]
    old_bytes: int | None
    blind: int
    blind_kept: int
    missing_statistics: MissingStatistics | None = None
    filters: tuple[FilterCount, ...] = ()

    @classmethod
    def of(cls, plan: ScanPlan, why: Why) -> Workings:
        evidence = plan.counted
        above, inside = evidence.manifest_level, evidence.row_group_level
        blind, blind_kept = _by_footers(plan, why)
        unreadable, unreadable_files, unreadable_columns = _unreadable(evidence)
        return cls(
            conjuncts=count_conjuncts(plan),
            coverage=coverage(plan),
            contradictions=_contradictions(evidence),
            unreadable=unreadable,
            unreadable_files=unreadable_files,
            unreadable_columns=unreadable_columns,
            listed=evidence.files.count,
            wanted=evidence.file_count(evidence.by_partition.kept),
            closed=evidence.closed_files,
            manifests_opened=0 if above is None else int(above.opened.sum()),
            footers=inside is not None,
            unreached=tuple(
                ((level.name, u.why), u.files)
                for level in evidence.levels_from_files[1:]
                for u in level.listed.unchecked
            ),
            maybe_nan=frozenset(_nan_columns(plan)),
            old_bytes=total(evidence.bytes.take(of_integers(why.named(Reason.OLD_SPEC)))),
            blind=blind,
            blind_kept=blind_kept,
            missing_statistics=missing_statistics(plan),
            filters=filter_counts(evidence),
        )

    def __add__(self, other: Workings) -> Workings:
        unreached = Counter(dict(self.unreached))
        unreached.update(dict(other.unreached))
        return Workings(
            conjuncts=tuple(map(add, self.conjuncts, other.conjuncts)),
            coverage=tuple(map(add, self.coverage, other.coverage)),
            contradictions=self.contradictions + other.contradictions,
            unreadable=self.unreadable + other.unreadable,
            unreadable_files=self.unreadable_files + other.unreadable_files,
            unreadable_columns=self.unreadable_columns | other.unreadable_columns,
            listed=self.listed + other.listed,
            wanted=self.wanted + other.wanted,
            closed=self.closed + other.closed,
            manifests_opened=self.manifests_opened + other.manifests_opened,
            footers=self.footers or other.footers,
            unreached=tuple(unreached.items()),
            maybe_nan=self.maybe_nan | other.maybe_nan,
            old_bytes=plus(self.old_bytes, other.old_bytes),
            blind=self.blind + other.blind,
            blind_kept=self.blind_kept + other.blind_kept,
            missing_statistics=None
            if self.missing_statistics is None or other.missing_statistics is None
            else self.missing_statistics + other.missing_statistics,
            filters=add_filter_counts((*self.filters, *other.filters)),
        )


class Tally(Struct, frozen=True):
    """All counts that a report adds up over parts."""

    outcome: PlanOutcome
    workings: Workings

    @classmethod
    def of(cls, plan: ScanPlan, common: CommonFacts) -> Tally:
        why = reasons(plan, common.interpreted)
        return cls(PlanOutcome.of(plan, common, why), Workings.of(plan, why))

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.outcome + other.outcome, self.workings + other.workings)


def _contradictions(evidence: Evidence) -> int:
    """Count the statistics of files and what is in them that were dropped as impossible."""
    return sum(level.listed.contradictions for level in evidence.levels_from_files)


def _unreadable(evidence: Evidence) -> tuple[int, int, frozenset[Path]]:
    """Count the statistics that cannot be read and their files, and name their columns."""
    statistics = 0
    files: set[int] = set()
    columns: set[Path] = set()
    of_parents = evidence.examples
    for level in evidence.levels_from_files:
        containers = level.listed.containers
        if level.name != FILES:
            of_parents = of_parents[level.listed.owners.to_numpy()]
        masks = {path: mask for path, mask in containers.unreadable.items() if mask is not False}
        statistics += containers.unreadable_statistics
        columns.update(path for path in masks if path)
        if masks:
            is_unreadable = materialise(any_of(masks.values()), containers.count)
            at = np.flatnonzero(is_unreadable.to_numpy(zero_copy_only=False))
            files.update((at if level.name == FILES else of_parents[at]).tolist())
    return statistics, len(files), frozenset(columns)


def _nan_columns(plan: ScanPlan) -> Iterator[str]:
    """Yield the float columns that may be NaN in a container that is kept only because of NaN."""
    floats = [c for c in plan.predicate.columns() if isinstance(c.type, FloatType)]
    if not floats:
        return
    evidence = plan.evidence
    lowest = evidence.levels[-1]
    containers, verdicts = lowest.listed.containers, lowest.verdicts
    spared = verdicts.kept & ~verdicts.kept_without_nan
    for column in floats:
        possible = flags(containers.interval(column).nan, containers.count)
        if bool(np.any(possible & spared)):
            yield ".".join(column.path)


def _by_footers(plan: ScanPlan, why: Why) -> tuple[int, int]:
    """Count the opened files without statistics, and those of them that their footers keep."""
    evidence = plan.counted
    inside = evidence.row_group_level
    if inside is None or inside.describes_parents:
        return 0, 0
    blind = why.named(Reason.NO_STATISTICS)
    has_kept_group = evidence.with_row_group(inside.verdicts.kept)
    return int(evidence.file_level.opened[blind].sum()), int(has_kept_group[blind].sum())
