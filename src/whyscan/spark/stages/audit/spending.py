"""What runs read and what they waste: in sum, by user, and day by day."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta, Struct

from whyscan.fields import Count, Name, Record, Value, Word
from whyscan.reports.prices import Spent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.spark.stages.audit.report import QueryLine
    from whyscan.spark.stages.workload.query import Unparsed

MOST_DAYS = 366
"""A plot has room for this many days; for more days, it has one bar per month."""


class RunsTotal(Record, frozen=True):
    """What the runs of one user, or of one day, read and waste.

    Runs whose bytes are unknown are counted in `unknown`, and are in no sum.
    """

    OPTIONAL: ClassVar = ("cost",)

    name: Value
    times: Count
    unknown: Count
    bytes_read: Count
    wasted: Count
    layout_bytes: Annotated[
        Count, Meta(description="An upper estimate of what another layout would spare.")
    ]
    cost: Annotated[Spent | None, Meta(description="With --price: what these runs cost.")] = None


class LogEntries(Record, frozen=True):
    """The entries of one kind of log, and what became of them: the other counts add up to all."""

    log: Word
    entries: Count
    explained: Count
    not_audited: Annotated[Count, Meta(description="Runs of queries on a table without a plan.")]
    left_out: Annotated[Count, Meta(description="Those in `unparsed`, each with the reason.")]


class EarlierRun(Record, frozen=True):
    """The sums of one run of the audit in the history; None where nothing is known."""

    run: Name
    at: datetime
    bytes_read: Count | None
    wasted: Count | None
    layout_bytes: Count | None


class Spending(Struct, frozen=True):
    """Bytes that runs read and waste; `unknown` runs are in no sum.

    `layout` is an upper estimate of the needed bytes that another layout would spare. `cost` is
    None without prices.
    """

    runs: int = 0
    unknown: int = 0
    read: int = 0
    wasted: int = 0
    layout: int = 0
    cost: Spent | None = None

    def __add__(self, other: Spending) -> Spending:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Spending(
            self.runs + other.runs,
            self.unknown + other.unknown,
            self.read + other.read,
            self.wasted + other.wasted,
            self.layout + other.layout,
            Spent.of_all(costs) if costs else None,
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
    layout = (line.layout_bytes or 0) // line.times
    cost = None if line.cost is None else line.cost.scaled(runs / line.times)
    return Spending(runs, 0, line.bytes_read * runs, wasted * runs, layout * runs, cost)


def by_user(queries: Iterable[QueryLine]) -> tuple[RunsTotal, ...]:
    """The sums of each user, the largest waste first."""
    users: dict[str, Spending] = {}
    for line in queries:
        for one in line.users:
            users[one.user] = users.get(one.user, Spending()) + _spent(line, one.times)
    totals = [_total(user, spent) for user, spent in users.items()]
    return tuple(sorted(totals, key=lambda one: (-one.wasted - one.layout_bytes, -one.bytes_read)))


def by_day(queries: Iterable[QueryLine]) -> tuple[RunsTotal, ...]:
    """The sums of each day that has runs, in order."""
    return tuple(_total(day, spent) for day, spent in sorted(_days_of(queries).items()))


def _days_of(queries: Iterable[QueryLine]) -> dict[str, Spending]:
    days: dict[str, Spending] = {}
    for line in queries:
        for day, runs in line.days.items():
            days[day] = days.get(day, Spending()) + _spent(line, runs)
    return days


def _total(name: str, spent: Spending) -> RunsTotal:
    return RunsTotal(
        name, spent.runs, spent.unknown, spent.read, spent.wasted, spent.layout, spent.cost
    )


def by_log(queries: Iterable[QueryLine], unparsed: Iterable[Unparsed]) -> tuple[LogEntries, ...]:
    """What became of the entries of each kind of log."""
    explained, not_audited, left_out = Counter[str](), Counter[str](), Counter[str]()
    for line in queries:
        (explained if line.error is None else not_audited).update(line.logs)
    for entry in unparsed:
        left_out[entry.log] += entry.times
    return tuple(
        LogEntries(log, sum(counts), *counts)
        for log in sorted(explained.keys() | not_audited.keys() | left_out.keys())
        for counts in [(explained[log], not_audited[log], left_out[log])]
        if log
    )


def undated(queries: Iterable[QueryLine]) -> int:
    """The number of runs whose day is unknown."""
    return sum(max(line.times - sum(line.days.values()), 0) for line in queries)


def periods(queries: Sequence[QueryLine]) -> tuple[Period, ...]:
    """Every day from the first run to the last, including days without a run; or every month."""
    spent_on = _days_of(queries)
    if not spent_on:
        return ()
    days = list(_days(min(spent_on), max(spent_on)))
    if len(days) <= MOST_DAYS:
        return tuple(Period(day, spent_on.get(day, Spending())) for day in days)
    months: dict[str, Spending] = {}
    for day in days:
        months[day[:7]] = months.get(day[:7], Spending()) + spent_on.get(day, Spending())
    return tuple(Period(month, spent) for month, spent in months.items())


def _days(first: str, last: str) -> Iterator[str]:
    day, end = date.fromisoformat(first), date.fromisoformat(last)
    while day <= end:
        yield day.isoformat()
        day += timedelta(days=1)
