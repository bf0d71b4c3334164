"""Transforms applied: from values of the source to the partition each of them falls into."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.predicate.arrow import arrow_type
from whyscan.predicate.types import (
    BinaryType,
    DateType,
    DecimalType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
)
from whyscan.pruning.transforms.calendar import floor_divide, month_of
from whyscan.pruning.transforms.hashing import hashed
from whyscan.pruning.transforms.transform import (
    Bucket,
    Day,
    Hour,
    Identity,
    Month,
    Temporal,
    Transform,
    Truncate,
    Unknown,
    Void,
    Year,
    result_type,
    supports,
)

_POSITIVE = 0x7FFFFFFF
_SECONDS_IN_A_DAY = 86_400
_SECONDS_IN_AN_HOUR = 3_600
_ASCII_CONTINUATION = r"^((?s:.)[\x80-\xBF]*){0,%d}"


def forward(transform: Transform, source: Type, values: pa.Array) -> pa.Array | None:
    """The partition values of source values; NULL stays NULL.

    None where the transform is unknown, or not defined on the type. An hour may exceed the 32 bits
    that a file has room for: it is given as it is, not wrapped.
    """
    if not supports(transform, source):
        return None
    match transform:
        case Identity():
            return values
        case Year() | Month() | Day() | Hour():
            return _units(transform, source, values)
        case Truncate():
            return _truncated(source, values, transform.width)
        case Bucket():
            return _bucketed(source, values, transform.count)
        case Void():
            return pa.nulls(len(values), arrow_type(source))
        case Unknown():
            return None


def _units(transform: Temporal, source: Type, values: pa.Array) -> pa.Array:
    if isinstance(transform, Hour):
        return floor_divide(values.cast(pa.int64()), steps_in_an_hour(source))
    days = floor_divide(integers(values), steps_in_a_day(source))
    match transform:
        case Day():
            return days.cast(pa.int32()).cast(arrow_type(result_type(transform, source)))
        case Month():
            return month_of(days)
        case Year():
            return floor_divide(month_of(days), 12)


def steps_in_a_day(source: Type) -> int:
    """How many steps of a date or timestamp a day has."""
    return _SECONDS_IN_A_DAY * source.unit.per_second if isinstance(source, TimestampType) else 1


def steps_in_an_hour(source: Type) -> int:
    """How many steps of a timestamp an hour has."""
    assert isinstance(source, TimestampType)
    return _SECONDS_IN_AN_HOUR * source.unit.per_second
