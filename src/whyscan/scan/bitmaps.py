"""Deletion vectors: the deleted rows of a file as Roaring bitmaps.

Delta's vectors and Iceberg's blobs `deletion-vector-v1` have the same bytes: a magic number, the
number of bitmaps, and for each bitmap the upper 32 bits of its positions and then a bitmap of the
lower 32 bits (github.com/RoaringBitmap/RoaringFormatSpec).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]
    Halves = npt.NDArray[np.uint16]
    Flags = npt.NDArray[np.bool_]

_MAGIC = 1_681_511_377
_WITH_RUNS = 12_347
_WITHOUT_RUNS = 12_346
_WITHOUT_OFFSETS = 4
_ARRAY_AT_MOST = 4_096
_BITMAP_BYTES = 8_192
_HEAD_BYTES = 4
CONTAINER = 1 << 16
"""The number of rows of one container of a bitmap."""


class MalformedBitmap(ValueError):
    """The bytes are not a deletion vector."""


class Vector(Struct, frozen=True):
    """The deleted rows of one file, still compressed: a few bytes may name many rows.

    `keys` are the sorted numbers of the containers: container `n` has `CONTAINER` rows from row `n
    * CONTAINER` on.
    """

    keys: Numbers
    containers: tuple[Values | Bits | Runs, ...]

    def flags(self, start: int, count: int) -> Flags | None:
        """One boolean per row for `count` rows from `start` on: deleted. None if no row is."""
        first = np.searchsorted(self.keys, start // CONTAINER)
        end = np.searchsorted(self.keys, (start + count - 1) // CONTAINER, side="right")
        if first >= end:
            return None
        deleted = np.zeros(count, np.bool_)
        for at in range(int(first), int(end)):
            begin = int(self.keys[at]) * CONTAINER - start
            low, high = max(begin, 0), min(begin + CONTAINER, count)
            deleted[low:high] = self.containers[at].flags()[low - begin : high - begin]
        return deleted


class Values(Struct, frozen=True):
    """A container with few deleted rows: their numbers in the container."""

    numbers: Halves

    def flags(self) -> Flags:
        deleted = np.zeros(CONTAINER, np.bool_)
        deleted[self.numbers] = True
        return deleted


class Bits(Struct, frozen=True):
    """A container with many deleted rows: one bit per row."""

    packed: npt.NDArray[np.uint8]

    def flags(self) -> Flags:
        return np.unpackbits(self.packed, bitorder="little").astype(np.bool_)


class Runs(Struct, frozen=True):
    """A container with runs of deleted rows: the first row of each run, and how many follow."""

    pairs: npt.NDArray[np.int64]

    def flags(self) -> Flags:
        deleted = np.zeros(CONTAINER, np.bool_)
        for first, more in self.pairs.tolist():
            deleted[first : first + more + 1] = True
        return deleted


def read_vector(data: bytes) -> Vector:
    """The deletion vector in these bytes; it takes about as much memory as they do."""
    try:
        return _vector(data)
    except (struct.error, ValueError, IndexError) as error:
        raise MalformedBitmap(f"it is no deletion vector: {error}") from None


def _vector(data: bytes) -> Vector:
    magic, count = struct.unpack_from("<IQ", data)
    if magic != _MAGIC:
        raise MalformedBitmap(f"it begins with {magic}")
    at = 12
    keys: list[Numbers] = [np.empty(0, np.int64)]
    containers: list[Values | Bits | Runs] = []
    for _ in range(count):
        (upper,) = struct.unpack_from("<I", data, at)
        lower, some, at = _bitmap(data, at + 4)
        keys.append((upper << 16) + lower)
        containers += some
    every = np.concatenate(keys)
    if (np.diff(every) <= 0).any():
        raise MalformedBitmap("its containers are not in order")
    return Vector(every, tuple(containers))


def _bitmap(data: bytes, at: int) -> tuple[Numbers, list[Values | Bits | Runs], int]:
    """One 32-bit bitmap: the numbers of its containers, the containers, and its end position."""
    (cookie,) = struct.unpack_from("<I", data, at)
    at += 4
    has_runs = cookie & 0xFFFF == _WITH_RUNS
    flags = np.empty(0, np.uint8)
    if has_runs:
        count = (cookie >> 16) + 1
        flags = np.frombuffer(data, np.uint8, (count + 7) // 8, at)
        at += len(flags)
    elif cookie == _WITHOUT_RUNS:
        (count,) = struct.unpack_from("<I", data, at)
        at += 4
    else:
        raise MalformedBitmap(f"a bitmap begins with {cookie}")
    # Checked before memory is allocated for them.
    if count > CONTAINER or _HEAD_BYTES * count > len(data) - at:
        raise MalformedBitmap(f"a bitmap claims {count} containers in {len(data) - at} bytes")
    is_run = np.zeros(count, np.bool_)
    if has_runs:
        is_run = np.unpackbits(flags, bitorder="little")[:count].astype(np.bool_)
    heads = np.frombuffer(data, "<u2", 2 * count, at).astype(np.int64).reshape(-1, 2)
    at += _HEAD_BYTES * count
    if not has_runs or count >= _WITHOUT_OFFSETS:
        at += 4 * count
    containers: list[Values | Bits | Runs] = []
    for fewer, runs in zip(heads[:, 1].tolist(), is_run.tolist(), strict=True):
        container, at = _runs(data, at) if runs else _values(data, at, fewer + 1)
        containers.append(container)
    return heads[:, 0], containers, at


def _runs(data: bytes, at: int) -> tuple[Runs, int]:
    (count,) = struct.unpack_from("<H", data, at)
    pairs = np.frombuffer(data, "<u2", 2 * count, at + 2).astype(np.int64).reshape(-1, 2)
    if (pairs.sum(axis=1) >= CONTAINER).any():
        raise MalformedBitmap("a run goes beyond its container")
    return Runs(pairs), at + 2 + 4 * count


def _values(data: bytes, at: int, count: int) -> tuple[Values | Bits, int]:
    """A container: a sorted array if it has few rows, else one bit per row."""
    if count <= _ARRAY_AT_MOST:
        return Values(np.frombuffer(data, "<u2", count, at)), at + 2 * count
    return Bits(np.frombuffer(data, np.uint8, _BITMAP_BYTES, at)), at + _BITMAP_BYTES
