"""Functions of dates and numbers that return dates, without a time zone.

| function | law |
|---|---|
| last_day, next_day | never decreases; wraps around |
| date_add, date_sub, datediff | sums and differences; wrap around (*measured*) |
| add_months | the same day of another month, or its last day; raises on overflow |
| make_date | never decreases in the year, then the month, then the day; raises for no date |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.functions.function import Argument, ScalarFunction
from whyscan.pruning.functions.time import gregorian
from whyscan.pruning.functions.time.arithmetic import plus_months
from whyscan.pruning.functions.time.casts import as_type, failing
from whyscan.pruning.functions.time.gregorian import EPOCH_YEAR, MONTHS_A_YEAR
from whyscan.pruning.functions.time.kernels import (
    bounds_of,
    contained,
    differences,
    each,
    overflowing,
    paired,
    sums,
    wrapping,
)
from whyscan.pruning.interval import Interval, anything
from whyscan.pruning.mask import Mask, both, either, opposite, surely
from whyscan.tree.nodes import CastFailure, Literal
from whyscan.tree.types import DATE, INT, IntegerType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whyscan.pruning.functions.function import Law
    from whyscan.pruning.mask import Vector
    from whyscan.tree.nodes import Call
    from whyscan.tree.zones import Zone

SHORTEST_MONTH, LONGEST_MONTH = 28, 31


def last_day(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """The last day of a date's month: never decreases; wraps around."""
    days = as_type(arguments[0], DATE, zone)
    return wrapping(call.type, each(gregorian.last_of_month, bounds_of(days)), [days])


def datediff(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """Days from the second date to the first; wraps around."""
    end, start = (as_type(argument, DATE, zone) for argument in arguments)
    days = each(lambda n: contained(n, INT.least, INT.greatest), differences(end, start))
    return wrapping(call.type, days, [end, start])


def _of_date_and_number(combined: Callable[[Interval, Interval], Interval]) -> Law:
    """A rule for a function of a date and an integer."""

    def rule(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
        if [isinstance(x.type, IntegerType) for x in arguments[1:]] != [True]:
            return anything(call.type, raises=True)
        return combined(as_type(arguments[0], DATE, zone), arguments[1])

    return rule


def _later(dates: Interval, days: Interval) -> Interval:
    """date + days: never decreases; wraps around."""
    return wrapping(DATE, sums(dates, days), [dates, days])


def _earlier(dates: Interval, days: Interval) -> Interval:
    """date - days: decreases in the days; wraps around."""
    return wrapping(DATE, differences(dates, days), [dates, days])


def make_date(call: Call, arguments: Sequence[Interval], _: Zone) -> Interval:
    """Never decreases in the year, then the month, then the day; raises if there is no date."""
    if [isinstance(x.type, IntegerType) for x in arguments] != [True] * 3:
        return anything(call.type, raises=True)
    years = bounds_of(arguments[0])
    months = _within_reach(arguments[1], MONTHS_A_YEAR)
    days = _within_reach(arguments[2], LONGEST_MONTH)
    first, last = (paired(_month_of, y, m) for y, m in zip(years, months, strict=True))
    bounds = paired(_nearest_day, first, days[0]), paired(_nearest_day, last, days[1])
    dates = overflowing(call.type, bounds, arguments)
    return failing(dates, opposite(_exist(arguments)), CastFailure.RAISE)


def _within_reach(numbers: Interval, most: int) -> tuple[Vector, Vector]:
    """Bounds from 1 to `most` where they are unknown: other numbers make no date."""
    lower, upper = bounds_of(numbers)
    first, last = pa.scalar(1, pa.int64()), pa.scalar(most, pa.int64())
    return (
        first if lower is None else pc.coalesce(lower, first),
        last if upper is None else pc.coalesce(upper, last),
    )


def _month_of(years: Vector, months: Vector) -> Vector:
    """Months since 1970, for the nearest month that exists."""
    above = pc.max_element_wise(months, 1, skip_nulls=False)
    nth = pc.subtract(pc.min_element_wise(above, MONTHS_A_YEAR, skip_nulls=False), 1)
    return pc.add(pc.multiply(pc.subtract(years, EPOCH_YEAR), MONTHS_A_YEAR), nth)


def _day_of(months: Vector, days: Vector) -> Vector:
    return pc.add(gregorian.month_start(months), pc.subtract(days, 1))


def _nearest_day(months: Vector, days: Vector) -> Vector:
    """The day of a month, or its last day if the month is shorter."""
    end = gregorian.month_end(months)
    return pc.min_element_wise(_day_of(months, days), end, skip_nulls=False)


def _exist(arguments: Sequence[Interval]) -> Mask:
    """Every combination of year, month and day is a date."""
    years, months, days = arguments
    last = paired(_month_of, years.upper, months.upper)
    of_one_month = both(
        years.point(),
        months.point(),
        _within(days, LONGEST_MONTH),
        surely(pc.equal, paired(_nearest_day, last, days.upper), paired(_day_of, last, days.upper)),
    )
    return both(_within(months, MONTHS_A_YEAR), either(_within(days, SHORTEST_MONTH), of_one_month))


def _within(interval: Interval, greatest: int) -> Mask:
    """Every value is from 1 to `greatest`."""
    first, last = pa.scalar(1, pa.int64()), pa.scalar(greatest, pa.int64())
    return both(
        surely(pc.greater_equal, interval.lower, first), surely(pc.less_equal, interval.upper, last)
    )


_WEEKDAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
_WEEKDAY = {name[:length]: at for at, name in enumerate(_WEEKDAYS) for length in (2, 3, len(name))}


def next_day(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """The first such weekday after a date: never decreases; raises for an unknown weekday."""
    days = as_type(arguments[0], DATE, zone)
    match call.arguments[1]:
        case Literal(str() as name, _) if name.upper() in _WEEKDAY:
            weekday = _WEEKDAY[name.upper()]
        case _:
            return anything(call.type, raises=True)

    def later(days: Vector) -> Vector:
        tomorrow = pc.add(days, 1)
        return pc.add(tomorrow, pc.modulo(pc.subtract(weekday - 3, tomorrow), 7))

    return wrapping(call.type, each(later, bounds_of(days)), [days])


_DATE_AND_NUMBER = (Argument.DATE, Argument.INT)

DATES = (
    ScalarFunction("add_months", _DATE_AND_NUMBER, DATE, _of_date_and_number(plus_months)),
    ScalarFunction("date_add", _DATE_AND_NUMBER, DATE, _of_date_and_number(_later)),
    ScalarFunction("date_sub", _DATE_AND_NUMBER, DATE, _of_date_and_number(_earlier)),
    ScalarFunction("datediff", (Argument.DATE, Argument.DATE), INT, datediff),
    ScalarFunction("last_day", (Argument.DATE,), DATE, last_day),
    ScalarFunction("make_date", (Argument.INT,) * 3, DATE, make_date),
    ScalarFunction("next_day", (Argument.DATE, Argument.STRING), DATE, next_day),
)
