"""Positions along space-filling curves: Z-order and Hilbert, for many points at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
