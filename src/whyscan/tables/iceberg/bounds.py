"""Decodes the bounds in manifests (specification, appendix D), one column at a time.

A bound of the wrong width for its type becomes null, which is unknown; callers count the new nulls.
A column that was promoted to a wider type has bounds of the old width in its old files, so that
the width decides how a bound is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.functions.text.utf8 import text_or_unknown
from whyscan.pruning.mask import Mask, either, simplified
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


def decode(encoded: pa.Array, kind: Type) -> pa.Array:
    """Values of `kind` in their Arrow type; null where bytes cannot be read."""
    match kind:
        case BooleanType():
            flags = _fixed(encoded, {1: "<u1"}, pa.uint8())
            return pc.if_else(pc.less_equal(flags, 1), flags.cast(pa.bool_()), None)
        case IntegerType():
            return _fixed(encoded, _INTEGERS[kind.bits], pa.int64())
        case FloatType():
            return _fixed(encoded, _FLOATS[kind.bits], pa.float64())
        case DateType():
            return _fixed(encoded, {4: "<i4"}, pa.int32()).view(pa.date32())
        case TimestampType():
            return _timestamps(encoded, kind)
        case DecimalType():
            return _decimals(encoded, kind)
        case UuidType():
            has_width = pc.equal(pc.binary_length(encoded), UUID_BYTES)
            return pc.if_else(has_width, encoded, pa.scalar(None, encoded.type))
        case StringType() | BinaryType():
            return encoded.cast(pa.binary())
        case _:
            return pa.nulls(len(encoded), arrow_type(kind))


def decode_both(encoded: tuple[pa.Array, pa.Array], kind: Type) -> tuple[pa.Array, pa.Array, Mask]:
    """Lower bounds, upper bounds, and whether a container has a bound that cannot be read."""
    lower, upper = (decode(end, kind) for end in encoded)
    if isinstance(kind, StringType):
        lower, upper = text_or_unknown(lower, upper)
    return lower, upper, either(unread(encoded[0], lower), unread(encoded[1], upper))


def unread(encoded: pa.Array, decoded: pa.Array) -> Mask:
    """Whether each value is present but could not be read."""
    if encoded.null_count == decoded.null_count:
        return False
    return simplified(pc.and_(encoded.is_valid(), decoded.is_null()))


def in_either_order(lower: pa.Array, upper: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Bounds of uuids that hold in both orders that writers use.

    Java compared the halves of a uuid as signed numbers; the specification compares bytes. If the
    upper halves have the same sign, both orders agree on them. The lower halves may be in the other
    order, so that the bounds are widened to all lower halves, except for a single value. A bound
    whose other bound is null becomes null.
    """
    same = pc.equal(lower, upper)
    first, last = (pc.binary_slice(end, 0, 8) for end in (lower, upper))
    return (
        pc.if_else(same, lower, pc.binary_join_element_wise(first, bytes(8), b"")),
        pc.if_else(same, upper, pc.binary_join_element_wise(last, b"\xff" * 8, b"")),
    )


def _fixed(encoded: pa.Array, widths: Mapping[int, str], target: pa.DataType) -> pa.Array:
    """Little-endian numbers; `widths` has the NumPy type of each allowed width."""
    lengths = _lengths(encoded)
    values = np.zeros(len(encoded), dtype=target.to_pandas_dtype())
    readable = np.zeros(len(encoded), dtype=np.bool_)
    for width, code in widths.items():
        chosen = lengths == width
        values[chosen] = np.frombuffer(_bytes(encoded, chosen), dtype=code)
        readable |= chosen
    return pa.array(values, target, mask=~readable)


def _timestamps(encoded: pa.Array, kind: TimestampType) -> pa.Array:
    """Steps since 1970. A date that was promoted to a timestamp has four bytes."""
    per_day = _SECONDS_A_DAY * kind.unit.per_second
    days = _fixed(encoded, {4: "<i4"}, pa.int64())
    in_range = pc.less_equal(pc.abs(days), (1 << 63) // per_day)
    midnights = pc.multiply(pc.if_else(in_range, days, pa.scalar(None, pa.int64())), per_day)
    steps = pc.coalesce(_fixed(encoded, {8: "<i8"}, pa.int64()), midnights)
    return steps.view(arrow_type(kind))


def _decimals(encoded: pa.Array, kind: DecimalType) -> pa.Array:
    """Big-endian two's complement in up to sixteen bytes, sign-extended to sixteen."""
    lengths = _lengths(encoded)
    unscaled = np.zeros((len(encoded), DECIMAL_BYTES), dtype=np.uint8)
    readable = (lengths >= 1) & (lengths <= DECIMAL_BYTES)
    for width in np.unique(lengths[readable]).tolist():
        chosen = lengths == width
        digits = np.frombuffer(_bytes(encoded, chosen), np.uint8).reshape(-1, width)
        unscaled[chosen] = np.where(digits[:, :1] >= _SIGN, 0xFF, 0)
        unscaled[chosen, DECIMAL_BYTES - width :] = digits
    little_endian = pa.py_buffer(np.ascontiguousarray(unscaled[:, ::-1]))
    validity = pa.array(readable).buffers()[1]
    target = arrow_type(kind)
    decoded = pa.Array.from_buffers(target, len(encoded), [validity, little_endian])
    # Sixteen bytes may have more than 38 digits, which Arrow's kernels reject.
    greatest = 10 ** min(kind.precision, MAX_DECIMAL_DIGITS) - 1
    least, most = (pa.scalar(scaled_to(n, kind.scale), target) for n in (-greatest, greatest))
    in_range = pc.and_(pc.greater_equal(decoded, least), pc.less_equal(decoded, most))
    return pc.if_else(in_range, decoded, pa.scalar(None, target))


def _lengths(encoded: pa.Array) -> npt.NDArray[np.int64]:
    """The length of each value; -1 for null."""
    lengths: npt.NDArray[np.int64] = (
        pc.binary_length(encoded).cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    )
    return lengths


def _bytes(encoded: pa.Array, chosen: npt.NDArray[np.bool_]) -> bytes:
    """The concatenated bytes of the chosen values."""
    selected = encoded.filter(pa.array(chosen)).cast(pa.large_binary())
    _, offsets, data = selected.buffers()
    if data is None:
        return b""
    ends = np.frombuffer(offsets, np.int64)[selected.offset : selected.offset + len(selected) + 1]
    return memoryview(data)[int(ends[0]) : int(ends[-1])].tobytes()
