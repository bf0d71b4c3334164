"""Judging containers block by block: of most blocks the hull alone decides.

A `Judgement` that was pieced together is the one that looking at every container gives.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.file_groups import FileGroups
from whyscan.planning.plan.judgement import UNDECIDED, Judgement, flags, judge_each, mapped, truths
from whyscan.pruning.truth import matches_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pyarrow as pa

    from whyscan.planning.plan.judgement import Flags
    from whyscan.pruning.blocks import Blocks
    from whyscan.pruning.containers import Containers
    from whyscan.pruning.truth import Truth
    from whyscan.tree.nodes import Column, Predicate
    from whyscan.tree.zones import Zone

WORTH_WHILE = 4
"""With more than a fourth of the containers in open blocks, looking at all of them is as fast."""


class _Line(Struct, frozen=True):
    """One flag of a judgement, block by block: yes for some member at most, for all at least.

    A block is open where some member may be flagged and not all of them surely are.
    """

    may: Flags
    sure: Flags

    @property
    def is_open(self) -> Flags:
        found: Flags = self.may & ~self.sure
        return found


def pieced_together(predicate: Predicate, containers: Containers, zone: Zone) -> Judgement | None:
    """The judgement of containers in blocks; None where looking at each of them is no slower."""
    blocks, columns = containers.blocks, told_of(predicate, containers)
    if blocks is None or not columns:
        return None
    hulls = _Hulls(predicate, containers, blocks, columns, zone)
    lines = _lines(hulls)
    cells = _cells(blocks, np.logical_or.reduce([line.is_open for line in lines]))
    if cells is None:
        return None
    members = hulls.judged(hulls.apart(cells))
    return mapped(_joined(cells, lines, members), cells.spread)


class GroupVerdicts(Struct, frozen=True):
    """What all that is known says of each cell, partition values alone, and statistics alone.

    Of these it is whether they keep it.
    """

    cells: FileGroups
    judgement: Judgement
    by_partition: Judgement
    by_statistics: Flags


def in_cells(
    predicate: Predicate, containers: Containers, zone: Zone, told_apart: Flags
) -> GroupVerdicts | None:
    """Containers in blocks, judged in every way that a report asks for; None as above.

    The blocks that are `told_apart` are looked into whatever their hulls say.
    """
    blocks = containers.blocks
    if blocks is None:
        return None
    whole, by, measured = (
        _Hulls(predicate, told, blocks, told_of(predicate, told), zone)
        for told in (containers, containers.by_partition(), containers.by_statistics())
    )
    lines, by_lines = _lines(whole), _lines(by)
    # Where partition values say nothing, statistics are all that is known.
    kept = _kept_line(measured) if by.columns else lines[0]
    cells = _cells(
        blocks, np.logical_or.reduce([told_apart, *(x.is_open for x in (*lines, *by_lines, kept))])
    )
    if cells is None:
        return None
    apart = whole.apart(cells)
    judgement = _joined(cells, lines, whole.judged(apart))
    return GroupVerdicts(
        cells,
        judgement,
        _joined(cells, by_lines, whole.judged(apart.by_partition())),
        judgement.kept
        if whole.columns and not by.columns
        else measured.kept(cells, kept, apart.by_statistics()),
    )


def _cells(blocks: Blocks, open_: Flags) -> FileGroups | None:
    """The blocks that are not open, and the members of the others; None for too many of them."""
    inside = np.flatnonzero(open_)
    if int(blocks.sizes[inside].sum()) * WORTH_WHILE > len(blocks.order):
        return None
    return FileGroups(blocks, np.flatnonzero(~open_), blocks.places(inside))


class Pieces(Struct, frozen=True):
    """What stays of containers in blocks: all of the blocks that `whole` flags, and the `others`.

    Those stand at their places in the order of the blocks.
    """

    blocks: Blocks
    whole: Flags
    others: npt.NDArray[np.int64]

    @property
    def count(self) -> int:
        return int(self.blocks.sizes[self.whole].sum()) + len(self.others)

    def total(self, values: pa.Array) -> int:
        """The sum over what stays; no value may be unknown."""
        ordered = self.blocks.ordered(values).to_numpy()
        return int(self.blocks.sums(values)[self.whole].sum()) + int(ordered[self.others].sum())


def kept_pieces(predicate: Predicate, containers: Containers, zone: Zone) -> Pieces | None:
    """What may match of containers in blocks, and nothing else; None as above."""
    blocks, columns = containers.blocks, told_of(predicate, containers)
    if blocks is None or not columns:
        return None
    hulls = _Hulls(predicate, containers, blocks, columns, zone)
    line = _kept_line(hulls)
    cells = _cells(blocks, line.is_open)
    if cells is None:
        return None
    members = hulls.apart(cells)
    inside = flags(hulls.together(members).true, members.count)
    return Pieces(blocks, line.sure & line.may, cells.apart[inside])


def _kept_line(hulls: _Hulls) -> _Line:
    outer = hulls.together(hulls.blocks.hulls(hulls.containers, hulls.columns))
    may = flags(outer.true, hulls.blocks.count)
    if not may.any():
        return _Line(may, may)
    inner = hulls.together(hulls.blocks.kernels(hulls.containers, hulls.columns))
    every = flags(matches_all(outer), len(may)) & hulls.solid()
    return _Line(may, may & (flags(inner.true, len(may)) | every))


def told_of(predicate: Predicate, containers: Containers) -> tuple[Column, ...]:
    """The predicate's columns of which the containers tell something."""
    told = {
        *containers.partition,
        *containers.statistics,
        *(buckets.source for buckets in containers.buckets),
    }
    return tuple(column for column in predicate.columns() if column.path in told)


class _Hulls(Struct, frozen=True):
    """Containers in blocks, and the columns of a predicate that they tell something of."""

    predicate: Predicate
    containers: Containers
    blocks: Blocks
    columns: tuple[Column, ...]
    zone: Zone

    def outer(self) -> Judgement:
        """What the law says of each block's hull."""
        return self.judged(self.blocks.hulls(self.containers, self.columns))

    def inner(self) -> Judgement:
        """What it says of each block's kernel."""
        return self.judged(self.blocks.kernels(self.containers, self.columns))

    def judged(self, containers: Containers) -> Judgement:
        return judge_each(self.predicate, containers, self.zone)

    def together(self, containers: Containers) -> Truth:
        """The truth of all conjuncts together."""
        return truths(self.predicate, containers, self.zone, UNDECIDED)[1]

    def apart(self, cells: FileGroups) -> Containers:
        """The members that are cells of their own."""
        return self.blocks.members(self.containers, self.columns, cells.looked_into)

    def kept(self, cells: FileGroups, line: _Line, apart: Containers) -> Flags:
        """The cells that may match: all of them where nothing is known of any column."""
        if not self.columns:
            return np.ones(cells.count, np.bool_)
        inside = flags(self.together(apart).true, apart.count)
        return np.concatenate((line.sure[cells.whole], inside))

    def solid(self) -> Flags:
        """What holds for all rows of these holds for some row of each member."""
        return ~self.blocks.hollow(self.containers, self.columns)

    def without_nan(self) -> _Hulls:
        return replace(self, containers=self.containers.without_nan())


def _lines(hulls: _Hulls) -> list[_Line]:
    """One for each flag of a judgement that is not another one's, in the order of `_flags`."""
    outer, inner, solid = hulls.outer(), hulls.inner(), hulls.solid()
    each = [
        _of_verdict(*flags, solid)
        for flags in zip(
            (outer.kept, *outer.conjunct_kept),
            (outer.every, *outer.conjunct_every),
            (inner.kept, *inner.conjunct_kept),
            (inner.every, *inner.conjunct_every),
            strict=True,
        )
    ]
    (kept, every), *conjuncts = each
    lines = [kept, every]
    if outer.kept_without_nan is not outer.kept:
        without = _kept_line(hulls.without_nan())
        lines.append(_Line(outer.kept_without_nan, kept.sure & without.sure))
    if outer.kept_without_join is not outer.kept:
        lines.append(_Line(outer.kept_without_join, inner.kept_without_join))
    return [*lines, *chain.from_iterable(conjuncts)]


def _of_verdict(
    may: Flags, all_: Flags, common: Flags, common_all: Flags, solid: Flags
) -> tuple[_Line, _Line]:
    """Whether members are kept and whether every row matches, by the hulls' flags and the kernels'.

    Of a kernel that may match, and not in every row, no member matches in every row.
    """
    surely_all = all_ & solid
    return (
        _Line(may, may & (common | surely_all)),
        _Line(may & ~(common & ~common_all), surely_all),
    )


def _flags(judgement: Judgement) -> list[Flags]:
    found = [judgement.kept, judgement.every]
    if judgement.kept_without_nan is not judgement.kept:
        found.append(judgement.kept_without_nan)
    if judgement.kept_without_join is not judgement.kept:
        found.append(judgement.kept_without_join)
    for kept, every in zip(judgement.conjunct_kept, judgement.conjunct_every, strict=True):
        found += [kept, every]
    return found


def _joined(cells: FileGroups, lines: Sequence[_Line], members: Judgement) -> Judgement:
    """The flags of all cells, by those of whole blocks and of the others' members."""
    flags = (
        np.concatenate((line.sure[cells.whole], inside))
        for line, inside in zip(lines, _flags(members), strict=True)
    )
    kept, every = next(flags), next(flags)
    nan = kept if members.kept_without_nan is members.kept else next(flags)
    join = kept if members.kept_without_join is members.kept else next(flags)
    rest = tuple(flags)
    return Judgement(kept, every, nan, join, rest[::2], rest[1::2])
