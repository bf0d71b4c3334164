"""The scan plan: which files, row groups and bytes are read, and what is left to check on rows.

`Evidence` keeps the arrays that the plan was made from, so that a report can count them in other
ways without evaluating the predicate again.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import astuple, replace

from whyscan.errors import shortened
from whyscan.fields import Count, Record
from whyscan.planning.plan.file_groups import FileGroups
from whyscan.tables.snapshot import Snapshot  # noqa: TC001 - `help` resolves the types of fields
from whyscan.tree.lazy import lazy
from whyscan.tree.nodes import Predicate  # noqa: TC001 - `help` resolves the types of fields
from whyscan.tree.zones import Zone  # noqa: TC001 - `help` resolves the types of fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from whyscan.planning.plan.judgement import Decided, Flags, Judgement
    from whyscan.tables.snapshot import Files, Manifests, RowGroups
    from whyscan.tree.nodes import Column, Path

T = TypeVar("T")
G = TypeVar("G")
Number = TypeVar("Number", bound=np.generic)
LevelContainers = TypeVar("LevelContainers", "Manifests", "Files", "RowGroups")


class Depth(StrEnum):
    """The deepest level that the planner looks at."""

    FILES = "files"
    ROW_GROUPS = "row-groups"
    AUTO = "auto"


class Options(Struct, frozen=True):
    """How a plan is made.

    - `full` opens every metadata object, so that every number is exact.
    - `every_manifest` opens every manifest, so that every live file can be listed.
    - `measured` are columns whose statistics are read in addition to those of the predicate.
    - `never_run` are positions of conjuncts that are interpreted and not run in DuckDB, because
      another part of the table has partition values on which they cannot be run.
    - `complete` are columns whose statistics every file should have: files without them are counted
      and named. None means no check.
    """

    depth: Depth = Depth.AUTO
    full: bool = False
    every_manifest: bool = False
    assume_no_nan: bool = False
    projection: tuple[Path, ...] | None = None
    measured: tuple[Column, ...] = ()
    never_run: frozenset[int] = frozenset()
    complete: tuple[Column, ...] | None = None


class FileScan(Struct, frozen=True):
    """One file to read.

    `row_groups` are the ordinals of the row groups to read, None where the footer was not opened.
    `byte_ranges` are (start, end) of the column chunks to read. `residual` is the condition that
    must still be checked on the file's rows, None where all rows match.
    """

    path: str
    bytes: int | None
    rows: int | None
    row_groups: tuple[int, ...] | None
    byte_ranges: tuple[tuple[int, int], ...]
    residual: str | None


class ScanPlanSummary(Record, frozen=True):
    """How many manifests, files, row groups, bytes and rows there are and how many are kept.

    None means unknown: the table has no manifests, or that level was not looked at.
    """

    manifests_total: Count | None
    manifests_kept: Count | None
    files_total: Count
    files_kept: Count
    row_groups_total: Count | None
    row_groups_kept: Count | None
    bytes_total: Count | None
    bytes_kept: Count | None
    rows_total: Count | None
    rows_kept: Count | None

    def __add__(self, other: ScanPlanSummary) -> ScanPlanSummary:
        """The summary of two parts of a table; a number that one part does not know is unknown."""
        both = zip(astuple(self), astuple(other), strict=True)
        sums: list[Any] = [None if None in pair else sum(pair) for pair in both]
        return ScanPlanSummary(*sums)


class ManifestEvidence(Struct, frozen=True):
    """The manifests of a snapshot. A manifest that is not `opened` was pruned and not read."""

    manifests: Manifests
    judgement: Judgement
    opened: Flags

    @property
    def closed_files(self) -> int:
        """How many files the closed manifests list, by the manifest list."""
        return int(self.manifests.files.to_numpy(zero_copy_only=False)[~self.opened].sum())

    @property
    def closed_rows(self) -> int | None:
        """How many rows the closed manifests list; None where the manifest list does not say."""
        rows = self.manifests.rows.filter(pa.array(~self.opened))
        return None if rows.null_count else sum(rows.to_pylist())


class Limit(Struct, frozen=True):
    """A query that needs only some rows: `rows` of them, including those that OFFSET skips.

    If it is not `ordered`, any rows will do. `before` is the evidence before the limit was applied.
    """

    rows: int
    ordered: bool
    before: Evidence


class Evidence(Struct, frozen=True, dict=True):
    """The containers that were looked at and their verdicts. `files` are those of opened manifests.

    `opened` flags the files whose own statistics were used. `row_groups` and `row_group_judgement`
    are None where no footer was opened. With a `limit`, the judgements keep only what the limit
    needs.

    `file_groups` are groups of files that nothing distinguishes: every flag is one per group, and
    `sizes`, `bytes` and `rows` are the weights of the groups. A file whose footer was opened is a
    group by itself. `by_statistics` flags what statistics alone keep, None where it was not
    computed. `footers_describe_files`: files have no statistics but those of their row groups.

    If the user says that no value is NaN, no container has NaN.
    """

    files: Files
    file_groups: FileGroups
    judgement: Judgement
    by_partition: Judgement
    opened: Flags
    row_groups: RowGroups | None
    row_group_judgement: Judgement | None
    decided: Decided
    unchecked: tuple[tuple[str, str], ...]
    manifests: ManifestEvidence | None = None
    limit: Limit | None = None
    by_statistics: Flags | None = None
    footers_describe_files: bool = False

    @property
    def count(self) -> int:
        """How many groups there are, which is the length of every array of flags."""
        return self.judgement.count

    @lazy
    def bytes(self) -> pa.Array:
        """The bytes of each group."""
        return self.file_groups.sums(self.files.bytes)

    @lazy
    def rows(self) -> pa.Array:
        """The rows of each group."""
        return self.file_groups.sums(self.files.rows)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many files each group has."""
        return self.file_groups.sizes

    @property
    def examples(self) -> npt.NDArray[np.int64]:
        """The position of one file of each group."""
        return self.file_groups.examples

    def file_count(self, flagged: Flags) -> int:
        """How many files the flagged groups have."""
        return self.file_groups.file_count(flagged)

    def positions(self, flagged: Flags) -> npt.NDArray[np.int64]:
        """The positions of the files of the flagged groups, in no particular order."""
        return self.file_groups.positions(flagged)

    def each_file(self, values: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """Spread one value per group to one value per file."""
        return self.file_groups.spread(values)

    def split(self, flagged: Flags) -> Evidence:
        """The same evidence, in which each file of the flagged groups is a group by itself."""
        file_groups, group_before = self.file_groups.split(flagged)
        if file_groups is self.file_groups:
            return self
        return replace(
            self,
            file_groups=file_groups,
            judgement=self.judgement.at(group_before),
            by_partition=self.by_partition.at(group_before),
            opened=self.opened[group_before],
            by_statistics=None if self.by_statistics is None else self.by_statistics[group_before],
        )

    def group_numbers(self, flagged: Flags) -> npt.NDArray[np.int64]:
        """The group number of each flagged file, in the order of files. Each group is one file."""
        flags = np.flatnonzero(flagged)
        return flags[np.argsort(self.examples[flags])]

    def per_file(self) -> Evidence:
        """The same evidence with one flag per file, in the order of files."""
        if self.file_groups.plain:
            return self
        groups, numbers = self.row_groups, self.file_groups.group_numbers
        if groups is not None:
            at = self.examples[groups.opened.to_numpy()]
            groups = replace(groups, opened=pa.array(at))
        return replace(
            self,
            file_groups=FileGroups.one_per_file(self.files.count),
            judgement=self.judgement.at(numbers),
            by_partition=self.by_partition.at(numbers),
            opened=self.opened[numbers],
            row_groups=groups,
            by_statistics=None,
        )

    def without_nan(self) -> Evidence:
        """The same evidence, in which no container has NaN."""
        manifests, groups = self.manifests, self.row_groups
        return replace(
            self,
            files=_without_nan(self.files),
            row_groups=None if groups is None else _without_nan(groups),
            manifests=None
            if manifests is None
            else replace(manifests, manifests=_without_nan(manifests.manifests)),
        )

    @property
    def describing_groups(self) -> RowGroups | None:
        """The row groups, if only they describe the files; None if files have statistics."""
        return self.row_groups if self.footers_describe_files else None

    @property
    def has_footer(self) -> Flags:
        """One flag per group of files: the footer was opened."""
        flags = np.zeros(self.count, np.bool_)
        if self.row_groups is not None:
            flags[self.row_groups.opened.to_numpy()] = True
        return flags

    def with_row_group(self, flagged: Flags) -> Flags:
        """One flag per group of files: one of its row groups is flagged."""
        flags = np.zeros(self.count, np.bool_)
        if self.row_groups is not None:
            flags[self.row_groups.owners.to_numpy()[flagged]] = True
        return flags

    @property
    def closed_files(self) -> int:
        """How many files the closed manifests list."""
        return 0 if self.manifests is None else self.manifests.closed_files

    @property
    def before_limit(self) -> Evidence:
        """The evidence of the predicate alone, without the limit."""
        return self if self.limit is None else self.limit.before


def _without_nan(level: LevelContainers) -> LevelContainers:
    return replace(level, containers=level.containers.without_nan())


class PlanRequest(Protocol):
    """A predicate on a snapshot, in this process or in parts on executors."""

    @property
    def snapshot(self) -> Snapshot: ...
    @property
    def predicate(self) -> Predicate: ...
    @property
    def zone(self) -> Zone: ...
    @property
    def options(self) -> Options: ...


class PlannedSnapshot(PlanRequest, Protocol):
    """The plan of a snapshot: in one piece, or in parts that lie on executors.

    A number of the whole table is the sum of the numbers of the parts, in their order, so only
    counts are brought together in one place.
    """

    @property
    def summary(self) -> ScanPlanSummary: ...

    def each(self, question: Callable[[ScanPlan], T]) -> Sequence[T]:
        """The result of a function on the plan of each part."""
        ...

    def each_with(
        self, question: Callable[[ScanPlan, G], T], arguments: Sequence[G]
    ) -> Sequence[T]:
        """The same for a function with a second argument; `arguments` has one value per part."""
        ...


class ScanPlan(Struct, frozen=True, dict=True):
    """What a predicate reads of a snapshot. Iterate over it for its `FileScan`s.

    `looked_at` is None if the summary needed no more than blocks of files. `seconds` is the time
    that planning took, including reading metadata.
    """

    snapshot: Snapshot
    predicate: Predicate
    zone: Zone
    options: Options
    looked_at: Evidence | None
    summary: ScanPlanSummary
    seconds: float = 0.0

    @lazy
    def counted(self) -> Evidence:
        """The evidence with one flag per group of files, which is enough for numbers."""
        if self.looked_at is not None:
            return self.looked_at
        from whyscan.planning.plan.planner import evidence_of

        return evidence_of(self)

    @lazy
    def evidence(self) -> Evidence:
        """The evidence with one flag per file."""
        return self.counted.per_file()

    def __iter__(self) -> Iterator[FileScan]:
        from whyscan.planning.plan.file_scans import file_scans

        return file_scans(self.predicate, self.evidence)

    def __repr__(self) -> str:
        table, condition = shortened(self.snapshot.uri), shortened(self.predicate.text)
        counts = f"{self.summary.files_kept:,} of {self.summary.files_total:,} files"
        return f"<{type(self).__name__} of {table!r} where {condition}: reads {counts}>"

    def each(self, question: Callable[[ScanPlan], T]) -> Sequence[T]:
        """The result of the function on this plan, which is the only part."""
        return (question(self),)

    def each_with(
        self, question: Callable[[ScanPlan, G], T], arguments: Sequence[G]
    ) -> Sequence[T]:
        """The result of a function with a second argument on this plan."""
        return tuple(question(self, argument) for argument in arguments)

    @property
    def files(self) -> tuple[FileScan, ...]:
        return tuple(self)
