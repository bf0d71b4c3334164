"""The view of a statement's report: what each scan reads, the joins, then scan by scan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.reports import report_view
from whyscan.reports.phrases import removed
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
    Section,
    TitleBlock,
)
from whyscan.reports.words import counted, percent, sizes
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
    supplied,
    target,
    unresolved,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.reports.report import Unchecked
    from whyscan.reports.view import Block, Blocks, GridRow, Inline
    from whyscan.statements.records import ScanReport, StatementReport

SEEN_AT_ONCE = 4
"""With more scans than this, text shows an overview first."""


def view(report: StatementReport) -> Blocks:
    """Return the blocks of a statement."""
    titles = report.titles
    report, unchecked = _shared_unchecked(report)
    listed = any(scan.report.listing is not None for scan in report.scans)
    terms = f"{report.dialect} SQL, time zone {report.timezone}"
    return (
        TitleBlock(answer(report)),
        CodeBlock("statement", report.sql, beside=terms, whole=listed),
        _overview(report, titles),
        *(_scan(at, report, titles) for at in range(len(report.scans))),
        Section("joins", tuple(_joins(report, titles))),
        FindingsBlock(report.findings),
        report_view.not_checked(unchecked, report.notes),
        # They are the same for every scan.
        *(fold for scan in report.scans[:1] for fold in report_view.proofs(scan.report)),
        GatesBlock(report.assertions),
    )


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
    return replace(report, scans=tuple(_without(scan, shared) for scan in report.scans)), shared


def _without(scan: ScanReport, shared: tuple[Unchecked, ...]) -> ScanReport:
    remaining = tuple(reason for reason in scan.report.unchecked if reason not in shared)
    return replace(scan, report=replace(scan.report, unchecked=remaining))


def _overview(report: StatementReport, titles: Sequence[str]) -> GridBlock:
    """Return what each scan reads; text leaves it out if there are few scans."""
    heads = (Head("scan"), *(Head(name, number=True) for name in ("files", "share", "bytes")))
    rows = tuple(
        (
            NameSpan(title),
            f"{scan.reading.kept:,} of {scan.reading.total:,}",
            percent(scan.reading.kept, scan.reading.total),
            sizes(scan.reading.bytes_kept, scan.reading.bytes_total),
        )
        for title, scan in zip(titles, report.scans, strict=True)
    )
    return GridBlock(heads, rows, label="Scans", detail=len(rows) <= SEEN_AT_ONCE)


def _scan(at: int, report: StatementReport, titles: Sequence[str]) -> Fold:
    """Return one scan; a scan with a failed gate is open."""
    scan, table = report.scans[at], report.scans[at].report.table
    role = "" if (role_text := target(scan)) is None else f"{role_text}, "
    brief = scan.report.listing is None
    blocks = _short(scan, report, titles) if brief else _long(scan, report, titles)
    return Fold(
        NameSpan(titles[at]),
        tuple(blocks),
        beside=(role, NameSpan(table.uri), f" ({report_view.about(table)})"),
        open=not scan.report.passed,
    )


def _short(scan: ScanReport, report: StatementReport, titles: Sequence[str]) -> Iterator[Block]:
    """Yield a scan without a list of files, as one paragraph."""
    read = scan.answer is None
    yield Section(
        "",
        (
            _about(scan),
            *((FunnelBlock(scan.report.levels),) if read else ()),
            *_conditions(scan, report),
            *_dynamic(scan, titles),
            *((FindingsBlock(scan.report.findings),) if read else ()),
            *((report_view.not_checked(scan.report.unchecked, scan.report.notes),) if read else ()),
            GatesBlock(scan.report.assertions),
        ),
        quiet=True,
    )


def _long(scan: ScanReport, report: StatementReport, titles: Sequence[str]) -> Iterator[Block]:
    """Yield what the report on a single table shows."""
    yield _about(scan)
    yield FunnelBlock(scan.report.levels)
    yield Section("", tuple(_conditions(scan, report)), quiet=True)
    yield Section("", tuple(_dynamic(scan, titles)), quiet=True)
    yield report_view.conjunct_section(scan.report)
    yield report_view.survivors(scan.report)
    yield FindingsBlock(scan.report.findings)
    yield from report_view.files(scan.report)
    yield Section("what this rests on", report_view.rests_on(scan.report), aside=True)
    yield GatesBlock(scan.report.assertions)


def _about(scan: ScanReport) -> NotesBlock:
    """Return what the statement does with the table: answer, change, LIMIT and columns."""
    lines: list[Inline] = []
    if scan.answer is not None:
        none = f"none of {counted(scan.reading.total, 'file')} is read"
        lines.append(f"answered from metadata, {none}: {scan.answer}")
    if scan.rewrite is not None:
        lines.append(changed(scan.rewrite))
    if scan.limit is not None:
        lines.append(scan.limit)
    if scan.columns:
        lines.append(f"columns: {', '.join(scan.columns)}")
    return NotesBlock(tuple(lines))


def _conditions(scan: ScanReport, report: StatementReport) -> Iterator[Block]:
    """Yield the conditions that reach the scan, and those that stay above it."""
    if scan.placed:
        heads = (Head("condition"), Head("origin"), *report_view.CONJUNCT_HEADS[2:])
        yield GridBlock(heads, tuple(_placed(scan)), label="Conditions")
        if scan.report.listing is None:
            yield NotesBlock(tuple(report_view.at_least(scan.report)))
    else:
        yield NotesBlock(("no condition reaches it",))
    yield NotesBlock(
        tuple(
            ("stays above: ", CodeSpan(condition(above.sql)), f" ({above.why})")
            for above in conditions_above(scan, report)
        )
    )


def _placed(scan: ScanReport) -> Iterator[GridRow]:
    for placed, line in zip(scan.placed, scan.report.conjuncts, strict=True):
        origin = origin_text(placed)
        yield (
            Cell(CodeSpan(condition(placed.sql)), below=() if origin is None else (origin,)),
            ORIGINS[placed.origin],
            line.pushdown.value,
            removed(line.alone),
            removed(line.only),
        )


def _dynamic(scan: ScanReport, titles: Sequence[str]) -> Iterator[Block]:
    """Yield what the values of joins change for a scan."""
    if scan.dynamic is None:
        return
    amounts = {(a.files, a.bytes) for _, _, a in answers(scan.dynamic) if a is not None}
    if len(amounts) == 1 and scan.report.listing is None:
        yield NotesBlock(("values from joins remove nothing more",))
        return
    heads = ("files", "bytes", "rows")
    rows = tuple(
        (f"{name}: {means}", *amount_cells(amount)) for name, means, amount in answers(scan.dynamic)
    )
    yield GridBlock((Head("what joins change"), *(Head(h, number=True) for h in heads)), rows)
    yield NotesBlock(tuple(supplied(supply, titles) for supply in scan.dynamic.supplies))


def _joins(report: StatementReport, titles: Sequence[str]) -> Iterator[Block]:
    rows = []
    for edge in joins(report):
        left, right = NameSpan(titles[edge.left]), NameSpan(titles[edge.right])
        on = CodeSpan(edge.sql) if edge.sql else "no condition"
        rows.append(NamedValue(edge.kind, (left, " and ", right, ": ", on)))
    yield FactsBlock(tuple(rows))
    if unresolved(report):
        yield NotesBlock(("--resolve-joins reads the values of the small sides",))
