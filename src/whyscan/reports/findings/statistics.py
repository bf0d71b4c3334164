"""Findings about statistics: missing, truncated, without NaN counts, contradictory, unreadable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.planning.why.obstacles import loses_order
from whyscan.planning.why.reason_codes import Reason
from whyscan.reports.findings.finding import (
    Code,
    Effect,
    Facts,
    Finding,
    Severity,
    table_sql,
)
from whyscan.reports.words import counted, level_name, staying, unit
from whyscan.tables.snapshot import Collected
from whyscan.tree.nodes import columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.planning.plan.scan_plan import PlanRequest
    from whyscan.tables.snapshot import Recording
    from whyscan.tree.nodes import Column

_LONGER = 4
_OF_THE_TABLE = "plan the table itself, whose files may have them"
"""The proposed length of truncated bounds, as a multiple of their present length."""


def statistics(facts: Facts) -> Iterator[Finding]:
    """Yield all findings of this family."""
    yield from _absent(facts)
    yield from _truncated(facts)
    yield from _nan_uncounted(facts)
    yield from _contradictory(facts)
    yield from _unreadable(facts)


def _absent(facts: Facts) -> Iterator[Finding]:
    """Yield one finding for all columns that lack bounds for the same cause."""
    if facts.files.every == facts.files.kept:
        return  # Bounds could remove no further file.
    columns = {
        ".".join(column.path): column
        for conjunct, its_class in zip(facts.plan.predicate.conjuncts, facts.classes, strict=True)
        if its_class.interpreted and not loses_order(conjunct.expression)
        for column in columns_of(conjunct.expression)
    }
    lacked: dict[tuple[Code, Collected], list[Lacked]] = {}
    for coverage in facts.workings.coverage:
        if coverage.mode != "exact" and coverage.column in columns:
            column = columns[coverage.column]
            lacking = Lacked(column, coverage.files, coverage.files - coverage.files_with_bounds)
            cause = facts.plan.snapshot.recording(column).collected
            lacked.setdefault((_code(facts.plan, column), cause), []).append(lacking)
    for (code, _), columns_of_cause in lacked.items():
        yield _missing_bounds(facts, code, columns_of_cause)


class Lacked(Struct, frozen=True):
    """A column, and how many of the files that were looked at lack its bounds."""

    column: Column
    files: int
    lacking: int


def _code(plan: PlanRequest, column: Column) -> Code:
    match plan.snapshot.recording(column).collected:
        case Collected.NEVER:
            return Code.TYPE_WITHOUT_STATISTICS
        case Collected.BEYOND_BUDGET:
            return Code.BEYOND_STATISTICS_BUDGET
        case _:
            return Code.NO_STATISTICS


class StatisticsFix(Struct, frozen=True):
    """Why a column has no bounds, and the fix; None if there is no fix."""

    why: str
    fix: str | None
    setting: str | None


def remedy(plan: PlanRequest, column: Column) -> StatisticsFix:
    """Return the fix for files that have no bounds of a column."""
    recording = plan.snapshot.recording(column)
    if recording.collected is Collected.NEVER:
        return StatisticsFix(recording.why, None, None)
    if recording.collected is Collected.LEFT_OUT:
        return StatisticsFix(recording.why, _OF_THE_TABLE, None)
    setting = _setting(plan, [recording])
    return StatisticsFix(
        recording.why or "the writer did not record them",
        _rewrite_files(setting, ".".join(column.path)),
        setting,
    )


def _rewrite_files(setting: str | None, names: str) -> str:
    if setting is not None:
        return f"{setting}, then rewrite those files"
    return f"rewrite those files with statistics for {names}"


def _missing_bounds(facts: Facts, code: Code, lacked_columns: Sequence[Lacked]) -> Finding:
    columns = [each.column for each in lacked_columns]
    lacked = tuple(".".join(column.path) for column in columns)
    names = _joined_names(lacked)
    may_be = "it" if len(columns) == 1 else "each of them"
    message = (
        f"{_blocked(lacked_columns)}: without bounds {may_be} may be anything there "
        f"({_why(facts.plan, columns)})"
    )
    evidence: dict[str, int | float | str] = {
        "files": lacked_columns[0].files,
        "files_without_bounds": max(each.lacking for each in lacked_columns),
    }
    if code is Code.TYPE_WITHOUT_STATISTICS:
        return Finding(code, Severity.INFO, message, None, evidence, columns=lacked)
    recordings = [facts.plan.snapshot.recording(column) for column in columns]
    if any(recording.collected is Collected.LEFT_OUT for recording in recordings):
        # The files may have bounds: nothing speaks for writing them again.
        return Finding(code, Severity.INFO, message, _OF_THE_TABLE, evidence, columns=lacked)
    setting = _setting(facts.plan, recordings)
    fix = _rewrite_files(setting, names)
    effect = _by_footers(facts)
    if effect is not None:
        gone = effect.before - effect.after
        fix += f"; by their footers {gone:,} of {effect.before:,} would go"
    return Finding(code, Severity.WARNING, message, fix, evidence, setting, effect, columns=lacked)


def _blocked(lacked: Sequence[Lacked]) -> str:
    """Write `6 of 9 files cannot be skipped by a and b, and 2 by c`."""
    by_count: dict[int, list[str]] = {}
    for each in sorted(lacked, key=lambda each: -each.lacking):
        by_count.setdefault(each.lacking, []).append(".".join(each.column.path))
    (most, names), *fewer = by_count.items()
    files = counted(lacked[0].files, "file")
    first = f"{most:,} of {files} cannot be skipped by {_joined_names(names)}"
    return ", and ".join((first, *(f"{n:,} by {_joined_names(others)}" for n, others in fewer)))


def _joined_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _why(plan: PlanRequest, columns: Sequence[Column]) -> str:
    """Return the common reason of all columns, or the reason of each column with its name."""
    reasons = {".".join(c.path): remedy(plan, c).why for c in columns}
    if len(set(reasons.values())) == 1:
        return next(iter(reasons.values()))
    return "; ".join(f"{name}: {why}" for name, why in reasons.items())


def _setting(plan: PlanRequest, recordings: Sequence[Recording]) -> str | None:
    """Return the statement that makes writers record statistics of the columns."""
    properties: dict[str, list[str]] = {}
    for recording in recordings:
        if recording.setting is not None:
            name, value = recording.setting
            properties.setdefault(name, []).append(value)
    if not properties:
        return None
    pairs = (f"'{name}' = '{_widest(values)}'" for name, values in properties.items())
    return f"ALTER TABLE {table_sql(plan)} SET TBLPROPERTIES ({', '.join(pairs)})"


def _widest(values: Sequence[str]) -> str:
    """Return the greatest of several numbers, or the union of several lists of columns."""
    if all(value.isdigit() for value in values):
        return max(values, key=int)
    return ",".join(dict.fromkeys(name for value in values for name in value.split(",")))


def _by_footers(facts: Facts) -> Effect | None:
    """Return how many files without statistics their footers would remove, if opened."""
    workings = facts.workings
    return Effect("files", workings.blind, workings.blind_kept) if workings.blind else None


def _truncated(facts: Facts) -> Iterator[Finding]:
    for column in facts.plan.predicate.columns():
        recording = facts.plan.snapshot.recording(column)
        if recording.prefix is None or recording.longer is None:
            continue
        files = facts.stays.named(Reason.TRUNCATED_BOUND, facts.about(".".join(column.path)))
        if files:
            yield _truncated_column(facts, column, recording, files)


def _truncated_column(facts: Facts, column: Column, recording: Recording, files: int) -> Finding:
    prefix = recording.prefix or 0
    longer = prefix * _LONGER
    value = str(longer) if recording.appended else f"truncate({longer})"
    setting = (
        f"ALTER TABLE {table_sql(facts.plan)} SET TBLPROPERTIES ('{recording.longer}' = '{value}')"
    )
    return Finding(
        Code.TRUNCATED_BOUNDS,
        Severity.WARNING,
        f"bounds of {'.'.join(column.path)} are cut off after {prefix} characters, and what was "
        f"asked for differs only behind them: {staying(files)} for that",
        f"{setting}, then rewrite those files",
        {"files": files, "characters": prefix},
        setting,
        columns=(".".join(column.path),),
    )


def _nan_uncounted(facts: Facts) -> Iterator[Finding]:
    costly = [level for level in facts.levels if level.kept_without_nan < level.kept]
    if not costly:
        return
    costs = [
        f"{counted(level.kept - level.kept_without_nan, unit(level.level))} of {level.kept}"
        for level in costly
    ]
    named = (".".join(column.path) for column in facts.plan.predicate.columns())
    columns = tuple(name for name in named if name in facts.workings.maybe_nan)
    names = " and ".join(columns)
    first = costly[0]
    yield Finding(
        Code.NAN_UNCOUNTED,
        Severity.WARNING,
        f"{names} may hold NaN, which no statistic counts and which is greater than every "
        f"number; kept for that alone: {' and '.join(costs)}",
        "if there is no NaN, --assume-no-nan; or rewrite with a writer that counts NaN",
        {f"{level.level}_for_nan": level.kept - level.kept_without_nan for level in costly},
        "--assume-no-nan",
        Effect(level_name(first.level), first.kept, first.kept_without_nan),
        columns=columns,
    )


def _contradictory(facts: Facts) -> Iterator[Finding]:
    contradictions = facts.workings.contradictions
    if contradictions:
        yield Finding(
            Code.CONTRADICTORY_STATISTICS,
            Severity.WARNING,
            f"{counted(contradictions, 'statistic')} cannot be true (a lower bound above "
            "the upper one, or more NULLs than rows) and said nothing",
            "find out which writer made them: engines that trust them lose rows",
            {"statistics": contradictions},
        )


def _unreadable(facts: Facts) -> Iterator[Finding]:
    workings = facts.workings
    if workings.unreadable:
        columns = len(workings.unreadable_columns)
        of_columns = f" of {counted(columns, 'column')}" if columns else ""
        yield Finding(
            Code.UNREADABLE_STATISTICS,
            Severity.WARNING,
            f"{counted(workings.unreadable, 'statistic')}{of_columns} in "
            f"{counted(workings.unreadable_files, 'file')} cannot be read (text that is not UTF-8, "
            "a number outside of its type) and said nothing",
            "find out which writer made them, and rewrite those files",
            {
                "statistics": workings.unreadable,
                "files": workings.unreadable_files,
                "columns": columns,
            },
        )
