"""Positions along space-filling curves: Z-order and Hilbert, for many points at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Places = npt.NDArray[np.uint64]
    """A coordinate or a position on a curve, one value a point."""

CURVE_BITS = 64
_ONE = np.uint64(1)


def zorder(coordinates: Sequence[Places], bits: int) -> Places:
    """Interleave the lowest `bits` bits of the coordinates, the first coordinate first."""
    position = np.zeros(len(coordinates[0]), np.uint64)
    for bit in reversed(range(bits)):
        for coordinate in coordinates:
            position = (position << _ONE) | ((coordinate >> np.uint64(bit)) & _ONE)
    return position


def zorder_words(coordinates: Sequence[Places]) -> list[Places]:
    """Interleave all 64 bits of the coordinates, as several numbers, the most important first."""
    bits = CURVE_BITS // len(coordinates)
    mask = np.uint64((1 << bits) - 1)
    words = []
    for end in range(CURVE_BITS, 0, -bits):
        shift = np.uint64(max(0, end - bits))
        # The lowest bits may be fewer than a word takes; those of the word before come again.
        words.append(zorder([(c >> shift) & mask for c in coordinates], bits))
    return words


def ordered_bits(values: pa.Array) -> Places:
    """The first 64 bits of each value as Iceberg's Z-order takes them; 0 for NULL.

    | values | bits |
    |---|---|
    | integers, dates, booleans | the number, with its sign turned |
    | timestamps | their seconds |
    | floats | their bits, all turned if negative, else the sign |
    | texts | the first eight bytes |
    """
    if pa.types.is_binary(values.type):
        texts = [(text or b"")[:8].ljust(8, b"\0") for text in values.to_pylist()]
        return np.frombuffer(b"".join(texts), ">u8").astype(np.uint64)
    is_null = values.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_floating(values.type):
        number = values.fill_null(0.0).to_numpy(zero_copy_only=False).view(np.int64)
        bits = (number ^ ((number >> 63) | np.int64(-(2**63)))).view(np.uint64)
    else:
        if pa.types.is_timestamp(values.type):
            values = pc.floor_temporal(values, unit="second").cast(pa.timestamp("s"))
        elif pa.types.is_date(values.type):
            values = values.cast(pa.int32())
        numbers = values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        bits = numbers.view(np.uint64) ^ np.uint64(1 << 63)
    return np.where(is_null, np.uint64(0), bits)


def hilbert(coordinates: Sequence[Places], bits: int) -> Places:
    """Return the positions on the Hilbert curve through a cube of `bits` bits a side.

    The method is Skilling's (Programming the Hilbert curve, 2004): rotations are undone from the
    highest bit down, and a Gray code is taken of what is left.
    """
    axes = [coordinate.copy() for coordinate in coordinates]
    for bit in reversed(range(1, bits)):
        below = np.uint64((1 << bit) - 1)
        for at, axis in enumerate(axes):
            is_set = (axis >> np.uint64(bit)) & _ONE == _ONE
            swapped = np.where(is_set, np.uint64(0), (axes[0] ^ axis) & below)
            axes[0] = np.where(is_set, axes[0] ^ below, axes[0] ^ swapped)
            if at:
                axes[at] = axis ^ swapped
    for at in range(1, len(axes)):
        axes[at] = axes[at] ^ axes[at - 1]
    flips = np.zeros(len(axes[0]), np.uint64)
    for bit in reversed(range(1, bits)):
        is_set = (axes[-1] >> np.uint64(bit)) & _ONE == _ONE
        flips = np.where(is_set, flips ^ np.uint64((1 << bit) - 1), flips)
    return zorder([axis ^ flips for axis in axes], bits)
