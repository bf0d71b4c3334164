"""What a predicate and each of its conjuncts make of a batch of containers, as flat arrays.

Here the lazy masks of the evaluator become numbers that are counted, rolled up and reported.
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
"""Conjuncts, by position, whose truth is known from elsewhere: see partition_values.py."""

UNDECIDED: Decided = {}


class Judgement(Struct, frozen=True):
    """One flag a container: may match, all rows match, may match if no value is NaN.

    `kept_without_join` is `kept` but for the conjuncts that came from a join; `conjunct_kept` and
    `conjunct_every` hold the same for each conjunct by itself.
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
    """Every conjunct by itself, and all together."""
    if containers.blocks is not None and not decided:
        from whyscan.planning.plan.blockwise import pieced_together

        found = pieced_together(predicate, containers, zone)
        if found is not None:
            return found
    return judge_each(predicate, containers, zone, decided)


def judge_each(
    predicate: Predicate, containers: Containers, zone: Zone, decided: Decided = UNDECIDED
) -> Judgement:
    """The same, container by container."""
    each, together = truths(predicate, containers, zone, decided)
    kept = flags(together.true, containers.count)
    return Judgement(
        kept=kept,
        every=flags(matches_all(together), containers.count),
        kept_without_nan=_without_nan(kept, predicate, containers, zone, decided),
        kept_without_join=_without_join(kept, predicate, containers, each),
        conjunct_kept=tuple(flags(t.true, containers.count) for t in each),
        conjunct_every=tuple(flags(matches_all(t), containers.count) for t in each),
    )


def flags(mask: Mask, count: int) -> Flags:
    """A mask as a numpy array."""
    if isinstance(mask, bool) or not count:
        return np.full(count, mask is True)
    bits = np.frombuffer(mask.buffers()[1], np.uint8)
    whole = np.unpackbits(bits, count=mask.offset + count, bitorder="little")
    return whole[mask.offset :].view(np.bool_)


def bits(flagged: Flags) -> pa.BooleanArray:
    """A numpy array as a mask: packed here, eight times faster than Arrow would."""
    packed = pa.py_buffer(np.packbits(flagged, bitorder="little"))
    return pa.BooleanArray.from_buffers(pa.bool_(), len(flagged), [None, packed])


def truths(
    predicate: Predicate, containers: Containers, zone: Zone, decided: Decided
) -> tuple[list[Truth], Truth]:
    """The truth of each conjunct by itself, and of all together."""
    expressions = [conjunct.expression for conjunct in predicate.conjuncts]
    found = [
        decided[i] if i in decided else evaluate(expression, containers, zone)
        for i, expression in enumerate(expressions)
    ]
    return found, conjoin(expressions, found, containers)


def _without_nan(
    kept: Flags, predicate: Predicate, containers: Containers, zone: Zone, decided: Decided
) -> Flags:
    if not any(isinstance(column.type, FloatType) for column in predicate.columns()):
        return kept
    _, together = truths(predicate, containers.without_nan(), zone, decided)
    return kept & flags(together.true, containers.count)


def _without_join(
    kept: Flags, predicate: Predicate, containers: Containers, each: Sequence[Truth]
) -> Flags:
    own = [
        (c.expression, t) for c, t in zip(predicate.conjuncts, each, strict=True) if not c.joined
    ]
    if len(own) == len(each):
        return kept
    if not own:
        return np.ones(containers.count, np.bool_)
    together = conjoin([e for e, _ in own], [t for _, t in own], containers)
    return flags(together.true, containers.count)


def mapped(judgement: Judgement, change: Callable[[Flags], Flags]) -> Judgement:
    """The same with every flag changed; those that are one array stay one."""
    kept = change(judgement.kept)

    def of(found: Flags) -> Flags:
        return kept if found is judgement.kept else change(found)

    return Judgement(
        kept=kept,
        every=change(judgement.every),
        kept_without_nan=of(judgement.kept_without_nan),
        kept_without_join=of(judgement.kept_without_join),
        conjunct_kept=tuple(map(change, judgement.conjunct_kept)),
        conjunct_every=tuple(map(change, judgement.conjunct_every)),
    )


def roll_up(inner: Judgement, parent: npt.NDArray[np.int64], count: int) -> Judgement:
    """Judgement of `count` parents by that of their parts.

    A parent may match if a part may, and matches all if it has parts and each of them does.
    """
    inhabited = _any(np.ones(inner.count, np.bool_), parent, count)

    def every(part: Flags) -> Flags:
        return inhabited & ~_any(~part, parent, count)

    return Judgement(
        kept=_any(inner.kept, parent, count),
        every=every(inner.every),
        kept_without_nan=_any(inner.kept_without_nan, parent, count),
        kept_without_join=_any(inner.kept_without_join, parent, count),
        conjunct_kept=tuple(_any(part, parent, count) for part in inner.conjunct_kept),
        conjunct_every=tuple(every(part) for part in inner.conjunct_every),
    )


def _any(part: Flags, parent: npt.NDArray[np.int64], count: int) -> Flags:
    found: Flags = np.bincount(parent[part], minlength=count).astype(np.bool_)
    return found


def place(inner: Judgement, at: npt.NDArray[np.int64], outer: Judgement) -> Judgement:
    """`outer` with the containers at `at` judged by `inner` instead."""

    def put(whole: Flags, part: Flags) -> Flags:
        copy = whole.copy()
        copy[at] = part
        return copy

    return Judgement(
        kept=put(outer.kept, inner.kept),
        every=put(outer.every, inner.every),
        kept_without_nan=put(outer.kept_without_nan, inner.kept_without_nan),
        kept_without_join=put(outer.kept_without_join, inner.kept_without_join),
        conjunct_kept=tuple(map(put, outer.conjunct_kept, inner.conjunct_kept)),
        conjunct_every=tuple(map(put, outer.conjunct_every, inner.conjunct_every)),
    )
