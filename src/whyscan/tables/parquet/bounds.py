"""Decodes the bounds of a footer by the file's type and converts them to the table's type.

A bound that does not fit into the table's type is unknown: it is never cut, rounded or wrapped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.pruning.mask import Mask, simplified
from whyscan.tables.parquet.schemas import Encoding, ParquetColumn
from whyscan.tree.arrow import MAX_DECIMAL_DIGITS, arrow_type
from whyscan.tree.types import (
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    TimestampType,
    Type,
    UuidType,
)

UUID_BYTES = 16
_DAY = 86_400
_INT64 = 1 << 63
_EXACT_IN_DOUBLE = 32
DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}
Flags = npt.NDArray[np.bool_]


class FixedBounds(Struct, frozen=True):
    """Encoded bounds of one length: one row of bytes per container.

    `recorded` flags the bounds that are recorded, `valid` those of them that have this length.
    """

    data: npt.NDArray[np.uint8]
    recorded: Flags
    valid: Flags

    def __len__(self) -> int:
        return len(self.data)


Raw = Sequence[bytes | None] | FixedBounds
"""Encoded bounds, one per container, None where unknown."""


def holds(wide: Type, narrow: Type) -> bool:
    """Whether every value of the type `narrow` is a value of `wide`, in the same order."""
    match wide, narrow:
        case _ if wide == narrow:
            return True
        case IntegerType(), IntegerType():
            return narrow.bits <= wide.bits
        case FloatType(), FloatType():
            return narrow.bits <= wide.bits
        case FloatType(bits=64), IntegerType():
            return narrow.bits <= _EXACT_IN_DOUBLE
        case DecimalType(), DecimalType():
            return (
                narrow.scale <= wide.scale
                and narrow.precision - narrow.scale <= wide.precision - wide.scale
            )
        case DecimalType(), IntegerType():
            return DIGITS[narrow.bits] <= wide.precision - wide.scale
        case TimestampType(), TimestampType():
            return wide.instant == narrow.instant
        case TimestampType(instant=False), DateType():
            return True
        case _:
            return False


def decode(raw: Raw, leaf: ParquetColumn, kind: Type) -> pa.Array | None:
    """Bounds of a file's column in the table's type `kind`; None if they do not fit into it."""
    if leaf.encoding is Encoding.NONE or not holds(kind, leaf.type):
        return None
    return widen(_decoded(raw, leaf, arrow_type(leaf.type)), leaf.type, kind)


def unreadable(raw: Raw, leaf: ParquetColumn, decoded: pa.Array) -> Mask:
    """Whether each bound is recorded but is no value of the file's type.

    `decoded` are the bounds in the table's type, which may have fewer values.
    """
    recorded = _recorded(raw)
    if np.count_nonzero(recorded) == len(decoded) - decoded.null_count:
        return False
    is_recorded = pa.array(recorded)
    is_valid = _decoded(raw, leaf, arrow_type(leaf.type)).is_valid()
    return simplified(pc.and_not(is_recorded, is_valid))


def _recorded(raw: Raw) -> Flags:
    if isinstance(raw, FixedBounds):
        return raw.recorded
    return np.fromiter((value is not None for value in raw), np.bool_, len(raw))


def may_be_cut(leaf: ParquetColumn) -> bool:
    """Whether writers may cut the bounds: those of text and bytes, not of types of fixed length."""
    return leaf.encoding is Encoding.BYTES and not isinstance(leaf.type, DecimalType)


def _decoded(raw: Raw, leaf: ParquetColumn, target: pa.DataType) -> pa.Array:
    if leaf.encoding is Encoding.BYTES and not isinstance(raw, FixedBounds):
        if pa.types.is_decimal(target):
            return _decimals([_from_bytes(v) for v in raw], leaf.type)
        if isinstance(leaf.type, UuidType):
            return pa.array(
                [v if v is not None and len(v) == UUID_BYTES else None for v in raw], target
            )
        return pa.array(raw, target)
    numbers, valid = _numbers(raw, np.dtype(leaf.encoding.dtype))
    if pa.types.is_decimal(target):
        pairs = zip(numbers.tolist(), valid.tolist(), strict=True)
        return _decimals([v if is_valid else None for v, is_valid in pairs], leaf.type)
    if leaf.encoding is Encoding.MILLISECONDS:
        return _scaled(pa.array(numbers, mask=~valid), 1000).view(target)
    if pa.types.is_temporal(target):
        return pa.array(numbers, mask=~valid).view(target)
    if pa.types.is_boolean(target):
        flags = numbers.view(np.uint8)
        return pa.array(flags == 1, target, mask=~valid | (flags > 1))
    if isinstance(leaf.type, IntegerType):
        valid &= (numbers >= leaf.type.least) & (numbers <= leaf.type.greatest)
    return pa.array(numbers.astype(target.to_pandas_dtype()), target, mask=~valid)


def _numbers(raw: Raw, dtype: np.dtype[Any]) -> tuple[np.ndarray[Any, Any], Flags]:
    """Little-endian numbers, and which of them are valid: a wrong length is not valid."""
    size = dtype.itemsize
    if isinstance(raw, FixedBounds):
        return np.ascontiguousarray(raw.data).view(dtype).reshape(-1), raw.valid.copy()
    valid = np.array([v is not None and len(v) == size for v in raw], np.bool_)
    nothing = bytes(size)
    data = b"".join(v if k else nothing for v, k in zip(raw, valid.tolist(), strict=True))  # type: ignore[misc]
    return np.frombuffer(data, dtype), valid


def _from_bytes(value: bytes | None) -> int | None:
    """The unscaled integer of a decimal: two's complement, the highest byte first."""
    return None if not value else int.from_bytes(value, "big", signed=True)


def _decimals(unscaled: Sequence[int | None], declared: Type) -> pa.Array:
    """Decimals from unscaled integers. Python's decimals would be rounded to 28 digits.

    A number with more digits than its column has is unknown.
    """
    digits, scale = MAX_DECIMAL_DIGITS, 0
    if isinstance(declared, DecimalType):
        digits, scale = min(declared.precision, digits), declared.scale
    limit = 10**digits
    kept = [v if v is not None and -limit < v < limit else None for v in unscaled]
    data = b"".join((v or 0).to_bytes(16, "little", signed=True) for v in kept)
    valid = pa.array([v is not None for v in kept], pa.bool_()).buffers()[1]
    kind = pa.decimal128(MAX_DECIMAL_DIGITS, scale)
    return pa.Array.from_buffers(kind, len(kept), [valid, pa.py_buffer(data)])


def _scaled(values: pa.Array, factor: int) -> pa.Array:
    """Integers times a factor, null where the product does not fit into 64 bits."""
    limit = (_INT64 - 1) // factor
    inside = pc.and_(pc.less_equal(values, limit), pc.greater_equal(values, -limit))
    safe = pc.if_else(inside, values, pa.scalar(None, pa.int64()))
    return pc.multiply(safe, factor)


def widen(values: pa.Array, narrow: Type, wide: Type) -> pa.Array:
    """Values of the type `narrow` as values of `wide`, which `holds` them."""
    target = arrow_type(wide)
    match wide, narrow:
        case _ if values.type == target:
            return values
        case TimestampType(), TimestampType():
            factor = wide.unit.per_second // narrow.unit.per_second
            return _coarser(values, wide) if not factor else _moment(values, factor, target)
        case TimestampType(), DateType():
            days = values.view(pa.int32()).cast(pa.int64())
            return _scaled(days, _DAY * wide.unit.per_second).view(target)
        case DecimalType(), _:
            return _decimal_or_unknown(values, target)
        case _:
            return values.cast(target)


def _moment(values: pa.Array, factor: int, target: pa.DataType) -> pa.Array:
    return _scaled(values.view(pa.int64()), factor).view(target)


def _coarser(values: pa.Array, wide: TimestampType) -> pa.Array:
    """Nulls: a coarser unit would cut the bounds, and a cut bound may exclude a value."""
    return pa.nulls(len(values), arrow_type(wide))


def _decimal_or_unknown(values: pa.Array, target: pa.DataType) -> pa.Array:
    try:
        return values.cast(target)
    except pa.ArrowInvalid:
        # More digits than the declared type has: such bounds are not believed.
        return pa.nulls(len(values), target)


def join(parts: Sequence[pa.Array]) -> pa.Array | None:
    """One array from several that are valid at different positions; None for no arrays."""
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else pc.coalesce(*parts)


def only(raw: Raw, flagged: Flags) -> Raw:
    """The raw values of the flagged containers, None elsewhere."""
    if isinstance(raw, FixedBounds):
        return replace(raw, recorded=raw.recorded & flagged, valid=raw.valid & flagged)
    return [value if k else None for value, k in zip(raw, flagged.tolist(), strict=True)]
