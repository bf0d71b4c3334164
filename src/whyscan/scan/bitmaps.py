"""Deletion vectors: sorted row positions out of Roaring bitmaps.

Delta's vectors and Iceberg's blobs `deletion-vector-v1` are the same bytes: a magic number, how
many bitmaps, and for each the upper 32 bits of its positions before a bitmap of the lower ones
(github.com/RoaringBitmap/RoaringFormatSpec).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Positions = npt.NDArray[np.int64]

_MAGIC = 1_681_511_377
_WITH_RUNS = 12_347
_WITHOUT_RUNS = 12_346
_WITHOUT_OFFSETS = 4
_ARRAY_AT_MOST = 4_096
_BITMAP_BYTES = 8_192


class Malformed(ValueError):
    """The bytes are no deletion vector."""


def positions(data: bytes) -> Positions:
    """The positions that a vector holds, in order."""
    try:
        return _positions(data)
    except (struct.error, ValueError, IndexError) as error:
        raise Malformed(f"it is no deletion vector: {error}") from None


def _positions(data: bytes) -> Positions:
    magic, count = struct.unpack_from("<IQ", data)
    if magic != _MAGIC:
        raise Malformed(f"it begins with {magic}")
    at, found = 12, [np.empty(0, np.int64)]
    for _ in range(count):
        (upper,) = struct.unpack_from("<I", data, at)
        lower, at = _bitmap(data, at + 4)
        found.append((upper << 32) + lower)
    return np.concatenate(found)


def _bitmap(data: bytes, at: int) -> tuple[Positions, int]:
    """One 32-bit bitmap, and where it ends."""
    (cookie,) = struct.unpack_from("<I", data, at)
    at += 4
    if cookie & 0xFFFF == _WITH_RUNS:
        count = (cookie >> 16) + 1
        flags = np.frombuffer(data, np.uint8, (count + 7) // 8, at)
        is_run = np.unpackbits(flags, bitorder="little")[:count].astype(bool)
        at += len(flags)
    elif cookie == _WITHOUT_RUNS:
        (count,) = struct.unpack_from("<I", data, at)
        is_run, at = np.zeros(count, bool), at + 4
    else:
        raise Malformed(f"a bitmap begins with {cookie}")
    heads = np.frombuffer(data, "<u2", 2 * count, at).astype(np.int64).reshape(-1, 2)
    at += 4 * count
    if cookie == _WITHOUT_RUNS or count >= _WITHOUT_OFFSETS:
        at += 4 * count
    found = [np.empty(0, np.int64)]
    for (key, fewer), runs in zip(heads.tolist(), is_run.tolist(), strict=True):
        low, at = _runs(data, at) if runs else _values(data, at, fewer + 1)
        found.append((key << 16) + low)
    return np.concatenate(found), at


def _runs(data: bytes, at: int) -> tuple[Positions, int]:
    (count,) = struct.unpack_from("<H", data, at)
    pairs = np.frombuffer(data, "<u2", 2 * count, at + 2).astype(np.int64).reshape(-1, 2)
    spans = [np.arange(start, start + more + 1) for start, more in pairs.tolist()]
    return np.concatenate([np.empty(0, np.int64), *spans]), at + 2 + 4 * count


def _values(data: bytes, at: int, count: int) -> tuple[Positions, int]:
    """A sorted array where there are few, else a bit each."""
    if count <= _ARRAY_AT_MOST:
        return np.frombuffer(data, "<u2", count, at).astype(np.int64), at + 2 * count
    bits = np.unpackbits(np.frombuffer(data, np.uint8, _BITMAP_BYTES, at), bitorder="little")
    return np.flatnonzero(bits).astype(np.int64), at + _BITMAP_BYTES
