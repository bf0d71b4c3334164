"""Arithmetic of the proleptic Gregorian calendar and of floors, as Arrow kernels over integers.

Arrow's own calendar stops at the year 32767; a timestamp does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.predicate.types import INT, TimestampType, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from whyscan.pruning.mask import Vector

_MARCH_OF_YEAR_0 = 1970 * 12 - 2
"""Months from there to 1970-01. A year that begins in March ends with its leap day."""
_DAYS_TO_1970 = 719_468
_DAYS_IN_400_YEARS = 146_097
_MONTHS_IN_400_YEARS = 4_800
_SECONDS_IN_A_DAY = 86_400


def floor_divide(values: Vector, divisor: int) -> Vector:
    """The quotient rounded down; Arrow's own division rounds towards zero."""
    quotient = pc.divide(values, divisor)
    below = pc.less(values, pc.multiply(quotient, divisor))
    return pc.subtract(quotient, below.cast(pa.int64()))


def month_start(months: Vector) -> Vector:
    """The first day of a month: from months since 1970-01 to days since 1970-01-01."""
    return over_distinct(_month_start, months)


def _month_start(months: Vector) -> Vector:
    counted = pc.add(months, _MARCH_OF_YEAR_0)
    years = floor_divide(counted, 12)
    month = pc.subtract(counted, pc.multiply(years, 12))
    leap_days = pc.add(
        pc.subtract(floor_divide(years, 4), floor_divide(years, 100)), floor_divide(years, 400)
    )
    # 31, 30, 31, 30, 31 days, and again, from March on: 153 days every five months.
    days_before = pc.divide(pc.add(pc.multiply(month, 153), 2), 5)
    whole = pc.add(pc.add(pc.multiply(years, 365), leap_days), days_before)
    return pc.subtract(whole, _DAYS_TO_1970)


def month_of(days: Vector) -> Vector:
    """The month that a day lies in: an estimate by mean months, which is off by one at most."""
    estimate = floor_divide(pc.multiply(days, _MONTHS_IN_400_YEARS), _DAYS_IN_400_YEARS)
    early = pc.less_equal(month_start(pc.add(estimate, 1)), days).cast(pa.int64())
    late = pc.greater(month_start(estimate), days).cast(pa.int64())
    return pc.subtract(pc.add(estimate, early), late)


def over_distinct(function: Callable[[Vector], Vector], values: Vector) -> Vector:
    """The function of each distinct value once: partition values repeat."""
    if isinstance(values, pa.Scalar):
        return function(pa.repeat(values, 1))[0]
    encoded = values.dictionary_encode()
    return function(encoded.dictionary).take(encoded.indices)


def integers(values: Vector) -> Vector:
    """Dates, timestamps and integers of any width as 64-bit integers of their own steps."""
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    return values.cast(pa.int64())


def temporal(steps: Vector, kind: pa.DataType) -> Vector:
    """Steps since 1970 as dates or timestamps; unknown where a date has no room for them."""
    if not pa.types.is_date32(kind):
        return steps.cast(kind)
    return known_between(steps, INT.least, INT.greatest).cast(pa.int32()).cast(kind)


def known_between(values: Vector, least: int, greatest: int) -> Vector:
    """The values within the limits, unknown beyond."""
    within = pc.and_(pc.greater_equal(values, least), pc.less_equal(values, greatest))
    return pc.if_else(within, values, pa.scalar(None, values.type))


def steps_in_a_day(source: Type) -> int:
    """How many steps of a date or timestamp a day has."""
    return _SECONDS_IN_A_DAY * source.unit.per_second if isinstance(source, TimestampType) else 1


def steps_in_an_hour(source: Type) -> int:
    """How many steps of a timestamp an hour has."""
    return steps_in_a_day(source) // 24
