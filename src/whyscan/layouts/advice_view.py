"""The view of advice: what is read today, the best layouts, and every query before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.pages.bars import part_of
from whyscan.reports.phrases import gate, priced_as
from whyscan.reports.view import (
    Cell,
    CodeSpan,
    FactsBlock,
    GridBlock,
    Head,
    NamedValue,
    NameSpan,
    NotesBlock,
    Section,
    TitleBlock,
)
from whyscan.reports.words import counted, money, percent, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.layouts.advice import (
        Advice,
        LayoutAdvice,
        PartialRewrite,
        TableAdvice,
        TotalsToday,
    )
    from whyscan.layouts.engine_statements import EngineStatements
    from whyscan.reports.pages.bars import Segment
    from whyscan.reports.view import Blocks, Inline

_QUERIES_SHOWN = 10


def view(advice: Advice) -> Blocks:
    """Return the blocks, table by table."""
    return (
        TitleBlock(_answer(advice), command="advise", subject="workload"),
        *(_table(table) for table in advice.tables),
        Section("gates", (NotesBlock(tuple(gate(outcome) for outcome in advice.assertions)),)),
        NotesBlock(tuple(_notes(advice))),
    )


def _answer(advice: Advice) -> str:
    """Write `3 tables: all runs read 12 GB, and could read 1.1 GB in other layouts`."""
    before = sum(table.today.bytes for table in advice.tables)
    after = sum(
        table.advice[0].bytes.after if table.advice else table.today.bytes
        for table in advice.tables
    )
    tables = counted(len(advice.tables), "table")
    if before == after:
        return f"{tables}: all runs read {size(before)}, and no layout would bring a tenth"
    return f"{tables}: all runs read {size(before)}, and would read {size(after)} in other layouts"


def _table(table: TableAdvice) -> Section:
    today = table.today
    blocks: Blocks = (
        FactsBlock(
            (
                NamedValue("location", NameSpan(table.uri), beside=table.format),
                NamedValue("runs", f"{today.runs:,}"),
                NamedValue("today", f"{size(today.bytes)} in {counted(today.files, 'file')}"),
                NamedValue("floor", _floor(today)),
            )
        ),
    )
    blocks = (*blocks, NotesBlock(table.structure))
    if not table.advice:
        note = "leave it alone: no layout reads a tenth less"
        if not table.leave_alone:
            note = "bounds alone prove no layout that reads a tenth less: sample rows"
        return Section(f"table {table.table}", (*blocks, NotesBlock((note,))))
    return Section(f"table {table.table}", (*blocks, _layouts(table), *_best(table.advice[0])))


def _floor(today: TotalsToday) -> str:
    text = f"about {size(today.floor_bytes)}: no layout could read less"
    return text if today.regret is None else f"{text}; today reads {today.regret:,.1f} times that"


def _layouts(table: TableAdvice) -> GridBlock:
    heads = (
        Head("layout"),
        *(Head(name, number=True) for name in ("bytes", "interval", "files", "of today")),
    )
    return GridBlock(
        heads,
        tuple(
            (
                CodeSpan(one.layout),
                Cell(size(one.bytes.after), bar=part_of(one.bytes.after, one.bytes.before)),
                f"{size(one.bytes.low)} to {size(one.bytes.high)}",
                f"{one.files.after:,}",
                percent(one.bytes.after, one.bytes.before),
            )
            for one in table.advice
        ),
        label=f"Layouts of {table.table}",
    )


def _best(best: LayoutAdvice) -> Iterator[FactsBlock | GridBlock | NotesBlock]:
    """Yield how to write the best layout, and what it brings query by query."""
    yield FactsBlock(
        (
            NamedValue("rewrite", _rewrite(best)),
            *_costs(best),
            *_statements(best.statements),
        )
    )
    if best.partial is not None:
        yield FactsBlock(tuple(_cheap_half(best.partial)))
    worse = [query for query in best.queries if query.bytes_after > query.bytes_before]
    shown = [
        *best.queries[:_QUERIES_SHOWN],
        *(q for q in worse if q in best.queries[_QUERIES_SHOWN:]),
    ]
    # The bars of one table have one scale: a query that gets worse has the longer one behind.
    most = max((max(q.bytes_before, q.bytes_after) for q in shown), default=0)
    yield GridBlock(
        (
            Head("query"),
            *(Head(name, number=True) for name in ("runs", "before", "after")),
        ),
        tuple(
            (
                CodeSpan(q.query),
                f"{q.runs:,}",
                Cell(size(q.bytes_before), bar=_bar(q.bytes_before, most)),
                Cell(size(q.bytes_after), bar=_bar(q.bytes_after, most)),
            )
            for q in shown
        ),
        label="Queries",
    )
    hidden = len(best.queries) - len(shown)
    if hidden:
        yield NotesBlock((f"{counted(hidden, 'query')} more, none of which gets worse",))


def _bar(read: int, most: int) -> tuple[Segment, ...]:
    return part_of(read, most) if most else ()


def _rewrite(best: LayoutAdvice) -> str:
    writes = best.writes
    text = f"{size(best.rewrite_bytes)} once, into {counted(writes.files, 'file')}"
    if writes.partitions > 1:
        text += f" of {counted(writes.partitions, 'partition')}"
    if writes.small_files:
        text += f", {writes.small_files:,} of them small"
    if best.pays_after_runs is not None:
        text += f"; it pays for itself after {counted(best.pays_after_runs, 'run')}"
    return text


def _costs(best: LayoutAdvice) -> Iterator[NamedValue]:
    if best.cost is not None:
        terms = priced_as(best.cost.price, best.cost.request_price)
        amounts = f"{money(best.cost.before)} today, {money(best.cost.after)} in the layout"
        yield NamedValue("cost", amounts, beside=terms)


def _statements(statements: EngineStatements) -> Iterator[NamedValue]:
    yield from (NamedValue("Spark", CodeSpan(text)) for text in statements.spark)
    yield from (NamedValue("Trino", CodeSpan(text)) for text in statements.trino)


def _cheap_half(part: PartialRewrite) -> Iterator[NamedValue]:
    files = counted(part.files, "file")
    saves = f"saves {size(part.saves)} by {files} of {size(part.bytes)}"
    yield NamedValue("first", (f"{saves}: ", CodeSpan(part.where)))
    yield from _statements(part.statements)


def _notes(advice: Advice) -> Iterator[Inline]:
    if advice.engines:
        yield f"bytes are those that {' or '.join(advice.engines)} reads"
    for table in advice.failed:
        yield NameSpan(table.table), f" could not be read: {table.why}"
    if advice.reading_everything:
        yield f"{counted(advice.reading_everything, 'query')} read everything on purpose"
    if advice.of_other_tables:
        yield f"{counted(advice.of_other_tables, 'query')} of tables that were not listed"
    for query in advice.unread:
        yield CodeSpan(query.query), f" could not be read: {query.why}"
