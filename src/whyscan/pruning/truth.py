"""Truth sets: the SQL truth values that are still possible, for each container.

A truth set computes each of its four masks on first use: pruning needs only `true`, and the other
three masks would cost as much again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.interval import Interval
from whyscan.pruning.mask import Mask, all_of, any_of, both, either, may, opposite
from whyscan.tree.lazy import lazy
from whyscan.tree.types import BOOLEAN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Truth(Struct, frozen=True, dict=True):
    """Four masks: some row may make the predicate TRUE, FALSE or NULL, or may raise an error.

    The fields are functions that compute the masks; the properties call them once and cache the
    result.
    """

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

    def map(self, change: Callable[[Mask], Mask]) -> Truth:
        """The truth set with `change` applied to each mask."""
        return Truth(
            lambda: change(self.true),
            lambda: change(self.false),
            lambda: change(self.null),
            lambda: change(self.raises),
        )

    def only_if(
        self,
        *,
        true: Callable[[], Mask] = lambda: True,
        false: Callable[[], Mask] = lambda: True,
        null: Callable[[], Mask] = lambda: True,
    ) -> Truth:
        """The truth set in which a value is possible only where its condition says yes, too."""

        def narrowed(mask: Mask, condition: Callable[[], Mask]) -> Mask:
            return False if mask is False else both(mask, condition())

        return Truth(
            lambda: narrowed(self.true, true),
            lambda: narrowed(self.false, false),
            lambda: narrowed(self.null, null),
            lambda: self.raises,
        )


def fixed(*, true: Mask = False, false: Mask = False, null: Mask = False) -> Truth:
    """A truth set whose masks are already computed. It never raises."""
    return Truth(lambda: true, lambda: false, lambda: null, lambda: False)


ANY = Truth(lambda: True, lambda: True, lambda: True, lambda: True)
"""The truth set of an expression that whyscan cannot interpret: all three values, or an error."""


def negation(a: Truth) -> Truth:
    """NOT a: swap TRUE and FALSE, keep NULL."""
    return Truth(lambda: a.false, lambda: a.true, lambda: a.null, lambda: a.raises)


def conjunction(operands: Sequence[Truth]) -> Truth:
    """a AND b: TRUE if all are TRUE, FALSE if any is, NULL if none is FALSE and some is NULL."""
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
    """x IS NULL: TRUE where x may be NULL, FALSE where x may be present, never NULL itself."""
    return Truth(
        lambda: interval.null,
        lambda: interval.present,
        lambda: False,
        lambda: interval.raises,
    )


def of_boolean(interval: Interval) -> Truth:
    """The truth set of a boolean expression: TRUE is possible unless its upper bound is FALSE."""
    return Truth(
        lambda: both(interval.value, may(lambda upper: upper, interval.upper)),
        lambda: both(interval.value, may(pc.invert, interval.lower)),
        lambda: interval.null,
        lambda: interval.raises,
    )


def to_boolean(truth: Truth) -> Interval:
    """The interval of a predicate used as a value: [FALSE, TRUE] where both are possible."""
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


def matches_all(truth: Truth) -> Mask:
    """Only TRUE is possible, and nothing raises."""
    return both(truth.true, opposite(truth.false), opposite(truth.null), opposite(truth.raises))
