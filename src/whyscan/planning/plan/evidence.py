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
from whyscan.tables.snapshot import ContainersBelow, Files, Manifests, RowGroups
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from whyscan.planning.plan.judgement import Decided, Flags, Judgement

MANIFESTS, FILES, ROW_GROUPS, PAGES = "manifests", "files", "row_groups", "pages"

Number = TypeVar("Number", bound=np.generic)
Listed = TypeVar("Listed", Manifests, Files, RowGroups, ContainersBelow)


class LevelEvidence(Struct, Generic[Listed], frozen=True, dict=True):
    """The containers of one level with their verdicts: one flag per group of containers.

    `listed` are the containers themselves. `groups` are groups of them that nothing distinguishes;
    except for files of cached tables, each group is one container. `by_partition` are the verdicts
    by partition values alone. `opened` flags the containers of which the level below was read.
    `describes_parents`: the level above has no statistics but those of this level. `unlimited` are
    the verdicts without a LIMIT, None if there is no LIMIT; `unfiltered` are those
    without bloom filters and dictionaries, None if none were read; `by_bloom` are those without
    dictionaries, None if none were read.
    """

    name: str
    listed: Listed
    groups: ContainerGroups
    verdicts: Judgement
    by_partition: Judgement
    opened: Flags
    describes_parents: bool = False
    unlimited: Judgement | None = None
    unfiltered: Judgement | None = None
    by_bloom: Judgement | None = None

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
            unfiltered=None if self.unfiltered is None else self.unfiltered.at(earlier),
            by_bloom=None if self.by_bloom is None else self.by_bloom.at(earlier),
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
    """The levels that were looked at, top down; the files are those of opened manifests.

    Manifests are a level if the table format has them, row groups if a footer was opened, and
    levels below row groups if the snapshot has them. Each level below the files names its parents
    in `listed.owners`. `by_statistics` flags the groups of files that statistics alone keep, None
    where it was not computed. With a `limit`, verdicts keep only what the limit needs. If the user
    says that no value is NaN, no container has NaN.
    """

    levels: tuple[LevelEvidence[Any], ...]
    decided: Decided
    unchecked: tuple[tuple[str, str], ...] = ()
    limit: Limit | None = None
    by_statistics: Flags | None = None

    def level(self, name: str) -> LevelEvidence[Any] | None:
        """The level of this name; None if it was not looked at."""
        return next((level for level in self.levels if level.name == name), None)

    @lazy
    def file_level(self) -> LevelEvidence[Files]:
        return next(level for level in self.levels if level.name == FILES)

    @property
    def manifest_level(self) -> LevelEvidence[Manifests] | None:
        return self.level(MANIFESTS)

    @property
    def row_group_level(self) -> LevelEvidence[RowGroups] | None:
        return self.level(ROW_GROUPS)

    @property
    def levels_from_files(self) -> tuple[LevelEvidence[Any], ...]:
        """The files and the levels below them, top down."""
        return self.levels if self.manifest_level is None else self.levels[1:]

    def with_level(self, changed: LevelEvidence[Any]) -> Evidence:
        """The same evidence with another level of that name."""
        return self.mapped(lambda level: changed if level.name == changed.name else level)

    def read(self, upper: LevelEvidence[Any]) -> Flags:
        """One flag per group of a level: it is read.

        It is kept, and if it was opened, at least one container in it is read, too.
        """
        names = [level.name for level in self.levels]
        below = self.levels[names.index(upper.name) + 1 :]
        if not below:
            return upper.verdicts.kept
        inside = np.zeros(upper.count, np.bool_)
        inside[below[0].listed.owners.to_numpy()[self.read(below[0])]] = True
        flagged: Flags = upper.verdicts.kept & (inside | ~upper.opened)
        return flagged

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
        by_statistics = None if self.by_statistics is None else self.by_statistics[earlier]
        regrouped = self.with_level(self.file_level.regrouped(groups, earlier))
        return replace(regrouped, by_statistics=by_statistics)

    def group_numbers(self, flagged: Flags) -> npt.NDArray[np.int64]:
        """The group number of each flagged file, in the order of files. Each group is one file."""
        flags = np.flatnonzero(flagged)
        return flags[np.argsort(self.examples[flags])]

    def per_file(self) -> Evidence:
        """The same evidence with one flag per file, in the order of files."""
        groups, row_groups = self.file_level.groups, self.row_group_level
        if groups.plain:
            return self
        one_per_file = ContainerGroups.one_per_container(self.files.count)
        evidence = self.with_level(self.file_level.regrouped(one_per_file, groups.group_numbers))
        if row_groups is not None:
            opened = pa.array(self.examples[row_groups.listed.opened.to_numpy()])
            listed = replace(row_groups.listed, opened=opened)
            evidence = evidence.with_level(replace(row_groups, listed=listed))
        return replace(evidence, by_statistics=None)

    def without_nan(self) -> Evidence:
        """The same evidence, in which no container has NaN."""
        return self.mapped(LevelEvidence.without_nan)

    @lazy
    def before_limit(self) -> Evidence:
        """The evidence of the predicate alone, without the limit."""
        if self.limit is None:
            return self
        return replace(self.mapped(LevelEvidence.without_limit), limit=None)

    def mapped(self, change: Callable[[LevelEvidence[Any]], LevelEvidence[Any]]) -> Evidence:
        """The same evidence with every level changed."""
        return replace(self, levels=tuple(map(change, self.levels)))

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
