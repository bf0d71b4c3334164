"""Where the values of an expression lie, in every container of a batch at once.

An interval keeps four things apart that are easily confused: a row may be *a value* between
two bounds, *NULL*, *NaN*, or may *raise*. A bound contains the values; it need not be one of
them. An unknown bound is a null slot, or None where it is unknown in all containers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.pruning.mask import (
    Mask,
    Vector,
    both,
    choose,
    either,
    keep,
    known,
    may,
    opposite,
    surely,
)
from whyscan.tree.types import FloatType, NullType, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from whyscan.tree.nodes import Literal

    Extreme = Callable[[Vector, Vector], Vector]


class Interval(Struct, frozen=True):
    """One expression over a batch of containers.

    `lower` and `upper` have the Arrow type of `type` (see tree/arrow.py) and are inclusive.
    `value` says that some row may be neither NULL nor NaN. Where NULLs were not `counted`, `null`
    is yes for want of a number.
    """

    type: Type
    lower: Vector | None
    upper: Vector | None
    value: Mask = True
    null: Mask = True
    nan: Mask = False
    raises: Mask = False
    counted: Mask = True

    @property
    def present(self) -> Mask:
        """Some row may be not NULL: a value or NaN."""
        return either(self.value, self.nan)

    @property
    def is_point(self) -> bool:
        """Both bounds are one wherever they are known."""
        return self.lower is self.upper

    def point(self) -> Mask:
        """Both bounds are known and equal: every value is this one."""
        if self.is_point:
            return known(self.lower)
        return surely(equal, self.lower, self.upper)


def anything(kind: Type, *, raises: Mask = False) -> Interval:
    """Nothing is known: any value, NULL, and NaN where the type has one."""
    return Interval(kind, None, None, nan=isinstance(kind, FloatType), raises=raises)


def only_null(kind: Type) -> Interval:
    """Every row is NULL."""
    return Interval(kind, None, None, value=False, null=True)


def between(kind: Type, lower: Vector | None, upper: Vector | None) -> Interval:
    """Values from lower to upper and nothing else: no NULL, no NaN."""
    return Interval(kind, lower, upper, null=False)


def points(kind: Type, values: pa.Array, null: Mask) -> Interval:
    """One value per container: that point, or NULL where the mask says yes, or NaN.

    A slot that is null although the mask says no is a value that is not known: any value.
    The masks are made by kernels of mask.py alone: these give a constant where all agree.
    """
    nan = surely(pc.is_nan, values) if pa.types.is_floating(values.type) else False
    point = keep(opposite(nan), values)
    unread = both(opposite(known(values)), opposite(null))
    return Interval(
        kind,
        point,
        point,
        value=either(both(known(values), opposite(nan)), unread),
        null=null,
        nan=either(nan, unread) if isinstance(kind, FloatType) else False,
    )


def of_literal(literal: Literal) -> Interval:
    """A literal is an interval of one point, or NULL, or NaN."""
    if literal.value is None or isinstance(literal.type, NullType):
        return only_null(literal.type)
    if isinstance(literal.value, float) and literal.value != literal.value:
        return Interval(literal.type, None, None, value=False, null=False, nan=True)
    point = literal.scalar
    return between(literal.type, point, point)


def restrict(interval: Interval, mask: Mask) -> Interval:
    """The same where the mask says yes; nothing at all, not even an error, elsewhere."""
    return replace(
        interval,
        value=both(interval.value, mask),
        null=both(interval.null, mask),
        nan=both(interval.nan, mask),
        raises=both(interval.raises, mask),
    )


def hull(first: Interval, second: Interval) -> Interval:
    """The least interval that contains both. One that can be no value adds no bounds."""
    return Interval(
        first.type,
        _outer(least, (first, first.lower), (second, second.lower)),
        _outer(greatest, (first, first.upper), (second, second.upper)),
        value=either(first.value, second.value),
        null=either(first.null, second.null),
        nan=either(first.nan, second.nan),
        raises=either(first.raises, second.raises),
    )


def meet(first: Interval, second: Interval) -> Interval:
    """What both say. Where their bounds contradict each other the first is believed."""
    lower = inner(greatest, first.lower, second.lower)
    upper = inner(least, first.upper, second.upper)
    crossed = surely(greater, lower, upper)
    return Interval(
        first.type,
        choose(crossed, first.lower, lower),
        choose(crossed, first.upper, upper),
        value=both(first.value, either(second.value, crossed)),
        null=both(first.null, second.null),
        nan=both(first.nan, second.nan),
        raises=either(first.raises, second.raises),
        counted=either(first.counted, second.counted),
    )


def _outer(
    extreme: Extreme, left: tuple[Interval, Vector | None], right: tuple[Interval, Vector | None]
) -> Vector | None:
    (first, a), (second, b) = left, right
    if first.value is False:
        return b
    if second.value is False:
        return a
    if a is None and b is None:
        return None
    a_or_b = choose(either(first.value, opposite(second.value)), a, b)
    b_or_a = choose(either(second.value, opposite(first.value)), b, a)
    if a_or_b is None or b_or_a is None:
        return None
    return extreme(a_or_b, b_or_a)


def inner(extreme: Extreme, a: Vector | None, b: Vector | None) -> Vector | None:
    """The tighter of two bounds, `extreme` being which; an unknown one does not count."""
    if a is None or b is None:
        return b if a is None else a
    return pc.coalesce(extreme(a, b), a, b)


def least(a: Vector, b: Vector) -> Vector:
    """The lesser of two bounds, unknown where either is. Arrow has none for booleans."""
    if pa.types.is_boolean(a.type):
        return pc.and_(a, b)
    return pc.min_element_wise(a, b, skip_nulls=False)


def greatest(a: Vector, b: Vector) -> Vector:
    """The greater of two bounds, unknown where either is."""
    if pa.types.is_boolean(a.type):
        return pc.or_(a, b)
    return pc.max_element_wise(a, b, skip_nulls=False)


# Comparison kernels. Decimals of different scales meet in 76 digits: in 38 they may overflow.


def _comparable(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    if pa.types.is_decimal(a.type) and pa.types.is_decimal(b.type) and a.type != b.type:
        common = pa.decimal256(76, max(a.type.scale, b.type.scale))
        return a.cast(common), b.cast(common)
    return a, b


def less(a: Vector, b: Vector) -> Vector:
    """a < b, unknown where either is."""
    return pc.less(*_comparable(a, b))


def less_equal(a: Vector, b: Vector) -> Vector:
    """a <= b, unknown where either is."""
    return pc.less_equal(*_comparable(a, b))


def greater(a: Vector, b: Vector) -> Vector:
    """a > b, unknown where either is."""
    return less(b, a)


def equal(a: Vector, b: Vector) -> Vector:
    """a = b, unknown where either is."""
    return pc.equal(*_comparable(a, b))


# How a row of one may stand to a row of the other, both not NULL. NaN is the greatest value
# and equal to itself, as Spark, Trino and DuckDB hold it.


def may_be_less(a: Interval, b: Interval) -> Mask:
    """Some a < some b: the least a below the greatest b, or b is NaN and a is not."""
    values = both(a.value, b.value, may(less, a.lower, b.upper))
    return either(values, both(a.value, b.nan))


def may_be_less_equal(a: Interval, b: Interval) -> Mask:
    """Some a <= some b."""
    values = both(a.value, b.value, may(less_equal, a.lower, b.upper))
    return either(values, both(a.present, b.nan))


def may_be_equal(a: Interval, b: Interval) -> Mask:
    """Some a = some b: the bounds overlap, or both may be NaN."""
    if a.is_point and b.is_point:
        overlap = may(equal, a.lower, b.lower)
    else:
        overlap = both(may(less_equal, a.lower, b.upper), may(less_equal, b.lower, a.upper))
    return either(both(a.value, b.value, overlap), both(a.nan, b.nan))


def may_differ(a: Interval, b: Interval) -> Mask:
    """Some a <> some b: not the same one point."""
    return either(may_be_less(a, b), may_be_less(b, a))


def keep_bounds(interval: Interval, mask: Mask) -> Interval:
    """The same bounds, but unknown where the mask says no."""
    return replace(interval, lower=keep(mask, interval.lower), upper=keep(mask, interval.upper))
