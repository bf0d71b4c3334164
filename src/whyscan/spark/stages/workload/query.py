"""A workload: many queries with how often they ran, and what engines say that they read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from whyscan.spark.stages.workload.query_shapes import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

__all__ = ["ActualScan", "Query", "Unparsed", "Workload", "grouped", "shape_of"]

MOST_ORIGINS = 20
"""Of one text: a query that ran a million times need not say a million times where."""


class ActualScan(Struct, frozen=True):
    """What an engine says that it read of one table: sums over `runs`, None where it does not say.

    `table` is the name or the address by which the engine knows it.
    """

    table: str
    runs: int = 1
    files: int | None = None
    bytes: int | None = None
    rows: int | None = None
    partitions: int | None = None


class Query(Struct, frozen=True):
    """One distinct text, and every run of it.

    `first` and `last` are in UTC, None where no log says when. `days` counts the runs of each ISO
    date that is known. `bytes_read` is the sum over all runs, None where one of them does not say.
    `origins` are the first of the places that it stands at. `notes` say what of a text that was
    made of a plan is not in it. `namespace` is the catalog and schema, `lake.sales`, that names
    without one are of; empty where no log says so.
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

    @property
    def within(self) -> tuple[str, ...]:
        """The parts of the namespace."""
        return tuple(self.namespace.split(".")) if self.namespace else ()


class Unparsed(Struct, frozen=True):
    """An entry of a log that is no query that can be explained: where, what, and why."""

    origin: str
    text: str
    why: str
    times: int = 1


class Workload(Struct, frozen=True):
    """The distinct queries of some logs, and every entry that is none."""

    queries: tuple[Query, ...] = ()
    unparsed: tuple[Unparsed, ...] = ()

    @property
    def taken(self) -> int:
        """How many entries of the logs are queries: runs, not distinct texts."""
        return sum(query.times for query in self.queries)

    @property
    def left(self) -> int:
        """How many entries are none, each listed in `unparsed`."""
        return sum(entry.times for entry in self.unparsed)

    @property
    def entries(self) -> int:
        """How many entries the logs have."""
        return self.taken + self.left


def grouped(queries: Iterable[Query]) -> tuple[Query, ...]:
    """One query for each text, dialect and namespace, in the order in which they first appear."""
    runs: dict[tuple[str, str, str], list[Query]] = {}
    for query in queries:
        runs.setdefault((query.text, query.dialect, query.namespace), []).append(query)
    return tuple(_merged(runs_of_text) for runs_of_text in runs.values())


def _merged(runs: Sequence[Query]) -> Query:
    if len(runs) == 1:
        return runs[0]
    days: dict[str, int] = {}
    for query in runs:
        for day, times in query.days.items():
            days[day] = days.get(day, 0) + times
    return Query(
        text=runs[0].text,
        dialect=runs[0].dialect,
        times=sum(query.times for query in runs),
        first=min((q.first for q in runs if q.first is not None), default=None),
        last=max((q.last for q in runs if q.last is not None), default=None),
        days=dict(sorted(days.items())),
        bytes_read=total([query.bytes_read for query in runs]),
        origins=_distinct(origin for query in runs for origin in query.origins)[:MOST_ORIGINS],
        actual=_scans(runs),
        notes=_distinct(note for query in runs for note in query.notes),
        namespace=runs[0].namespace,
    )


def _scans(queries: Sequence[Query]) -> tuple[ActualScan, ...]:
    """One for each scan of the text: the second scan of a table stays the second in every run."""
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
            files=total([scan.files for scan in runs]),
            bytes=total([scan.bytes for scan in runs]),
            rows=total([scan.rows for scan in runs]),
            partitions=total([scan.partitions for scan in runs]),
        )
        for (table, _), runs in scans.items()
    )


def total(parts: Sequence[int | None]) -> int | None:
    """The sum of what is known, None where a part of it is not."""
    numbers = [part for part in parts if part is not None]
    return sum(numbers) if len(numbers) == len(parts) and numbers else None


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
