"""The evidence of a plan: the containers that were looked at, level by level, with their verdicts.

A report counts these arrays in many ways without evaluating the predicate again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.container_groups import ContainerGroups
from whyscan.tables.snapshot import Files, Manifests, RowGroups
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from whyscan.planning.plan.judgement import Decided, Flags, Judgement

LEVELS = ("manifests", "files", "row_groups")
"""The names of all levels, top down."""

Number = TypeVar("Number", bound=np.generic)
Listed = TypeVar("Listed", Manifests, Files, RowGroups)


class LevelEvidence(Struct, Generic[Listed], frozen=True, dict=True):
    """The containers of one level with their verdicts: one flag per group of containers.

    `listed` are the manifests, files or row groups themselves. `groups` are groups of them that
    nothing distinguishes; except for files of cached tables, each group is one container.
    `by_partition` are the verdicts by partition values alone. `opened` flags the containers of
    which the level below was read. `describes_parents`: the level above has no statistics but
    those of this level. `unlimited` are the verdicts without a LIMIT, None if there is no LIMIT.
    """

    name: str
    listed: Listed
    groups: ContainerGroups
    verdicts: Judgement
    by_partition: Judgement
    opened: Flags
    describes_parents: bool = False
    unlimited: Judgement | None = None

    @property
    def count(self) -> int:
        """How many groups there are, which is the length of every array of flags."""
        return self.verdicts.count

    @lazy
    def bytes(self) -> pa.Array | None:
        """The bytes of each group; None if metadata does not say."""
        return None if self.listed.bytes is None else self.groups.sums(self.listed.bytes)

    @lazy
    def rows(self) -> pa.Array:
        """The rows of each group."""
        return self.groups.sums(self.listed.rows)

    def container_count(self, flagged: Flags) -> int:
        """How many containers the flagged groups have."""
        return self.groups.container_count(flagged)

    @property
    def verdicts_before_limit(self) -> Judgement:
        """The verdicts of the predicate alone."""
        return self.verdicts if self.unlimited is None else self.unlimited

    def regrouped(
        self, groups: ContainerGroups, earlier: npt.NDArray[np.int64]
    ) -> LevelEvidence[Listed]:
        """The same level in other groups; `earlier` is for each group the one that it was in."""
        return replace(
            self,
            groups=groups,
            verdicts=self.verdicts.at(earlier),
            by_partition=self.by_partition.at(earlier),
            opened=self.opened[earlier],
            unlimited=None if self.unlimited is None else self.unlimited.at(earlier),
        )

    def without_limit(self) -> LevelEvidence[Listed]:
        """The same level with the verdicts of the predicate alone."""
        return replace(self, verdicts=self.verdicts_before_limit, unlimited=None)

    def without_nan(self) -> LevelEvidence[Listed]:
        """The same level, in which no container has NaN."""
        containers = self.listed.containers.without_nan()
        return replace(self, listed=replace(self.listed, containers=containers))


class Limit(Struct, frozen=True):
    """A query that needs only some rows: `rows` of them, including those that OFFSET skips.

    If it is not `ordered`, any rows will do.
    """

    rows: int
    ordered: bool


class Evidence(Struct, frozen=True, dict=True):
    """The levels that were looked at; `files` are those of opened manifests.

    `row_group_level` is None where no footer was opened. `by_statistics` flags the groups of files
    that statistics alone keep, None where it was not computed. With a `limit`, verdicts keep only
    what the limit needs. If the user says that no value is NaN, no container has NaN.
    """

    file_level: LevelEvidence[Files]
    decided: Decided
    unchecked: tuple[tuple[str, str], ...] = ()
    manifest_level: LevelEvidence[Manifests] | None = None
    row_group_level: LevelEvidence[RowGroups] | None = None
    limit: Limit | None = None
    by_statistics: Flags | None = None

    @property
    def levels(self) -> tuple[LevelEvidence[Any], ...]:
        """All levels that were looked at, top down."""
        levels = (self.manifest_level, self.file_level, self.row_group_level)
        return tuple(level for level in levels if level is not None)

    @property
    def files(self) -> Files:
        return self.file_level.listed

    @property
    def judgement(self) -> Judgement:
        """The verdicts of the groups of files."""
        return self.file_level.verdicts

    @property
    def by_partition(self) -> Judgement:
        """The verdicts of the groups of files by partition values alone."""
        return self.file_level.by_partition

    @property
    def count(self) -> int:
        """How many groups of files there are, which is the length of every array of their flags."""
        return self.file_level.count

    @property
    def bytes(self) -> pa.Array:
        """The bytes of each group of files."""
        return self.file_level.bytes

    @property
    def rows(self) -> pa.Array:
        """The rows of each group of files."""
        return self.file_level.rows

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many files each group has."""
        return self.file_level.groups.sizes

    @property
    def examples(self) -> npt.NDArray[np.int64]:
        """The position of one file of each group."""
        return self.file_level.groups.examples

    def file_count(self, flagged: Flags) -> int:
        """How many files the flagged groups have."""
        return self.file_level.container_count(flagged)

    def positions(self, flagged: Flags) -> npt.NDArray[np.int64]:
        """The positions of the files of the flagged groups, in no particular order."""
        return self.file_level.groups.positions(flagged)

    def each_file(self, values: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """Spread one value per group to one value per file."""
        return self.file_level.groups.spread(values)

    def split(self, flagged: Flags) -> Evidence:
        """The same evidence, in which each file of the flagged groups is a group by itself."""
        groups, earlier = self.file_level.groups.split(flagged)
        if groups is self.file_level.groups:
            return self
        return replace(
            self,
            file_level=self.file_level.regrouped(groups, earlier),
            by_statistics=None if self.by_statistics is None else self.by_statistics[earlier],
        )

    def group_numbers(self, flagged: Flags) -> npt.NDArray[np.int64]:
        """The group number of each flagged file, in the order of files. Each group is one file."""
        flags = np.flatnonzero(flagged)
        return flags[np.argsort(self.examples[flags])]

    def per_file(self) -> Evidence:
        """The same evidence with one flag per file, in the order of files."""
        groups, row_groups = self.file_level.groups, self.row_group_level
        if groups.plain:
            return self
        if row_groups is not None:
            opened = pa.array(self.examples[row_groups.listed.opened.to_numpy()])
            row_groups = replace(row_groups, listed=replace(row_groups.listed, opened=opened))
        one_per_file = ContainerGroups.one_per_container(self.files.count)
        return replace(
            self,
            file_level=self.file_level.regrouped(one_per_file, groups.group_numbers),
            row_group_level=row_groups,
            by_statistics=None,
        )

    def without_nan(self) -> Evidence:
        """The same evidence, in which no container has NaN."""
        return self._mapped(LevelEvidence.without_nan)

    @lazy
    def before_limit(self) -> Evidence:
        """The evidence of the predicate alone, without the limit."""
        if self.limit is None:
            return self
        return replace(self._mapped(LevelEvidence.without_limit), limit=None)

    def _mapped(self, change: Callable[[LevelEvidence[Any]], LevelEvidence[Any]]) -> Evidence:
        """The same evidence with every level changed."""
        manifests, row_groups = self.manifest_level, self.row_group_level
        return replace(
            self,
            manifest_level=None if manifests is None else change(manifests),
            file_level=change(self.file_level),
            row_group_level=None if row_groups is None else change(row_groups),
        )

    @property
    def describing_groups(self) -> RowGroups | None:
        """The row groups, if only they describe the files; None if files have statistics."""
        level = self.row_group_level
        return level.listed if level is not None and level.describes_parents else None

    @lazy
    def described(self) -> Flags:
        """One flag per group of files: the metadata that describes its files was read."""
        if self.describing_groups is None:
            return np.ones(self.count, np.bool_)
        return self.file_level.opened

    def with_row_group(self, flagged: Flags) -> Flags:
        """One flag per group of files: one of its row groups is flagged."""
        flags = np.zeros(self.count, np.bool_)
        if self.row_group_level is not None:
            flags[self.row_group_level.listed.owners.to_numpy()[flagged]] = True
        return flags

    @lazy
    def closed_files(self) -> int:
        """How many files the closed manifests list, by the manifest list."""
        level = self.manifest_level
        if level is None:
            return 0
        return int(level.listed.files.to_numpy(zero_copy_only=False)[~level.opened].sum())

    @property
    def closed_rows(self) -> int | None:
        """How many rows the closed manifests list; None where the manifest list does not say."""
        level = self.manifest_level
        if level is None:
            return 0
        rows = level.listed.rows.filter(pa.array(~level.opened))
        return None if rows.null_count else sum(rows.to_pylist())
