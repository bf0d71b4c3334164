"""Functions that choose among their arguments. They are not strict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.pruning.functions.function import Argument, ScalarFunction, by_type, type_of_first
from whyscan.pruning.functions.rules import as_vector
from whyscan.pruning.interval import (
    Interval,
    greatest,
    hull,
    inner,
    least,
    may_be_equal,
    may_differ,
    restrict,
)
from whyscan.pruning.mask import Mask, Vector, all_of, any_of, both, either, keep, opposite
from whyscan.tree.types import BOOLEAN, NullType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tree.types import Type


def coalesced(intervals: Sequence[Interval]) -> Interval:
    """The first argument that is not NULL: an argument counts where all before it may be NULL."""
    result = intervals[-1]
    for earlier in reversed(intervals[:-1]):
        result = _union(replace(earlier, null=False), restrict(result, earlier.null))
    return result


def _union(first: Interval, second: Interval) -> Interval:
    """The hull of two intervals; a bare NULL takes the type of the other interval."""
    return hull(second, first) if isinstance(first.type, NullType) else hull(first, second)


def _nullif(kind: Type, a: Interval, b: Interval) -> Interval:
    """nullif(a, b): NULL if a = b, else a."""
    return replace(
        a,
        type=kind,
        value=both(a.value, either(may_differ(a, b), b.null)),
        null=either(a.null, may_be_equal(a, b)),
        raises=either(a.raises, b.raises),
    )


def _isnan(kind: Type, x: Interval) -> Interval:
    """isnan(x): FALSE for NULL, never NULL itself."""
    may_not = either(x.value, x.null)
    return Interval(
        kind,
        as_vector(opposite(may_not)),
        as_vector(x.nan),
        value=either(x.nan, may_not),
        null=False,
        raises=x.raises,
    )


def _nanvl(kind: Type, a: Interval, b: Interval) -> Interval:
    """nanvl(a, b): a, or b if a is NaN."""
    return replace(hull(replace(a, nan=False), restrict(b, a.nan)), type=kind)


def _least(kind: Type, *arguments: Interval) -> Interval:
    """least(a, …) ignores NULL: it is at most any argument that is certainly a value.

    NaN is the greatest value: the result is NaN only if every argument is NaN or NULL.
    """
    lower, upper = _hulls(arguments)
    for x in arguments:
        sure = both(x.value, opposite(x.null), opposite(x.nan))
        upper = inner(least, upper, keep(sure, x.upper))
    nan = both(any_of(x.nan for x in arguments), all_of(either(x.nan, x.null) for x in arguments))
    return _extreme(kind, arguments, (lower, upper), nan)


def _greatest(kind: Type, *arguments: Interval) -> Interval:
    """greatest(a, …) ignores NULL: it is at least any argument that is certainly not NULL.

    One NaN makes the result NaN, so the bounds are those of arguments that are all values.
    """
    lower, upper = _hulls(arguments)
    for x in arguments:
        sure = both(x.value, opposite(x.null))
        lower = inner(greatest, lower, keep(sure, x.lower))
    result = _extreme(kind, arguments, (lower, upper), any_of(x.nan for x in arguments))
    only_nan = any_of(both(x.nan, opposite(x.value), opposite(x.null)) for x in arguments)
    return replace(result, value=both(result.value, opposite(only_nan)))


def _extreme(
    kind: Type,
    arguments: Sequence[Interval],
    bounds: tuple[Vector | None, Vector | None],
    nan: Mask,
) -> Interval:
    return Interval(
        kind,
        *bounds,
        value=any_of(x.value for x in arguments),
        null=all_of(x.null for x in arguments),
        nan=nan,
        raises=any_of(x.raises for x in arguments),
    )


def _hulls(arguments: Sequence[Interval]) -> tuple[Vector | None, Vector | None]:
    union = arguments[0]
    for x in arguments[1:]:
        union = _union(union, x)
    return union.lower, union.upper


_TWO = (Argument.ANY, Argument.ANY)

CONDITIONAL = (
    ScalarFunction("greatest", _TWO, type_of_first, by_type(_greatest), repeats=True, strict=False),
    ScalarFunction("isnan", (Argument.DOUBLE,), BOOLEAN, by_type(_isnan), strict=False),
    ScalarFunction("least", _TWO, type_of_first, by_type(_least), repeats=True, strict=False),
    ScalarFunction("nanvl", _TWO, type_of_first, by_type(_nanvl), strict=False),
    ScalarFunction("nullif", _TWO, type_of_first, by_type(_nullif), strict=False),
)
