"""The catalogue of functions: where f(x) lies when x lies in an interval.

What is not in it gives anything at all, and may raise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from whyscan.pruning import truth
from whyscan.pruning.interval import Interval, anything, hull, restrict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.predicate.tree import Arithmetic, Call, Cast, Like

Zone: TypeAlias = object


def apply(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:  # noqa: ARG001
    """A function call."""
    return anything(call.type, raises=True)


def arithmetic(
    expression: Arithmetic,
    left: Interval,  # noqa: ARG001
    right: Interval,  # noqa: ARG001
    zone: Zone,  # noqa: ARG001
) -> Interval:
    """An arithmetic operation of two operands."""
    return anything(expression.type, raises=True)


def cast(interval: Interval, expression: Cast, zone: Zone) -> Interval:  # noqa: ARG001
    """The interval as another type."""
    if interval.type == expression.type:
        return interval
    return anything(expression.type, raises=True)


def coalesced(intervals: Sequence[Interval]) -> Interval:
    """The first operand that is not NULL."""
    whole = intervals[-1]
    for earlier in reversed(intervals[:-1]):
        rest = restrict(whole, earlier.null)
        whole = hull(restrict_null(earlier), rest)
    return whole


def restrict_null(interval: Interval) -> Interval:
    """The same without NULL."""
    return Interval(
        interval.type,
        interval.lower,
        interval.upper,
        value=interval.value,
        null=False,
        nan=interval.nan,
        raises=interval.raises,
    )


def like(interval: Interval, expression: Like) -> truth.Truth:  # noqa: ARG001
    """`x LIKE pattern`."""
    return truth.ANY
