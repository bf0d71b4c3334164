"""Partition values of entries: conversion from Avro's types, and to text for reports."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.transforms import Hour, Month, Year
from whyscan.tables.iceberg.bounds import decode
from whyscan.tree.arrow import arrow_type
from whyscan.tree.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
    UuidType,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from whyscan.pruning.transforms import Transform

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_YEAR = 1970
_INT32 = pa.scalar((1 << 31) - 1, pa.int64())


def as_type(recorded: pa.Array, kind: Type) -> pa.Array:
    """Partition values in the Arrow type of `kind`; null where they cannot be read."""
    target, avro_type = arrow_type(kind), recorded.type
    match kind:
        case DecimalType() | BinaryType() if pa.types.is_binary(avro_type):
            return decode(recorded, kind)
        case UuidType() if pa.types.is_binary(avro_type):
            return decode(recorded, kind)
        case UuidType() if pa.types.is_string(avro_type):
            return pa.array([_uuid(text) for text in recorded.to_pylist()], target)
        case DateType() if pa.types.is_integer(avro_type):
            days = recorded.cast(pa.int64())
            in_range = pc.less_equal(pc.abs(days), _INT32)
            return (
                pc.if_else(in_range, days, pa.scalar(None, pa.int64()))
                .cast(pa.int32())
                .view(target)
            )
        # A date that was promoted to a timestamp has days (int32) in old files: not read.
        case TimestampType() if pa.types.is_int64(avro_type):
            return recorded.view(target)
        case IntegerType() if pa.types.is_integer(avro_type):
            return recorded.cast(target)
        case FloatType() if pa.types.is_floating(avro_type):
            return recorded.cast(target)
        case StringType() if pa.types.is_string(avro_type):
            return recorded.cast(target)
        case BooleanType() if pa.types.is_boolean(avro_type):
            return recorded
        case _:
            return pa.nulls(len(recorded), target)


def _uuid(text: str | None) -> bytes | None:
    try:
        return None if text is None else uuid.UUID(text).bytes
    except ValueError:
        return None


def shown(values: pa.Array, kind: Type, transform: Transform) -> pa.Array:
    """Partition values as reports show them: months as 2024-03, bytes in hexadecimal."""
    match transform, kind:
        case Year(), _:
            return _texts(values, lambda unit: f"{_FIRST_YEAR + unit}")
        case Month(), _:
            return _texts(values, _month)
        case Hour(), _:
            return _texts(values, _hour)
        case _, UuidType():
            return _texts(values, lambda value: str(uuid.UUID(bytes=value)))
        case _, BinaryType():
            return _texts(values, bytes.hex)
        case _, StringType():
            return values.cast(pa.string())
        case _:
            return values


def _texts(values: pa.Array, text: Callable[..., str]) -> pa.Array:
    encoded = values.dictionary_encode()
    texts = [None if v is None else text(v) for v in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


def _month(unit: int) -> str:
    return f"{_FIRST_YEAR + unit // 12}-{unit % 12 + 1:02}"


def _hour(unit: int) -> str:
    try:
        return f"{_EPOCH + timedelta(hours=unit):%Y-%m-%d-%H}"
    except OverflowError:
        return f"{unit} hours after 1970"
