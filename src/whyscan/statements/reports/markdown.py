"""A statement's report as Markdown for a pull request: what each scan reads, then why."""

from __future__ import annotations

import html
from itertools import islice
from typing import TYPE_CHECKING

from whyscan.reports.markdown import (
    basis_lines,
    code,
    fenced,
    file_lines,
    finding_lines,
    gate_lines,
    grid,
    level_lines,
    plain,
    subject_line,
)
from whyscan.reports.phrases import removed
from whyscan.reports.text_layout import in_paragraphs
from whyscan.reports.words import counted, inert, percent, sizes
from whyscan.statements.reports.phrases import (
    ORIGINS,
    amount_cells,
    answer,
    answers,
    changed,
    condition,
    conditions_above,
    joins,
    origin_text,
    sql_lines,
    supplied,
    target,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.statements.records import ScanReport, StatementReport

SCANS_SHOWN = 20
"""A comment on a pull request has at most 65,536 characters."""
ROWS_SHOWN = 100
SQL_SHOWN = 10_000


def markdown(report: StatementReport) -> str:
    """The report as Markdown, ending with a line break."""
    titles = report.titles
    sections = (
        [f"**{plain(answer(report))}**"],
        _sql(report),
        _scans(report, titles),
        _joins(report, titles),
        finding_lines(report.findings),
        [f"- note: {plain(note)}" for note in report.notes],
        gate_lines(report.assertions),
        *_each(report, titles),
    )
    return in_paragraphs(sections)


def _sql(report: StatementReport) -> Iterator[str]:
    """The statement, cut where it would leave no room for the rest."""
    text = "\n".join(sql_lines(report.sql))
    shown = text if len(text) <= SQL_SHOWN else f"{text[:SQL_SHOWN]}\n…"
    yield from fenced(shown.split("\n"), "sql")


def _scans(report: StatementReport, titles: Sequence[str]) -> Iterator[str]:
    rows = [
        (
            code(title),
            f"{scan.reading.kept:,} of {scan.reading.total:,}",
            percent(scan.reading.kept, scan.reading.total),
            sizes(scan.reading.bytes_kept, scan.reading.bytes_total),
        )
        for title, scan in zip(titles, report.scans, strict=True)
    ]
    if rows:
        yield from grid(("scan", "files", "", "bytes"), rows[:ROWS_SHOWN], right=3)
    yield from _more(rows, "scan")


def _joins(report: StatementReport, titles: Sequence[str]) -> Iterator[str]:
    rows = [
        (
            plain(edge.kind),
            code(titles[edge.left]),
            code(titles[edge.right]),
            code(edge.sql) if edge.sql else "none",
        )
        for edge in joins(report)
    ]
    if rows:
        yield from grid(("join", "from", "to", "condition"), rows[:ROWS_SHOWN], right=0)
    yield from _more(rows, "join")


def _more(rows: Sequence[object], noun: str) -> Iterator[str]:
    if len(rows) > ROWS_SHOWN:
        yield ""
        yield f"{counted(len(rows) - ROWS_SHOWN, f'more {noun}')} left out"


def _each(report: StatementReport, titles: Sequence[str]) -> Iterator[Iterable[str]]:
    """One folded section per scan; a section with a failed gate is open."""
    for title, scan in islice(zip(titles, report.scans, strict=True), SCANS_SHOWN):
        shown = html.escape(inert(title)).replace("@", "@<!-- -->")
        attribute = "" if scan.report.passed else " open"
        yield [f"<details{attribute}><summary>{shown}</summary>"]
        yield _about(scan)
        if scan.answer is None:
            yield level_lines(scan.report)
        yield _conditions(scan, report)
        yield _dynamic(scan, titles)
        if scan.answer is None:
            yield finding_lines(scan.report.findings)
        yield gate_lines(scan.report.assertions)
        if scan.report.listing is not None:
            yield file_lines(scan.report)
            yield basis_lines(scan.report)
        yield ["</details>"]
    more = len(report.scans) - SCANS_SHOWN
    if more > 0:
        yield [f"{counted(more, 'more scan')} left out"]


def _about(scan: ScanReport) -> Iterator[str]:
    role = "" if (role_text := target(scan)) is None else f", {role_text}"
    yield subject_line(scan.report.table) + role
    if scan.answer is not None:
        yield f"- answered from metadata: {plain(scan.answer)}"
    if scan.rewrite is not None:
        yield f"- {plain(changed(scan.rewrite))}"
    if scan.limit is not None:
        yield f"- {plain(scan.limit)}"


def _conditions(scan: ScanReport, report: StatementReport) -> Iterator[str]:
    rows = []
    for placed, line in zip(scan.placed, scan.report.conjuncts, strict=bool(scan.placed)):
        origin = plain(origin_text(placed) or ORIGINS[placed.origin])
        shares = removed(line.alone), removed(line.only)
        rows.append((code(condition(placed.sql)), origin, line.pushdown.value, *shares))
    if rows:
        yield from grid(("condition", "origin", "class", "alone", "only"), rows, right=2)
    else:
        yield "no condition reaches it"
    above = list(conditions_above(scan, report))
    if above:
        yield ""
    for condition_above in above:
        yield f"- stays above: {code(condition(condition_above.sql))}, {plain(condition_above.why)}"


def _dynamic(scan: ScanReport, titles: Sequence[str]) -> Iterator[str]:
    if scan.dynamic is None:
        return
    rows = [
        (f"{name}: {means}", *amount_cells(amount)) for name, means, amount in answers(scan.dynamic)
    ]
    yield from grid(("what joins change", "files", "bytes", "rows"), rows, right=3)
    yield ""
    for supply in scan.dynamic.supplies:
        yield f"- {plain(supplied(supply, titles))}"
