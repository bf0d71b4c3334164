"""Verdicts of containers block by block: for most blocks the hull alone decides.

A block is some containers with their hull, an interval that contains the intervals of all of them,
and their kernel, an interval that all of them contain. The verdicts are the same as if every
container were looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.container_groups import ContainerGroups
from whyscan.planning.plan.judgement import (
    EVERY,
    KEPT,
    UNDECIDED,
    Decided,
    Evaluation,
    Judgement,
    judge_each,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from whyscan.planning.plan.judgement import Flags
    from whyscan.pruning.blocks import Blocks
    from whyscan.pruning.containers import Containers
    from whyscan.tree.nodes import Column, Path, Predicate
    from whyscan.tree.zones import Zone

WORTH_WHILE = 4
"""If more than a fourth of the containers are in open blocks, looking at all of them is as fast."""


class _BlockFlags(Struct, frozen=True):
    """Two flags per block: `may` if some member may be flagged, `sure` if all members are flagged.

    The flags of a whole judgement are a matrix with its rows; otherwise they are one array.
    """

    may: Flags
    sure: Flags

    @property
    def is_open(self) -> Flags:
        """One flag per block: in some row, some members may be flagged and others not."""
        open_blocks: Flags = np.logical_or.reduce(np.atleast_2d(self.may & ~self.sure))
        return open_blocks


def judge(
    predicate: Predicate, containers: Containers, zone: Zone, decided: Decided = UNDECIDED
) -> Judgement:
    """The verdicts of every conjunct alone and of the predicate, by blocks where that is faster."""
    if containers.blocks is not None and not decided:
        judgement = judge_by_blocks(predicate, containers, zone)
        if judgement is not None:
            return judgement
    return judge_each(predicate, containers, zone, decided)


def judge_by_blocks(predicate: Predicate, containers: Containers, zone: Zone) -> Judgement | None:
    """The judgement of containers in blocks; None where looking at each container is as fast."""
    if containers.blocks is None:
        return None
    evaluation = _BlockEvaluation.of(predicate, containers, containers.blocks, zone)
    if not evaluation.columns:
        return None
    block_flags = evaluation.flags()
    groups = _groups(evaluation.blocks, block_flags.is_open)
    if groups is None:
        return None
    members = judge_each(predicate, evaluation.members(groups), zone)
    return _joined(groups, block_flags, members).at(groups.group_numbers)


class GroupVerdicts(Struct, frozen=True):
    """The verdicts of each group of files: by all metadata, and by partition values alone.

    `by_statistics` is one flag per group: statistics alone keep it.
    """

    groups: ContainerGroups
    judgement: Judgement
    by_partition: Judgement
    by_statistics: Flags


def judge_groups(
    predicate: Predicate, containers: Containers, zone: Zone, mixed_blocks: Flags
) -> GroupVerdicts | None:
    """The verdicts of groups of files that a report needs; None where one flag per file is as fast.

    The members of `mixed_blocks` are groups by themselves, whatever the hulls say.
    """
    if containers.blocks is None:
        return None
    measured, divided = containers.statistics.keys(), containers.partition.keys()
    full = _BlockEvaluation.of(predicate, containers, containers.blocks, zone)
    partition = full.narrowed(containers.by_partition(), measured)
    statistics = full.narrowed(containers.by_statistics(), divided)
    full_flags, partition_flags = full.flags(), partition.flags()
    kept_by_statistics = statistics.kept_flags()
    is_open = full_flags.is_open | partition_flags.is_open | kept_by_statistics.is_open
    groups = _groups(full.blocks, mixed_blocks | is_open)
    if groups is None:
        return None
    members = Evaluation.of(predicate, full.members(groups), zone)
    of_partition = members.narrowed(members.containers.by_partition(), measured)
    of_statistics = members.narrowed(members.containers.by_statistics(), divided)
    return GroupVerdicts(
        groups,
        _joined(groups, full_flags, members.judgement()),
        _joined(groups, partition_flags, of_partition.judgement()),
        # Without statistics of its columns the predicate keeps every file, also without rows.
        _joined_kept(groups, kept_by_statistics, of_statistics)
        if statistics.columns
        else np.ones(groups.count, np.bool_),
    )


def kept_groups(
    predicate: Predicate, containers: Containers, zone: Zone
) -> tuple[ContainerGroups, Flags] | None:
    """Return groups of files, and one flag per group that is true if the group may match.

    None means that looking at every file by itself is as fast.
    """
    if containers.blocks is None:
        return None
    evaluation = _BlockEvaluation.of(predicate, containers, containers.blocks, zone)
    if not evaluation.columns:
        return None
    block_flags = evaluation.kept_flags()
    groups = _groups(evaluation.blocks, block_flags.is_open)
    if groups is None:
        return None
    members = Evaluation.of(predicate, evaluation.members(groups), zone)
    return groups, _joined_kept(groups, block_flags, members)


def _groups(blocks: Blocks, is_open: Flags) -> ContainerGroups | None:
    """One group for each closed block and for each member of an open block; None for too many."""
    open_blocks = np.flatnonzero(is_open)
    if int(blocks.sizes[open_blocks].sum()) * WORTH_WHILE > len(blocks.order):
        return None
    return ContainerGroups(blocks, np.flatnonzero(~is_open), blocks.places(open_blocks))


def described_columns(predicate: Predicate, containers: Containers) -> tuple[Column, ...]:
    """The predicate's columns of which the containers have partition values or statistics."""
    paths = {
        *containers.partition,
        *containers.statistics,
        *(buckets.source for buckets in containers.buckets),
    }
    return tuple(column for column in predicate.columns() if column.path in paths)


class _BlockEvaluation(Struct, frozen=True):
    """A predicate over containers in blocks, evaluated for the hull and the kernel of each block.

    `columns` are the columns of the predicate that have metadata.
    """

    containers: Containers
    blocks: Blocks
    columns: tuple[Column, ...]
    hulls: Evaluation
    kernels: Evaluation

    @classmethod
    def of(cls, predicate: Predicate, containers: Containers, blocks: Blocks, zone: Zone) -> Self:
        columns = described_columns(predicate, containers)
        hulls, kernels = (
            Evaluation.of(predicate, described, zone)
            for described in (
                blocks.hulls(containers, columns),
                blocks.kernels(containers, columns),
            )
        )
        return cls(containers, blocks, columns, hulls, kernels)

    def narrowed(self, containers: Containers, paths: Collection[Path]) -> Self:
        """The evaluation of the same containers after the columns `paths` have lost metadata."""
        columns = described_columns(self.hulls.predicate, containers)
        return type(self)(
            containers,
            self.blocks,
            columns,
            self.hulls.narrowed(self.blocks.hulls(containers, columns), paths),
            self.kernels.narrowed(self.blocks.kernels(containers, columns), paths),
        )

    def members(self, groups: ContainerGroups) -> Containers:
        """The containers that are groups by themselves."""
        return self.blocks.members(self.containers, self.columns, groups.open_blocks)

    def flags(self) -> _BlockFlags:
        """The flags of blocks for each row of a judgement, from the verdicts of hulls and kernels.

        If a kernel may match, but not in every row, then no member matches in every row.
        """
        outer, inner = self.hulls.judgement(), self.kernels.judgement()
        may, sure = outer.matrix.copy(), np.zeros_like(outer.matrix)
        kept, every = (outer.verdict_rows(row) for row in (KEPT, EVERY))
        sure[every] = outer.matrix[every] & self._solid()
        sure[kept] = outer.matrix[kept] & (inner.matrix[kept] | sure[every])
        may[every] = outer.matrix[kept] & ~(inner.matrix[kept] & ~inner.matrix[every])
        if outer.nan_row != KEPT:
            without_nan = self.narrowed(self.containers.without_nan(), ())
            sure[outer.nan_row] = sure[KEPT] & without_nan.kept_flags().sure
        if outer.join_row != KEPT:
            sure[outer.join_row] = inner.matrix[outer.join_row]
        return _BlockFlags(may, sure)

    def kept_flags(self) -> _BlockFlags:
        """The flags of blocks for one question: whether the container may match."""
        may = self.hulls.kept
        if not may.any():
            return _BlockFlags(may, may)
        every = self.hulls.every & self._solid()
        return _BlockFlags(may, may & (self.kernels.kept | every))

    def _solid(self) -> Flags:
        """One flag per block: a fact about all rows of the hull holds for a row of each member."""
        return ~self.blocks.with_empty_member(self.containers, self.columns)


def _joined(groups: ContainerGroups, block_flags: _BlockFlags, members: Judgement) -> Judgement:
    """Join the judgement of closed blocks and that of the members of open blocks.

    A closed block is decided by its hull, so it is one group. Of an open block each file is a
    group.
    """
    of_blocks = block_flags.sure.take(groups.whole_blocks, axis=1)
    return replace(members, matrix=np.concatenate((of_blocks, members.matrix), axis=1))


def _joined_kept(groups: ContainerGroups, block_flags: _BlockFlags, members: Evaluation) -> Flags:
    """One flag per group: it may match."""
    return np.concatenate((block_flags.sure[groups.whole_blocks], members.kept))
