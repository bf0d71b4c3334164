"""The distribution of many numbers: quartiles, and a histogram whose bins double in width.

A histogram is drawn as one bar per power of two, each high enough to be visible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from msgspec import Meta, Struct

from whyscan.fields import Count, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt
    import pyarrow as pa


TALLEST = 100
LOWEST = 6


class Distribution(Record, frozen=True):
    """A histogram: `bins` count the numbers from one power of two to the next, from `start` on."""

    count: Count
    total: Count
    least: Count
    quartiles: tuple[Count, Count, Count]
    greatest: Count
    start: Annotated[Count, Meta(description="Where the first bin starts.")]
    bins: tuple[Count, ...]

    @property
    def median(self) -> int:
        return self.quartiles[1]


class HistogramBar(Struct, frozen=True):
    """A bar for `count` numbers from `low` to `high`; `power` is the exponent of two."""

    power: int
    low: int
    high: int
    count: int
    height: int


def distribution(numbers: npt.NDArray[np.int64]) -> Distribution | None:
    """Make a distribution of numbers that are not negative; None if empty. 0 counts as 1."""
    if not len(numbers):
        return None
    quartiles = np.rint(np.quantile(numbers, (0.25, 0.5, 0.75))).astype(np.int64)
    powers = np.floor(np.log2(np.maximum(numbers, 1))).astype(np.int64)
    first = int(powers.min())
    return Distribution(
        count=len(numbers),
        total=int(numbers.sum()),
        least=int(numbers.min()),
        quartiles=(int(quartiles[0]), int(quartiles[1]), int(quartiles[2])),
        greatest=int(numbers.max()),
        start=1 << first,
        bins=tuple(np.bincount(powers - first).tolist()),
    )


def of_array(values: pa.Array | None) -> Distribution | None:
    """Make a distribution of an Arrow array without its nulls."""
    if values is None:
        return None
    return distribution(values.drop_null().to_numpy(zero_copy_only=False).astype(np.int64))


def steps(distribution: Distribution) -> Iterator[HistogramBar]:
    """Yield one bar per bin that is not empty."""
    most = max(distribution.bins)
    for at, count in enumerate(distribution.bins):
        if count:
            start = distribution.start << at
            low = start if at else min(start, distribution.least)  # 0 counts as 1
            height = max(LOWEST, round(TALLEST * count / most))
            yield HistogramBar(start.bit_length() - 1, low, 2 * start - 1, count, height)


def last_power(distribution: Distribution) -> int:
    """Return the exponent of the last bin."""
    return distribution.start.bit_length() + len(distribution.bins) - 2


def first_power(distribution: Distribution) -> int:
    """Return the exponent of the first bin."""
    return distribution.start.bit_length() - 1
