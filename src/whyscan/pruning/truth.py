"""The set of SQL truth values still possible, container by container.

Each of the four questions is answered when somebody asks: pruning needs only `true`, and the
other three would cost as much again.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.interval import Interval
from whyscan.pruning.mask import Mask, all_of, any_of, both, either, materialise, may, opposite
from whyscan.tree.lazy import lazy
from whyscan.tree.types import BOOLEAN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Verdict(IntEnum):
    """What a predicate makes of a container."""

    NONE = 0
    SOME = 1
    ALL = 2


class Truth(Struct, frozen=True, dict=True):
    """May a row be TRUE, FALSE, NULL, or raise? Given as questions, kept as answers."""

    if_true: Callable[[], Mask]
    if_false: Callable[[], Mask]
    if_null: Callable[[], Mask]
    if_raises: Callable[[], Mask]

    @lazy
    def true(self) -> Mask:
        return self.if_true()

    @lazy
    def false(self) -> Mask:
        return self.if_false()

    @lazy
    def null(self) -> Mask:
        return self.if_null()

    @lazy
    def raises(self) -> Mask:
        return self.if_raises()


def fixed(*, true: Mask = False, false: Mask = False, null: Mask = False) -> Truth:
    """A truth set that is known."""
    return Truth(lambda: true, lambda: false, lambda: null, lambda: False)


ANY = Truth(lambda: True, lambda: True, lambda: True, lambda: True)
"""What we cannot interpret: all three, or an error."""


def negation(a: Truth) -> Truth:
    """NOT a: swap TRUE and FALSE, keep NULL."""
    return Truth(lambda: a.false, lambda: a.true, lambda: a.null, lambda: a.raises)


def conjunction(operands: Sequence[Truth]) -> Truth:
    """a AND b: TRUE if all are, FALSE if any is, NULL if none is FALSE and some is NULL."""
    return Truth(
        lambda: all_of(a.true for a in operands),
        lambda: any_of(a.false for a in operands),
        lambda: both(
            any_of(a.null for a in operands),
            all_of(either(a.true, a.null) for a in operands),
        ),
        lambda: any_of(a.raises for a in operands),
    )


def disjunction(operands: Sequence[Truth]) -> Truth:
    """a OR b: NOT (NOT a AND NOT b)."""
    return negation(conjunction([negation(a) for a in operands]))


def is_null(interval: Interval) -> Truth:
    """x IS NULL: never NULL itself."""
    return Truth(
        lambda: interval.null,
        lambda: interval.present,
        lambda: False,
        lambda: interval.raises,
    )


def of_boolean(interval: Interval) -> Truth:
    """A boolean expression as a predicate: TRUE unless its upper bound is FALSE, and so on."""
    return Truth(
        lambda: both(interval.value, may(lambda upper: upper, interval.upper)),
        lambda: both(interval.value, may(pc.invert, interval.lower)),
        lambda: interval.null,
        lambda: interval.raises,
    )


def to_boolean(truth: Truth) -> Interval:
    """A predicate as a boolean expression: [FALSE, TRUE] where both are possible."""
    return Interval(
        BOOLEAN,
        _bound(opposite(truth.false)),
        _bound(truth.true),
        value=either(truth.true, truth.false),
        null=truth.null,
        raises=truth.raises,
    )


def _bound(mask: Mask) -> pa.Array | pa.Scalar:
    return pa.scalar(mask) if isinstance(mask, bool) else mask


def pruned(truth: Truth) -> Mask:
    """TRUE is impossible."""
    return opposite(truth.true)


def matches_all(truth: Truth) -> Mask:
    """Only TRUE is possible, and nothing raises."""
    return both(truth.true, opposite(truth.false), opposite(truth.null), opposite(truth.raises))


def verdicts(truth: Truth, count: int) -> pa.Array:
    """One `Verdict` a container, as int8."""
    every = materialise(matches_all(truth), count).cast(pa.int8())
    return pc.add(materialise(truth.true, count).cast(pa.int8()), every)
