"""The view of a report on one table, in parts that views of statements and audits use, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.engine_phrases import engine_lines
from whyscan.reports.filters import filter_name, filter_sentence
from whyscan.reports.phrases import (
    basis,
    overlapping,
    planned,
    priced_as,
    removed,
    share_read,
    unchecked_lines,
    version_of,
    why,
)
from whyscan.reports.proofs import PROOFS
from whyscan.reports.view import (
    Cell,
    CodeSpan,
    FactsBlock,
    FilesBlock,
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
from whyscan.reports.words import REASONS, counted, money, size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.planning.why.attribution import Share
    from whyscan.reports.conjuncts import ConjunctLine, PartLine
    from whyscan.reports.first_change import FirstChange
    from whyscan.reports.hypothetical import Hypothetical
    from whyscan.reports.prices import Cost
    from whyscan.reports.report import Report, Subject, Unchecked
    from whyscan.reports.view import Blocks, GridRow, Inline

AT_LEAST = "n+: at least n; what stayed closed could add to it, --full opens it"


def view(report: Report) -> Blocks:
    """Return the blocks: the answer, then the numbers behind it."""
    return (
        title(report),
        FactsBlock(
            (
                subject(report.table),
                NamedValue("predicate", CodeSpan(report.question.predicate)),
                *layout(report.hypothetical),
                *try_first(report.try_first),
                *cost(report.cost),
            )
        ),
        NotesBlock(tuple(engine_lines(report.engines, report.levels))),
        Section("What is read", (FunnelBlock(report.levels),), quiet=True),
        conjunct_section(report),
        filters(report),
        survivors(report),
        Section("Findings", (FindingsBlock(report.findings),), quiet=True),
        *files(report),
        Section("what this rests on", (*rests_on(report), *proofs(report)), aside=True),
        GatesBlock(report.assertions),
    )


def title(report: Report) -> TitleBlock:
    uri = report.table.uri
    if not report.files_level.total:
        return TitleBlock("reads nothing", "the table has no files", "explain", uri)
    verb = "reads" if report.hypothetical is None else "would read"
    return TitleBlock(f"{verb} {share_read(report)}", why(report), "explain", uri)


def try_first(change: FirstChange | None, where: str = "") -> Iterator[NamedValue]:
    """Yield the change to try first, as text to copy, with the finding that tells more of it."""
    if change is None:
        return
    copied = change.predicate or change.rewrite
    words = [change.code.value, *planned(change.effect)]
    yield NamedValue(
        "try first",
        change.fix if copied is None else CodeSpan(copied),
        beside=f"{where}{': '.join(filter(None, words))}",
    )


def cost(cost: Cost | None) -> Iterator[NamedValue]:
    """Yield what reading costs, if the user gave a price."""
    if cost is None:
        return
    all_files = f", without pruning {money(cost.without_pruning)}"
    terms = priced_as(cost.price, cost.request_price)
    yield NamedValue("cost", money(cost.total) + all_files, beside=terms)


def subject(table: Subject) -> NamedValue:
    """Name a table: `lake/users (delta, version 5, partitioned by country)`."""
    return NamedValue("table", NameSpan(table.uri), beside=about(table))


def layout(hypothetical: Hypothetical | None) -> Iterator[NamedValue]:
    """Yield the layout that the report is about, and how far its numbers may be off."""
    if hypothetical is None:
        return
    files, sizes, sampled = hypothetical.files, hypothetical.bytes, hypothetical.sampled_rows
    source = "bounds alone" if sampled is None else f"{counted(sampled, 'sampled row')}"
    yield NamedValue("layout", CodeSpan(hypothetical.layout))
    read = f"{files.low:,} to " if files.low != files.high else ""
    from_bytes = f"{size(sizes.low)} to " if sizes.low != sizes.high else ""
    yield NamedValue(
        hypothetical.evidence.value,
        f"{read}{counted(files.high, 'file')}, {from_bytes}{size(sizes.high)}, by {source}",
    )


def about(table: Subject) -> str:
    """Write `delta, version 5, partitioned by country`."""
    partitioned = (
        f"partitioned by {', '.join(table.partitioned_by)}" if table.partitioned_by else ""
    )
    return ", ".join(filter(None, (table.format, version_of(table), partitioned)))


def conjunct_section(report: Report) -> Section:
    """Return what each conjunct removes, with its parts below it, and what engines call it."""
    rows = tuple(row for line in report.conjuncts for row in conjunct_rows(line))
    grid = GridBlock(CONJUNCT_HEADS, rows, label="Conjuncts")
    folds = () if report.listing is None else tuple(engines(report))
    notes = NotesBlock(tuple(conjunct_notes(report)))
    return Section("Conjuncts", (grid, notes, *folds), quiet=True)


CONJUNCT_HEADS = (
    Head("conjunct"),
    Head("bucket"),
    Head("class"),
    Head("alone", number=True),
    Head("only", number=True),
)


def conjunct_rows(line: ConjunctLine) -> Iterator[GridRow]:
    """Yield the row of a conjunct, then one row per operand."""
    shares = share_cell(line.alone), share_cell(line.only)
    yield CodeSpan(line.sql), line.bucket.value, line.pushdown.value, *shares
    yield from _parts(line.operator or "", line.parts, 1)


def _parts(operator: str, parts: Sequence[PartLine], depth: int) -> Iterator[GridRow]:
    """Yield one row per operand, indented below the condition it belongs to."""
    for part in parts:
        sql = f"({part.sql})" if operator == "NOT" and part.operator else part.sql
        name = Cell((f"{operator} ", CodeSpan(sql)), depth=depth)
        yield name, part.bucket.value, part.pushdown.value, removed(part.removed), ""
        yield from _parts(part.operator or "", part.parts, depth + 1)


def share_cell(share: Share) -> Cell:
    """Return the number of files that a conjunct removes, and on pages their bytes."""
    return Cell(removed(share), beside=None if share.bytes is None else size(share.bytes))


def conjunct_notes(report: Report, *, overlap: bool = True) -> Iterator[str]:
    """Explain the plus sign behind a number, if one is used, and what mechanisms share."""
    if any(line.alone.at_least or line.only.at_least for line in report.conjuncts):
        yield AT_LEAST
    shared = overlapping(report) if overlap else None
    if shared is not None:
        yield shared


def engines(report: Report) -> Iterator[Fold]:
    """Yield what engines call each conjunct."""
    heads = ("conjunct", "Trino", "Delta on Spark", "DataFusion", "again")
    rows = tuple(
        (
            Cell(CodeSpan(line.sql), below=(line.why,)),
            line.words.trino.value,
            line.words.delta_spark.value,
            line.words.datafusion.value,
            "yes" if line.words.remains else "no",
        )
        for line in report.conjuncts
    )
    grid = GridBlock(tuple(map(Head, heads)), rows, label="Conjuncts in the words of engines")
    yield Fold("why this class, and what engines call it", (grid,))


def filters(report: Report) -> Section:
    """Return which bloom filters and dictionaries there are, and what they prove."""
    rows = tuple(
        NamedValue(filter_name(line), filter_sentence(line)) for line in report.filters or ()
    )
    return Section("filters of values", (FactsBlock(rows),))


def survivors(report: Report) -> Section:
    """Return why files are kept, and how many of them."""
    rows = tuple(
        NamedValue(counted(s.files, "file"), (CodeSpan(s.reason.value), f": {REASONS[s.reason]}"))
        for s in report.survivors
    )
    return Section("kept because", (FactsBlock(rows),))


def files(report: Report) -> Blocks:
    return () if report.listing is None else (FilesBlock(report.listing),)


def rests_on(report: Report) -> Blocks:
    """Return what the numbers rest on, what was not checked, and the notes."""
    rows = tuple(NamedValue(name, value) for name, value in basis(report))
    return FactsBlock(rows), not_checked(report.unchecked, report.notes)


def not_checked(unchecked: Sequence[Unchecked], notes: Sequence[str]) -> NotesBlock:
    lines: tuple[Inline, ...] = (*unchecked_lines(unchecked), *(f"note: {note}" for note in notes))
    return NotesBlock(lines)


def proofs(report: Report) -> Iterator[Fold]:
    """Yield what each kind of evidence proves, if files are listed."""
    if report.listing is None:
        return
    rows = tuple(
        NamedValue(proof.evidence, f"proves {proof.proves}; not {proof.leaves_open}")
        for proof in PROOFS
    )
    yield Fold("what evidence proves, and what it does not", (FactsBlock(rows),))
