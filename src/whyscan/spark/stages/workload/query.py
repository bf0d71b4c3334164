"""The records of a workload: queries, their number of runs, and what engines report as read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from whyscan.fields import Count, ErrorText, Name, Record, Value, Word
from whyscan.spark.stages.workload.query_shapes import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

__all__ = ["ActualScan", "Query", "Unparsed", "Workload", "grouped", "shape_of", "unexplained"]

MOST_ORIGINS = 20
"""The most origins that are kept per query: a query may have a million runs."""


class ActualScan(Struct, frozen=True):
    """What an engine reports as read of one table: sums over `runs`; None if it does not report.

    `table` is the engine's name or address of the table; it is empty if the numbers are those of a
    whole query. `files_total` and `manifests_total` are what there was to read.
    """

    table: str
    runs: int = 1
    files: int | None = None
    bytes: int | None = None
    rows: int | None = None
    partitions: int | None = None
    files_total: int | None = None
    manifests: int | None = None
    manifests_total: int | None = None


MEASURES = (
    "files",
    "bytes",
    "rows",
    "partitions",
    "files_total",
    "manifests",
    "manifests_total",
)
"""The counts of an `ActualScan`."""


class Query(Struct, frozen=True):
    """One distinct text with all its runs.

    `first` and `last` are times in UTC, None if no log has a time. `days` counts the runs per ISO
    date, as far as the logs have times. `bytes_read` is the sum over all runs, None if one run has
    no number. `origins` are the first places in the logs. `notes` name the parts of a plan that
    are missing in a text that was made from it. `namespace` is the catalog and schema of
    unqualified table names, such as `lake.sales`; empty if no log has it. `users` counts the runs
    per user, as far as the logs name them. `logs` counts the runs per kind of log.
    """

    text: str
    dialect: str
    times: int = 1
    first: datetime | None = None
    last: datetime | None = None
    days: Mapping[str, int] = field(default_factory=dict)
    bytes_read: int | None = None
    origins: tuple[str, ...] = ()
    actual: tuple[ActualScan, ...] = ()
    notes: tuple[str, ...] = ()
    namespace: str = ""
    users: Mapping[str, int] = field(default_factory=dict)
    logs: Mapping[str, int] = field(default_factory=dict)

    @property
    def within(self) -> tuple[str, ...]:
        """The parts of the namespace."""
        return tuple(self.namespace.split(".")) if self.namespace else ()


class Unparsed(Record, frozen=True):
    """An entry of a log that cannot be explained as a query: its place, its text, and why.

    `bytes_read` is what the engine read for it; None if the log does not say. `log` is the kind of
    the log; empty for a query that is from no log.
    """

    origin: Name
    text: Value
    why: ErrorText
    times: Count = 1
    bytes_read: Count | None = None
    log: Word = ""


class Workload(Struct, frozen=True):
    """The distinct queries of some logs, and the entries that are no queries."""

    queries: tuple[Query, ...] = ()
    unparsed: tuple[Unparsed, ...] = ()

    @property
    def query_entries(self) -> int:
        """The number of log entries that are queries: runs, not distinct texts."""
        return sum(query.times for query in self.queries)

    @property
    def unparsed_entries(self) -> int:
        """The number of log entries that are no queries; `unparsed` lists them."""
        return sum(entry.times for entry in self.unparsed)

    @property
    def entries(self) -> int:
        """The number of all log entries."""
        return self.query_entries + self.unparsed_entries


def unexplained(query: Query, why: str, origin: str = "") -> Iterator[Unparsed]:
    """The runs of a query that cannot be explained: one entry per kind of log that has them."""
    runs = dict(query.logs)
    rest = query.times - sum(runs.values())
    if rest or not runs:
        runs[""] = rest
    first = query.origins[0] if query.origins else origin
    return (Unparsed(first, query.text, why, times, log=log) for log, times in runs.items())


def grouped(queries: Iterable[Query]) -> tuple[Query, ...]:
    """One query per text, dialect and namespace, in order of first appearance."""
    runs: dict[tuple[str, str, str], list[Query]] = {}
    for query in queries:
        runs.setdefault(identity(query), []).append(query)
    return tuple(_merged(runs_of_text) for runs_of_text in runs.values())


def identity(query: Query) -> tuple[str, str, str]:
    """What two runs of one query have in common."""
    return (query.text, query.dialect, query.namespace)


def _merged(runs: Sequence[Query]) -> Query:
    if len(runs) == 1:
        return runs[0]
    return Query(
        text=runs[0].text,
        dialect=runs[0].dialect,
        times=sum(query.times for query in runs),
        first=min((q.first for q in runs if q.first is not None), default=None),
        last=max((q.last for q in runs if q.last is not None), default=None),
        days=_counts(query.days for query in runs),
        bytes_read=total([query.bytes_read for query in runs]),
        origins=_distinct(origin for query in runs for origin in query.origins)[:MOST_ORIGINS],
        actual=_scans(runs),
        notes=_distinct(note for query in runs for note in query.notes),
        namespace=runs[0].namespace,
        users=_counts(query.users for query in runs),
        logs=_counts(query.logs for query in runs),
    )


def _counts(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The sum of each key, in the order of the keys."""
    counts: dict[str, int] = {}
    for part in parts:
        for key, times in part.items():
            counts[key] = counts.get(key, 0) + times
    return dict(sorted(counts.items()))


def _scans(queries: Sequence[Query]) -> tuple[ActualScan, ...]:
    """One sum per scan of the text; the nth scan of a table is added to the nth of other runs."""
    scans: dict[tuple[str, int], list[ActualScan]] = {}
    for query in queries:
        scans_so_far: dict[str, int] = {}
        for scan in query.actual:
            scans_so_far[scan.table] = scans_so_far.get(scan.table, 0) + 1
            scans.setdefault((scan.table, scans_so_far[scan.table]), []).append(scan)
    return tuple(
        ActualScan(
            table,
            runs=sum(scan.runs for scan in runs),
            **{name: total([getattr(scan, name) for scan in runs]) for name in MEASURES},
        )
        for (table, _), runs in scans.items()
    )


def total(parts: Sequence[int | None]) -> int | None:
    """The sum, None if a number is unknown or there is none."""
    numbers = [part for part in parts if part is not None]
    return sum(numbers) if len(numbers) == len(parts) and numbers else None


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
