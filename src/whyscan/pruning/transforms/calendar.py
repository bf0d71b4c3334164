"""Arithmetic of the proleptic Gregorian calendar and of floors, as Arrow kernels over integers.

Arrow's own calendar stops at the year 32767; a timestamp does not.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.mask import Vector

_MARCH_OF_YEAR_0 = 1970 * 12 - 2
"""Months from there to 1970-01. A year that begins in March ends with its leap day."""
_DAYS_TO_1970 = 719_468
_DAYS_IN_400_YEARS = 146_097
_MONTHS_IN_400_YEARS = 4_800


def floor_divide(values: Vector, divisor: int) -> Vector:
    """The quotient rounded down; Arrow's own division rounds towards zero."""
    quotient = pc.divide(values, divisor)
    below = pc.less(values, pc.multiply(quotient, divisor))
    return pc.subtract(quotient, below.cast(pa.int64()))


def month_start(months: Vector) -> Vector:
    """The first day of a month: from months since 1970-01 to days since 1970-01-01."""
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
