"""The report as text for people: the answer in one line, then the numbers behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.findings import Severity
from whyscan.reports.listing_text import listed
from whyscan.reports.phrases import (
    LEVEL_NAMES,
    answer,
    basis,
    blind,
    fate,
    gate,
    overlapping,
    removed,
    selected,
    version_of,
)
from whyscan.reports.proofs import PROOFS
from whyscan.reports.text_layout import GAP, Ink, Page, columns, headed, in_paragraphs, title_lines
from whyscan.reports.words import REASONS, inert, inert_sql, sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.reports.conjuncts import ConjunctLine, PartLine
    from whyscan.reports.findings import Finding
    from whyscan.reports.gates import Assertion
    from whyscan.reports.report import Report, Unchecked

NARROW_BAR = 10
WIDE_BAR = 40


def text(report: Report, page: Page | None = None) -> str:
    """Write the whole report; the text ends with a line break."""
    page_or_default = Page() if page is None else page
    sections = (
        title_lines(answer(report), page_or_default),
        _question_lines(report, page_or_default),
        funnel_lines(report, page_or_default),
        conjunct_lines(report, page_or_default),
        engine_lines(report, page_or_default),
        survivor_lines(report, page_or_default),
        finding_lines(report.findings, page_or_default),
        file_lines(report, page_or_default),
        unchecked_lines(report.unchecked, report.notes, page_or_default),
        basis_lines(report, page_or_default),
        proof_lines(report, page_or_default),
        gate_lines(report.assertions, page_or_default),
    )
    return in_paragraphs(sections)


def _question_lines(report: Report, page: Page) -> Iterator[str]:
    yield page.wrap(f"table      {subject(report, page)}", hanging=" " * 11)
    yield page.wrap(f"predicate  {inert_sql(report.question.predicate)}", hanging=" " * 11)


def subject(report: Report, page: Page) -> str:
    """Write `lake/users (delta, version 5, partitioned by country)`."""
    table = report.table
    about = [table.format]
    if version := version_of(table):
        about.append(version)
    if table.partitioned_by:
        about.append("partitioned by " + inert(", ".join(table.partitioned_by)))
    return f"{inert(page.place(table.uri))} ({', '.join(about)})"


def funnel_lines(report: Report, page: Page) -> Iterator[str]:
    rows = [
        (LEVEL_NAMES[v.level], f"{v.kept:,} of {v.total:,}", sizes(v.bytes_kept, v.bytes_total))
        for v in report.levels
    ]
    names, counts, weights = (max(map(columns, column)) for column in zip(*rows, strict=True))
    length = min(max(page.width - names - counts - weights - 3 * len(GAP), NARROW_BAR), WIDE_BAR)
    for level, (name, count, weight) in zip(report.levels, rows, strict=True):
        bar = page.bar(level.kept, level.total, length)
        cells = (name.ljust(names), bar, count.rjust(counts), weight.rjust(weights))
        yield GAP.join(cells).rstrip()
        for sentence in filter(None, (fate(level), selected(level), blind(level))):
            yield page.wrap(sentence, indent=" " * (names + len(GAP)))


def conjunct_lines(report: Report, page: Page) -> Iterator[str]:
    head = ("conjunct", "bucket", "class", "alone", "only")
    rows = [head, *(row for line in report.conjuncts for row in _conjunct(line))]
    yield from headed(rows, page, right=frozenset({3, 4}))
    yield from at_least_lines(report, page)
    if sentence := overlapping(report):
        yield page.wrap(sentence)


def at_least_lines(report: Report, page: Page) -> Iterator[str]:
    """Explain the plus sign behind a number, if one is used."""
    if any(c.alone.at_least or c.only.at_least for c in report.conjuncts):
        yield page.wrap("n+: at least n; what stayed closed could add to it, --full opens it")


def _conjunct(conjunct: ConjunctLine) -> Iterator[tuple[str, str, str, str, str]]:
    yield (
        inert_sql(conjunct.sql),
        conjunct.bucket.value,
        conjunct.pushdown.value,
        removed(conjunct.alone),
        removed(conjunct.only),
    )
    yield from _parts(conjunct.operator, conjunct.parts, 1)


def _parts(
    operator: str | None, parts: Sequence[PartLine], depth: int
) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield one row per operand, indented below the condition it belongs to."""
    for part in parts:
        name = f"{GAP * depth}{operator} {inert_sql(part.sql)}"
        yield name, part.bucket.value, part.pushdown.value, removed(part.removed), ""
        yield from _parts(part.operator, part.parts, depth + 1)


def engine_lines(report: Report, page: Page) -> Iterator[str]:
    """Write what engines call each conjunct, and what they check again, if files are listed."""
    if report.listing is None:
        return
    head = ("conjunct", "Trino", "Delta on Spark", "DataFusion", "again")
    rows = [head, *map(_words, report.conjuncts)]
    yield from headed(rows, page)
    for line in report.conjuncts:
        yield page.wrap(f"{inert_sql(line.sql)}: {inert_sql(line.why)}", hanging=GAP)


def _words(line: ConjunctLine) -> tuple[str, str, str, str, str]:
    words = line.words
    again = "yes" if words.remains else "no"
    names = words.trino.value, words.delta_spark.value, words.datafusion.value
    return (inert_sql(line.sql), *names, again)


def survivor_lines(report: Report, page: Page) -> Iterator[str]:
    if report.survivors:
        yield "kept because"
    counts = max((len(f"{s.files:,}") for s in report.survivors), default=0)
    names = max((len(s.reason.value) for s in report.survivors), default=0)
    for s in report.survivors:
        lead = f"  {s.files:>{counts},}{GAP}{s.reason.value:<{names}}{GAP}"
        yield page.wrap(lead + REASONS[s.reason], hanging=" " * len(lead))


def finding_lines(findings: Iterable[Finding], page: Page) -> Iterator[str]:
    """Write the findings and their fixes."""
    for finding in findings:
        yield from _finding(finding, page)


def _finding(finding: Finding, page: Page) -> Iterator[str]:
    label = f"{finding.severity.value} {finding.code.value}"
    ink = Ink.WARN if finding.severity is Severity.WARNING else Ink.TITLE
    wrapped = page.wrap(f"{label}: {inert_sql(finding.message)}", hanging="  ")
    yield wrapped.replace(label, page.paint(label, ink), 1)
    if finding.fix is not None:
        yield page.wrap(f"fix: {inert_sql(finding.fix)}", indent="  ", hanging="       ")
        if finding.rewrite is not None and finding.rewrite not in finding.fix:
            yield page.wrap(inert_sql(finding.rewrite), indent="       ")


def file_lines(report: Report, page: Page) -> Iterator[str]:
    if report.listing is not None:
        yield "every file"
        yield from listed(report.listing, page)


def unchecked_lines(
    unchecked: Iterable[Unchecked], notes: Iterable[str], page: Page
) -> Iterator[str]:
    """Write what was not checked and why, and the notes."""
    for entry in unchecked:
        line = f"not checked: {LEVEL_NAMES.get(entry.level, entry.level)} ({inert(entry.why)})"
        yield page.wrap(line, hanging="  ")
    for note in notes:
        yield page.wrap(f"note: {inert(note)}", hanging="  ")


def basis_lines(report: Report, page: Page) -> Iterator[str]:
    rows = list(basis(report))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        yield page.wrap(f"{name:<{width}}{GAP}{value}", hanging=" " * (width + len(GAP)))


def proof_lines(report: Report, page: Page) -> Iterator[str]:
    if report.listing is None:
        return
    yield "what evidence proves, and what it does not"
    for proof in PROOFS:
        sentence = f"{proof.evidence}: proves {proof.proves}; not {proof.leaves_open}"
        yield page.wrap(sentence, indent=GAP, hanging=GAP * 2)


def gate_lines(assertions: Iterable[Assertion], page: Page) -> Iterator[str]:
    """Write the outcome of each gate."""
    for assertion in assertions:
        ink = Ink.GOOD if assertion.passed else Ink.WARN if assertion.holds else Ink.BAD
        yield page.wrap(f"{assertion.result}  {gate(assertion)}", hanging=" " * 6).replace(
            assertion.result, page.paint(assertion.result, ink), 1
        )
