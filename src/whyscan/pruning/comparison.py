"""Comparisons of two intervals: which truth values `a operator b` may have.

The intervals may be those of columns, literals or any other expressions.

| operator | TRUE possible | FALSE possible |
|---|---|---|
| a = b | may be equal | may differ |
| a < b | may be less | b may be less or equal |
| a <=> b | may be equal, or both NULL | may differ, or one of them NULL |
| a = a, a <= a, a >= a | a may be a value | never |
| a <> a, a < a, a > a | never | a may be a value |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.pruning.interval import (
    Interval,
    may_be_equal,
    may_be_less,
    may_be_less_equal,
    may_differ,
)
from whyscan.pruning.mask import Mask, both, either
from whyscan.pruning.truth import Truth, negation
from whyscan.tree.nodes import Comparator

if TYPE_CHECKING:
    from collections.abc import Callable

    Possibility = Callable[[Interval, Interval], Mask]


def compare(operator: Comparator, a: Interval, b: Interval) -> Truth:
    """`a operator b` with three-valued logic."""
    match operator:
        case Comparator.EQUAL:
            return _ordered(a, b, may_be_equal, may_differ)
        case Comparator.NOT_EQUAL:
            return negation(_ordered(a, b, may_be_equal, may_differ))
        case Comparator.LESS:
            return _less(a, b)
        case Comparator.GREATER:
            return _less(b, a)
        case Comparator.GREATER_EQUAL:
            return negation(_less(a, b))
        case Comparator.LESS_EQUAL:
            return negation(_less(b, a))
        case Comparator.NULL_SAFE_EQUAL:
            return _null_safe_equal(a, b)


def compare_with_itself(operator: Comparator, a: Interval) -> Truth:
    """`a operator a`: both sides have the same value in every row. NaN equals itself."""
    if operator is Comparator.NULL_SAFE_EQUAL:
        return Truth(lambda: True, lambda: False, lambda: False, lambda: a.raises)
    same = operator in (Comparator.EQUAL, Comparator.LESS_EQUAL, Comparator.GREATER_EQUAL)
    return Truth(
        lambda: same and a.present,
        lambda: not same and a.present,
        lambda: a.null,
        lambda: a.raises,
    )


def with_unordered_nan(
    operator: Comparator, compared: Truth, a: Interval, b: Interval, *, never_greatest: bool
) -> Truth:
    """The truth of `a operator b` if NaN may be unordered: FALSE beside NaN, for `<>` TRUE.

    The result for the greatest NaN stays possible, too: engines of one dialect disagree. With
    `never_greatest` it does not where every row has NaN, because rows are judged by one rule.
    """
    if operator is Comparator.NOT_EQUAL:
        equal = negation(compared)
        return negation(
            with_unordered_nan(Comparator.EQUAL, equal, a, b, never_greatest=never_greatest)
        )
    return Truth(
        lambda: both(compared.true, a.value, b.value) if never_greatest else compared.true,
        lambda: either(compared.false, both(a.nan, b.present), both(a.present, b.nan)),
        lambda: compared.null,
        lambda: compared.raises,
    )


def with_signed_nan(compared: Truth, a: Interval, b: Interval) -> Truth:
    """The truth of a comparison if a NaN may be the least value, too: beside NaN all may be."""
    beside_nan = either(both(a.nan, b.present), both(a.present, b.nan))
    return Truth(
        lambda: either(compared.true, beside_nan),
        lambda: either(compared.false, beside_nan),
        lambda: compared.null,
        lambda: compared.raises,
    )


def _less(a: Interval, b: Interval) -> Truth:
    return _ordered(a, b, may_be_less, lambda x, y: may_be_less_equal(y, x))


def _ordered(a: Interval, b: Interval, if_true: Possibility, if_false: Possibility) -> Truth:
    """NULL if a side is NULL; otherwise `if_true` and `if_false` give the masks."""
    return Truth(
        lambda: if_true(a, b),
        lambda: if_false(a, b),
        lambda: either(a.null, b.null),
        lambda: either(a.raises, b.raises),
    )


def _null_safe_equal(a: Interval, b: Interval) -> Truth:
    """a <=> b is never NULL: two NULLs are equal, a NULL and a value are not.

    Spark may skip an operand that its type keeps from being equal. The error of that operand then
    becomes FALSE.
    """
    return Truth(
        lambda: either(may_be_equal(a, b), both(a.null, b.null)),
        lambda: either(
            may_differ(a, b),
            both(a.null, b.present),
            both(a.present, b.null),
            a.raises,
            b.raises,
        ),
        lambda: False,
        lambda: either(a.raises, b.raises),
    )
