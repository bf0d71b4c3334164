"""The scan plan: which files, which row groups, which bytes, and what is left to check.

`Evidence` keeps the arrays that the plan was made from, so that a report can count them again
in other ways without evaluating anything twice.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import astuple, replace

from whyscan.planning.plan.judgement import mapped
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from whyscan.planning.plan.file_groups import FileGroups
    from whyscan.planning.plan.judgement import Decided, Flags, Judgement
    from whyscan.tables.snapshot import Files, Manifests, RowGroups, Snapshot
    from whyscan.tree.nodes import Column, Path, Predicate
    from whyscan.tree.zones import Zone

T = TypeVar("T")
G = TypeVar("G")
Number = TypeVar("Number", bound=np.generic)


class Depth(StrEnum):
    """How far down to look."""

    FILES = "files"
    ROW_GROUPS = "row-groups"
    AUTO = "auto"


class Options(Struct, frozen=True):
    """How a plan is made.

    `full` opens every metadata object, so that every figure is exact; `every_manifest` opens
    those above the files, so that every live file can be listed. Of the columns in `measured`
    statistics are read beside the predicate's. The conjuncts at the positions `never_run` are
    interpreted alone: another part of the table has partition values on which they cannot be run.
    Files without statistics of the columns in `complete` are counted and named; None: no check.
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

    `row_groups` are the ordinals that survived, None where the footer was not opened;
    `byte_ranges` are (start, end) of the column chunks to read; `residual` is what its rows
    must still be checked for, None where all of them match.
    """

    path: str
    bytes: int | None
    rows: int | None
    row_groups: tuple[int, ...] | None
    byte_ranges: tuple[tuple[int, int], ...]
    residual: str | None


class ScanPlanSummary(Struct, frozen=True):
    """The pyramid in numbers. None is not known: there are no manifests, or nobody looked."""

    manifests_total: int | None
    manifests_kept: int | None
    files_total: int
    files_kept: int
    row_groups_total: int | None
    row_groups_kept: int | None
    bytes_total: int | None
    bytes_kept: int | None
    rows_total: int | None
    rows_kept: int | None

    def __add__(self, other: ScanPlanSummary) -> ScanPlanSummary:
        """Of two parts of a table: what is not known of one is not of both."""
        both = zip(astuple(self), astuple(other), strict=True)
        sums: list[Any] = [None if None in pair else sum(pair) for pair in both]
        return ScanPlanSummary(*sums)


class ManifestEvidence(Struct, frozen=True):
    """The manifests of a snapshot; those that are not `opened` were ruled out unread."""

    manifests: Manifests
    judgement: Judgement
    opened: Flags

    @property
    def closed_files(self) -> int:
        """The files of manifests left closed, by the manifest list."""
        return int(self.manifests.files.to_numpy(zero_copy_only=False)[~self.opened].sum())

    @property
    def closed_rows(self) -> int | None:
        """Their rows, None where the list does not say."""
        rows = self.manifests.rows.filter(pa.array(~self.opened))
        return None if rows.null_count else sum(rows.to_pylist())


class Limit(Struct, frozen=True):
    """The first rows alone were asked for: how many, those that OFFSET skips among them.

    Where they are not `ordered` any will do. `before` is the evidence that the predicate left.
    """

    rows: int
    ordered: bool
    before: Evidence


class Evidence(Struct, frozen=True, dict=True):
    """What was looked at and what was found. `files` are those of the manifests that were opened.

    `opened` flags the files whose own statistics took part; `groups` and `group_judgement` are
    None where no footer was opened. With a `limit`, the judgements keep what it needs.

    With `cells`, each of these flags is of a cell, and a file that was opened is one by itself;
    None: every file is. `by_statistics` is what statistics alone keep, None where nobody asked.
    """

    files: Files
    judgement: Judgement
    by_partition: Judgement
    opened: Flags
    groups: RowGroups | None
    group_judgement: Judgement | None
    decided: Decided
    unchecked: tuple[tuple[str, str], ...]
    manifests: ManifestEvidence | None = None
    limit: Limit | None = None
    cells: FileGroups | None = None
    by_statistics: Flags | None = None

    @property
    def count(self) -> int:
        """How many flags there are."""
        return len(self.judgement.kept)

    @lazy
    def bytes(self) -> pa.Array:
        """Those of each flag."""
        return self.files.bytes if self.cells is None else self.cells.sums(self.files.bytes)

    @lazy
    def rows(self) -> pa.Array:
        """Those of each flag."""
        return self.files.rows if self.cells is None else self.cells.sums(self.files.rows)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many files each flag is of."""
        return np.ones(self.count, np.int64) if self.cells is None else self.cells.sizes

    @property
    def examples(self) -> npt.NDArray[np.int64] | None:
        """A file of each flag, by its position; None where each stands for the file at its own."""
        return None if self.cells is None else self.cells.examples

    def number(self, flagged: Flags) -> int:
        """How many files the flagged are."""
        if self.cells is None:
            return int(np.count_nonzero(flagged))
        return self.cells.number(flagged)

    def positions(self, flagged: Flags) -> npt.NDArray[np.int64]:
        """Where the flagged files stand among all, in some order."""
        return np.flatnonzero(flagged) if self.cells is None else self.cells.positions(flagged)

    def chosen(self, values: pa.Array, flagged: Flags) -> pa.Array:
        """What is told of each of the flagged files, in some order."""
        if self.cells is None:
            return values.filter(pa.array(flagged))
        return self.cells.chosen(values, flagged)

    def apart(self, flagged: Flags) -> Evidence:
        """The same with a flag for every file of the flagged."""
        if self.cells is None:
            return self
        cells, was = self.cells.divided(flagged)
        return replace(
            self,
            judgement=mapped(self.judgement, lambda flags: flags[was]),
            by_partition=mapped(self.by_partition, lambda flags: flags[was]),
            opened=self.opened[was],
            cells=cells,
            by_statistics=None if self.by_statistics is None else self.by_statistics[was],
        )

    def numbers(self, flagged: Flags) -> npt.NDArray[np.int64]:
        """The flag of each of the flagged files, which stand apart, in the order of the files."""
        flags = np.flatnonzero(flagged)
        if self.cells is None:
            return flags
        return flags[np.argsort(self.cells.examples[flags])]

    def each_file(self, values: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """What is told of each flag, told of each file."""
        return values if self.cells is None else self.cells.spread(values)

    def of_files(self) -> Evidence:
        """The same with one flag a file."""
        cells = self.cells
        if cells is None:
            return self
        groups = self.groups
        if groups is not None:
            at = cells.examples[groups.opened.to_numpy()]
            groups = replace(groups, opened=pa.array(at))
        return replace(
            self,
            judgement=mapped(self.judgement, cells.spread),
            by_partition=mapped(self.by_partition, cells.spread),
            opened=cells.spread(self.opened),
            groups=groups,
            cells=None,
            by_statistics=None,
        )

    @property
    def closed_files(self) -> int:
        """The files that no manifest was opened for."""
        return 0 if self.manifests is None else self.manifests.closed_files

    @property
    def before_limit(self) -> Evidence:
        """What the predicate alone leaves."""
        return self if self.limit is None else self.limit.before


class PlanRequest(Protocol):
    """A predicate that is put to a snapshot, however it is planned."""

    @property
    def snapshot(self) -> Snapshot: ...
    @property
    def predicate(self) -> Predicate: ...
    @property
    def zone(self) -> Zone: ...
    @property
    def options(self) -> Options: ...


class PlannedSnapshot(PlanRequest, Protocol):
    """A snapshot that was planned, in one piece or part by part, each wherever it lies.

    What is counted of the whole is the sum of what is counted of the parts, in their order: no
    more than counts need to come together in one place.
    """

    @property
    def summary(self) -> ScanPlanSummary: ...

    def each(self, question: Callable[[ScanPlan], T]) -> Sequence[T]:
        """What a question finds in the plan of each part."""
        ...

    def each_given(self, question: Callable[[ScanPlan, G], T], given: Sequence[G]) -> Sequence[T]:
        """The same of a question that is told something else of each part."""
        ...


class ScanPlan(Struct, frozen=True, dict=True):
    """What a predicate reads of a snapshot. Iterate over it for its `FileScan`s.

    `counted` is what was found in as few flags as tell it, for numbers; `evidence` has one a file.
    `seconds` is what making it took, reading metadata included.
    """

    snapshot: Snapshot
    predicate: Predicate
    zone: Zone
    options: Options
    counted: Evidence
    summary: ScanPlanSummary
    seconds: float = 0.0

    @lazy
    def evidence(self) -> Evidence:
        """What was found of each file."""
        return self.counted.of_files()

    def __iter__(self) -> Iterator[FileScan]:
        from whyscan.planning.plan.file_scans import file_scans

        return file_scans(self.predicate, self.evidence)

    def each(self, question: Callable[[ScanPlan], T]) -> Sequence[T]:
        """One part is the whole."""
        return (question(self),)

    def each_given(self, question: Callable[[ScanPlan, G], T], given: Sequence[G]) -> Sequence[T]:
        """The same of a question that is told something."""
        return tuple(question(self, told) for told in given)

    @property
    def files(self) -> tuple[FileScan, ...]:
        return tuple(self)
