"""Intervals: between which values an expression lies, for every container of a batch at once.

An interval keeps four facts apart. A row of a container may be a *value* between two bounds,
*NULL*, *NaN*, or it may *raise* an error. A bound contains the values; no row needs to have the
bound as its value. An unknown bound is a null slot of the array, or None if it is unknown in every
container.
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
    has_value,
    keep,
    may,
    opposite,
    simplified,
    surely,
)
from whyscan.tree.types import FloatType, NullType, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from whyscan.tree.nodes import Literal

    Extreme = Callable[[Vector, Vector], Vector]


class Interval(Struct, frozen=True):
    """The possible values of one expression, for each container of a batch.

    `lower` and `upper` are inclusive and have the Arrow type of `type` (see tree/arrow.py).
    `value`: some row may be neither NULL nor NaN. `counted` is no where the format has no number of
    NULLs; there `null` is yes, because a NULL is possible.
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
        """Both bounds are the same object, so they are equal wherever they are known."""
        return self.lower is self.upper

    def point(self) -> Mask:
        """Both bounds are known and equal: every value of the container is this one value."""
        if self.is_point:
            return has_value(self.lower)
        return surely(equal, self.lower, self.upper)

    def map(self, change: Callable[[pa.Array], pa.Array]) -> Interval:
        """The interval with `change` applied to each of its arrays; a shared bound stays shared."""

        def bound(values: Vector | None) -> Vector | None:
            return change(values) if isinstance(values, pa.Array) else values

        def mask(flags: Mask) -> Mask:
            return flags if isinstance(flags, bool) else simplified(change(flags))

        lower = bound(self.lower)
        return replace(
            self.map_masks(mask),
            lower=lower,
            upper=lower if self.is_point else bound(self.upper),
            counted=mask(self.counted),
        )

    def map_bounds(self, change: Callable[[Vector | None], Vector | None]) -> Interval:
        """The interval with `change` applied to its bounds; a shared bound stays shared."""
        lower = change(self.lower)
        return replace(self, lower=lower, upper=lower if self.is_point else change(self.upper))

    def map_masks(self, change: Callable[[Mask], Mask]) -> Interval:
        """The interval with `change` applied to what is possible: value, NULL, NaN, error."""
        return replace(
            self,
            value=change(self.value),
            null=change(self.null),
            nan=change(self.nan),
            raises=change(self.raises),
        )


def anything(kind: Type, *, raises: Mask = False) -> Interval:
    """The interval that excludes nothing: any value, NULL, and NaN if the type has NaN."""
    return Interval(kind, None, None, nan=isinstance(kind, FloatType), raises=raises)


def only_null(kind: Type) -> Interval:
    """The interval of a column in which every row is NULL."""
    return Interval(kind, None, None, value=False, null=True)


def between(kind: Type, lower: Vector | None, upper: Vector | None) -> Interval:
    """The interval of values from lower to upper: no NULL, no NaN."""
    return Interval(kind, lower, upper, null=False)


def points(kind: Type, values: pa.Array, null: Mask) -> Interval:
    """The interval with one value per container: that value, or NULL where `null` is yes, or NaN.

    A slot that is null although `null` is no holds a value that could not be read: any value is
    possible there. The masks come from the kernels of mask.py, which give a constant where all
    containers agree.
    """
    nan = surely(pc.is_nan, values) if pa.types.is_floating(values.type) else False
    point = keep(opposite(nan), values)
    unread = both(opposite(has_value(values)), opposite(null))
    return Interval(
        kind,
        point,
        point,
        value=either(both(has_value(values), opposite(nan)), unread),
        null=null,
        nan=either(nan, unread) if isinstance(kind, FloatType) else False,
    )


def of_literal(literal: Literal) -> Interval:
    """The interval of a literal: one point, only NULL, or only NaN."""
    if literal.value is None or isinstance(literal.type, NullType):
        return only_null(literal.type)
    if isinstance(literal.value, float) and literal.value != literal.value:
        return Interval(literal.type, None, None, value=False, null=False, nan=True)
    point = literal.scalar
    return between(literal.type, point, point)


def restrict(interval: Interval, mask: Mask) -> Interval:
    """The same interval where the mask says yes; elsewhere no value, NULL, NaN or error."""
    return interval.map_masks(lambda possible: both(possible, mask))


def hull(first: Interval, second: Interval) -> Interval:
    """The smallest interval that contains both. An interval without values adds no bounds."""
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
    """The interval that both intervals allow. Where their bounds cross, the first one wins."""
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
    """The tighter of two bounds; `extreme` picks it. An unknown bound is ignored."""
    if a is None or b is None:
        return b if a is None else a
    return pc.coalesce(extreme(a, b), a, b)


def least(a: Vector, b: Vector) -> Vector:
    """The lesser of two bounds, unknown where one is. Arrow has no such boolean kernel."""
    if pa.types.is_boolean(a.type):
        return pc.and_(a, b)
    return pc.min_element_wise(a, b, skip_nulls=False)


def greatest(a: Vector, b: Vector) -> Vector:
    """The greater of two bounds, unknown where one of them is."""
    if pa.types.is_boolean(a.type):
        return pc.or_(a, b)
    return pc.max_element_wise(a, b, skip_nulls=False)


# Comparison kernels. Decimals of different scales are cast to 76 digits: 38 digits may overflow.


def _comparable(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    if pa.types.is_decimal(a.type) and pa.types.is_decimal(b.type) and a.type != b.type:
        common = pa.decimal256(76, max(a.type.scale, b.type.scale))
        return a.cast(common), b.cast(common)
    return a, b


def less(a: Vector, b: Vector) -> Vector:
    """a < b, unknown where an operand is."""
    return pc.less(*_comparable(a, b))


def less_equal(a: Vector, b: Vector) -> Vector:
    """a <= b, unknown where an operand is."""
    return pc.less_equal(*_comparable(a, b))


def greater(a: Vector, b: Vector) -> Vector:
    """a > b, unknown where an operand is."""
    return less(b, a)


def equal(a: Vector, b: Vector) -> Vector:
    """a = b, unknown where an operand is."""
    return pc.equal(*_comparable(a, b))


# Which order is possible between a row of a and a row of b, both not NULL. NaN is the greatest
# value and equals itself, as in Spark, Trino and DuckDB.


def may_be_less(a: Interval, b: Interval) -> Mask:
    """Some value of a may be < some value of b: lower(a) < upper(b), or b is NaN and a is not."""
    values = both(a.value, b.value, may(less, a.lower, b.upper))
    return either(values, both(a.value, b.nan))


def may_be_less_equal(a: Interval, b: Interval) -> Mask:
    """Some value of a may be <= some value of b."""
    values = both(a.value, b.value, may(less_equal, a.lower, b.upper))
    return either(values, both(a.present, b.nan))


def may_be_equal(a: Interval, b: Interval) -> Mask:
    """Some value of a may equal some value of b: their bounds overlap, or both may be NaN."""
    if a.is_point and b.is_point:
        overlap = may(equal, a.lower, b.lower)
    else:
        overlap = both(may(less_equal, a.lower, b.upper), may(less_equal, b.lower, a.upper))
    return either(both(a.value, b.value, overlap), both(a.nan, b.nan))


def may_differ(a: Interval, b: Interval) -> Mask:
    """Some value of a may differ from some value of b: they are not the same single point."""
    return either(may_be_less(a, b), may_be_less(b, a))


def keep_bounds(interval: Interval, mask: Mask) -> Interval:
    """The same interval with its bounds where the mask says yes, and unknown bounds elsewhere."""
    return replace(interval, lower=keep(mask, interval.lower), upper=keep(mask, interval.upper))
