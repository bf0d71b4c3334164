"""The verdicts of a predicate and of each conjunct on a batch of containers, as flat arrays.

The evaluator's lazy masks become NumPy arrays, which planners and reports count and combine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
from msgspec import Struct

from whyscan.pruning.evaluate import conjoin, evaluate
from whyscan.pruning.truth import Truth, matches_all
from whyscan.tree.types import FloatType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from whyscan.pruning.containers import Containers
    from whyscan.pruning.mask import Mask
    from whyscan.tree.nodes import Predicate
    from whyscan.tree.zones import Zone

Flags: TypeAlias = "npt.NDArray[np.bool_]"
Decided = Mapping[int, Truth]
"""The truth of conjuncts, by position, that was found without evaluation: partition_values.py."""

UNDECIDED: Decided = {}


class Judgement(Struct, frozen=True):
    """One flag per container: may match, all rows match, may match if no value is NaN.

    `kept_without_join` is `kept` without the conjuncts that came from a join. `conjunct_kept` and
    `conjunct_every` have the same flags as `kept` and `every` for each conjunct alone.
    """

    kept: Flags
    every: Flags
    kept_without_nan: Flags
    kept_without_join: Flags
    conjunct_kept: tuple[Flags, ...]
    conjunct_every: tuple[Flags, ...]

    @property
    def count(self) -> int:
        return len(self.kept)


def judge(
    predicate: Predicate, containers: Containers, zone: Zone, decided: Decided = UNDECIDED
) -> Judgement:
    """The verdicts of every conjunct alone and of the predicate, by blocks where that is faster."""
    if containers.blocks is not None and not decided:
        from whyscan.planning.plan.blockwise import judge_by_blocks

        judgement = judge_by_blocks(predicate, containers, zone)
        if judgement is not None:
            return judgement
    return judge_each(predicate, containers, zone, decided)


def judge_each(
    predicate: Predicate, containers: Containers, zone: Zone, decided: Decided = UNDECIDED
) -> Judgement:
    """The verdicts of every conjunct alone and of the predicate, container by container."""
    each, conjunction = truths(predicate, containers, zone, decided)
    kept = flags(conjunction.true, containers.count)
    return Judgement(
        kept=kept,
        every=flags(matches_all(conjunction), containers.count),
        kept_without_nan=_without_nan(kept, predicate, containers, zone, decided),
        kept_without_join=_without_join(kept, predicate, containers, each),
        conjunct_kept=tuple(flags(t.true, containers.count) for t in each),
        conjunct_every=tuple(flags(matches_all(t), containers.count) for t in each),
    )


def flags(mask: Mask, count: int) -> Flags:
    """A mask as a NumPy array."""
    if isinstance(mask, bool) or not count:
        return np.full(count, mask is True)
    bits = np.frombuffer(mask.buffers()[1], np.uint8)
    unpacked = np.unpackbits(bits, count=mask.offset + count, bitorder="little")
    return unpacked[mask.offset :].view(np.bool_)


def bits(flagged: Flags) -> pa.BooleanArray:
    """A NumPy array as a mask. NumPy packs the bits eight times faster than Arrow."""
    packed = pa.py_buffer(np.packbits(flagged, bitorder="little"))
    return pa.BooleanArray.from_buffers(pa.bool_(), len(flagged), [None, packed])


def truths(
    predicate: Predicate, containers: Containers, zone: Zone, decided: Decided
) -> tuple[list[Truth], Truth]:
    """The truth of each conjunct alone, and of their conjunction."""
    expressions = [conjunct.expression for conjunct in predicate.conjuncts]
    each = [
        decided[i] if i in decided else evaluate(expression, containers, zone)
        for i, expression in enumerate(expressions)
    ]
    return each, conjoin(expressions, each, containers)


def _without_nan(
    kept: Flags, predicate: Predicate, containers: Containers, zone: Zone, decided: Decided
) -> Flags:
    if not any(isinstance(column.type, FloatType) for column in predicate.columns()):
        return kept
    _, conjunction = truths(predicate, containers.without_nan(), zone, decided)
    return kept & flags(conjunction.true, containers.count)


def _without_join(
    kept: Flags, predicate: Predicate, containers: Containers, each: Sequence[Truth]
) -> Flags:
    unjoined = [
        (c.expression, t) for c, t in zip(predicate.conjuncts, each, strict=True) if not c.from_join
    ]
    if len(unjoined) == len(each):
        return kept
    if not unjoined:
        return np.ones(containers.count, np.bool_)
    conjunction = conjoin([e for e, _ in unjoined], [t for _, t in unjoined], containers)
    return flags(conjunction.true, containers.count)


def mapped(judgement: Judgement, change: Callable[[Flags], Flags]) -> Judgement:
    """The judgement with `change` applied to every array; arrays that are shared stay shared."""
    kept = change(judgement.kept)

    def of(flags: Flags) -> Flags:
        return kept if flags is judgement.kept else change(flags)

    return Judgement(
        kept=kept,
        every=change(judgement.every),
        kept_without_nan=of(judgement.kept_without_nan),
        kept_without_join=of(judgement.kept_without_join),
        conjunct_kept=tuple(map(change, judgement.conjunct_kept)),
        conjunct_every=tuple(map(change, judgement.conjunct_every)),
    )


def roll_up(inner: Judgement, parent: npt.NDArray[np.int64], count: int) -> Judgement:
    """The judgement of `count` parents from the judgement of their children.

    A parent may match if a child may match. All its rows match if it has children and all rows of
    each child match.
    """
    inhabited = _any(np.ones(inner.count, np.bool_), parent, count)

    def every(inner_flags: Flags) -> Flags:
        return inhabited & ~_any(~inner_flags, parent, count)

    return Judgement(
        kept=_any(inner.kept, parent, count),
        every=every(inner.every),
        kept_without_nan=_any(inner.kept_without_nan, parent, count),
        kept_without_join=_any(inner.kept_without_join, parent, count),
        conjunct_kept=tuple(_any(part, parent, count) for part in inner.conjunct_kept),
        conjunct_every=tuple(every(part) for part in inner.conjunct_every),
    )


def _any(inner_flags: Flags, parent: npt.NDArray[np.int64], count: int) -> Flags:
    flagged: Flags = np.bincount(parent[inner_flags], minlength=count).astype(np.bool_)
    return flagged


def place(inner: Judgement, at: npt.NDArray[np.int64], outer: Judgement) -> Judgement:
    """The judgement `outer`, in which the containers at `at` have the verdicts of `inner`."""

    def put(outer_flags: Flags, inner_flags: Flags) -> Flags:
        copy = outer_flags.copy()
        copy[at] = inner_flags
        return copy

    return Judgement(
        kept=put(outer.kept, inner.kept),
        every=put(outer.every, inner.every),
        kept_without_nan=put(outer.kept_without_nan, inner.kept_without_nan),
        kept_without_join=put(outer.kept_without_join, inner.kept_without_join),
        conjunct_kept=tuple(map(put, outer.conjunct_kept, inner.conjunct_kept)),
        conjunct_every=tuple(map(put, outer.conjunct_every, inner.conjunct_every)),
    )
