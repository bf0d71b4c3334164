"""Transforms applied: from values of the source to the partition each of them falls into."""

from __future__ import annotations

from decimal import Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.predicate.arrow import MAX_DECIMAL_DIGITS, arrow_type
from whyscan.predicate.types import DecimalType, IntegerType, StringType, Type
from whyscan.pruning.transforms.gregorian import (
    floor_divide,
    integers,
    month_of,
    steps_in_a_day,
    steps_in_an_hour,
    temporal,
)
from whyscan.pruning.transforms.hashing import hashed, unscaled_of
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


def forward(transform: Transform, source: Type, values: pa.Array) -> pa.Array | None:
    """The partition values of source values; NULL stays NULL.

    None where the transform is unknown or not defined on the type. Nothing wraps: an hour beyond
    32 bits is given as it is, and what the type has no room for is a null slot.
    """
    if not supports(transform, source):
        return None
    match transform:
        case Identity():
            return values
        case Year() | Month() | Day() | Hour():
            units = _units(transform, source, integers(values))
            return temporal(units, arrow_type(result_type(transform, source)))
        case Truncate():
            return _truncated(source, values, transform.width)
        case Bucket():
            return _bucketed(source, values, transform.count)
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
            return month_of(days)
        case Year():
            return floor_divide(month_of(days), 12)


def _bucketed(source: Type, values: pa.Array, count: int) -> pa.Array | None:
    hashes = hashed(source, values)
    if hashes is None:
        return None
    positive = pc.bit_wise_and(hashes.cast(pa.int64()), _POSITIVE)
    return pc.modulo(positive, count)


def _truncated(source: Type, values: pa.Array, width: int) -> pa.Array:
    match source:
        case IntegerType():
            floor = pc.multiply(floor_divide(values, width), width)
            return pc.if_else(pc.less_equal(floor, values), floor, pa.scalar(None, pa.int64()))
        case DecimalType():
            floors = [_truncated_decimal(v, width, source.scale) for v in values.to_pylist()]
            return pa.array(floors, arrow_type(source))
        case StringType():
            return pc.utf8_slice_codeunits(values.cast(pa.string()), 0, width).cast(pa.binary())
        case _:
            return pc.binary_slice(values, 0, width)


def _truncated_decimal(value: Decimal | None, width: int, scale: int) -> Decimal | None:
    if value is None:
        return None
    unscaled = unscaled_of(value)
    floor = unscaled - unscaled % width
    if abs(floor) >= 10**MAX_DECIMAL_DIGITS:
        return None
    return Decimal(floor).scaleb(-scale, Context(prec=MAX_DECIMAL_DIGITS))
