"""A statement's report as text for a terminal: the answer in one line, then scan by scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from whyscan.reports.phrases import removed
from whyscan.reports.text import (
    at_least_lines,
    basis_lines,
    conjunct_lines,
    engine_lines,
    file_lines,
    finding_lines,
    funnel_lines,
    gate_lines,
    proof_lines,
    subject,
    survivor_lines,
    unchecked_lines,
)
from whyscan.reports.text_layout import GAP, Ink, Page, headed, in_paragraphs, title_lines
from whyscan.reports.words import counted, inert, inert_sql, sizes
from whyscan.statements.reports.phrases import (
    LONGEST_CONDITION,
    ORIGINS,
    amount_cells,
    answer,
    answers,
    changed,
    conditions_above,
    join_text,
    joins,
    origin_text,
    supplied,
    target,
    unresolved,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.reports.report import Unchecked
    from whyscan.statements.records import Dynamic, ScanReport, StatementReport

ScanSections: TypeAlias = tuple[list[str], list[str]]
"""Two lists of lines: the conditions above a scan, and what joins change for it."""
LINES_OF_SQL = 6
"""The lines of the statement that are shown; with a list of files, all are shown."""
SEEN_AT_ONCE = 4
"""With more scans than this, an overview comes first."""


def text(report: StatementReport, page: Page | None = None) -> str:
    """The report as text, ending with a line break."""
    where = Page() if page is None else page
    titles = report.titles
    report, unchecked = _shared_unchecked(report)
    sections = (
        title_lines(answer(report), where),
        _statement_lines(report, where),
        _overview(report, where),
        *(_scan(at, report, titles, where) for at in range(len(report.scans))),
        _joins(report, titles, where),
        finding_lines(report.findings, where),
        unchecked_lines(unchecked, report.notes, where),
        # They are the same for every scan.
        *(proof_lines(scan.report, where) for scan in report.scans[:1]),
        gate_lines(report.assertions, where),
    )
    return in_paragraphs(sections)


def _shared_unchecked(report: StatementReport) -> tuple[StatementReport, tuple[Unchecked, ...]]:
    """The checks that no scan made (`--depth files`), and the report without them."""
    unchecked_of_scans = [scan.report.unchecked for scan in report.scans]
    if len(unchecked_of_scans) == 1:
        return report, ()
    first = unchecked_of_scans[0] if unchecked_of_scans else ()
    shared = tuple(
        reason for reason in first if all(reason in unchecked for unchecked in unchecked_of_scans)
    )
    scans = tuple(_without(scan, shared) for scan in report.scans)
    return replace(report, scans=scans), shared


def _without(scan: ScanReport, shared: tuple[Unchecked, ...]) -> ScanReport:
    remaining = tuple(reason for reason in scan.report.unchecked if reason not in shared)
    return replace(scan, report=replace(scan.report, unchecked=remaining))


def _statement_lines(report: StatementReport, page: Page) -> Iterator[str]:
    """The SQL of the statement, cut to a few lines."""
    lines = page.wrap(f"statement  {inert_sql(report.sql)}", hanging=" " * 11).splitlines()
    with_files = any(scan.report.listing is not None for scan in report.scans)
    if with_files or len(lines) <= LINES_OF_SQL:
        yield from lines
        return
    yield from lines[: LINES_OF_SQL - 1]
    rest = " ".join(line.strip() for line in lines[LINES_OF_SQL:])
    yield page.cut(f"{lines[LINES_OF_SQL - 1]} {rest}", page.width)


def _overview(report: StatementReport, page: Page) -> Iterator[str]:
    """A table of all scans, before the scans one by one; only with many scans."""
    if len(report.scans) <= SEEN_AT_ONCE:
        return
    rows = [("scan", "files", "bytes")]
    rows += [
        (
            inert(title),
            f"{scan.reading.kept:,} of {scan.reading.total:,}",
            sizes(scan.reading.bytes_kept, scan.reading.bytes_total),
        )
        for title, scan in zip(report.titles, report.scans, strict=True)
    ]
    yield from headed(rows, page, right=frozenset({1, 2}))


def _scan(at: int, report: StatementReport, titles: Sequence[str], page: Page) -> Iterator[str]:
    """The title of a scan at the margin, and the rest of the scan indented below it."""
    scan, title = report.scans[at], inert(titles[at])
    role = "" if (role_text := target(scan)) is None else f", {role_text}"
    heading = page.wrap(f"{title}{role}: {subject(scan.report, page)}", hanging=GAP)
    yield heading.replace(title, page.paint(title, Ink.TITLE), 1)
    inner = page.indented()
    brief = scan.report.listing is None
    around = [*_above(scan, report, inner)], [*_dynamic(scan, titles, inner)]
    for lines in (_short if brief else _long)(scan, around, inner):
        for block in lines:
            yield from (f"{GAP}{line}".rstrip() for line in block.splitlines())


def _short(scan: ScanReport, sections: ScanSections, page: Page) -> Iterator[Iterable[str]]:
    """The sections of a scan without a list of files."""
    yield _about_lines(scan, page)
    if scan.answer is None:
        yield funnel_lines(scan.report, page)
    yield _placed(scan, page)
    yield from sections
    if scan.answer is None:
        yield finding_lines(scan.report.findings, page)
        yield unchecked_lines(scan.report.unchecked, scan.report.notes, page)
    yield gate_lines(scan.report.assertions, page)


def _long(scan: ScanReport, sections: ScanSections, page: Page) -> Iterator[Iterable[str]]:
    """What the report on a single table shows, in paragraphs."""
    paragraphs = (
        _about_lines(scan, page),
        funnel_lines(scan.report, page),
        [*_placed(scan, page), *sections[0]],
        sections[1],
        conjunct_lines(scan.report, page),
        engine_lines(scan.report, page),
        survivor_lines(scan.report, page),
        finding_lines(scan.report.findings, page),
        file_lines(scan.report, page),
        unchecked_lines(scan.report.unchecked, scan.report.notes, page),
        basis_lines(scan.report, page),
        gate_lines(scan.report.assertions, page),
    )
    yield [in_paragraphs(paragraphs)]


def _about_lines(scan: ScanReport, page: Page) -> Iterator[str]:
    """What the statement does with the table: answer, change, LIMIT and columns."""
    if scan.answer is not None:
        none = f"none of {counted(scan.reading.total, 'file')} is read"
        line = f"answered from metadata, {none}: {inert_sql(scan.answer)}"
        yield page.wrap(line, hanging=GAP)
    if scan.rewrite is not None:
        yield page.wrap(changed(scan.rewrite), hanging=GAP)
    if scan.limit is not None:
        yield page.wrap(inert_sql(scan.limit), hanging=GAP)
    if scan.columns:
        yield page.cut(f"columns: {inert(', '.join(scan.columns))}", page.width)


def _placed(scan: ScanReport, page: Page) -> Iterator[str]:
    """The conditions that reach the scan, each with its origin below it."""
    if not scan.placed:
        yield "no condition reaches it"
        return
    placed_lines = zip(scan.placed, scan.report.conjuncts, strict=True)
    rows = [("condition", "origin", "class", "alone", "only")]
    rows += [
        (
            inert_sql(placed.sql),
            ORIGINS[placed.origin],
            line.pushdown.value,
            removed(line.alone),
            removed(line.only),
        )
        for placed, line in placed_lines
    ]
    head, *lines = headed(rows, page, right=frozenset({3, 4}))
    yield head
    for placed, line in zip(scan.placed, lines, strict=True):
        yield line
        if origin := origin_text(placed):
            yield page.wrap(origin, indent=GAP, hanging=GAP * 2)
    if scan.report.listing is None:
        yield from at_least_lines(scan.report, page)


def _above(scan: ScanReport, report: StatementReport, page: Page) -> Iterator[str]:
    for condition in conditions_above(scan, report):
        sql = page.cut(inert_sql(condition.sql), LONGEST_CONDITION)
        line = f"stays above: {sql} ({inert_sql(condition.why)})"
        yield page.wrap(line, hanging=GAP)


def _dynamic(scan: ScanReport, titles: Sequence[str], page: Page) -> Iterator[str]:
    if scan.dynamic is None:
        return
    amounts = {(a.files, a.bytes) for _, _, a in answers(scan.dynamic) if a is not None}
    if len(amounts) == 1 and scan.report.listing is None:
        yield "values from joins remove nothing more"
        return
    yield from _three(scan.dynamic, page)
    for supply in scan.dynamic.supplies:
        yield page.wrap(supplied(supply, titles), indent=GAP, hanging=GAP * 2)


def _three(dynamic: Dynamic, page: Page) -> Iterator[str]:
    rows = [("what joins change", "files", "bytes", "rows")]
    rows += [
        (f"{name}: {means}", *amount_cells(amount)) for name, means, amount in answers(dynamic)
    ]
    yield from headed(rows, page, right=frozenset({1, 2, 3}))


def _joins(report: StatementReport, titles: Sequence[str], page: Page) -> Iterator[str]:
    edges = joins(report)
    if edges:
        yield page.paint("joins", Ink.FAINT)
    width = max((len(edge.kind) for edge in edges), default=0)
    for edge in edges:
        lead = f"{GAP}{inert(edge.kind):<{width}}{GAP}"
        yield page.wrap(lead + join_text(edge, titles), hanging=" " * len(lead))
    if unresolved(report):
        yield page.wrap("--resolve-joins reads the values of the small sides", indent=GAP)
