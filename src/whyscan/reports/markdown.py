"""The report as GitHub Markdown for a pull request. No text from a table is read as markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

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
from whyscan.reports.text_layout import in_paragraphs
from whyscan.reports.words import REASONS, inert, inert_sql, sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.reports.conjuncts import PartLine
    from whyscan.reports.findings import Finding
    from whyscan.reports.gates import Assertion
    from whyscan.reports.levels import Level
    from whyscan.reports.listing import FileLine
    from whyscan.reports.report import Report, Subject

FILES_SHOWN = 100
"""The number of files that are listed: a comment on GitHub has at most 65,536 characters."""

_MARKUP = re.compile(r"([\\`*_\[\]<>#~|&!$])")
_LINK = re.compile(r"(?i)(https?|ftp)://|(www)\.")
_FENCE = re.compile(r"`+")


def markdown(report: Report) -> str:
    """Write the whole report; the text ends with a line break."""
    sections = (
        [f"**{plain(answer(report))}**"],
        _question_line(report),
        level_lines(report),
        _conjuncts(report),
        finding_lines(report.findings),
        gate_lines(report.assertions),
        _survivors(report),
        file_lines(report),
        basis_lines(report),
    )
    return in_paragraphs(sections)


def plain(text: str) -> str:
    """Escape text so that it has no emphasis, link, tag or mention of a user."""
    quoted = _MARKUP.sub(r"\\\1", inert(text))
    unlinked = _LINK.sub(lambda m: f"{m[1]}:<!-- -->//" if m[1] else f"{m[2]}<!-- -->.", quoted)
    return unlinked.replace("@", "@<!-- -->")


def code(text: str) -> str:
    """Write SQL or a path as a code span, with a fence longer than every fence inside."""
    shown = inert_sql(text)
    longest = max((len(run) for run in _FENCE.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{fence}{space}{shown}{space}{fence}"


def fenced(lines: Sequence[str], language: str) -> Iterator[str]:
    """Write a code block, with a fence longer than every fence inside."""
    longest = max((len(run) for line in lines for run in _FENCE.findall(line)), default=0)
    fence = "`" * max(longest + 1, 3)
    yield f"{fence}{language}"
    yield from lines
    yield fence


def _cell(span: str) -> str:
    """Escape the bars of a span inside a table, where a bar ends a cell even in code."""
    return re.sub(r"(?<!\\)\|", r"\\|", span)


def grid(head: Sequence[str], rows: Sequence[Sequence[str]], right: int) -> Iterator[str]:
    """Write a table; the last `right` columns contain numbers."""
    left = len(head) - right
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * left}{'---:|' * right}"
    for row in rows:
        yield f"| {' | '.join(map(_cell, row))} |"


def _question_line(report: Report) -> Iterator[str]:
    yield f"{code(report.question.predicate)} on {subject_line(report.table)}"


def subject_line(subject: Subject) -> str:
    """Write the table's location, format, version and partition columns."""
    about = [subject.format]
    if version := version_of(subject):
        about.append(version)
    if subject.partitioned_by:
        about.append("partitioned by " + ", ".join(map(code, subject.partitioned_by)))
    return f"{code(subject.uri)} ({', '.join(about)})"


def level_lines(report: Report) -> Iterator[str]:
    rows = [
        (LEVEL_NAMES[v.level], _fate(v), f"{v.kept:,} of {v.total:,}", _weight(v))
        for v in report.levels
    ]
    yield from grid(("level", "", "read", "bytes"), rows, right=2)


def _fate(level: Level) -> str:
    """Write what was checked, and on a separate line what could not be checked."""
    return "<br>".join(
        sentence for sentence in (fate(level), selected(level), blind(level)) if sentence
    )


def _weight(level: Level) -> str:
    return sizes(level.bytes_kept, level.bytes_total)


def _conjuncts(report: Report) -> Iterator[str]:
    rows = []
    for c in report.conjuncts:
        shares = removed(c.alone), removed(c.only)
        rows.append((code(c.sql), c.bucket.value, c.pushdown.value, *shares))
        rows.extend(_part(c.operator or "", part) for part in c.parts)
    if rows:
        yield from grid(("conjunct", "bucket", "class", "alone", "only"), rows, right=2)
    if sentence := overlapping(report):
        yield ""
        yield sentence


def _part(operator: str, part: PartLine) -> tuple[str, str, str, str, str]:
    sql = f"↳ {operator} {code(part.sql)}"
    return sql, part.bucket.value, part.pushdown.value, removed(part.removed), ""


def finding_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Write the findings as a list."""
    for finding in findings:
        yield from _finding(finding)


def _finding(finding: Finding) -> Iterator[str]:
    label = f"**{finding.severity.value}** {code(finding.code.value)}"
    yield f"- {label}: {plain(' '.join(finding.message.split()))}"
    if finding.fix is not None:
        yield f"  - fix: {plain(' '.join(finding.fix.split()))}"
        if finding.rewrite is not None and finding.rewrite not in finding.fix:
            yield f"    - {code(finding.rewrite)}"


def gate_lines(assertions: Iterable[Assertion]) -> Iterator[str]:
    """Write the outcome of each gate as a list."""
    for assertion in assertions:
        sign = "✅" if assertion.passed else "⚠️" if assertion.holds else "❌"
        yield f"- {sign} {assertion.result}: {plain(gate(assertion))}"


def _survivors(report: Report) -> Iterator[str]:
    rows = [(code(s.reason.value), REASONS[s.reason], f"{s.files:,}") for s in report.survivors]
    if rows:
        yield from grid(("kept because", "", "files"), rows, right=1)


def file_lines(report: Report) -> Iterator[str]:
    if report.listing is None:
        return
    lines = report.listing.lines()
    shown = [line for line, _ in zip(lines, range(FILES_SHOWN), strict=False)]
    total = len(report.listing)
    more = f", {total - len(shown):,} of {total:,} left out" if total > len(shown) else ""
    yield f"<details><summary>every file{more}</summary>"
    yield ""
    yield from grid(("file", "verdict", "why"), list(map(_file, shown)), right=0)
    yield ""
    yield "</details>"


def _file(line: FileLine) -> tuple[str, str, str]:
    return code(line.path), line.verdict, plain(line.evidence)


def basis_lines(report: Report) -> Iterator[str]:
    yield "<details><summary>what this rests on</summary>"
    yield ""
    for name, value in basis(report):
        yield f"- {name}: {plain(value)}"
    for entry in report.unchecked:
        yield f"- not checked: {LEVEL_NAMES.get(entry.level, entry.level)} ({plain(entry.why)})"
    for note in report.notes:
        yield f"- note: {plain(note)}"
    yield ""
    yield "</details>"
