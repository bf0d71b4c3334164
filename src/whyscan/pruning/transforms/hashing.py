"""The hash of Iceberg's bucket transform: 32-bit Murmur3 (x86, seed 0) of a value's bytes.

| type | bytes |
|---|---|
| integers, dates, timestamps | the value as a little-endian 64-bit integer |
| timestamps of nanoseconds | the same, in microseconds rounded down |
| decimals | the unscaled value, big-endian two's complement, in the least number of bytes |
| strings, binaries, uuids | the bytes themselves |

See Appendix B of the specification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mmh3
import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.functions.time.kernels import floor_divide, ticks_of
from whyscan.pruning.unscaled import unscaled_of
from whyscan.tree.types import (
    BinaryType,
    DateType,
    DecimalType,
    IntegerType,
    StringType,
    TimestampType,
    TimeUnit,
    Type,
    UuidType,
)

if TYPE_CHECKING:
    from decimal import Decimal

_LOW = 0xFFFFFFFF
_NANOSECONDS_IN_A_MICROSECOND = 1_000


def hashed(source: Type, values: pa.Array) -> pa.Array | None:
    """The signed 32-bit hashes of values; None if the type has no hash."""
    match source:
        case IntegerType():
            return hash_of_longs(values)
        case DateType():
            return hash_of_longs(ticks_of(values))
        case TimestampType():
            return hash_of_longs(_microseconds(values, source.unit))
        case DecimalType():
            return _hash_of_bytes([_bytes_of(v, source.scale) for v in values.to_pylist()])
        case StringType() | BinaryType() | UuidType():
            return _hash_of_bytes(values.to_pylist())
        case _:
            return None


def hash_of_longs(values: pa.Array) -> pa.Array:
    """Murmur3 of eight bytes per value: two rounds over the halves, then the finish."""
    bits = values.view(pa.uint64())
    low = pc.bit_wise_and(bits, pa.scalar(_LOW, pa.uint64())).cast(pa.uint32())
    high = pc.shift_right(bits, pa.scalar(32, pa.uint64())).cast(pa.uint32())
    mixed = _mix(_mix(pa.scalar(0, pa.uint32()), low), high)
    return _finish(pc.bit_wise_xor(mixed, _word(8))).view(pa.int32())


def _mix(state: pa.Array | pa.Scalar, block: pa.Array) -> pa.Array:
    scrambled = _times(_rotated(_times(block, 0xCC9E2D51), 15), 0x1B873593)
    turned = _rotated(pc.bit_wise_xor(state, scrambled), 13)
    return pc.add(_times(turned, 5), _word(0xE6546B64))


def _finish(state: pa.Array) -> pa.Array:
    state = _times(_folded(state, 16), 0x85EBCA6B)
    state = _times(_folded(state, 13), 0xC2B2AE35)
    return _folded(state, 16)


def _rotated(words: pa.Array, by: int) -> pa.Array:
    return pc.bit_wise_or(pc.shift_left(words, _word(by)), pc.shift_right(words, _word(32 - by)))


def _folded(words: pa.Array, by: int) -> pa.Array:
    return pc.bit_wise_xor(words, pc.shift_right(words, _word(by)))


def _times(words: pa.Array, factor: int) -> pa.Array:
    return pc.multiply(words, _word(factor))


def _word(value: int) -> pa.Scalar:
    return pa.scalar(value, pa.uint32())


def _microseconds(values: pa.Array, unit: TimeUnit) -> pa.Array:
    steps = values.cast(pa.int64())
    if unit is TimeUnit.MICROSECOND:
        return steps
    return floor_divide(steps, _NANOSECONDS_IN_A_MICROSECOND)


def _hash_of_bytes(values: list[bytes | None]) -> pa.Array:
    return pa.array([None if v is None else mmh3.hash(v) for v in values], pa.int32())


def _bytes_of(value: Decimal | None, scale: int) -> bytes | None:
    unscaled = None if value is None else unscaled_of(value, scale)
    if unscaled is None:
        return None
    # One bit for the sign; a negative number has one value more than a positive one.
    length = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
    return unscaled.to_bytes(length, "big", signed=True)
