"""A distribution as bars: one bar per power of two, each high enough to be visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.stats.distribution import Distribution

TALLEST = 100
LOWEST = 6


class HistogramBar(Struct, frozen=True):
    """A bar for `count` numbers from `low` to `high`; `power` is the exponent of two."""

    power: int
    low: int
    high: int
    count: int
    height: int


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
