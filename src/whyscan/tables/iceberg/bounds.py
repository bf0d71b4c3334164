"""Bounds as manifests store them (specification, appendix D): bytes, a column at a time.

A bound of the wrong width for its type is not a bound: it becomes unknown, and is counted by
whoever compares the nulls before and after. A column that was promoted keeps the narrower bytes
of its old files, so that the width chooses how they are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from whyscan.predicate.arrow import arrow_type
from whyscan.predicate.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
    Unit,
    UuidType,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

DECIMAL_BYTES = 16
UUID_BYTES = 16


def decode(stored: pa.Array, kind: Type) -> pa.Array:
    """Single values of `kind` in their Arrow representation; null where they cannot be read."""
    match kind:
        case BooleanType():
            return _fixed(stored, {1: "<u1"}, pa.uint8()).cast(pa.bool_())
        case IntegerType():
            return _fixed(stored, {4: "<i4", 8: "<i8"}, pa.int64())
        case FloatType():
            return _fixed(stored, {4: "<f4", 8: "<f8"}, pa.float64())
        case DateType():
            return _fixed(stored, {4: "<i4"}, pa.int32()).view(pa.date32())
        case TimestampType():
            return _timestamps(stored, kind)
        case DecimalType():
            return _decimals(stored, kind)
        case UuidType():
            return _where(pc.equal(pc.binary_length(stored), UUID_BYTES), stored)
        case StringType() | BinaryType():
            return stored.cast(pa.binary())
        case _:
            return pa.nulls(len(stored), arrow_type(kind))


def _fixed(stored: pa.Array, widths: Mapping[int, str], target: pa.DataType) -> pa.Array:
    """Little-endian numbers; each allowed width has its own reading."""
    lengths = _lengths(stored)
    values = np.zeros(len(stored), dtype=target.to_pandas_dtype())
    known = np.zeros(len(stored), dtype=np.bool_)
    for width, code in widths.items():
        chosen = lengths == width
        values[chosen] = np.frombuffer(_bytes(stored, chosen), dtype=code)
        known |= chosen
    return pa.array(values, target, mask=~known)


def _timestamps(stored: pa.Array, kind: TimestampType) -> pa.Array:
    """Steps since 1970. A date that was promoted to a timestamp still has its four bytes."""
    days = _fixed(stored, {4: "<i4"}, pa.int64())
    per_day = 86_400 * (1_000_000 if kind.unit is Unit.MICROSECOND else 1_000_000_000)
    steps = pc.coalesce(_fixed(stored, {8: "<i8"}, pa.int64()), pc.multiply(days, per_day))
    return steps.view(arrow_type(kind))


def _decimals(stored: pa.Array, kind: DecimalType) -> pa.Array:
    """Big-endian two's complement in as few bytes as it takes, sign-extended to sixteen."""
    lengths = _lengths(stored)
    unscaled = np.zeros((len(stored), DECIMAL_BYTES), dtype=np.uint8)
    known = (lengths >= 1) & (lengths <= DECIMAL_BYTES)
    for width in np.unique(lengths[known]).tolist():
        chosen = lengths == width
        digits = np.frombuffer(_bytes(stored, chosen), np.uint8).reshape(-1, width)
        unscaled[chosen] = np.where(digits[:, :1] >= 0x80, 0xFF, 0)
        unscaled[chosen, DECIMAL_BYTES - width :] = digits
    little_endian = np.ascontiguousarray(unscaled[:, ::-1])
    validity = pa.array(known).buffers()[1]
    target = arrow_type(kind)
    return pa.Array.from_buffers(target, len(stored), [validity, pa.py_buffer(little_endian)])


def _lengths(stored: pa.Array) -> npt.NDArray[np.int64]:
    """How long each is; -1 for none."""
    lengths: npt.NDArray[np.int64] = (
        pc.binary_length(stored).cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    )
    return lengths


def _bytes(stored: pa.Array, chosen: npt.NDArray[np.bool_]) -> bytes:
    """The bytes of the chosen ones, one behind the other."""
    picked = stored.filter(pa.array(chosen)).cast(pa.large_binary())
    _, offsets, data = picked.buffers()
    if data is None:
        return b""
    ends = np.frombuffer(offsets, np.int64)[picked.offset : picked.offset + len(picked) + 1]
    return memoryview(data)[int(ends[0]) : int(ends[-1])].tobytes()


def _where(mask: pa.Array, values: pa.Array) -> pa.Array:
    return pc.if_else(mask, values, pa.scalar(None, values.type))
