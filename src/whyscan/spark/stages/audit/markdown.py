"""The audit as GitHub Markdown, for a pull request or a ticket; all values are escaped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from whyscan.reports.markdown import code, fenced, grid, plain
from whyscan.reports.text_layout import in_paragraphs
from whyscan.reports.words import counted, inert, inert_sql, size
from whyscan.spark.stages.audit.phrases import (
    answer,
    could_read,
    drifted,
    engine,
    failed,
    kept,
    left_out,
    predicted,
)
from whyscan.statements.reports.phrases import sql_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.reports.findings import Finding
    from whyscan.spark.stages.audit.report import Audit, AuditedScan, QueryLine

QUERIES_RANKED = 20
QUERIES_IN_FULL = 8
TABLES_SHOWN = 20
OTHERS_SHOWN = 10
LINE_SHOWN = 120
WORDS_SHOWN = 300
SQL_SHOWN = 2_000
ROOM_IN_FULL = 25_000
"""A GitHub comment has room for 65,536 characters, and the other sections take some of it."""


def markdown(audit: Audit) -> str:
    """A summary of the audit, ending with a line break; the page and the JSON have all of it."""
    sections = (
        [f"**{plain(answer(audit))}**"],
        _ranking(audit.queries),
        *_each(audit.queries),
        _tables(audit),
        _listed(
            "Drift",
            [f"{plain(drifted(line))}: {code(_cut(line.sql))}" for line in audit.drift],
        ),
        _listed(
            "Tables not read",
            [plain(_cut(failed(line), WORDS_SHOWN)) for line in audit.tables if line.error],
        ),
        _listed(
            "Queries not audited",
            [
                f"{code(_cut(line.sql))}: {plain(_cut(line.error, WORDS_SHOWN))}"
                for line in audit.queries
                if line.error
            ],
        ),
        _listed(
            "Entries of the workload not explained",
            [f"{plain(_cut(left_out(line)))}: {code(_cut(line.text))}" for line in audit.unparsed],
        ),
        _basis(audit),
    )
    return in_paragraphs(sections)


def _cut(text: str, longest: int = LINE_SHOWN) -> str:
    line = inert_sql(text)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _ranking(queries: Sequence[QueryLine]) -> Iterator[str]:
    rows = [
        (
            f"{rank}",
            code(_cut(line.sql)),
            f"{line.times:,}",
            *map(size, (line.bytes_read, line.bytes_needed, line.wasted)),
            kept(line.ratio),
        )
        for rank, line in enumerate(queries[:QUERIES_RANKED], 1)
    ]
    if rows:
        head = ("#", "query", "runs", "reads", "needs", "in vain", "kept")
        yield from grid(head, rows, right=5)
    yield from _more(len(queries) - len(rows), "queries")


def _more(number: int, noun: str) -> Iterator[str]:
    if number > 0:
        yield ""
        yield f"{number:,} more {noun} left out"


def _each(queries: Sequence[QueryLine]) -> Iterator[Iterable[str]]:
    """What to change in the queries that waste the most, in folded sections."""
    left = ROOM_IN_FULL
    for rank, line in enumerate(queries[:QUERIES_IN_FULL], 1):
        summary_text = could_read(line)
        if summary_text is None:
            return
        summary = [f"<details><summary>{rank}: {html.escape(summary_text)}</summary>"]
        parts = [summary, _sql(line), _rewrites(line), _findings(line), ["</details>"]]
        sections = [list(section) for section in parts]
        left -= sum(len(text) + 1 for section in sections for text in section)
        if left < 0:
            return
        yield from sections


def _sql(line: QueryLine) -> Iterator[str]:
    text = "\n".join(sql_lines(line.sql))
    shown = text if len(text) <= SQL_SHOWN else f"{text[:SQL_SHOWN]}\n…"
    yield from fenced(shown.split("\n"), "sql")


def _rewrites(line: QueryLine) -> Iterator[str]:
    for table in line.tables[:OTHERS_SHOWN]:
        yield f"- {_scan(table)}"
        if table.rewrite is not None:
            yield f"  - write instead: {code(_cut(table.rewrite, WORDS_SHOWN))}"
        if table.actual is not None and table.summary is not None:
            yield f"  - {plain(engine(table.actual))} a run; {plain(predicted(table))}"


def _scan(table: AuditedScan) -> str:
    title = table.name if table.alias == table.name else f"{table.name} {table.alias}"
    if table.summary is None:
        return f"{code(title)}: {plain(_cut(table.error or 'not known', WORDS_SHOWN))}"
    read = f"{table.summary.files_kept:,} of {counted(table.summary.files_total, 'file')}"
    return f"{code(title)}: {read} stay, {size(table.bytes_read)} read"


def _findings(line: QueryLine) -> Iterator[str]:
    findings: list[Finding] = [
        *line.findings,
        *(f for table in line.tables for f in table.findings),
    ]
    for finding in findings[:OTHERS_SHOWN]:
        label = f"**{finding.severity.value}** {code(finding.code.value)}"
        yield f"- {label}: {plain(_cut(finding.message, WORDS_SHOWN))}"
        if finding.fix is not None:
            yield f"  - fix: {plain(_cut(finding.fix, WORDS_SHOWN))}"


def _tables(audit: Audit) -> Iterator[str]:
    opened = [line for line in audit.tables if line.error is None]
    rows = [
        (
            code(_cut(line.name)),
            ", ".join(code(_cut(c.column)) for c in line.columns[:3] if c.wasted),
            f"{line.queries:,}",
            f"{line.times:,}",
            size(line.bytes_read),
            size(line.wasted),
        )
        for line in opened[:TABLES_SHOWN]
    ]
    if rows:
        head = ("table", "columns of the waste", "queries", "runs", "reads", "in vain")
        yield from grid(head, rows, right=4)
    yield from _more(len(opened) - len(rows), "tables")


def _listed(title: str, lines: Sequence[str]) -> Iterator[str]:
    if not lines:
        return
    yield f"**{title}: {len(lines):,}**"
    yield ""
    yield from (f"- {line}" for line in lines[:OTHERS_SHOWN])
    yield from _more(len(lines) - OTHERS_SHOWN, "of them")


def _basis(audit: Audit) -> Iterator[str]:
    run = audit.run
    yield "<details><summary>what this rests on</summary>"
    yield ""
    yield f"- run {plain(inert(run.id))} of {run.at:%Y-%m-%d %H:%M} UTC, {run.seconds:,.1f} s"
    yield f"- time zone {plain(run.timezone)}, depth {plain(run.depth)}"
    yield "- reads: the files that stay by the conditions as they are written"
    yield "- needs: the least of what is known to be enough"
    yield "- in vain: the difference, times the runs"
    yield from (f"- note: {plain(note)}" for note in run.notes)
    yield ""
    yield "</details>"
