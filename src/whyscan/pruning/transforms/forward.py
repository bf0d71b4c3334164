"""Applies partition transforms: from values of the source to their partition values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.functions.time.gregorian import MONTHS_A_YEAR, months_of
from whyscan.pruning.functions.time.kernels import (
    SECONDS_A_DAY,
    floor_divide,
    floor_to,
    from_ticks,
    ticks_of,
)
from whyscan.pruning.transforms.hashing import hashed
from whyscan.pruning.transforms.transform import (
    Bucket,
    Day,
    Hour,
    IdentityTransform,
    Month,
    Substring,
    Temporal,
    Transform,
    Truncate,
    Unknown,
    Void,
    Year,
    result_type,
    supports,
)
from whyscan.pruning.unscaled import scaled_to, unscaled_of
from whyscan.tree.arrow import MAX_DECIMAL_DIGITS, arrow_type
from whyscan.tree.types import DecimalType, IntegerType, StringType, TimestampType, Type

if TYPE_CHECKING:
    from decimal import Decimal

_POSITIVE = 0x7FFFFFFF


def forward(transform: Transform, source: Type, values: pa.Array) -> pa.Array | None:
    """The partition values of source values; NULL stays NULL.

    None if the transform is unknown or not defined on the type. Nothing wraps around: an hour
    beyond 32 bits is returned as it is, and a value that the type cannot hold is a null slot.
    """
    if not supports(transform, source):
        return None
    match transform:
        case IdentityTransform():
            return values
        case Year() | Month() | Day() | Hour():
            units = _units(transform, source, ticks_of(values))
            return from_ticks(units, result_type(transform, source))
        case Truncate():
            return _truncated(source, values, transform.width)
        case Bucket():
            return _bucketed(source, values, transform.count)
        case Substring(start, length):
            text = values.cast(pa.string())
            return pc.utf8_slice_codeunits(text, start, start + length).cast(pa.binary())
        case Void():
            return pa.nulls(len(values), arrow_type(source))
        case Unknown():
            return None


def _units(transform: Temporal, source: Type, steps: pa.Array) -> pa.Array:
    if isinstance(transform, Hour):
        return floor_divide(steps, steps_in_an_hour(source))
    days = floor_divide(steps, steps_in_a_day(source))
    match transform:
        case Day():
            return days
        case Month():
            return months_of(days)
        case Year():
            return floor_divide(months_of(days), MONTHS_A_YEAR)


def steps_in_a_day(source: Type) -> int:
    """The number of steps of a date or timestamp per day."""
    return SECONDS_A_DAY * source.unit.per_second if isinstance(source, TimestampType) else 1


def steps_in_an_hour(source: Type) -> int:
    """The number of steps of a timestamp per hour."""
    return steps_in_a_day(source) // 24


def _bucketed(source: Type, values: pa.Array, count: int) -> pa.Array | None:
    hashes = hashed(source, values)
    if hashes is None:
        return None
    positive = pc.bit_wise_and(hashes.cast(pa.int64()), _POSITIVE)
    return pc.modulo(positive, count)


def _truncated(source: Type, values: pa.Array, width: int) -> pa.Array:
    match source:
        case IntegerType():
            return floor_to(values, width)
        case DecimalType():
            floors = [_truncated_decimal(v, width, source.scale) for v in values.to_pylist()]
            return pa.array(floors, arrow_type(source))
        case StringType():
            return pc.utf8_slice_codeunits(values.cast(pa.string()), 0, width).cast(pa.binary())
        case _:
            return pc.binary_slice(values, 0, width)


def _truncated_decimal(value: Decimal | None, width: int, scale: int) -> Decimal | None:
    unscaled = None if value is None else unscaled_of(value, scale)
    if unscaled is None:
        return None
    floor = unscaled - unscaled % width
    return scaled_to(floor, scale) if abs(floor) < 10**MAX_DECIMAL_DIGITS else None
