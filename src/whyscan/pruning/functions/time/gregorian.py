"""The proleptic Gregorian calendar, for int64 days and months since 1970-01-01.

The calendar repeats every 400 years, so one table of month starts serves every year.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.functions.time.kernels import at, by_number, floor_divide, plus
from whyscan.tree.time_text import civil_from_days, days_from_civil

if TYPE_CHECKING:
    from whyscan.pruning.mask import Vector

EPOCH_YEAR = 1970
MONTHS_A_YEAR = 12
DAYS_A_CYCLE = 146_097
MONTHS_A_CYCLE = 400 * MONTHS_A_YEAR

_EPOCH = dt.date(EPOCH_YEAR, 1, 1)
_MONTH_STARTS = pa.array(
    [
        (dt.date(year, month, 1) - _EPOCH).days
        for year in range(EPOCH_YEAR, EPOCH_YEAR + 400)
        for month in range(1, MONTHS_A_YEAR + 1)
    ],
    pa.int64(),
)


def _months(days: int) -> int:
    year, month, _ = civil_from_days(days)
    return (year - EPOCH_YEAR) * MONTHS_A_YEAR + month - 1


@by_number(_months)
def months_of(days: Vector) -> Vector:
    """Months since 1970-01."""
    cycles = floor_divide(days, DAYS_A_CYCLE)
    rest = pc.subtract(days, pc.multiply(cycles, DAYS_A_CYCLE))
    # Arrow's calendar has 16 bits for a year: it is used for the first cycle only.
    dates = rest.cast(pa.int32()).cast(pa.date32())
    years = pc.subtract(pc.year(dates), EPOCH_YEAR)
    return pc.add(
        pc.add(pc.multiply(years, MONTHS_A_YEAR), pc.subtract(pc.month(dates), 1)),
        pc.multiply(cycles, MONTHS_A_CYCLE),
    )


@by_number(lambda n: days_from_civil(EPOCH_YEAR + n // 12, n % 12 + 1, 1))
def month_start(months: Vector) -> Vector:
    """The first day of a month."""
    cycles = floor_divide(months, MONTHS_A_CYCLE)
    rest = pc.subtract(months, pc.multiply(cycles, MONTHS_A_CYCLE))
    return pc.add(at(_MONTH_STARTS, rest), pc.multiply(cycles, DAYS_A_CYCLE))


def month_end(months: Vector) -> Vector:
    """The last day of a month."""
    return pc.subtract(month_start(pc.add(months, 1)), 1)


def year(days: Vector) -> Vector:
    return pc.add(floor_divide(months_of(days), MONTHS_A_YEAR), EPOCH_YEAR)


def quarter(days: Vector) -> Vector:
    return pc.add(floor_divide(pc.modulo(months_of(days), MONTHS_A_YEAR), 3), 1)


def month(days: Vector) -> Vector:
    return pc.add(pc.modulo(months_of(days), MONTHS_A_YEAR), 1)


def day(days: Vector) -> Vector:
    return pc.add(pc.subtract(days, month_start(months_of(days))), 1)


def day_of_year(days: Vector) -> Vector:
    return pc.add(pc.subtract(days, year_start(days)), 1)


def day_of_week(days: Vector) -> Vector:
    """1 on Sunday to 7 on Saturday."""
    return pc.add(pc.modulo(pc.add(days, 4), 7), 1)


def weekday(days: Vector) -> Vector:
    """0 on Monday to 6 on Sunday."""
    return pc.modulo(pc.add(days, 3), 7)


def iso_year(days: Vector) -> Vector:
    return year(_thursday(days))


def iso_week(days: Vector) -> Vector:
    """The number of the week in the year of its Thursday."""
    return pc.add(floor_divide(pc.subtract(day_of_year(_thursday(days)), 1), 7), 1)


def sunday_weeks(days: Vector) -> Vector:
    """Weeks since 1970, each from Sunday to Saturday."""
    return floor_divide(pc.add(days, 4), 7)


def monday_weeks(days: Vector) -> Vector:
    """Weeks since 1970, each from Monday to Sunday."""
    return floor_divide(pc.add(days, 3), 7)


def year_start(days: Vector) -> Vector:
    """The first day of the year of a day."""
    return _period_start(days, MONTHS_A_YEAR)


def quarter_start(days: Vector) -> Vector:
    """The first day of the quarter of a day."""
    return _period_start(days, 3)


def first_of_month(days: Vector) -> Vector:
    """The first day of the month of a day."""
    return month_start(months_of(days))


def last_of_month(days: Vector) -> Vector:
    """The last day of the month of a day."""
    return month_end(months_of(days))


def week_start(days: Vector) -> Vector:
    """The Monday of the week of a day."""
    return pc.subtract(days, weekday(days))


def plus_months(days: Vector, months: Vector | int) -> Vector:
    """The same day in another month, or the last day of that month if it is shorter."""
    first = months_of(days)
    moved = plus(first, months)
    same = pc.add(month_start(moved), pc.subtract(days, month_start(first)))
    return pc.min_element_wise(same, month_end(moved), skip_nulls=False)


def _period_start(days: Vector, length: int) -> Vector:
    months = months_of(days)
    return month_start(pc.subtract(months, pc.modulo(months, length)))


def _thursday(days: Vector) -> Vector:
    return pc.add(week_start(days), 3)
