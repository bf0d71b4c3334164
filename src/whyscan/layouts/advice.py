"""Advice: what each table of a workload should look like, and what that would bring."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from whyscan.fields import Count, Name, Record, Sentence, Sql, TableFormat, Word
from whyscan.layouts.engine_statements import EngineStatements, rewrite_of
from whyscan.layouts.partial import cheap_half
from whyscan.layouts.search import best_layouts
from whyscan.layouts.structure import unused_structure
from whyscan.reports.gates import Assertion, at_most
from whyscan.reports.hypothetical import LayoutEvidence
from whyscan.reports.prices import Prices
from whyscan.reports.rendering import WrittenReport

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whyscan.layouts.replay import Replayed, TableReplay
    from whyscan.reports.view import Blocks

SMALL_SHARE = 0.25
WORTH_IT = 0.9
"""A layout that reads more than this share of today's bytes is not advised."""


class LayoutChange(Record, frozen=True):
    """A number of all runs today and in a layout, with the interval of the second."""

    before: Count
    after: Count
    low: Count
    high: Count


class MoneyChange(Record, frozen=True):
    """What all runs cost today and in a layout, at the prices that the user gave."""

    before: float | None
    after: float | None
    price: Word | None
    request_price: Word | None


class WrittenFiles(Record, frozen=True):
    """What a rewrite makes: files, partitions, and files far below the size of the layout."""

    files: Count
    partitions: Count
    small_files: Annotated[
        Count, Meta(description="The files of less than a quarter of the file size.")
    ]


class TotalsToday(Record, frozen=True):
    """What all runs of the workload read today."""

    COMPUTED: ClassVar = {"regret": "regret"}
    OPTIONAL: ClassVar = ("cost",)

    bytes: Count
    files: Count
    runs: Count
    floor_bytes: Annotated[
        Count,
        Meta(
            description="An estimate of the least that any layout could read: the rows that "
            "match, packed into files of today's size."
        ),
    ]

    cost: Annotated[float | None, Meta(description="With --price: what all runs cost.")] = None

    @property
    def regret(self) -> float | None:
        """How many times the floor the runs read today; null if the floor is nothing."""
        return self.bytes / self.floor_bytes if self.floor_bytes else None


class QueryChange(Record, frozen=True):
    """What one run of a query reads today and in the layout."""

    query: Sql
    runs: Count
    bytes_before: Count
    bytes_after: Count


class PartialRewrite(Record, frozen=True):
    """A rewrite of some files that brings most of what the whole layout brings."""

    files: Count
    bytes: Annotated[Count, Meta(description="The bytes of these files, which are written once.")]
    saves: Annotated[
        Count, Meta(description="An estimate of what all runs of the costliest queries save.")
    ]
    where: Annotated[Sql, Meta(description="The condition that selects the files.")]
    statements: EngineStatements


class LayoutAdvice(Record, frozen=True):
    """One layout, and what the workload would read of it."""

    OPTIONAL: ClassVar = ("cost",)

    layout: Name
    evidence: LayoutEvidence
    bytes: LayoutChange
    files: LayoutChange
    rewrite_bytes: Annotated[Count, Meta(description="The bytes that must be written once.")]
    writes: WrittenFiles
    pays_after_runs: Annotated[
        Count | None,
        Meta(
            description="After so many runs, mixed as in the workload, the saved bytes are those "
            "that a rewrite reads and writes; null if it saves none."
        ),
    ]
    partial: Annotated[
        PartialRewrite | None,
        Meta(
            description="A rewrite of some files that brings most of it; null if there is none, or "
            "no engine writes a part of the table in this layout."
        ),
    ]
    queries: Annotated[
        tuple[QueryChange, ...], Meta(description="Every query, the one that saves most first.")
    ]
    statements: EngineStatements
    cost: Annotated[MoneyChange | None, Meta(description="With --price: what all runs cost.")] = (
        None
    )


class TableAdvice(Record, frozen=True):
    """What one table should look like. `leave_alone`: no layout reads a tenth less.

    Without a sample a table has no advice, and is not to be left alone, if bounds prove nothing.
    """

    table: Name
    uri: Name
    format: TableFormat
    today: TotalsToday
    leave_alone: bool
    structure: Annotated[
        tuple[Sentence, ...], Meta(description="What the table has that no query gains by.")
    ]
    advice: Annotated[tuple[LayoutAdvice, ...], Meta(description="The best layout first.")]


class UnreadQuery(Record, frozen=True):
    """A query that could not be read, and why."""

    query: Sql
    why: Sentence


class UnadvisedTable(Record, frozen=True):
    """A table that could not be read, and why."""

    table: Name
    why: Sentence


class Advice(WrittenReport, frozen=True):
    """What every table of a workload should look like, the one that saves most first.

    `reading_everything` counts the queries that ask for all rows of their tables, and
    `of_other_tables` those that name a table which was not listed.
    """

    tables: tuple[TableAdvice, ...]
    unread: tuple[UnreadQuery, ...]
    reading_everything: Count
    of_other_tables: Count
    failed: Annotated[
        tuple[UnadvisedTable, ...], Meta(description="The tables that could not be read.")
    ] = ()
    engines: Annotated[
        tuple[Name, ...],
        Meta(description="Bytes are those that the one of these engines reads that reads most."),
    ] = ()
    assertions: Annotated[tuple[Assertion, ...], Meta(description="The outcomes of gates.")] = ()

    @property
    def passed(self) -> bool:
        """Whether every gate passed."""
        return all(outcome.holds for outcome in self.assertions)

    def gated(self, *, max_cost: float | None = None) -> Advice:
        """Return the advice with the outcome of the gate; a cost that is unknown fails.

        `max_cost` is the most that all runs may cost today.
        """
        if max_cost is None:
            return self
        costs = [table.today.cost for table in self.tables]
        spent = None if None in costs else sum(cost or 0 for cost in costs)
        return replace(self, assertions=(at_most("max_cost", max_cost, spent),))

    def priced(self, price: str | None = None, request_price: str | None = None) -> Advice:
        """Return the advice with what its runs cost, at prices like `5/TB` and `0.0004/1000`."""
        prices = Prices.of(price, request_price)
        if prices is None:
            return self
        return replace(self, tables=tuple(_priced(table, prices) for table in self.tables))

    def redacted(self) -> Advice:
        """Return the same advice without literals and values, for sharing."""
        from whyscan.reports.redaction import redacted

        return redacted(self)

    def view(self) -> Blocks:
        from whyscan.layouts.advice_view import view

        return view(self)


def advice_on(
    name: str, replay: TableReplay, progress: Callable[[str], None] = lambda _: None
) -> TableAdvice:
    """Search the layouts of a table and describe the best."""
    today_bytes, today_files = replay.today.total(replay.runs)
    best = [one for one in best_layouts(replay, progress) if one.bytes < today_bytes * WORTH_IT]
    return TableAdvice(
        table=name,
        uri=replay.snapshot.uri,
        format=replay.snapshot.format,
        today=TotalsToday(
            today_bytes,
            today_files,
            int(replay.runs.sum()),
            min(replay.floor_bytes(), *(one.bytes for one in best), today_bytes),
        ),
        # Bounds may prove nothing of a layout that saves much.
        leave_alone=not best and replay.sample_bytes > 0,
        structure=tuple(unused_structure(replay)),
        advice=tuple(_advice(name, replay, one) for one in best),
    )


def _advice(name: str, replay: TableReplay, one: Replayed) -> LayoutAdvice:
    today_bytes, today_files = replay.today.total(replay.runs)
    sizes, files = replay.interval(one)
    return LayoutAdvice(
        layout=str(one.layout),
        evidence=LayoutEvidence.ESTIMATED if replay.sample_bytes else LayoutEvidence.GUARANTEED,
        bytes=LayoutChange(today_bytes, one.bytes, *sizes),
        files=LayoutChange(today_files, one.files, *files),
        rewrite_bytes=replay.table_bytes(),
        writes=_written_files(one),
        pays_after_runs=_pays_after(replay, today_bytes - one.bytes),
        partial=_partial(name, replay, one),
        queries=tuple(_queries(replay, one)),
        statements=rewrite_of(one.snapshot, _parts(name)).statements(),
    )


def _written_files(one: Replayed) -> WrittenFiles:
    files = one.snapshot.files(())
    rows = files.rows.to_numpy()
    folders = [path.rpartition("/")[0] for path in files.paths.to_pylist()]
    small = rows < one.snapshot.rows_a_file * SMALL_SHARE
    return WrittenFiles(files.count, len(set(folders)), int(small.sum()))


def _pays_after(replay: TableReplay, saved: int) -> int | None:
    if saved <= 0:
        return None
    return ceil(2 * replay.table_bytes() * int(replay.runs.sum()) / saved)


def _priced(table: TableAdvice, prices: Prices) -> TableAdvice:
    def cost(one: LayoutAdvice) -> MoneyChange:
        before = prices.amount(one.bytes.before, one.files.before)
        after = prices.amount(one.bytes.after, one.files.after)
        return MoneyChange(before, after, prices.price, prices.request_price)

    today = prices.amount(table.today.bytes, table.today.files)
    return replace(
        table,
        today=replace(table.today, cost=today),
        advice=tuple(replace(one, cost=cost(one)) for one in table.advice),
    )


def _partial(name: str, replay: TableReplay, one: Replayed) -> PartialRewrite | None:
    part = cheap_half(replay, one)
    if part is None:
        return None
    statements = rewrite_of(one.snapshot, _parts(name), part.where).statements()
    return PartialRewrite(part.files, part.bytes, part.saves, part.where, statements)


def _parts(name: str) -> tuple[str, ...]:
    return tuple(name.split("."))


def _queries(replay: TableReplay, one: Replayed) -> Sequence[QueryChange]:
    """One line per query; the scans of a table that is used twice are added."""
    lines: dict[str, QueryChange] = {}
    before, after = replay.today.bytes.tolist(), one.amounts.bytes.tolist()
    for scan, old, new in zip(replay.scans, before, after, strict=True):
        line = lines.get(scan.query, QueryChange(scan.query, scan.runs, 0, 0))
        lines[scan.query] = QueryChange(
            scan.query, scan.runs, line.bytes_before + old, line.bytes_after + new
        )
    return sorted(lines.values(), key=lambda q: (q.bytes_after - q.bytes_before) * q.runs)
