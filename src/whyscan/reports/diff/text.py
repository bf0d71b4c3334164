"""The difference as text for people: the change in one line, then where it comes from."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from whyscan.reports.diff.files import SAME
from whyscan.reports.phrases import LEVEL_NAMES, gate, removed, version_of
from whyscan.reports.text_layout import Ink, Page, in_paragraphs, table, title_lines
from whyscan.reports.words import counted, inert, inert_sql, percent, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.diff.difference import Difference, LevelChange
    from whyscan.reports.findings import Finding
    from whyscan.reports.levels import Level
    from whyscan.reports.report import Report

FILES_SHOWN = 200


def text(difference: Difference, page: Page | None = None, *, verbose: bool = False) -> str:
    """Write the whole difference; the text ends with a line break."""
    where = Page() if page is None else page
    sections = (
        title_lines(answer(difference), where),
        _question_lines(difference, where),
        _levels(difference, where),
        _conjuncts(difference, where),
        _files(difference),
        _findings(difference, where),
        _changes(difference) if verbose else (),
        _gates(difference, where),
    )
    return in_paragraphs(sections)


def answer(difference: Difference) -> str:
    """Write `reads 12 of 40 files (30.0 %) instead of 1 of 6 (16.7 %): 11 files more`."""
    before, after = difference.before.files_level, difference.after.files_level
    change = after.kept - before.kept
    change_text = (
        f"{counted(abs(change), 'file')} {'more' if change > 0 else 'fewer'}"
        if change
        else ("as many files")
    )
    return (
        f"reads {after.kept:,} of {counted(after.total, 'file')} "
        f"({percent(after.kept, after.total)}) instead of {before.kept:,} of {before.total:,} "
        f"({percent(before.kept, before.total)}): {change_text}"
    )


def _question_lines(difference: Difference, page: Page) -> Iterator[str]:
    for name, report in (("before", difference.before), ("after", difference.after)):
        yield page.wrap(f"{name:<9}  {_subject(report, page)}", hanging=" " * 11)
    predicate = inert_sql(difference.after.question.predicate)
    yield page.wrap(f"predicate  {predicate}", hanging=" " * 11)


def _subject(report: Report, page: Page) -> str:
    version = f", {named}" if (named := version_of(report.table)) else ""
    return f"{inert(page.place(report.table.uri))} ({report.table.format}{version})"


def _levels(difference: Difference, page: Page) -> Iterator[str]:
    rows = [("read", "before", "after", "change")]
    for change in difference.levels:
        rows.extend(_level(change))
    title, *lines = table(rows, right=frozenset({1, 2, 3}))
    yield page.paint(title, Ink.FAINT)
    yield from lines


def _level(change: LevelChange) -> Iterator[tuple[str, str, str, str]]:
    name = LEVEL_NAMES[change.level]
    yield name, _count(change.before), _count(change.after), _delta(change)
    if change.level == "files":
        old, new = (None if v is None else v.bytes_kept for v in (change.before, change.after))
        yield "bytes", size(old), size(new), _bytes_delta(old, new)


def _count(level: Level | None) -> str:
    return "-" if level is None else f"{level.kept:,} of {level.total:,}"


def _delta(change: LevelChange) -> str:
    if change.before is None or change.after is None:
        return ""
    more = change.after.kept - change.before.kept
    return f"{more:+,}" if more else "same"


def _bytes_delta(before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return ""
    if before == after:
        return "same"
    return f"{'-' if after < before else '+'}{size(abs(after - before))}"


def _conjuncts(difference: Difference, page: Page) -> Iterator[str]:
    rows = [("conjunct removes", "alone", "", "only", "")]
    rows += [
        (
            page.cut(inert_sql(c.after.sql), 36),
            removed(c.before.alone),
            f"-> {removed(c.after.alone)}",
            removed(c.before.only),
            f"-> {removed(c.after.only)}",
        )
        for c in difference.conjuncts
    ]
    title, *lines = table(rows, right=frozenset({1, 3}))
    yield page.paint(title, Ink.FAINT)
    yield from lines


def _files(difference: Difference) -> Iterator[str]:
    counts = difference.files.counts
    rows = [(f"{counts[fate]:,}", fate.value) for fate in counts if counts[fate]]
    if rows:
        yield "files"
        yield from (f"  {line}" for line in table(rows, right=frozenset({0})))


def _findings(difference: Difference, page: Page) -> Iterator[str]:
    for finding in difference.appeared:
        yield from _finding("new", finding, page)
    for finding in difference.gone:
        yield from _finding("gone", finding, page)


def _finding(fate: str, finding: Finding, page: Page) -> Iterator[str]:
    line = f"{fate} {finding.severity.value} {finding.code.value}: {inert_sql(finding.message)}"
    yield page.wrap(line, hanging="  ")


def _changes(difference: Difference) -> Iterator[str]:
    counts = difference.files.counts
    total = sum(count for fate, count in counts.items() if fate not in SAME)
    if total:
        yield "every file that changed"
    for path, fate in islice(difference.files.changed(), FILES_SHOWN):
        yield f"  {fate.value}: {inert(path)}"
    if total > FILES_SHOWN:
        yield f"  … and {total - FILES_SHOWN:,} more: --format json has all of them"


def _gates(difference: Difference, page: Page) -> Iterator[str]:
    for assertion in difference.assertions:
        ink = Ink.GOOD if assertion.passed else Ink.BAD
        yield f"{page.paint(assertion.result, ink)}  {gate(assertion)}"
