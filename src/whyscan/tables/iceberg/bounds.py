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

from whyscan.pruning.functions.text.utf8 import text_or_unknown
from whyscan.pruning.unscaled import scaled_to
from whyscan.tree.arrow import MAX_DECIMAL_DIGITS, arrow_type
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
    from collections.abc import Mapping

DECIMAL_BYTES = 16
UUID_BYTES = 16
_INTEGERS = {32: {4: "<i4"}, 64: {4: "<i4", 8: "<i8"}}
_FLOATS = {32: {4: "<f4"}, 64: {4: "<f4", 8: "<f8"}}
_SECONDS_A_DAY = 86_400
_SIGN = 0x80


def decode(stored: pa.Array, kind: Type) -> pa.Array:
    """Single values of `kind` in their Arrow representation; null where they cannot be read."""
    match kind:
        case BooleanType():
            flags = _fixed(stored, {1: "<u1"}, pa.uint8())
            return pc.if_else(pc.less_equal(flags, 1), flags.cast(pa.bool_()), None)
        case IntegerType():
            return _fixed(stored, _INTEGERS[kind.bits], pa.int64())
        case FloatType():
            return _fixed(stored, _FLOATS[kind.bits], pa.float64())
        case DateType():
            return _fixed(stored, {4: "<i4"}, pa.int32()).view(pa.date32())
        case TimestampType():
            return _timestamps(stored, kind)
        case DecimalType():
            return _decimals(stored, kind)
        case UuidType():
            right = pc.equal(pc.binary_length(stored), UUID_BYTES)
            return pc.if_else(right, stored, pa.scalar(None, stored.type))
        case StringType() | BinaryType():
            return stored.cast(pa.binary())
        case _:
            return pa.nulls(len(stored), arrow_type(kind))


def decode_both(stored: tuple[pa.Array, pa.Array], kind: Type) -> tuple[pa.Array, pa.Array, int]:
    """The lower and the upper bounds, and of how many containers some could not be read."""
    lower, upper = (decode(end, kind) for end in stored)
    if isinstance(kind, StringType):
        lower, upper = text_or_unknown(lower, upper)
    lost = pc.or_(unread(stored[0], lower), unread(stored[1], upper)).true_count
    return lower, upper, lost


def unread(stored: pa.Array, decoded: pa.Array) -> pa.Array:
    """Where there was something that could not be read."""
    return pc.and_(stored.is_valid(), decoded.is_null())


def in_either_order(lower: pa.Array, upper: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The bounds of uuids, whichever way their writer ordered them.

    Java compared the halves of a uuid as signed numbers, the specification compares bytes. Where
    the upper halves agree in sign both orders agree on them; the lower halves may stand the other
    way round, so that they are opened, except for a single value. One end alone says nothing.
    """
    same = pc.equal(lower, upper)
    first, last = (pc.binary_slice(end, 0, 8) for end in (lower, upper))
    return (
        pc.if_else(same, lower, pc.binary_join_element_wise(first, bytes(8), b"")),
        pc.if_else(same, upper, pc.binary_join_element_wise(last, b"\xff" * 8, b"")),
    )


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
    per_day = _SECONDS_A_DAY * kind.unit.per_second
    days = _fixed(stored, {4: "<i4"}, pa.int64())
    reach = pc.less_equal(pc.abs(days), (1 << 63) // per_day)
    midnights = pc.multiply(pc.if_else(reach, days, pa.scalar(None, pa.int64())), per_day)
    steps = pc.coalesce(_fixed(stored, {8: "<i8"}, pa.int64()), midnights)
    return steps.view(arrow_type(kind))


def _decimals(stored: pa.Array, kind: DecimalType) -> pa.Array:
    """Big-endian two's complement in as few bytes as it takes, sign-extended to sixteen."""
    lengths = _lengths(stored)
    unscaled = np.zeros((len(stored), DECIMAL_BYTES), dtype=np.uint8)
    known = (lengths >= 1) & (lengths <= DECIMAL_BYTES)
    for width in np.unique(lengths[known]).tolist():
        chosen = lengths == width
        digits = np.frombuffer(_bytes(stored, chosen), np.uint8).reshape(-1, width)
        unscaled[chosen] = np.where(digits[:, :1] >= _SIGN, 0xFF, 0)
        unscaled[chosen, DECIMAL_BYTES - width :] = digits
    little_endian = pa.py_buffer(np.ascontiguousarray(unscaled[:, ::-1]))
    validity = pa.array(known).buffers()[1]
    target = arrow_type(kind)
    decoded = pa.Array.from_buffers(target, len(stored), [validity, little_endian])
    # Sixteen bytes reach beyond 38 digits, and kernels refuse what lies there.
    greatest = 10 ** min(kind.precision, MAX_DECIMAL_DIGITS) - 1
    least, most = (pa.scalar(scaled_to(n, kind.scale), target) for n in (-greatest, greatest))
    right = pc.and_(pc.greater_equal(decoded, least), pc.less_equal(decoded, most))
    return pc.if_else(right, decoded, pa.scalar(None, target))


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
