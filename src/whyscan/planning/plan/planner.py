"""The planner: partition values first, then statistics, then row groups."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.block_reasons import mixed_blocks
from whyscan.planning.plan.blockwise import judge, judge_groups, kept_groups
from whyscan.planning.plan.container_groups import ContainerGroups
from whyscan.planning.plan.evidence import (
    FILES,
    MANIFESTS,
    ROW_GROUPS,
    Evidence,
    LevelEvidence,
)
from whyscan.planning.plan.filters import narrowed_by_filters
from whyscan.planning.plan.judgement import (
    UNDECIDED,
    Decided,
    Flags,
    Judgement,
    bits,
    place,
    roll_up,
)
from whyscan.planning.plan.partition_values import decide, spread, truths_of_points
from whyscan.planning.plan.scan_plan import (
    Depth,
    LevelTotal,
    Options,
    ScanPlan,
    ScanPlanSummary,
    looked_at,
)
from whyscan.tables.snapshot import ContainersBelow, RowGroups
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from whyscan.pruning.containers import Containers
    from whyscan.tables.snapshot import Files, Manifests, Snapshot
    from whyscan.tree.nodes import Column, Path, Predicate
    from whyscan.tree.zones import Zone

Below = TypeVar("Below", RowGroups, ContainersBelow)

FOOTERS_AT_MOST = 1_000
"""`--depth auto` opens the footers of the kept files if there are no more than this many."""

FEW = 16
"""If fewer than 1 of `FEW` values are wanted, they are looked up; otherwise all are multiplied."""


def make_plan(snapshot: Snapshot, predicate: Predicate, options: Options) -> ScanPlan:
    """Plan a predicate on one snapshot."""
    started = perf_counter()
    planner = _Planner(snapshot, predicate, zone(predicate.zone), options)
    look, summary = planner.evidence, planner.summary_by_blocks()
    if summary is None:
        evidence = planner.evidence()
        look, summary = looked_at(evidence), summarise(evidence)
    seconds = perf_counter() - started
    return ScanPlan(snapshot, predicate, planner.zone, options, look, summary, seconds)


class _Planner(Struct, frozen=True):
    """One predicate on one snapshot: reads the containers level by level and judges them."""

    snapshot: Snapshot
    predicate: Predicate
    zone: Zone
    options: Options

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns whose statistics are read."""
        checked = self.options.complete or ()
        return tuple(dict.fromkeys((*self.predicate.columns(), *self.options.measured, *checked)))

    def summary_by_blocks(self) -> ScanPlanSummary | None:
        """The summary of a plan whose files are counted block by block; None where it needs more.

        A summary needs to know only which files are kept, so it looks into fewer blocks than a
        report, which also counts what each conjunct removes.
        """
        if self.snapshot.footers_describe_files or self.snapshot.manifests() is not None:
            return None
        files = self.snapshot.files(self.columns, self.zone)
        if files.containers.blocks is None or files.bytes.null_count or files.rows.null_count:
            return None
        partition = files.containers.by_partition()
        if self.decided(files, truths_of_points(self.predicate, partition, self.zone)):
            return None
        containers = self.without_assumed_nan(files.containers)
        groups_and_flags = kept_groups(self.predicate, containers, self.zone)
        if groups_and_flags is None:
            return None
        groups, kept = groups_and_flags
        if left_closed(self.options.depth, groups.container_count(kept)) is None:
            return None
        verdicts = Judgement(kept[np.newaxis])
        level = self.file_level(files, groups, verdicts, verdicts)
        return summarise(Evidence((level,), UNDECIDED))

    def evidence(self) -> Evidence:
        """All containers that were looked at, with their verdicts."""
        manifests = self.manifest_level()
        opened = None if manifests is None else pa.array(np.flatnonzero(manifests.opened))
        files = self.snapshot.files(self.columns, self.zone, opened)
        evidence = self.with_levels_below(self.with_row_groups(self.by_metadata(files)))
        if manifests is not None:
            evidence = replace(evidence, levels=(manifests, *evidence.levels))
        return evidence.without_nan() if self.options.assume_no_nan else evidence

    def by_metadata(self, files: Files) -> Evidence:
        """The evidence of files, and of row groups where only they describe files."""
        partition = files.containers.by_partition()
        point_truths = truths_of_points(self.predicate, partition, self.zone)
        decided = self.decided(files, point_truths)
        settled = decided
        in_groups = None if decided else self.in_groups(files)
        if in_groups is not None:
            return in_groups
        if decided or partition.blocks is None:
            # Statistics add nothing to the truth of conjuncts over partition values alone.
            settled = {**_unmeasured(point_truths, self.predicate, files.containers), **decided}
        by_partition = self.judge(partition, settled)
        if self.snapshot.footers_describe_files:
            return self.by_footers(files, by_partition, decided)
        groups = ContainerGroups.one_per_container(files.count)
        verdicts = self.judge(files.containers, settled)
        return Evidence((self.file_level(files, groups, verdicts, by_partition),), decided)

    def decided(self, files: Files, point_truths: Decided) -> Decided:
        """The truths of conjuncts that DuckDB decides on partition values."""
        runnable = {at: t for at, t in point_truths.items() if at not in self.options.never_run}
        return decide(self.predicate, runnable, files.containers.by_partition(), self.zone)

    def in_groups(self, files: Files) -> Evidence | None:
        """The evidence with one flag per group of files; None where one flag per file is needed."""
        if files.containers.blocks is None or self.snapshot.footers_describe_files:
            return None
        mixed = mixed_blocks(self.snapshot, files, self.predicate, self.zone)
        if mixed is None:
            return None
        containers = self.without_assumed_nan(files.containers)
        verdicts = judge_groups(self.predicate, containers, self.zone, mixed)
        if verdicts is None:
            return None
        level = self.file_level(files, verdicts.groups, verdicts.judgement, verdicts.by_partition)
        return Evidence((level,), UNDECIDED, by_statistics=verdicts.by_statistics)

    def manifest_level(self) -> LevelEvidence[Manifests] | None:
        """The manifests. A pruned manifest that says how many files it lists stays closed."""
        manifests = self.snapshot.manifests()
        if manifests is None:
            return None
        verdicts = self.judge(manifests.containers, UNDECIDED)
        counted = manifests.files.is_valid().to_numpy(zero_copy_only=False)
        every = self.options.full or self.options.every_manifest
        # Summaries of manifests are about partition values.
        return LevelEvidence(
            name=MANIFESTS,
            listed=manifests,
            groups=ContainerGroups.one_per_container(manifests.count),
            verdicts=verdicts,
            by_partition=verdicts,
            opened=verdicts.kept | ~counted | every,
        )

    def file_level(
        self, files: Files, groups: ContainerGroups, verdicts: Judgement, by_partition: Judgement
    ) -> LevelEvidence[Files]:
        """The files before any footer is opened."""
        return LevelEvidence(
            name=FILES,
            listed=files,
            groups=groups,
            verdicts=verdicts,
            by_partition=by_partition,
            opened=np.zeros(groups.count, np.bool_),
        )

    def judge(self, containers: Containers, decided: Decided) -> Judgement:
        return judge(self.predicate, self.without_assumed_nan(containers), self.zone, decided)

    def without_assumed_nan(self, containers: Containers) -> Containers:
        """The containers without NaN, if the user says that no value is NaN."""
        return containers.without_nan() if self.options.assume_no_nan else containers

    def by_footers(self, files: Files, by_partition: Judgement, decided: Decided) -> Evidence:
        """Hive and plain Parquet: the verdict of a file comes from its row groups."""
        wanted = np.ones(files.count, np.bool_) if self.options.full else by_partition.kept
        row_groups, verdicts = self.open(files, np.flatnonzero(wanted), decided)
        # A file that could not be opened keeps the verdict of its partition values.
        at = row_groups.opened.to_numpy()
        opened = np.zeros(files.count, np.bool_)
        opened[at] = True
        below = _level_below(ROW_GROUPS, row_groups, verdicts, by_partition)
        below = self.with_filters(replace(below, describes_parents=True), decided)

        def of_files(verdicts: Judgement) -> Judgement:
            rolled_up = roll_up(verdicts, row_groups.file.to_numpy(), len(at))
            return place(rolled_up, at, by_partition)

        level = self.file_level(
            _with_rows(files, row_groups),
            ContainerGroups.one_per_container(files.count),
            of_files(below.verdicts),
            by_partition,
        )
        level = replace(
            level,
            opened=opened,
            unfiltered=None if below.unfiltered is None else of_files(below.unfiltered),
            by_bloom=None if below.by_bloom is None else of_files(below.by_bloom),
        )
        unchecked = tuple((ROW_GROUPS, str(why)) for why in row_groups.unchecked)
        return Evidence((level, below), decided, unchecked=unchecked)

    def with_row_groups(self, evidence: Evidence) -> Evidence:
        """Delta and Iceberg: row groups refine the plan and do not change the verdict of a file."""
        if evidence.row_group_level is not None:
            return evidence
        kept = evidence.judgement.kept
        closed = left_closed(self.options.depth, evidence.file_count(kept))
        if closed is not None:
            return replace(evidence, unchecked=((ROW_GROUPS, closed),))
        at = np.sort(evidence.positions(kept))
        row_groups, verdicts = self.open(evidence.files, at, evidence.decided)
        if len(row_groups.opened):
            evidence = evidence.split(kept)
            numbers = evidence.group_numbers(evidence.judgement.kept)
            opened = numbers[np.searchsorted(at, row_groups.opened.to_numpy())]
            row_groups = replace(row_groups, opened=pa.array(opened))
        is_opened = np.zeros(evidence.count, np.bool_)
        is_opened[row_groups.opened.to_numpy()] = True
        files = replace(evidence.file_level, opened=is_opened)
        below = _level_below(ROW_GROUPS, row_groups, verdicts, evidence.by_partition)
        return replace(
            evidence,
            levels=(files, self.with_filters(below, evidence.decided)),
            unchecked=tuple((ROW_GROUPS, str(why)) for why in row_groups.unchecked),
        )

    def with_filters(
        self, level: LevelEvidence[RowGroups], decided: Decided
    ) -> LevelEvidence[RowGroups]:
        """The row groups, judged again with filters of values where footers were kept for them."""
        of_groups = spread(decided, level.listed.owners)

        def again(containers: Containers) -> Judgement:
            return self.judge(containers, of_groups)

        below = self.snapshot.below
        return narrowed_by_filters(below, self.predicate, level, self.options.depth, again)

    def with_levels_below(self, evidence: Evidence) -> Evidence:
        """The levels below row groups refine the plan; they change no verdict above them."""
        above: LevelEvidence[Any] | None = evidence.row_group_level
        reader = self.snapshot.below
        if above is None or reader is None:
            return evidence
        decided = spread(evidence.decided, above.listed.owners)
        while True:
            at = pa.array(np.flatnonzero(above.verdicts.kept))
            listed = reader.containers_below(above.listed, at, self.columns)
            if listed is None:
                return evidence
            decided = spread(decided, listed.owners)
            verdicts = self.judge(listed.containers, decided)
            below = _level_below(listed.name, listed, verdicts, above.by_partition)
            opened = np.zeros(above.count, np.bool_)
            opened[listed.owners.to_numpy()] = True
            unchecked = tuple((listed.name, str(why)) for why in listed.unchecked)
            above = replace(above, listed=_without_footers(above.listed), opened=opened)
            evidence = evidence.with_level(above)
            evidence = replace(
                evidence,
                levels=(*evidence.levels, below),
                unchecked=(*evidence.unchecked, *unchecked),
            )
            above = below

    def open(
        self, files: Files, at: npt.NDArray[np.int64], decided: Decided
    ) -> tuple[RowGroups, Judgement]:
        """The row groups of the files at positions `at`, and their judgement."""
        groups = self.snapshot.row_groups(
            files,
            pa.array(at),
            self.columns,
            self._projection(),
            keep_footers=self.options.depth.keeps_footers,
        )
        return groups, self.judge(groups.containers, spread(decided, groups.owners))

    def _projection(self) -> tuple[Path, ...] | None:
        if self.options.projection is None:
            return None
        named = (column.path for column in self.predicate.columns())
        return tuple(dict.fromkeys((*self.options.projection, *named)))


def _level_below(
    name: str, listed: Below, verdicts: Judgement, of_parents: Judgement
) -> LevelEvidence[Below]:
    """Containers inside others; partition values say of each what they say of its parent."""
    return LevelEvidence(
        name=name,
        listed=listed,
        groups=ContainerGroups.one_per_container(listed.count),
        verdicts=verdicts,
        by_partition=of_parents.at(listed.owners.to_numpy()),
        opened=np.zeros(listed.count, np.bool_),
    )


def _without_footers(listed: RowGroups | ContainersBelow) -> RowGroups | ContainersBelow:
    """The same containers; the footers take memory, and nothing below needs them again."""
    return replace(listed, footers=None) if isinstance(listed, RowGroups) else listed


def left_closed(depth: Depth, survivors: int) -> str | None:
    """Why the footers of the kept files stay closed; None where they are opened."""
    if depth is Depth.FILES:
        return "--depth files"
    if depth is Depth.AUTO and survivors > FOOTERS_AT_MOST:
        return f"{survivors} files survive, more than {FOOTERS_AT_MOST}; use --depth row-groups"
    return None


def _unmeasured(point_truths: Decided, predicate: Predicate, containers: Containers) -> Decided:
    """The truths of those conjuncts that name no column with statistics."""
    measured = containers.statistics.keys()
    conjuncts = predicate.conjuncts
    return {at: t for at, t in point_truths.items() if not conjuncts[at].paths & measured}


def _with_rows(files: Files, groups: RowGroups) -> Files:
    """The files with the row counts of the footers that were read; unknown for the other files."""
    if groups.containers.rows is None:
        return files
    rows = np.bincount(
        groups.file.to_numpy(),
        weights=groups.containers.rows.to_numpy(zero_copy_only=False),
        minlength=len(groups.opened),
    ).astype(np.int64)
    has_rows = np.zeros(files.count, np.bool_)
    at = groups.opened.to_numpy()
    has_rows[at] = True
    file_rows = np.zeros(files.count, np.int64)
    file_rows[at] = rows
    return replace(files, rows=pa.array(file_rows, mask=~has_rows))


def summarise(evidence: Evidence) -> ScanPlanSummary:
    """Count the containers, bytes and rows that a plan keeps."""
    closed = evidence.closed_files
    levels = tuple(
        LevelTotal(
            level.name,
            level.listed.count + (closed if level.name == FILES else 0),
            level.container_count(level.verdicts.kept),
        )
        for level in evidence.levels
    )
    bytes_kept, rows_kept = totals_of((evidence.bytes, evidence.rows), evidence.judgement.kept)
    return ScanPlanSummary(
        levels,
        bytes_total=None if closed else total(evidence.bytes),
        bytes_kept=bytes_kept,
        rows_total=plus(total(evidence.rows), evidence.closed_rows),
        rows_kept=rows_kept,
    )


def plus(a: int | None, b: int | None) -> int | None:
    """The sum of two numbers; None where one of them is unknown."""
    return None if a is None or b is None else a + b


def plus_all(numbers: Iterable[int | None]) -> int | None:
    """The sum of numbers; None where one of them is unknown."""
    summands = list(numbers)
    return None if None in summands else sum(number or 0 for number in summands)


def total(values: pa.Array) -> int | None:
    """The sum of an array; None where a value is unknown, since unknown is not 0."""
    if values.null_count:
        return None
    return int(pc.sum(values, min_count=0).as_py())


def total_of(values: pa.Array, flagged: Flags) -> int | None:
    """The sum of the flagged values; None where one of them is unknown."""
    return totals_of((values,), flagged)[0]


def totals_of(columns: Sequence[pa.Array], flagged: Flags) -> tuple[int | None, ...]:
    """The sum of the flagged values of each column; None where one of them is unknown.

    If few values are flagged they are looked up; if nearly all are, the others are subtracted.
    """
    yes = int(np.count_nonzero(flagged))
    fewer = flagged if yes * 2 <= len(flagged) else ~flagged
    few = min(yes, len(flagged) - yes) * FEW < len(flagged)
    at = np.flatnonzero(fewer) if few else None

    def sum_of(values: pa.Array) -> int | None:
        if values.null_count:
            return total(values.filter(bits(flagged)))
        numbers = values.to_numpy()
        if at is None:
            # Unlike a product of arrays, it makes no copy of the flags as numbers.
            return int(np.einsum("i,i", numbers, flagged, dtype=np.int64))
        part = int(numbers[at].sum(dtype=np.int64))
        return part if fewer is flagged else int(numbers.sum(dtype=np.int64)) - part

    return tuple(sum_of(values) for values in columns)
