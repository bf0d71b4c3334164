"""Verdicts of containers block by block: for most blocks the hull alone decides.

A block is some containers with their hull, an interval that contains the intervals of all of them,
and their kernel, an interval that all of them contain. The verdicts are the same as if every
container were looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.file_groups import FileGroups
from whyscan.planning.plan.judgement import (
    EVERY,
    KEPT,
    UNDECIDED,
    Judgement,
    flags,
    judge_each,
    truths,
)
from whyscan.pruning.truth import matches_all

if TYPE_CHECKING:
    from whyscan.planning.plan.judgement import Flags
    from whyscan.pruning.blocks import Blocks
    from whyscan.pruning.containers import Containers
    from whyscan.pruning.truth import Truth
    from whyscan.tree.nodes import Column, Predicate
    from whyscan.tree.zones import Zone

WORTH_WHILE = 4
"""If more than a fourth of the containers are in open blocks, looking at all of them is as fast."""


class _BlockFlags(Struct, frozen=True):
    """Two flags per block: `may` if some member may be flagged, `sure` if all members are flagged.

    They have one row per row of a judgement, or no rows but the flags of one.
    """

    may: Flags
    sure: Flags

    @property
    def is_open(self) -> Flags:
        """One flag per block: in some row, some members may be flagged and others not."""
        open_blocks: Flags = np.logical_or.reduce(np.atleast_2d(self.may & ~self.sure))
        return open_blocks


def judge_by_blocks(predicate: Predicate, containers: Containers, zone: Zone) -> Judgement | None:
    """The judgement of containers in blocks; None where looking at each container is as fast."""
    blocks, columns = containers.blocks, described_columns(predicate, containers)
    if blocks is None or not columns:
        return None
    hulls = _Hulls(predicate, containers, blocks, columns, zone)
    block_flags = _block_flags(hulls)
    groups = _groups(blocks, block_flags.is_open)
    if groups is None:
        return None
    members = hulls.judge(hulls.apart(groups))
    return _joined(groups, block_flags, members).at(groups.group_numbers)


class GroupVerdicts(Struct, frozen=True):
    """The verdicts of each group of files: by all metadata, and by partition values alone.

    `by_statistics` is one flag per group: statistics alone keep it.
    """

    groups: FileGroups
    judgement: Judgement
    by_partition: Judgement
    by_statistics: Flags


def judge_groups(
    predicate: Predicate, containers: Containers, zone: Zone, mixed_blocks: Flags
) -> GroupVerdicts | None:
    """The verdicts of groups of files that a report needs; None where one flag per file is as fast.

    The members of `mixed_blocks` are groups by themselves, whatever the hulls say.
    """
    blocks = containers.blocks
    if blocks is None:
        return None
    full, partitions, statistics = (
        _Hulls(predicate, described, blocks, described_columns(predicate, described), zone)
        for described in (containers, containers.by_partition(), containers.by_statistics())
    )
    full_flags, partition_flags = _block_flags(full), _block_flags(partitions)
    # Without partition values, statistics are all the metadata there is.
    statistics_kept = (
        _kept_flags(statistics)
        if partitions.columns
        else _BlockFlags(full_flags.may[KEPT], full_flags.sure[KEPT])
    )
    is_open = full_flags.is_open | partition_flags.is_open | statistics_kept.is_open
    groups = _groups(blocks, mixed_blocks | is_open)
    if groups is None:
        return None
    members = full.apart(groups)
    judgement = _joined(groups, full_flags, full.judge(members))
    return GroupVerdicts(
        groups,
        judgement,
        _joined(groups, partition_flags, full.judge(members.by_partition())),
        judgement.kept
        if full.columns and not partitions.columns
        else statistics.kept(groups, statistics_kept, members.by_statistics()),
    )


def _groups(blocks: Blocks, is_open: Flags) -> FileGroups | None:
    """Each closed block is a group, and each member of an open block; None for too many members."""
    open_blocks = np.flatnonzero(is_open)
    if int(blocks.sizes[open_blocks].sum()) * WORTH_WHILE > len(blocks.order):
        return None
    return FileGroups(blocks, np.flatnonzero(~is_open), blocks.places(open_blocks))


def kept_groups(
    predicate: Predicate, containers: Containers, zone: Zone
) -> tuple[FileGroups, Flags] | None:
    """Groups of files, and one flag per group: it may match; None where one per file is as fast."""
    blocks, columns = containers.blocks, described_columns(predicate, containers)
    if blocks is None or not columns:
        return None
    hulls = _Hulls(predicate, containers, blocks, columns, zone)
    block_flags = _kept_flags(hulls)
    groups = _groups(blocks, block_flags.is_open)
    return (
        None if groups is None else (groups, hulls.kept(groups, block_flags, hulls.apart(groups)))
    )


def _kept_flags(hulls: _Hulls) -> _BlockFlags:
    outer = hulls.conjunction(hulls.blocks.hulls(hulls.containers, hulls.columns))
    may = flags(outer.true, hulls.blocks.count)
    if not may.any():
        return _BlockFlags(may, may)
    inner = hulls.conjunction(hulls.blocks.kernels(hulls.containers, hulls.columns))
    every = flags(matches_all(outer), len(may)) & hulls.solid()
    return _BlockFlags(may, may & (flags(inner.true, len(may)) | every))


def described_columns(predicate: Predicate, containers: Containers) -> tuple[Column, ...]:
    """The predicate's columns of which the containers have partition values or statistics."""
    paths = {
        *containers.partition,
        *containers.statistics,
        *(buckets.source for buckets in containers.buckets),
    }
    return tuple(column for column in predicate.columns() if column.path in paths)


class _Hulls(Struct, frozen=True):
    """Containers in blocks, and the columns of a predicate that have metadata."""

    predicate: Predicate
    containers: Containers
    blocks: Blocks
    columns: tuple[Column, ...]
    zone: Zone

    def outer(self) -> Judgement:
        """The verdicts of each block's hull."""
        return self.judge(self.blocks.hulls(self.containers, self.columns))

    def inner(self) -> Judgement:
        """The verdicts of each block's kernel."""
        return self.judge(self.blocks.kernels(self.containers, self.columns))

    def judge(self, containers: Containers) -> Judgement:
        return judge_each(self.predicate, containers, self.zone)

    def conjunction(self, containers: Containers) -> Truth:
        """The truth of the conjunction of all conjuncts."""
        return truths(self.predicate, containers, self.zone, UNDECIDED)[1]

    def apart(self, groups: FileGroups) -> Containers:
        """The containers that are groups by themselves."""
        return self.blocks.members(self.containers, self.columns, groups.open_blocks)

    def kept(self, groups: FileGroups, block_flags: _BlockFlags, members: Containers) -> Flags:
        """One flag per group: it may match. Without metadata of any column, every group may."""
        if not self.columns:
            return np.ones(groups.count, np.bool_)
        inside = flags(self.conjunction(members).true, members.count)
        return np.concatenate((block_flags.sure[groups.whole_blocks], inside))

    def solid(self) -> Flags:
        """One flag per block: a fact about all rows of the hull holds for a row of each member."""
        return ~self.blocks.with_empty_member(self.containers, self.columns)

    def without_nan(self) -> _Hulls:
        return replace(self, containers=self.containers.without_nan())


def _block_flags(hulls: _Hulls) -> _BlockFlags:
    """The flags of blocks for each row of a judgement, from the verdicts of hulls and kernels.

    If a kernel may match, but not in every row, then no member matches in every row.
    """
    outer, inner = hulls.outer(), hulls.inner()
    may, sure = outer.matrix.copy(), np.zeros_like(outer.matrix)
    kept, every = (outer.verdict_rows(row) for row in (KEPT, EVERY))
    sure[every] = outer.matrix[every] & hulls.solid()
    sure[kept] = outer.matrix[kept] & (inner.matrix[kept] | sure[every])
    may[every] = outer.matrix[kept] & ~(inner.matrix[kept] & ~inner.matrix[every])
    if outer.nan_row != KEPT:
        sure[outer.nan_row] = sure[KEPT] & _kept_flags(hulls.without_nan()).sure
    if outer.join_row != KEPT:
        sure[outer.join_row] = inner.matrix[outer.join_row]
    return _BlockFlags(may, sure)


def _joined(groups: FileGroups, block_flags: _BlockFlags, members: Judgement) -> Judgement:
    """The judgement of all groups, from the flags of closed blocks and members of open blocks."""
    of_blocks = block_flags.sure[:, groups.whole_blocks]
    return replace(members, matrix=np.concatenate((of_blocks, members.matrix), axis=1))
