"""The report for people: the answer in one line, then what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.explain.document import moment
from whyscan.explain.findings import UNITS, Severity
from whyscan.explain.layout import GAP, Ink, Page, columns, table
from whyscan.explain.listing_text import listed
from whyscan.explain.wording import (
    REASONS,
    counted,
    inert,
    inert_sql,
    percent,
    size,
    sizes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.explain.findings import Finding
    from whyscan.explain.gates import Assertion
    from whyscan.explain.levels import Level
    from whyscan.explain.report import ConjunctLine, Effort, Report
    from whyscan.planning.attribution import Share

NARROW_BAR = 10
WIDE_BAR = 40
SHORTEST_CUT = 8
LEVEL_NAMES = {"manifests": "manifests", "files": "files", "row_groups": "row groups"}
PERCENT_GATES = frozenset({"min_pruning", "min_pruning_bytes", "stats_complete"})
AT_MOST_GATES = frozenset({"max_files", "max_bytes"})


def text(report: Report, page: Page | None = None) -> str:
    """The whole report, with a line break at its end."""
    where = Page() if page is None else page
    sections = (
        _answer(report, where),
        _asked(report, where),
        _funnel(report, where),
        _conjuncts(report, where),
        _survivors(report, where),
        _findings(report, where),
        _files(report, where),
        _unchecked(report, where),
        _ground(report, where),
        _gates(report, where),
    )
    whole = ("\n".join(lines) for section in sections if (lines := list(section)))
    return "\n\n".join(whole) + "\n"


def _answer(report: Report, page: Page) -> Iterator[str]:
    files = report.files_level
    if not files.total:
        yield page.paint("reads nothing: the table has no files", Ink.TITLE)
        return
    line = f"reads {_share_read(report)}: {_why(report)}"
    yield "\n".join(page.paint(part, Ink.TITLE) for part in page.wrap(line).splitlines())


def _share_read(report: Report) -> str:
    files = report.files_level
    share = percent(files.kept, files.total)
    whose = "its" if files.kept == 1 else "their"
    parts = [f"{files.kept:,} of {counted(files.total, 'file')} ({share})"]
    parts += [
        f"{level.kept:,} of {whose} {counted(level.in_kept_files, 'row group')}"
        for level in report.levels
        if level.in_kept_files is not None and level.kept < level.in_kept_files
    ]
    weight = sizes(files.bytes_kept, files.bytes_total)
    return ", ".join([*parts, weight] if weight else parts)


def _why(report: Report) -> str:
    causes = [
        f"{inert_sql(r.conjunct)} removed {r.files:,} by {r.mechanism}"
        if r.conjunct is not None
        else f"{r.files:,} removed by {r.mechanism}"
        for r in report.removals
    ]
    spared = [
        f"{_more(level.kept - level.kept_without_nan, level)} would go without NaN"
        for level in report.levels
        if level.kept_without_nan < level.kept
    ]
    return "; ".join([", ".join(causes) or "no file could be removed", *spared])


def _more(number: int, level: Level) -> str:
    return counted(number, f"more {UNITS[level.level]}")


def _asked(report: Report, page: Page) -> Iterator[str]:
    subject = report.table
    about = [subject.format]
    if subject.version is not None:
        about.append(f"version {subject.version}")
    if subject.partitioned_by:
        about.append("partitioned by " + inert(", ".join(subject.partitioned_by)))
    yield page.wrap(
        f"table      {inert(page.place(subject.uri))} ({', '.join(about)})", hanging=" " * 11
    )
    yield page.wrap(f"predicate  {inert_sql(report.question.predicate)}", hanging=" " * 11)


def _funnel(report: Report, page: Page) -> Iterator[str]:
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
        if fate := _fate(level):
            yield page.wrap(fate, indent=" " * (names + len(GAP)))


def _fate(level: Level) -> str:
    removed = [f"{count:,} by {mechanism}" for mechanism, count in level.pruned_by.items() if count]
    parts = [f"removed {', '.join(removed)}"] if removed else []
    parts += [f"every row matches in {level.every:,}"] if level.every else []
    parts += [f"{counted(level.files_emptied, 'file')} left empty"] if level.files_emptied else []
    return "; ".join(parts)


def _conjuncts(report: Report, page: Page) -> Iterator[str]:
    head = ("conjunct", "bucket", "class", "alone", "only")
    rows = [head, *map(_conjunct, report.conjuncts)]
    others = sum(max(columns(row[i]) for row in rows) + len(GAP) for i in range(1, 5))
    room = max(page.width - others, SHORTEST_CUT)
    cut = [(page.cut(row[0], room), *row[1:]) for row in rows]
    title, *lines = table(cut, right=frozenset({3, 4}))
    yield page.paint(title, Ink.FAINT)
    yield from lines
    if any(c.alone.at_least or c.only.at_least for c in report.conjuncts):
        yield page.wrap("n+: at least n; what stayed closed could add to it, --full opens it")


def _conjunct(conjunct: ConjunctLine) -> tuple[str, str, str, str, str]:
    return (
        inert_sql(conjunct.sql),
        conjunct.bucket.value,
        conjunct.pushdown.value,
        _share(conjunct.alone),
        _share(conjunct.only),
    )


def _share(share: Share) -> str:
    if share.at_least:
        return f"{share.files:,}+ files"
    return counted(share.files, "file")


def _survivors(report: Report, page: Page) -> Iterator[str]:
    if report.survivors:
        yield "kept because"
    counts = max((len(f"{s.files:,}") for s in report.survivors), default=0)
    names = max((len(s.reason.value) for s in report.survivors), default=0)
    for s in report.survivors:
        lead = f"  {s.files:>{counts},}{GAP}{s.reason.value:<{names}}{GAP}"
        yield page.wrap(lead + REASONS[s.reason], hanging=" " * len(lead))


def _findings(report: Report, page: Page) -> Iterator[str]:
    for finding in report.findings:
        yield from _finding(finding, page)


def _finding(finding: Finding, page: Page) -> Iterator[str]:
    label = f"{finding.severity.value} {finding.code.value}"
    ink = Ink.WARN if finding.severity is Severity.WARNING else Ink.TITLE
    wrapped = page.wrap(f"{label}: {inert_sql(finding.message)}", hanging="  ")
    yield wrapped.replace(label, page.paint(label, ink), 1)
    if finding.fix is not None:
        yield page.wrap(f"fix: {inert_sql(finding.fix)}", indent="  ", hanging="       ")


def _files(report: Report, page: Page) -> Iterator[str]:
    if report.listing is not None:
        yield "every file"
        yield from listed(report.listing.lines(), page)


def _unchecked(report: Report, page: Page) -> Iterator[str]:
    for level, why in report.unchecked:
        line = f"not checked: {LEVEL_NAMES.get(level, level)} ({inert(why)})"
        yield page.wrap(line, hanging="  ")
    for note in report.notes:
        yield page.wrap(f"note: {inert(note)}", hanging="  ")


def _ground(report: Report, page: Page) -> Iterator[str]:
    """What the numbers rest on, and what they leave to do."""
    rows = [
        ("confidence", report.confidence.value),
        ("matching rows", _rows(report)),
        ("left to check", inert_sql(report.residual or "nothing")),
        *_statistics(report),
        *_selected(report),
        *_terms(report),
        ("metadata", _effort(report.metadata)),
    ]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        yield page.wrap(f"{name:<{width}}{GAP}{value}", hanging=" " * (width + len(GAP)))


def _effort(effort: Effort) -> str:
    kept = f", {effort.from_cache:,} from the cache" if effort.from_cache else ""
    return f"{counted(effort.objects, 'object')}, {size(effort.bytes)} read{kept}"


def _rows(report: Report) -> str:
    low, high = report.rows_matched.at_least, report.rows_matched.at_most
    if low is None or high is None:
        return "unknown"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _statistics(report: Report) -> Iterator[tuple[str, str]]:
    covered = [
        f"{inert(c.column)} in {c.files_with_bounds:,} of {counted(c.files, 'file')}"
        for c in report.statistics
    ]
    if covered:
        yield "bounds known", ", ".join(covered)


def _selected(report: Report) -> Iterator[tuple[str, str]]:
    if report.selection is not None:
        names = inert(", ".join(report.selection.columns))
        read = size(report.selection.bytes)
        yield "selected", f"{names}, with what the predicate names: {read} to read"


def _terms(report: Report) -> Iterator[tuple[str, str]]:
    asked = report.question
    terms = [f"{asked.dialect} SQL", f"time zone {asked.timezone}"]
    if asked.now is not None:
        terms.append(f"now is {moment(asked.now)}")
    if asked.assume_no_nan:
        terms.append("no value is NaN, on your word")
    yield "terms", inert("; ".join(terms))


def _gates(report: Report, page: Page) -> Iterator[str]:
    for assertion in report.assertions:
        ink = Ink.GOOD if assertion.passed else Ink.BAD
        yield f"{page.paint(assertion.result, ink)}  {_gate(assertion)}"


def _gate(assertion: Assertion) -> str:
    bound = "at most" if assertion.name in AT_MOST_GATES else "at least"
    actual, threshold = (
        _measure(assertion.name, n) for n in (assertion.actual, assertion.threshold)
    )
    return f"{assertion.name}: {actual}, {bound} {threshold} asked"


def _measure(gate: str, number: float | None) -> str:
    if number is None:
        return "unknown"
    if gate == "max_bytes":
        return size(int(number))
    return f"{number:,.10g} %" if gate in PERCENT_GATES else f"{number:,.0f}"
