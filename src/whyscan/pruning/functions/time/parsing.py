"""Parses dates and timestamps from text, as Spark does.

Parsing is not monotone ('2024-1-10' < '2024-1-9'), so only a single text is parsed: a partition
value, or the value of a file in which all values are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.functions.time import gregorian
from whyscan.pruning.functions.time.kernels import (
    INT64,
    MICROS_A_DAY,
    MICROS_A_SECOND,
    contained,
    plus,
)

if TYPE_CHECKING:
    from whyscan.pruning.mask import Vector

# Missing fields have their least value. Zones, signs and surrounding blanks are not parsed.
_DAY = r"^(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2})"
_DATE = _DAY + r"(?:[ T].*)?)?)?$"
_TIME = r"(?P<hour>\d{1,2})(?::(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<part>\d+))?)?)?"
_TIMESTAMP = _DAY + rf"(?:[ T]{_TIME})?)?)?$"


def read_dates(texts: Vector) -> Vector:
    """The days of `2024`, `2024-3`, `2024-03-01` or `2024-03-01T…`; unknown for other texts."""
    return _days(pc.extract_regex(texts, _DATE))


def read_timestamps(texts: Vector) -> Vector:
    """The microseconds of `2024-03-01 12:00:00.5` or shorter; unknown for other texts."""
    fields = pc.extract_regex(texts, _TIMESTAMP)
    seconds = _number(fields, "hour", 0, 23, 3600)
    for name, factor in (("minute", 60), ("second", 1)):
        seconds = pc.add(seconds, _number(fields, name, 0, 59, factor))
    micros = plus(pc.multiply(seconds, MICROS_A_SECOND), _fraction(fields))
    return plus(pc.multiply(_days(fields), MICROS_A_DAY), micros)


def _days(fields: Vector) -> Vector:
    months = pc.add(
        _number(fields, "year", 0, 9999, gregorian.MONTHS_A_YEAR), _number(fields, "month", 1, 12)
    )
    months = pc.subtract(months, gregorian.EPOCH_YEAR * gregorian.MONTHS_A_YEAR + 1)
    days = pc.add(gregorian.month_start(months), pc.subtract(_number(fields, "day", 1, 31), 1))
    exists = pc.less_equal(days, gregorian.month_end(months))
    return pc.if_else(exists, days, pa.scalar(None, INT64))


def _fraction(fields: Vector) -> Vector:
    digits = pc.binary_slice(_text(fields, "part"), 0, 6).cast(pa.string())
    return pc.utf8_rpad(digits, 6, "0").cast(INT64)


def _number(fields: Vector, name: str, least: int, greatest: int, factor: int = 1) -> Vector:
    """A field that may be missing, times a factor; unknown outside its range."""
    text = _text(fields, name)
    digits = pc.if_else(pc.equal(text, b""), str(least).encode(), text)
    return pc.multiply(contained(digits.cast(INT64), least, greatest), factor)


def _text(fields: Vector, name: str) -> Vector:
    return pc.struct_field(fields, name)
