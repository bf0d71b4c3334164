"""The audit as text: queries by wasted bytes, then tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.text_layout import GAP, Ink, Page, headed, in_paragraphs, table, title_lines
from whyscan.reports.words import counted, inert, inert_sql, size
from whyscan.spark.stages.audit.phrases import (
    answer,
    compared,
    could_read,
    drifted,
    failed,
    kept,
    left_out,
    remedies,
    rewrites,
    unchecked,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.spark.stages.audit.report import Audit, QueryLine, TableTotal

HEAD = ("#", "times", "reads", "needs", "in vain", "kept", "tables")
TABLES = ("table", "queries", "runs", "reads", "in vain", "most by")
SHOWN = 20
"""How many queries, tables and unexplained entries are shown; the JSON has all of them."""


def text(audit: Audit, page: Page | None = None, shown: int = SHOWN) -> str:
    """The whole audit as text, which ends with a line break."""
    layout = Page() if page is None else page
    sections = (
        title_lines(answer(audit), layout),
        _queries(audit, layout, shown),
        _tables(audit, layout, shown),
        _drift(audit, layout, shown),
        _failed(audit, layout, shown),
        _unparsed(audit, layout, shown),
        _notes(audit, layout),
    )
    return in_paragraphs(sections)


def _queries(audit: Audit, page: Page, shown: int) -> Iterator[str]:
    if not audit.queries:
        return
    rows: list[tuple[str, ...]] = [HEAD]
    rows += [_row(at, line) for at, line in enumerate(audit.queries[:shown], 1)]
    head, *lines = table(rows, right=frozenset(range(len(HEAD) - 1)))
    yield page.paint(page.cut(head, page.width), Ink.FAINT)
    indent = " " * (len(rows[-1][0]) + len(GAP))
    for line, query in zip(lines, audit.queries, strict=False):
        yield page.paint(page.cut(line, page.width), Ink.TITLE)
        yield from _query(query, page, indent)
    yield from _more(len(audit.queries) - shown, page)


def _row(at: int, line: QueryLine) -> tuple[str, ...]:
    names = ", ".join(dict.fromkeys(inert(table.name) for table in line.tables))
    amounts = (line.bytes_read, line.bytes_needed, line.wasted)
    return (f"{at}", f"{line.times:,}", *map(size, amounts), kept(line.ratio), names or "none")


def _query(line: QueryLine, page: Page, indent: str) -> Iterator[str]:
    yield page.cut(f"{indent}{inert_sql(line.sql)}", page.width)
    if line.error is not None:
        yield page.wrap(f"not audited: {inert_sql(line.error)}", indent=indent)
    sentences = (could_read(line), *rewrites(line), *remedies(line), *compared(line))
    for sentence in filter(None, sentences):
        yield page.wrap(sentence, indent=indent, hanging=indent + GAP)


def _more(number: int, page: Page) -> Iterator[str]:
    if number > 0:
        yield page.paint(f"and {number:,} more; --format json has all", Ink.FAINT)


def _tables(audit: Audit, page: Page, shown: int) -> Iterator[str]:
    opened = [line for line in audit.tables if line.error is None and line.queries]
    idle = sum(line.error is None and not line.queries for line in audit.tables)
    if not opened:
        return
    rows: list[tuple[str, ...]] = [TABLES]
    rows += [_total(line) for line in opened[:shown]]
    yield from headed(rows, page, right=frozenset({1, 2, 3, 4}))
    yield from _more(len(opened) - shown, page)
    if idle:
        yield page.paint(f"{counted(idle, 'table')} that no query names", Ink.FAINT)


def _total(line: TableTotal) -> tuple[str, ...]:
    columns = [inert(c.column) for c in line.columns if c.wasted][:2]
    return (
        inert(line.name),
        f"{line.queries:,}",
        f"{line.times:,}",
        size(line.bytes_read),
        size(line.wasted),
        ", ".join(columns),
    )


def _drift(audit: Audit, page: Page, shown: int) -> Iterator[str]:
    for line in audit.drift[:shown]:
        label = page.paint("drift", Ink.WARN)
        yield page.wrap(f"drift {drifted(line)}", hanging=GAP).replace("drift", label, 1)
        yield page.cut(f"{GAP}{inert_sql(line.sql)}", page.width)
    yield from _more(len(audit.drift) - shown, page)


def _failed(audit: Audit, page: Page, shown: int) -> Iterator[str]:
    broken = [line for line in audit.tables if line.error is not None]
    if broken:
        yield page.paint(f"{counted(len(broken), 'table')} could not be read", Ink.BAD)
    for line in broken[:shown]:
        yield page.wrap(failed(line), indent=GAP, hanging=GAP * 2)
    yield from _more(len(broken) - shown, page)


def _unparsed(audit: Audit, page: Page, shown: int) -> Iterator[str]:
    if not audit.unparsed:
        return
    number = len(audit.unparsed)
    entries = "1 entry" if number == 1 else f"{number:,} entries"
    yield page.paint(f"{entries} of the workload could not be explained", Ink.WARN)
    for line in audit.unparsed[:shown]:
        yield page.wrap(left_out(line), indent=GAP, hanging=GAP * 2)
        yield page.cut(f"{GAP * 2}{inert_sql(line.text)}", page.width)
    yield from _more(number - shown, page)


def _notes(audit: Audit, page: Page) -> Iterator[str]:
    for line in unchecked(audit):
        yield page.wrap(line, hanging=GAP)
    for note in audit.run.notes:
        yield page.wrap(f"note: {inert(note)}", hanging=GAP)
