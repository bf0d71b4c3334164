"""`+` and `-` on dates, timestamps and intervals.

| operands | law |
|---|---|
| date ± days, date ± interval of days | days on the calendar; wraps around |
| date, timestamp ± months | the same day of another month, or its last; raises on overflow |
| timestamp ± microseconds | whole days on the clock, then the rest in real time; raises |
| date - date, timestamp - timestamp | the difference on the calendar or on the clock |
| interval ± interval | of one kind; raises on overflow |

Months and whole days are added on the zone's clock, which may be set forward or back in between:
`ts + INTERVAL 24 HOURS` is the same time tomorrow (*measured*, Spark).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.rules import constant, mapped
from whyscan.pruning.functions.time import gregorian
from whyscan.pruning.functions.time.casts import as_type
from whyscan.pruning.functions.time.kernels import (
    LEAST,
    MICROS_A_DAY,
    MICROS_A_SECOND,
    SECONDS_A_DAY,
    bounds_of,
    clock_type,
    differences,
    each,
    floor_divide,
    overflowing,
    pairwise,
    plus,
    sums,
    times,
    wrapping,
)
from whyscan.pruning.functions.time.zone_clock import through_local, to_local
from whyscan.pruning.interval import Interval, anything
from whyscan.pruning.mask import both, choose, may, unknown_as
from whyscan.tree.nodes import Arithmetic, Operation
from whyscan.tree.types import (
    DATE,
    TIMESTAMP_NTZ,
    DateType,
    IntegerType,
    IntervalType,
    TimestampType,
)

if TYPE_CHECKING:
    from whyscan.pruning.functions.time.kernels import Bounds
    from whyscan.pruning.mask import Vector
    from whyscan.tree.zones import Zone


def temporal_arithmetic(
    expression: Arithmetic, left: Interval, right: Interval, zone: Zone
) -> Interval | None:
    """`left ± right` if one of them is a date, a timestamp or an interval; else None."""
    if expression.operation not in (Operation.ADD, Operation.SUBTRACT):
        return None
    adding = expression.operation is Operation.ADD
    match left.type, right.type:
        case IntegerType() | IntervalType(), DateType() | TimestampType() if adding:
            return _moved(expression, right, left, zone)
        case (DateType(), IntegerType()) | (DateType() | TimestampType(), IntervalType()):
            return _moved(expression, left, right if adding else _negated(right), zone)
        case DateType(), DateType() if not adding:
            return _days_between(expression, left, right)
        case TimestampType(), TimestampType() if not adding:
            return _time_between(expression, left, right, zone)
        case IntervalType(), IntervalType() if left.type == right.type:
            bounds = sums(left, right) if adding else differences(left, right)
            return overflowing(expression.type, bounds, [left, right])
        case DateType() | TimestampType(), _:
            return anything(expression.type, raises=True)
        case _:
            return None


def _negated(interval: Interval) -> Interval:
    """-x: the bounds change places. The least number has no opposite: its bound is unknown."""
    lower, upper = each(_opposite, (interval.upper, interval.lower))
    return replace(interval, lower=lower, upper=upper)


def plus_months(dates: Interval, months: Interval) -> Interval:
    """A date plus months: never decreases in either operand. Raises on overflow."""
    (low, high), (less, more) = bounds_of(dates), bounds_of(months)
    bounds = pairwise(gregorian.plus_months, (low, less), (high, more))
    return overflowing(DATE, bounds, [dates, months])


def _moved(expression: Arithmetic, moment: Interval, by: Interval, zone: Zone) -> Interval:
    """A date or timestamp plus a number of days or an interval."""
    match expression.type, by.type:
        case DateType(), IntegerType():
            return wrapping(DATE, sums(moment, by), [moment, by])
        case DateType(), IntervalType(months=True):
            return plus_months(moment, by)
        case DateType(), IntervalType():
            return wrapping(DATE, sums(moment, _whole_days(by)), [moment, by])
        case TimestampType() as kind, IntervalType():
            moments = as_type(moment, kind, zone)
            return overflowing(kind, _clocked(moments, by, zone), [moments, by])
        case _:
            return anything(expression.type, raises=True)


def _clocked(moments: Interval, by: Interval, zone: Zone) -> Bounds:
    """Timestamps plus an interval; unknown bounds if the interval differs between containers."""
    amount, kind = constant(by), clock_type(moments)
    if not isinstance(amount, int):
        return None, None
    per_second = kind.unit.per_second
    if by.type == IntervalType(months=True):
        return through_local(moments, partial(_months_later, amount, per_second), zone)
    # Java's division: the days of -25 hours are -1, and the rest is -1 hour.
    days = abs(amount) // MICROS_A_DAY * (1 if amount > 0 else -1)
    rest = (amount - days * MICROS_A_DAY) * (per_second // MICROS_A_SECOND)
    ticks = days * SECONDS_A_DAY * per_second
    later = partial(each, lambda reading: plus(reading, ticks))
    moved = through_local(moments, later, zone) if days else bounds_of(moments)
    return each(lambda instants: plus(instants, rest), moved)


def _months_later(months: int, per_second: int, bounds: Bounds) -> Bounds:
    """Clock readings plus months: may decrease where two days become the last day of a month.

    January 30th, 20:00 and January 31st, 05:00 both become February 28th. The lower bound is then
    the first reading of its day, and the upper bound the last reading of its day.
    """
    a_day = SECONDS_A_DAY * per_second
    lower, upper = bounds
    first, last = each(lambda ticks: floor_divide(ticks, a_day), bounds)
    several = may(pc.less, first, last)

    def moved(ticks: Vector, neighbour: int, time: int) -> Vector:
        days = floor_divide(ticks, a_day)
        target = gregorian.plus_months(days, months)
        joined = pc.equal(gregorian.plus_months(pc.add(days, neighbour), months), target)
        time_of_day = pc.subtract(ticks, pc.multiply(days, a_day))
        at = choose(both(several, unknown_as(joined, verdict=True)), pa.scalar(time), time_of_day)
        return plus(times(target, a_day), at)

    return (
        mapped(lambda ticks: moved(ticks, 1, 0), lower),
        mapped(lambda ticks: moved(ticks, -1, a_day - 1), upper),
    )


def _days_between(expression: Arithmetic, left: Interval, right: Interval) -> Interval:
    """Whole days, as the interval type that Spark returns."""
    bounds = each(lambda days: times(days, MICROS_A_DAY), differences(left, right))
    return overflowing(expression.type, bounds, [left, right])


def _time_between(expression: Arithmetic, left: Interval, right: Interval, zone: Zone) -> Interval:
    """The difference of the clock readings, in microseconds."""
    first, second = (as_type(to_local(x, zone), TIMESTAMP_NTZ, zone) for x in (left, right))
    return overflowing(expression.type, differences(first, second), [left, right])


def _whole_days(by: Interval) -> Interval:
    """The days of an interval, truncated towards zero."""
    lower, upper = each(lambda n: pc.divide(n, MICROS_A_DAY), bounds_of(by))
    return replace(by, lower=lower, upper=upper)


def _opposite(numbers: Vector) -> Vector:
    safe = pc.if_else(pc.equal(numbers, LEAST), pa.scalar(None, numbers.type), numbers)
    return pc.negate(safe)
