"""Int64 kernels for dates and timestamps, as days or units since 1970-01-01.

Every kernel takes arrays and scalars. An unknown operand gives an unknown result, and so does an
overflow: no kernel wraps around.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.rules import mapped, strict
from whyscan.pruning.interval import Interval, keep_bounds
from whyscan.pruning.mask import Mask, Vector, both, either, opposite, surely
from whyscan.tree.types import DateType, TimestampType, Type

if TYPE_CHECKING:
    from collections.abc import Sequence

    Kernel = Callable[[Vector], Vector]

INT64 = pa.int64()
LEAST, GREATEST = -(1 << 63), (1 << 63) - 1
FIRST_DAY, LAST_DAY = -(1 << 31), (1 << 31) - 1
SECONDS_A_DAY = 86_400
MICROS_A_SECOND = 1_000_000
MICROS_A_DAY = SECONDS_A_DAY * MICROS_A_SECOND

_Kernel = TypeVar("_Kernel", bound=Callable[..., Vector])
Bounds = tuple[Vector | None, Vector | None]


def ticks_of(values: Vector) -> Vector:
    """Days or units as int64."""
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    return values.cast(INT64)


def from_ticks(ticks: Vector, kind: Type) -> Vector:
    """Int64 as bounds of `kind`; unknown where a date needs more than 32 bits."""
    match kind:
        case DateType():
            return contained(ticks, FIRST_DAY, LAST_DAY).cast(pa.int32()).cast(pa.date32())
        case TimestampType():
            return ticks.cast(pa.timestamp(kind.unit.value))
        case _:
            return ticks


def contained(values: Vector, least: int, greatest: int) -> Vector:
    """The values from `least` to `greatest`; unknown outside."""
    if isinstance(values, pa.Scalar):
        inside = values.is_valid and least <= values.as_py() <= greatest
        return values if inside else pa.scalar(None, values.type)
    inside = pc.and_(pc.greater_equal(values, least), pc.less_equal(values, greatest))
    return pc.if_else(inside, values, pa.scalar(None, values.type))


def by_number(compute: Callable[..., int]) -> Callable[[_Kernel], _Kernel]:
    """A decorator: one number is computed by `compute` in Python, which is faster than by Arrow."""

    def decorate(kernel: _Kernel) -> _Kernel:
        @wraps(kernel)
        def computed(*operands: Vector | int) -> Vector:
            if any(isinstance(operand, pa.Array) for operand in operands):
                return kernel(*operands)
            numbers = [x.as_py() if isinstance(x, pa.Scalar) else x for x in operands]
            result = None if None in numbers else compute(*numbers)
            fits = result is not None and LEAST <= result <= GREATEST
            return pa.scalar(result if fits else None, INT64)

        return cast("_Kernel", computed)

    return decorate


@by_number(operator.add)
def plus(values: Vector, change: Vector | int) -> Vector:
    """values + change; unknown on overflow."""
    total = pc.add(values, change)
    # Two's complement: a sum overflowed if it is on the wrong side of its first term.
    right = pc.equal(pc.less(total, values), pc.less(change, 0))
    return pc.if_else(right, total, pa.scalar(None, INT64))


@by_number(operator.sub)
def minus(values: Vector, change: Vector) -> Vector:
    """values - change; unknown on overflow."""
    rest = pc.subtract(values, change)
    right = pc.equal(pc.less(rest, values), pc.greater(change, 0))
    return pc.if_else(right, rest, pa.scalar(None, INT64))


@by_number(operator.mul)
def times(values: Vector, factor: int) -> Vector:
    """values * factor, for a factor above zero; unknown on overflow."""
    return pc.multiply(contained(values, -(-LEAST // factor), GREATEST // factor), factor)


@by_number(operator.floordiv)
def floor_divide(values: Vector, divisor: int) -> Vector:
    """The quotient rounded down, for a divisor above zero."""
    quotient = pc.divide(values, divisor)
    return pc.subtract(quotient, pc.less(values, pc.multiply(quotient, divisor)).cast(INT64))


def floor_to(values: Vector, step: int) -> Vector:
    """The greatest multiple of `step` that is not above the value; unknown on overflow."""
    return plus(values, pc.negate(pc.modulo(values, step)))


def rescaled(values: Vector, of: TimestampType, to: TimestampType) -> Vector:
    """Units of one timestamp type as units of another; finer units are rounded down."""
    if of.unit.per_second == to.unit.per_second:
        return values
    if of.unit.per_second > to.unit.per_second:
        return floor_divide(values, of.unit.per_second // to.unit.per_second)
    return times(values, to.unit.per_second // of.unit.per_second)


def at(table: pa.Array, index: Vector) -> Vector:
    """The entries of a table at an index; unknown if the index is unknown or outside."""
    inside = contained(index, 0, len(table) - 1)
    if isinstance(inside, pa.Scalar):
        return table[inside.as_py()] if inside.is_valid else pa.scalar(None, table.type)
    return table.take(inside)


def passed(points: pa.Array, values: Vector) -> Vector:
    """The number of sorted points at or below each value."""
    return pc.search_sorted(points, values, side="right").cast(INT64)


def bounds_of(interval: Interval) -> Bounds:
    """Both bounds as int64."""
    return each(ticks_of, (interval.lower, interval.upper))


def each(kernel: Kernel, bounds: Bounds) -> Bounds:
    """Both bounds mapped by a kernel that never decreases; a point once, and it stays a point."""
    lower, upper = bounds
    first = mapped(kernel, lower)
    return first, first if upper is lower else mapped(kernel, upper)


def clock_type(interval: Interval) -> TimestampType:
    """The type of an interval of timestamps."""
    if not isinstance(interval.type, TimestampType):
        raise TypeError(f"expected timestamps, not {interval.type}")
    return interval.type


def sums(a: Interval, b: Interval) -> Bounds:
    """a + b: the sums of the bounds."""
    (low, high), (less, more) = bounds_of(a), bounds_of(b)
    return pairwise(plus, (low, less), (high, more))


def differences(a: Interval, b: Interval) -> Bounds:
    """a - b: lower(a) - upper(b) to upper(a) - lower(b)."""
    (low, high), (less, more) = bounds_of(a), bounds_of(b)
    return pairwise(minus, (low, more), (high, less))


def paired(
    kernel: Callable[[Vector, Vector], Vector], a: Vector | None, b: Vector | None
) -> Vector | None:
    """The result of the kernel for two bounds; None if one of them is unknown everywhere."""
    return None if a is None or b is None else kernel(a, b)


def pairwise(kernel: Callable[[Vector, Vector], Vector], first: Bounds, last: Bounds) -> Bounds:
    """The lower and the upper bound of an operation on two operands; of two points once."""
    lower = paired(kernel, *first)
    same = first[0] is last[0] and first[1] is last[1]
    return lower, lower if same else paired(kernel, *last)


def of_ticks(kind: Type, bounds: Bounds, arguments: Sequence[Interval]) -> Interval:
    """The result of a strict function that never raises, from its ticks."""
    return strict(kind, arguments, each(partial(from_ticks, kind=kind), bounds))


def monotone(kernel: Kernel, kind: Type, argument: Interval) -> Interval:
    """f(x) for a function that never decreases and never raises: the bounds are mapped."""
    return of_ticks(kind, each(kernel, bounds_of(argument)), [argument])


def overflowing(kind: Type, bounds: Bounds, arguments: Sequence[Interval]) -> Interval:
    """A result that raises on overflow. An unknown bound may be an overflow."""
    result = of_ticks(kind, bounds, arguments)
    return replace(result, raises=either(result.raises, both(result.value, open_ended(result))))


def wrapping(kind: Type, bounds: Bounds, arguments: Sequence[Interval]) -> Interval:
    """A result that wraps around on overflow: if one bound may overflow, both are unknown."""
    result = of_ticks(kind, bounds, arguments)
    return keep_bounds(result, opposite(open_ended(result)))


def open_ended(interval: Interval) -> Mask:
    """A bound is unknown."""
    return opposite(both(*(surely(pc.is_valid, b) for b in (interval.lower, interval.upper))))
