"""The view of an audit: queries by wasted bytes, then tables, drift and what was not explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports import report_view
from whyscan.reports.phrases import priced_as
from whyscan.reports.view import (
    Cell,
    CodeBlock,
    CodeSpan,
    FactsBlock,
    FindingsBlock,
    Fold,
    GatesBlock,
    GridBlock,
    Head,
    NamedValue,
    NameSpan,
    NotesBlock,
    Section,
    TitleBlock,
    Tone,
)
from whyscan.reports.words import counted, inert_sql, size
from whyscan.spark.stages.audit.phrases import (
    action,
    answer,
    by_layout,
    compared,
    could_read,
    drifted,
    earlier_run,
    failed,
    heading,
    kept,
    left_out,
    remedies,
    rewrites,
    sized,
    unchecked,
)
from whyscan.statements.reports import view as statement_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whyscan.reports.prices import WorkloadCost
    from whyscan.reports.view import Block, Blocks, GridRow, Inline
    from whyscan.spark.stages.audit.report import (
        Actual,
        Audit,
        AuditedScan,
        QueryLine,
        TableTotal,
    )
    from whyscan.spark.stages.audit.spending import LogEntries, RunsTotal
    from whyscan.statements.records import StatementReport

IN_FULL = 20
"""How many queries are shown in full; the page and the JSON have all of them."""
LONGEST_SQL = 160
UNKNOWN = "\N{EN DASH}"


def view(audit: Audit, shown: int) -> Blocks:
    """Return the blocks; text and Markdown list `shown` queries, tables and entries."""
    return (
        TitleBlock(answer(audit)),
        *to_do(audit),
        _ranking(audit, shown),
        Section("tables", tuple(_tables(audit, shown)), quiet=True),
        *more_sums(audit, shown),
        *lists(audit, shown),
        *(
            _query(rank, line, audit.run.timezone)
            for rank, line in enumerate(audit.queries[:IN_FULL], 1)
        ),
        GatesBlock(audit.assertions),
        NotesBlock((*unchecked(audit), *(f"note: {note}" for note in audit.run.notes))),
        Fold("what this rests on", (basis(audit),), detail=True),
    )


def lists(audit: Audit, shown: int) -> Blocks:
    """Return what drifted, and what could not be read, audited or explained."""
    broken = [line for line in audit.tables if line.error is not None]
    not_audited = [line for line in audit.queries if line.error is not None]
    unparsed = [(f"{left_out(line)}: ", _sql(line.text)) for line in audit.unparsed]
    return (
        _listed("drift", ((f"{drifted(d)}: ", _sql(d.sql)) for d in audit.drift), shown),
        _listed("tables that could not be read", map(failed, broken), shown, Tone.BAD),
        _listed(
            "queries that were not audited",
            ((_sql(line.sql), f": {inert_sql(line.error or '')}") for line in not_audited),
            shown,
        ),
        _listed("entries of the workload that could not be explained", unparsed, shown),
    )


def _sql(text: str) -> CodeSpan:
    line = inert_sql(text)
    return CodeSpan(line if len(line) <= LONGEST_SQL else f"{line[: LONGEST_SQL - 1]}…")


def _listed(title: str, lines: Iterable[Inline], shown: int, tone: Tone = Tone.WARN) -> Section:
    notes = NotesBlock(tuple(lines), shown=shown)
    return Section(f"{title}: {len(notes.lines):,}", (notes,), tone=tone)


def _ranking(audit: Audit, shown: int) -> GridBlock:
    numbers = ("#", "runs", "reads", "needs", "wasted", "kept")
    heads = (*(Head(name, number=True) for name in numbers), Head("tables"))
    rows = tuple(_row(rank, line) for rank, line in enumerate(audit.queries, 1))
    return GridBlock(heads, rows, label="Queries", flexible=len(numbers), shown=shown)


def _row(rank: int, line: QueryLine) -> GridRow:
    names = ", ".join(line.table_names) or "none"
    sentences = (
        could_read(line),
        by_layout(line),
        *rewrites(line),
        *remedies(line),
        *compared(line),
    )
    return (
        f"{rank}",
        f"{line.times:,}",
        *map(size, (line.bytes_read, line.bytes_needed)),
        sized(line.wasted, _wasted_cost(line), priced=line.cost is not None),
        kept(line.ratio),
        Cell(names, below=(_sql(line.sql), *filter(None, sentences))),
    )


def _wasted_cost(line: QueryLine | TableTotal) -> float | None:
    return None if line.cost is None else line.cost.wasted


def _query(rank: int, line: QueryLine, timezone: str) -> Fold:
    """Return one query in full; text leaves it out, because the ranking has the answer."""
    statement = line.statement(timezone)
    return Fold(
        f"{rank}: {heading(line)}",
        (
            CodeBlock("query", line.sql),
            NotesBlock(
                tuple(
                    ("write instead: ", CodeSpan(table.write_instead))
                    for table in line.tables
                    if table.write_instead is not None
                )
            ),
            FindingsBlock(line.findings),
            *(
                Section(
                    f"{table.scan.title}: {heading(table)}", tuple(scan_blocks(table, statement))
                )
                for table in line.tables
            ),
        ),
        detail=True,
    )


def scan_blocks(table: AuditedScan, statement: StatementReport) -> Iterator[Block]:
    """Yield the blocks of the report on a statement's scan, and what the audit adds to them."""
    subject = table.scan.report.table
    yield NotesBlock(((NameSpan(subject.uri), f" ({report_view.about(subject)})"),))
    yield from statement_view.scan_blocks(table.scan, statement, full=False)
    if None not in (table.bytes_read, table.bytes_kept) and table.bytes_read != table.bytes_kept:
        without = f"An engine that does not see through a condition reads {size(table.bytes_read)}."
        yield NotesBlock((f"This is what metadata allows. {without}",))
    if table.actual is not None:
        names = ("engine", "predicted", "there")
        heads = (Head("one run"), *(Head(name, number=True) for name in names))
        title = f"Predicted and actual reads of {table.scan.title}"
        yield GridBlock(heads, tuple(_compared(table, table.actual)), label=title)
        runs = counted(table.actual.runs, "run")
        yield NotesBlock((f"The engine's figures are the mean of {runs}.",))


def _compared(table: AuditedScan, actual: Actual) -> Iterator[GridRow]:
    """Yield the engine's average per run, the predicted numbers, and those of the whole table."""
    levels = {level.level: level for level in table.scan.report.levels}
    files, manifests = levels["files"], levels.get("manifests")
    amounts = [
        ("files", actual.files, files.kept, files.total),
        ("bytes", actual.bytes, table.bytes_kept, files.bytes_total),
        ("rows", actual.rows, files.rows_kept, files.rows_total),
    ]
    if manifests is not None:
        amounts.insert(0, ("manifests", actual.manifests, manifests.kept, manifests.total))
    for name, read, *others in amounts:
        a_run = None if read is None else round(read / max(actual.runs, 1))
        yield (
            name,
            *(
                UNKNOWN if n is None else size(n) if name == "bytes" else f"{n:,}"
                for n in (a_run, *others)
            ),
        )


def _tables(audit: Audit, shown: int) -> Iterator[GridBlock | NotesBlock]:
    opened = [line for line in audit.tables if line.error is None and line.queries]
    idle = sum(line.error is None and not line.queries for line in audit.tables)
    numbers = ("queries", "runs", "reads", "wasted")
    heads = (Head("table"), *(Head(name, number=True) for name in numbers), Head("most by"))
    yield GridBlock(heads, tuple(map(_total, opened)), label="Tables", shown=shown)
    if idle and opened:
        yield NotesBlock((f"{counted(idle, 'table')} that no query names",))


def to_do(audit: Audit) -> Iterator[Section]:
    """Yield the changes that save the most, where there are any."""
    lines = tuple(f"{rank}: {text}" for rank, text in enumerate(map(action, audit.actions), 1))
    if lines:
        yield Section("do first", (NotesBlock(lines),))


def more_sums(audit: Audit, shown: int) -> Iterator[Section]:
    """Yield the sums by kind of log, by user and of earlier runs, where there are any."""
    if audit.logs:
        names = ("entries", "explained", "not audited", "left out")
        heads = (Head("log"), *(Head(name, number=True) for name in names))
        rows = tuple(map(_log, audit.logs))
        yield Section("logs", (GridBlock(heads, rows, label="Logs"),), quiet=True)
    numbers = tuple(Head(name, number=True) for name in ("runs", "reads", "wasted", "by layout"))
    if audit.users:
        users = tuple(map(_user, audit.users))
        grid = GridBlock((Head("user"), *numbers), users, label="Users", shown=shown)
        yield Section("users", (grid,), quiet=True)
    if audit.trend:
        yield Section("earlier runs", (NotesBlock(tuple(map(earlier_run, audit.trend))),))


def _log(one: LogEntries) -> GridRow:
    counts = one.entries, one.explained, one.not_audited, one.left_out
    return one.log, *(f"{count:,}" for count in counts)


def _user(one: RunsTotal) -> GridRow:
    unknown = f" ({one.unknown:,} unknown)" if one.unknown else ""
    cost = one.cost
    return (
        NameSpan(one.name),
        f"{one.times:,}{unknown}",
        sized(one.bytes_read, cost.read if cost else None, priced=cost is not None),
        sized(one.wasted, cost.wasted if cost else None, priced=cost is not None),
        size(one.layout_bytes),
    )


def _total(line: TableTotal) -> GridRow:
    return (
        NameSpan(line.name),
        f"{line.queries:,}",
        f"{line.times:,}",
        sized(line.bytes_read, line.cost.read if line.cost else None, priced=line.cost is not None),
        sized(line.wasted, _wasted_cost(line), priced=line.cost is not None),
        ", ".join([c.column for c in line.columns if c.wasted][:2]),
    )


def basis(audit: Audit) -> FactsBlock:
    """Return the run, its terms, and what its amounts mean."""
    run = audit.run
    return FactsBlock(
        (
            NamedValue("run", f"{run.id} of {run.at:%Y-%m-%d %H:%M} UTC, {run.seconds:,.1f} s"),
            NamedValue("terms", f"time zone {run.timezone}, depth {run.depth}"),
            NamedValue(
                "reads",
                "the bytes of the files that the conditions keep as they are written; a condition "
                "that engines do not see through removes nothing, if a finding says so",
            ),
            NamedValue(
                "needs",
                "the least amount that is proven to be enough: the kept files without the row "
                "groups that footers rule out, or what a proven rewrite keeps",
            ),
            NamedValue("wasted", "the difference, times the runs"),
            *_prices(audit.cost),
        )
    )


def _prices(cost: WorkloadCost | None) -> Iterator[NamedValue]:
    """Yield the prices and what the costs mean."""
    if cost is not None:
        days = f", scaled from {counted(cost.days, 'day')} of the log to 30" if cost.days else ""
        terms = priced_as(cost.price, cost.request_price)
        yield NamedValue("costs", f"{terms}; a month is 30 days{days}")
