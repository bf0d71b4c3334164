"""What runs read and what they waste: in sum, and day by day."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.spark.stages.audit.report import QueryLine

MOST_DAYS = 366
"""A plot has room for this many days; for more days, it has one bar per month."""


class Spending(Struct, frozen=True):
    """Bytes that runs read and waste; `unknown` runs are in neither sum."""

    runs: int = 0
    unknown: int = 0
    read: int = 0
    wasted: int = 0

    def __add__(self, other: Spending) -> Spending:
        return Spending(
            self.runs + other.runs,
            self.unknown + other.unknown,
            self.read + other.read,
            self.wasted + other.wasted,
        )

    @property
    def needed(self) -> int:
        return self.read - self.wasted


class Period(Struct, frozen=True):
    """A day or a month, by its ISO name, and what was read in it."""

    name: str
    spent: Spending


def spending(queries: Iterable[QueryLine]) -> Spending:
    """The sum over every run of these queries."""
    return sum((_spent(line, line.times) for line in queries), Spending())


def _spent(line: QueryLine, runs: int) -> Spending:
    if line.bytes_read is None or line.bytes_needed is None:
        return Spending(runs, runs)
    wasted = line.bytes_read - line.bytes_needed
    return Spending(runs, 0, line.bytes_read * runs, wasted * runs)


def undated(queries: Iterable[QueryLine]) -> int:
    """The number of runs whose day is unknown."""
    return sum(max(line.times - sum(line.days.values()), 0) for line in queries)


def periods(queries: Sequence[QueryLine]) -> tuple[Period, ...]:
    """Every day from the first run to the last, including days without a run; or every month."""
    by_day: dict[str, Spending] = {}
    for line in queries:
        for day, runs in line.days.items():
            by_day[day] = by_day.get(day, Spending()) + _spent(line, runs)
    if not by_day:
        return ()
    days = list(_days(min(by_day), max(by_day)))
    if len(days) <= MOST_DAYS:
        return tuple(Period(day, by_day.get(day, Spending())) for day in days)
    months: dict[str, Spending] = {}
    for day in days:
        months[day[:7]] = months.get(day[:7], Spending()) + by_day.get(day, Spending())
    return tuple(Period(month, spent) for month, spent in months.items())


def _days(first: str, last: str) -> Iterator[str]:
    day, end = date.fromisoformat(first), date.fromisoformat(last)
    while day <= end:
        yield day.isoformat()
        day += timedelta(days=1)
