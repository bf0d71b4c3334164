"""The view of a statement's report: what each scan reads, the joins, then scan by scan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.reports import report_view
from whyscan.reports.engine_phrases import engine_lines
from whyscan.reports.pages.bars import part_of, segments
from whyscan.reports.view import (
    Cell,
    CodeBlock,
    CodeSpan,
    FactsBlock,
    FindingsBlock,
    Fold,
    FunnelBlock,
    GatesBlock,
    GridBlock,
    Head,
    NamedValue,
    NameSpan,
    NotesBlock,
    ScanRow,
    ScansBlock,
    Section,
    TitleBlock,
)
from whyscan.reports.words import counted, money
from whyscan.statements.reports.phrases import (
    amount_cells,
    answers,
    changed,
    condition,
    conditions_above,
    headline,
    joins,
    origin_text,
    reached,
    supplied,
    target,
    unresolved,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.reports.pages.bars import Segment
    from whyscan.reports.report import Unchecked
    from whyscan.reports.view import Block, Blocks, GridRow, Inline
    from whyscan.statements.records import ScanReport, StatementReport

SEEN_AT_ONCE = 4
"""If there are more scans than this, the text begins with an overview."""


def view(report: StatementReport, *, full: bool = False) -> Blocks:
    """Return the blocks of a statement; `full` or a list of files shows all facts on each scan."""
    titles = report.titles
    report, unchecked = _shared_unchecked(report)
    listed = any(scan.report.listing is not None for scan in report.scans)
    full = full or listed
    terms = f"{report.dialect} SQL, time zone {report.timezone}"
    # What evidence proves is the same for every scan.
    proofs = tuple(fold for scan in report.scans[:1] for fold in report_view.proofs(scan.report))
    return (
        _title(report),
        CodeBlock("statement", report.sql, beside=terms, whole=listed),
        FactsBlock((*_try_first(report, titles), *report_view.cost(report.cost))),
        _overview(report, titles),
        *(_scan(at, report, titles, full=full) for at in range(len(report.scans))),
        Section("joins", tuple(_joins(report, titles))),
        Section("Findings across tables", (FindingsBlock(report.findings),), quiet=True),
        Section("Notes", (report_view.not_checked(unchecked, report.notes),), quiet=True),
        Section("Evidence", proofs, quiet=True),
        GatesBlock(report.assertions),
    )


def _title(report: StatementReport) -> TitleBlock:
    """Return the answer; the page says whether keys of joins were read."""
    supplies = (scan.dynamic.supplies for scan in report.scans if scan.dynamic is not None)
    resolved = any(supply.keys is not None for some in supplies for supply in some)
    return TitleBlock(
        *headline(report),
        command="explain --sql",
        subject=f"{report.operation} over {counted(len(report.scans), 'scan')}",
        made="Made from metadata, and from the keys of joins, which were read."
        if resolved
        else None,
    )


def _try_first(report: StatementReport, titles: Sequence[str]) -> Iterator[NamedValue]:
    """Yield the change to try first, with the scan that it is about."""
    change = report.try_first
    at = None if change is None else change.scan
    yield from report_view.try_first(change, "" if at is None else f"{titles[at]}: ")


def _shared_unchecked(report: StatementReport) -> tuple[StatementReport, tuple[Unchecked, ...]]:
    """Return the report without the checks that no scan made (`--depth files`), and these."""
    unchecked_of_scans = [scan.report.unchecked for scan in report.scans]
    if len(unchecked_of_scans) <= 1:
        return report, ()
    shared = tuple(
        reason
        for reason in unchecked_of_scans[0]
        if all(reason in unchecked for unchecked in unchecked_of_scans)
    )
    scans = tuple(_without_shared(scan, shared) for scan in report.scans)
    return replace(report, scans=scans), shared


def _without_shared(scan: ScanReport, shared: tuple[Unchecked, ...]) -> ScanReport:
    remaining = tuple(reason for reason in scan.report.unchecked if reason not in shared)
    return replace(scan, report=replace(scan.report, unchecked=remaining))


def _overview(report: StatementReport, titles: Sequence[str]) -> ScansBlock:
    """Return what each scan reads; text leaves it out if there are few scans."""
    rows = tuple(
        ScanRow(title, scan.reading, _bar(scan))
        for title, scan in zip(titles, report.scans, strict=True)
    )
    return ScansBlock(rows, tuple(joins(report)), detail=len(rows) <= SEEN_AT_ONCE)


def _bar(scan: ScanReport) -> tuple[Segment, ...]:
    if scan.answer is None:
        return segments(scan.report.files_level)
    return part_of(0, scan.reading.total)


def _scan(at: int, report: StatementReport, titles: Sequence[str], *, full: bool) -> Fold:
    """Return one scan; a scan with a failed gate is open."""
    scan, table = report.scans[at], report.scans[at].report.table
    role = "" if (role_text := target(scan)) is None else f"{role_text}, "
    blocks = tuple(scan_blocks(scan, report, full=full))
    return Fold(
        NameSpan(titles[at]),
        # In short, a scan is one paragraph of text.
        blocks if full else (Section("", blocks, quiet=True),),
        beside=(role, NameSpan(table.uri), f" ({report_view.about(table)})"),
        open=not scan.report.passed,
    )


def scan_blocks(scan: ScanReport, report: StatementReport, *, full: bool) -> Iterator[Block]:
    """Yield what a scan reads and why; a scan that metadata answers reads nothing."""
    read = scan.answer is None
    yield _about(scan)
    yield FactsBlock(tuple(report_view.layout(scan.report.hypothetical)))
    if read:
        yield NotesBlock(tuple(engine_lines(scan.report.engines, scan.report.levels)))
        yield FunnelBlock(scan.report.levels)
    yield Section("", tuple(_conditions(scan, report, full=full)), quiet=True)
    yield Section("", tuple(_dynamic(scan, report, full=full)), quiet=True)
    if full:
        yield Section("", tuple(report_view.engines(scan.report)), quiet=True)
        yield report_view.survivors(scan.report)
    if read:
        yield FindingsBlock(scan.report.findings)
    yield from report_view.files(scan.report)
    if full:
        yield Section("what this rests on", report_view.rests_on(scan.report), aside=True)
    elif read:
        yield report_view.not_checked(scan.report.unchecked, scan.report.notes)
    yield GatesBlock(scan.report.assertions)


def _about(scan: ScanReport) -> NotesBlock:
    """Return what the statement does with the table: answer, change, LIMIT and columns."""
    lines: list[Inline] = []
    if scan.answer is not None:
        none = f"none of {counted(scan.reading.total, 'file')} is read"
        lines.append(f"answered from metadata, {none}: {scan.answer}")
    if scan.rewrite is not None:
        lines.append(changed(scan.rewrite))
    if scan.report.cost is not None:
        lines.append(f"costs {money(scan.report.cost.total)}")
    if scan.limit is not None:
        lines.append(scan.limit)
    if scan.columns:
        lines.append(f"columns: {', '.join(scan.columns)}")
    return NotesBlock(tuple(lines))


def _conditions(scan: ScanReport, report: StatementReport, *, full: bool) -> Iterator[Block]:
    """Yield the conditions that reach the scan, and those that stay above it."""
    if scan.placed:
        second = report_view.CONJUNCT_HEADS[1] if full else Head("origin")
        heads = (Head("condition"), second, *report_view.CONJUNCT_HEADS[2:])
        yield GridBlock(heads, tuple(_placed(scan, full=full)), label="Conditions")
        yield NotesBlock(tuple(report_view.conjunct_notes(scan.report, overlap=full)))
    else:
        yield NotesBlock(("no condition reaches it",))
    yield NotesBlock(
        tuple(
            ("stays above: ", CodeSpan(condition(above.sql)), f" ({above.why})")
            for above in conditions_above(scan, report)
        )
    )


def _placed(scan: ScanReport, *, full: bool) -> Iterator[GridRow]:
    """Yield each condition with its origin; `full` adds buckets, and rows for parts of an OR."""
    for placed, line in zip(scan.placed, scan.report.conjuncts, strict=True):
        origin = origin_text(placed)
        sql = Cell(CodeSpan(condition(placed.sql)), below=() if origin is None else (origin,))
        (_, bucket, *cells), *parts = report_view.conjunct_rows(line)
        yield sql, bucket if full else placed.origin.value, *cells
        if full:
            yield from parts


def _dynamic(scan: ScanReport, report: StatementReport, *, full: bool) -> Iterator[Block]:
    """Yield what the values of joins change for a scan."""
    if scan.dynamic is None:
        return
    amounts = {(a.files, a.bytes) for _, _, a in answers(scan.dynamic) if a is not None}
    if len(amounts) == 1 and not full:
        yield NotesBlock(("values from joins remove nothing more",))
        return
    yield NotesBlock(tuple(reached(engine) for engine in scan.dynamic.engines))
    heads = ("files", "bytes", "rows")
    rows = tuple(
        (f"{name}: {means}", *amount_cells(amount)) for name, means, amount in answers(scan.dynamic)
    )
    yield GridBlock((Head("what joins change"), *(Head(h, number=True) for h in heads)), rows)
    yield NotesBlock(tuple(supplied(supply, report) for supply in scan.dynamic.supplies))


def _joins(report: StatementReport, titles: Sequence[str]) -> Iterator[Block]:
    rows = []
    for join in joins(report):
        left, right = NameSpan(titles[join.left]), NameSpan(titles[join.right])
        on = CodeSpan(join.sql) if join.sql else "no condition"
        rows.append(NamedValue(join.kind, (left, " and ", right, ": ", on)))
    yield FactsBlock(tuple(rows))
    if unresolved(report):
        yield NotesBlock(("--resolve-joins reads the values of the small sides",))
