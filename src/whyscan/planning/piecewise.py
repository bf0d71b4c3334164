"""Judging containers block by block: of most blocks the hull alone decides.

A `Judgement` that was pieced together is the one that looking at every container gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.judgement import UNDECIDED, Judgement, flags, judge_each, truths
from whyscan.predicate.tree import columns_of
from whyscan.predicate.types import FloatType
from whyscan.pruning.truth import matches_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pyarrow as pa

    from whyscan.planning.judgement import Flags
    from whyscan.predicate.tree import Column, Predicate
    from whyscan.predicate.zones import Zone
    from whyscan.pruning.blocks import Blocks
    from whyscan.pruning.containers import Containers

WORTH_WHILE = 4
"""With more than a fourth of the containers in open blocks, looking at all of them is as fast."""

FLAGS_AT_MOST = 32


class _Line(Struct, frozen=True):
    """One flag of a judgement, block by block: yes for some member at most, for all at least.

    A block is open where some member may be flagged and not all of them surely are.
    """

    may: Flags
    sure: Flags


def pieced_together(predicate: Predicate, containers: Containers, zone: Zone) -> Judgement | None:
    """The judgement of containers in blocks; None where looking at each of them is no slower."""
    blocks, columns = containers.blocks, told_of(predicate, containers)
    if blocks is None or not columns:
        return None
    lines = _lines(_Hulls(predicate, containers, blocks, columns, zone))
    if len(lines) > FLAGS_AT_MOST:
        return None
    open_ = np.flatnonzero(np.logical_or.reduce([line.may & ~line.sure for line in lines]))
    if int(blocks.sizes[open_].sum()) * WORTH_WHILE > containers.count:
        return None
    members = judge_each(predicate, blocks.members(containers, columns, open_), zone)
    return _spread(blocks, lines, open_, members)


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

    def flags(self) -> Flags:
        """One flag a container, in their own order."""
        found = np.zeros(len(self.blocks.order), np.bool_)
        found[self.blocks.order[self.blocks.places(np.flatnonzero(self.whole))]] = True
        found[self.blocks.order[self.others]] = True
        return found

    def total(self, values: pa.Array) -> int:
        """The sum over what stays; no value may be unknown."""
        ordered = self.blocks.ordered(values).to_numpy()
        return int(self.blocks.sums(values)[self.whole].sum()) + int(ordered[self.others].sum())


def kept_pieces(predicate: Predicate, containers: Containers, zone: Zone) -> Pieces | None:
    """What may match of containers in blocks, and nothing else; None as above."""
    blocks, columns = containers.blocks, told_of(predicate, containers)
    if blocks is None or not columns:
        return None
    line = _kept_line(_Hulls(predicate, containers, blocks, columns, zone))
    open_ = np.flatnonzero(line.may & ~line.sure)
    if int(blocks.sizes[open_].sum()) * WORTH_WHILE > containers.count:
        return None
    members = blocks.members(containers, columns, open_)
    _, together = truths(predicate, members, zone, UNDECIDED)
    inside = flags(together.true, members.count)
    return Pieces(blocks, line.sure & line.may, blocks.places(open_)[inside])


def _kept_line(hulls: _Hulls) -> _Line:
    found = hulls.blocks.hulls(hulls.containers, hulls.columns)
    _, together = truths(hulls.predicate, found, hulls.zone, UNDECIDED)
    kept = flags(together.true, found.count)
    every = flags(matches_all(together), found.count) if kept.any() else kept
    return _Line(kept, every & hulls.solid())


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

    def judged(self) -> Judgement:
        hulls = self.blocks.hulls(self.containers, self.columns)
        return judge_each(self.predicate, hulls, self.zone)

    def solid(self) -> Flags:
        """What holds for all rows of these holds for some row of each member."""
        return ~self.blocks.hollow(self.containers, self.columns)

    def of_conjunct(self, position: int, judged: Judgement, solid: Flags) -> tuple[_Line, _Line]:
        """Whether it may be TRUE, and whether it is in all rows."""
        kept, every = judged.conjunct_kept[position], judged.conjunct_every[position]
        told = {column.path for column in self.columns}
        named = columns_of(self.predicate.conjuncts[position].expression)
        if told.isdisjoint(column.path for column in named):
            # Nothing tells members apart.
            return _Line(kept, kept & solid), _Line(every, every & solid)
        return _Line(kept, every & solid), _Line(kept, every & solid)

    @property
    def shares_no_column(self) -> bool:
        """No column stands in two conjuncts: where each may be TRUE, all together may be."""
        named = [c for part in self.predicate.conjuncts for c in columns_of(part.expression)]
        return len(named) == len(set(named))

    def may_be_nan(self) -> bool:
        """NaN of some column is possible somewhere, and so leaving it out says more."""
        return any(
            isinstance(column.type, FloatType) and self.containers.interval(column).nan is not False
            for column in self.columns
        )

    def without_nan(self) -> _Hulls:
        return replace(self, containers=self.containers.without_nan())


def _lines(hulls: _Hulls) -> list[_Line]:
    """One for each flag of a judgement that is not another one's, in the order of `_flags`."""
    judged, solid = hulls.judged(), hulls.solid()
    each = [hulls.of_conjunct(at, judged, solid) for at in range(len(judged.conjunct_kept))]
    every = judged.every & solid
    kept = every
    if hulls.shares_no_column:
        kept = every | np.logical_and.reduce([one.sure for one, _ in each])
    possible = np.logical_and.reduce([judged.kept, *(whole.may for _, whole in each)])
    lines = [_Line(judged.kept, kept), _Line(possible, every)]
    if judged.kept_without_nan is not judged.kept:
        lines.append(_Line(judged.kept_without_nan, _without_nan(hulls, kept)))
    if judged.kept_without_join is not judged.kept:
        lines.append(_Line(judged.kept_without_join, np.zeros(judged.count, np.bool_)))
    return [*lines, *(line for both in each for line in both)]


def _without_nan(hulls: _Hulls, kept: Flags) -> Flags:
    if not hulls.may_be_nan():
        return kept
    told = hulls.without_nan()
    found: Flags = kept & told.judged().every & told.solid()
    return found


def _flags(judgement: Judgement) -> list[Flags]:
    found = [judgement.kept, judgement.every]
    if judgement.kept_without_nan is not judgement.kept:
        found.append(judgement.kept_without_nan)
    if judgement.kept_without_join is not judgement.kept:
        found.append(judgement.kept_without_join)
    for kept, every in zip(judgement.conjunct_kept, judgement.conjunct_every, strict=True):
        found += [kept, every]
    return found


def _spread(
    blocks: Blocks, lines: Sequence[_Line], open_: npt.NDArray[np.int64], members: Judgement
) -> Judgement:
    """All flags of all containers, in their own order."""
    inside = _flags(members)
    told = [(line.sure.tobytes(), flag.tobytes()) for line, flag in zip(lines, inside, strict=True)]
    # Those that say the same of every container are one.
    first = {key: at for at, key in reversed(list(enumerate(told)))}
    found = dict(
        zip(first, _moved(blocks, lines, open_, inside, list(first.values())), strict=True)
    )
    flags = iter([found[key] for key in told])
    kept, every = next(flags), next(flags)
    nan = kept if members.kept_without_nan is members.kept else next(flags)
    join = kept if members.kept_without_join is members.kept else next(flags)
    rest = list(flags)
    return Judgement(kept, every, nan, join, tuple(rest[::2]), tuple(rest[1::2]))


def _moved(
    blocks: Blocks,
    lines: Sequence[_Line],
    open_: npt.NDArray[np.int64],
    inside: Sequence[Flags],
    chosen: Sequence[int],
) -> list[Flags]:
    """The chosen flags, from the blocks to where the containers stand: one bit each, together."""
    closed = np.ones(blocks.count, np.bool_)
    closed[open_] = False
    constant = {at: _constant(lines[at].sure[closed], inside[at]) for at in chosen}
    bits = [at for at in chosen if constant[at] is None]
    kind = np.min_scalar_type((1 << len(bits)) - 1)
    code = np.repeat(_packed([lines[at].sure for at in bits], blocks.count, kind), blocks.sizes)
    if bits:
        code[blocks.places(open_)] = _packed([inside[at] for at in bits], len(inside[0]), kind)
        code = code.take(blocks.rank)
    return [
        _bit(code, bits.index(at)) if constant[at] is None else np.full(len(code), constant[at])
        for at in chosen
    ]


def _constant(closed: Flags, inside: Flags) -> bool | None:
    """What all containers have in common, None where they differ."""
    if closed.all() and inside.all():
        return True
    return None if closed.any() or inside.any() else False


def _packed(
    flags: Sequence[Flags], count: int, kind: np.dtype[np.unsignedinteger]
) -> npt.NDArray[np.uint64]:
    code = np.zeros(count, kind)
    for position, flag in enumerate(flags):
        code |= flag.astype(kind) << kind.type(position)
    return code


def _bit(code: npt.NDArray[np.uint64], position: int) -> Flags:
    found: Flags = (code & code.dtype.type(1 << position)) != 0
    return found
