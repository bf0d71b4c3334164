"""The report for people: the answer in one line, then what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.findings import Severity
from whyscan.reports.listing_text import listed
from whyscan.reports.phrases import (
    LEVEL_NAMES,
    answer,
    blind,
    fate,
    gate,
    ground,
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
    from whyscan.reports.report import Report

NARROW_BAR = 10
WIDE_BAR = 40


def text(report: Report, page: Page | None = None) -> str:
    """The whole report, with a line break at its end."""
    where = Page() if page is None else page
    sections = (
        title_lines(answer(report), where),
        _asked(report, where),
        funnel_lines(report, where),
        conjunct_lines(report, where),
        engine_lines(report, where),
        survivor_lines(report, where),
        finding_lines(report.findings, where),
        file_lines(report, where),
        unchecked_lines(report.unchecked, report.notes, where),
        ground_lines(report, where),
        proof_lines(report, where),
        gate_lines(report.assertions, where),
    )
    return in_paragraphs(sections)


def _asked(report: Report, page: Page) -> Iterator[str]:
    yield page.wrap(f"table      {subject(report, page)}", hanging=" " * 11)
    yield page.wrap(f"predicate  {inert_sql(report.question.predicate)}", hanging=" " * 11)


def subject(report: Report, page: Page) -> str:
    """`lake/users (delta, version 5, partitioned by country)`."""
    told = report.table
    about = [told.format]
    if version := version_of(told):
        about.append(version)
    if told.partitioned_by:
        about.append("partitioned by " + inert(", ".join(told.partitioned_by)))
    return f"{inert(page.place(told.uri))} ({', '.join(about)})"


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
        for known in filter(None, (fate(level), selected(level), blind(level))):
            yield page.wrap(known, indent=" " * (names + len(GAP)))


def conjunct_lines(report: Report, page: Page) -> Iterator[str]:
    head = ("conjunct", "bucket", "class", "alone", "only")
    rows = [head, *(row for line in report.conjuncts for row in _conjunct(line))]
    yield from headed(rows, page, right=frozenset({3, 4}))
    yield from at_least_lines(report, page)
    if told := overlapping(report):
        yield page.wrap(told)


def at_least_lines(report: Report, page: Page) -> Iterator[str]:
    """What a plus behind a number means, where one stands there."""
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
    """Each part below what it is a part of, with the word that joins it."""
    for part in parts:
        name = f"{GAP * depth}{operator} {inert_sql(part.sql)}"
        yield name, part.bucket.value, part.pushdown.value, removed(part.removed), ""
        yield from _parts(part.operator, part.parts, depth + 1)


def engine_lines(report: Report, page: Page) -> Iterator[str]:
    """With the files: what engines call each conjunct, and what they check once more."""
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
    """What was found, and what to do about it."""
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
    unchecked: Iterable[tuple[str, str]], notes: Iterable[str], page: Page
) -> Iterator[str]:
    """What was not looked at and why, and what else there is to know."""
    for level, why in unchecked:
        line = f"not checked: {LEVEL_NAMES.get(level, level)} ({inert(why)})"
        yield page.wrap(line, hanging="  ")
    for note in notes:
        yield page.wrap(f"note: {inert(note)}", hanging="  ")


def ground_lines(report: Report, page: Page) -> Iterator[str]:
    rows = list(ground(report))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        yield page.wrap(f"{name:<{width}}{GAP}{value}", hanging=" " * (width + len(GAP)))


def proof_lines(report: Report, page: Page) -> Iterator[str]:
    if report.listing is None:
        return
    yield "what evidence proves, and what it does not"
    for proof in PROOFS:
        told = f"{proof.evidence}: proves {proof.proves}; not {proof.leaves_open}"
        yield page.wrap(told, indent=GAP, hanging=GAP * 2)


def gate_lines(assertions: Iterable[Assertion], page: Page) -> Iterator[str]:
    """Each gate's outcome."""
    for assertion in assertions:
        ink = Ink.GOOD if assertion.passed else Ink.WARN if assertion.holds else Ink.BAD
        yield page.wrap(f"{assertion.result}  {gate(assertion)}", hanging=" " * 6).replace(
            assertion.result, page.paint(assertion.result, ink), 1
        )
