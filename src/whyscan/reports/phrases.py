"""The sentences of a report, for every renderer. No text in them can control a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from whyscan.reports.words import (
    counted,
    inert,
    inert_sql,
    level_name,
    money,
    percent,
    size,
    sizes,
    unit,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whyscan.planning.why.attribution import Share
    from whyscan.reports.coverage import MissingStatistics
    from whyscan.reports.findings import Effect
    from whyscan.reports.gates import Assertion
    from whyscan.reports.levels import Level
    from whyscan.reports.report import Effort, Report, Unchecked

PERCENT_GATES = frozenset(
    {"min_pruning", "min_pruning_bytes", "stats_complete", "baseline", "baseline_bytes"}
)
COLUMNS_NAMED = 8
"""If more columns than this have no statistics, they are counted and not named."""

POINT_GATES = frozenset({"regression", "regression_bytes"})
BYTE_GATES = frozenset({"max_bytes", "max_wasted"})
MONEY_GATES = frozenset({"max_cost"})
AT_MOST_GATES = frozenset({"max_files", "drift"}) | BYTE_GATES | MONEY_GATES | POINT_GATES


def answer(report: Report) -> str:
    """Write the answer in one line: how much is read, and what removed the rest."""
    if not report.files_level.total:
        return "reads nothing: the table has no files"
    return f"reads {share_read(report)}: {why(report)}"


def share_read(report: Report) -> str:
    """Write `1 of 6 files (16.7 %), 1.1 kB of 6.6 kB`."""
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
    if weight:
        selection = report.selection
        parts.append(weight if selection is None else weight + in_whole_files(selection.bytes))
    return ", ".join(parts)


def planned(effect: Effect | None) -> Iterator[str]:
    """Yield what a change was planned to change: `files: 24 before, 2 after`."""
    if effect is not None:
        yield f"{inert(effect.unit)}: {effect.before:,} before, {effect.after:,} after"


def priced_as(price: str | None, request_price: str | None) -> str:
    """Write the prices: `5/TB for whole files, 0.0004/1000 for one request a file`."""
    parts = [] if price is None else [f"{inert(price)} for whole files"]
    if request_price is not None:
        parts.append(f"{inert(request_price)} for one request a file")
    return ", ".join(parts)


def in_whole_files(read: int | None) -> str:
    """Write the bytes of the selected columns (None if unknown) beside those of whole files."""
    columns = "" if read is None else f" ({size(read)} in the selected columns)"
    return f" in whole files{columns}"


def selected(level: Level) -> str | None:
    """Write the bytes of the selected columns on a level; None if no columns were selected."""
    if not level.selected_total:
        return None
    return f"in the selected columns {sizes(level.selected_kept, level.selected_total)}"


class Versioned(Protocol):
    """A table with its format, and its version if the format has versions."""

    @property
    def format(self) -> str | None: ...
    @property
    def version(self) -> int | None: ...


def version_of(table: Versioned) -> str | None:
    """Write `version 5`, or `snapshot 5` for Iceberg; None if the format has no versions."""
    if table.version is None:
        return None
    return f"{'snapshot' if table.format == 'iceberg' else 'version'} {table.version}"


def why(report: Report) -> str:
    """Write what removed files, and how many more would go without NaN."""
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
    return counted(number, f"more {unit(level.level)}")


def fate(level: Level) -> str:
    """Write what removed containers of a level, and facts about the kept ones."""
    return "; ".join((*_removed_by(level), *_rows_of(level), *_decided(level)))


def fate_without_rows(level: Level) -> str:
    """Write the same for a table that has a column for the rows."""
    return "; ".join((*_removed_by(level), *_decided(level)))


def _removed_by(level: Level) -> Iterator[str]:
    gone = [f"{count:,} by {mechanism}" for mechanism, count in level.pruned_by.items() if count]
    if gone:
        yield f"removed {', '.join(gone)}"


def _decided(level: Level) -> Iterator[str]:
    if level.every:
        yield f"every row matches in {level.every:,}"
    if level.files_emptied:
        yield f"{counted(level.files_emptied, 'file')} left empty"


def _rows_of(level: Level) -> Iterator[str]:
    if level.rows_kept is not None and level.rows_total:
        yield f"{level.rows_kept:,} of {counted(level.rows_total, 'row')}"


def blind(level: Level) -> str | None:
    """Write how many containers are kept without a check; None if there are none."""
    if not level.unchecked:
        return None
    return f"nothing to check with in {level.unchecked:,} of the {level.kept:,} kept"


def unchecked_lines(unchecked: Iterable[Unchecked]) -> tuple[str, ...]:
    """Write the levels that were not checked, each with the reason."""
    return tuple(
        f"not checked: {level_name(entry.level)} ({inert(entry.why)})" for entry in unchecked
    )


def overlapping(report: Report) -> str | None:
    """Write what partition values and statistics each remove alone; None if unknown."""
    overlap = report.overlap
    if overlap.both.at_least or not overlap.partition.files or not overlap.statistics.files:
        return None
    return (
        f"partition values alone remove {removed(overlap.partition)}, statistics alone "
        f"{removed(overlap.statistics)}, {removed(overlap.both)} fall to both"
    )


def specs(report: Report) -> str | None:
    """Write `spec 0 (unpartitioned), spec 1 (day(ts), current)`."""
    texts = [
        f"spec {spec.id} ({', '.join([*spec.fields, *(['current'] if spec.current else [])])})"
        if spec.fields
        else f"spec {spec.id} (unpartitioned{', current' if spec.current else ''})"
        for spec in report.table.specs
    ]
    return inert(", ".join(texts)) if texts else None


def removed(share: Share) -> str:
    """Write `3 files`, or `3+ files` if closed manifests could add to the number."""
    if share.at_least:
        return f"{share.files:,}+ files"
    return counted(share.files, "file")


def basis(report: Report) -> Iterator[tuple[str, str]]:
    """Yield names and texts of what the numbers rest on, and what is left to check."""
    yield "confidence", report.confidence.value
    if version := version_of(report.table):
        yield "rests on", "; ".join(filter(None, (version, specs(report))))
    yield "matching rows", _rows(report)
    yield "left to check", inert_sql(report.residual or "nothing")
    yield from _statistics(report)
    yield from _selected(report)
    yield "terms", _terms(report)
    yield "metadata", read(report.metadata)


def read(effort: Effort) -> str:
    """Write how much metadata was read."""
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
        read = report.selection.bytes
        chunks = "not known" if read is None else size(read)
        yield "selected", f"{names}, with what the predicate names; their column chunks: {chunks}"


def _terms(report: Report) -> str:
    question = report.question
    terms = [f"{question.dialect} SQL", f"time zone {question.timezone}"]
    if question.now is not None:
        terms.append(f"now is {question.now}")
    if question.assume_no_nan:
        terms.append("no value is NaN, on your word")
    return inert("; ".join(terms))


def gate(assertion: Assertion) -> str:
    """Write the outcome of a gate: `max_files: 3, at most 1 asked`."""
    bound = "at most" if assertion.name in AT_MOST_GATES else "at least"
    actual, threshold = (
        _measure(assertion.name, n) for n in (assertion.actual, assertion.threshold)
    )
    named = _missing_statistics(assertion.missing_statistics)
    engine = "" if assertion.engine is None else f" by {inert(assertion.engine)}"
    outcome = f"{assertion.name}: {actual}{engine}, {bound} {threshold} asked"
    return f"{outcome}{named}{_exemption_text(assertion)}"


def _missing_statistics(missing: MissingStatistics | None) -> str:
    """Write `; 3 of 9 files lack statistics of a or b: x.parquet, y.parquet and 1 more`."""
    if missing is None:
        return ""
    columns = " or ".join(missing.columns[:COLUMNS_NAMED])
    if len(missing.columns) > COLUMNS_NAMED:
        columns = f"one of {len(missing.columns):,} columns"
    files = ", ".join(missing.examples)
    more = missing.files - len(missing.examples)
    if files and more:
        files += f" and {more:,} more"
    sentence = (
        f"; {missing.files:,} of {counted(missing.total, 'file')} lack statistics of {columns}"
    )
    return inert(f"{sentence}: {files}" if files else sentence)


def _exemption_text(assertion: Assertion) -> str:
    if assertion.exemption is None:
        return ""
    until, reason = assertion.exemption.until.isoformat(), inert(assertion.exemption.reason)
    if assertion.expired:
        return f"; exempt until {until}, which has passed: {reason}"
    return f"; exempt until {until}: {reason}"


def _measure(gate: str, number: float | None) -> str:
    if number is None:
        return "unknown"
    if gate in BYTE_GATES:
        return size(int(number))
    if gate in MONEY_GATES:
        return money(number)
    if gate in POINT_GATES:
        return f"{number:,.10g} points"
    return f"{number:,.10g} %" if gate in PERCENT_GATES else f"{number:,.0f}"
