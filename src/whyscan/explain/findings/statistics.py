"""Findings about statistics: absent, cut off, silent on NaN, or impossible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.explain.findings.finding import UNITS, Code, Effect, Facts, Finding, Severity
from whyscan.explain.wording import counted, staying
from whyscan.planning.reason_codes import Reason
from whyscan.tables.snapshot import Collected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.explain.coverage import Coverage
    from whyscan.planning.plan import Asked
    from whyscan.predicate.tree import Column
    from whyscan.tables.snapshot import Recording

_LONGER = 4
"""How many times longer a cut bound is proposed to be."""


def statistics(facts: Facts) -> Iterator[Finding]:
    """All of this family."""
    yield from _absent(facts)
    yield from _truncated(facts)
    yield from _nan_uncounted(facts)
    yield from _contradictory(facts)


def _absent(facts: Facts) -> Iterator[Finding]:
    columns = {".".join(c.path): c for c in facts.plan.predicate.columns()}
    for column in facts.workings.coverage:
        if column.mode != "exact":
            yield _of_column(facts, column, columns[column.column])


class Remedy(Struct, frozen=True):
    """Why a column has no bounds, and what gives it some; None where nothing does."""

    why: str
    fix: str | None
    setting: str | None


def remedy(plan: Asked, column: Column) -> Remedy:
    """What to do about files without bounds of a column."""
    recording = plan.snapshot.recording(column)
    if recording.collected is Collected.NEVER:
        return Remedy(recording.why, None, None)
    setting = _setting(plan, recording)
    fix = f"rewrite those files with statistics for {'.'.join(column.path)}"
    if setting is not None:
        fix = f"{setting}, then rewrite those files"
    return Remedy(recording.why or "the writer did not record them", fix, setting)


def _of_column(facts: Facts, told: Coverage, column: Column) -> Finding:
    found = remedy(facts.plan, column)
    lacking = told.files - told.files_with_bounds
    message = (
        f"{lacking:,} of {counted(told.files, 'file')} cannot be skipped by {told.column}: without "
        "bounds it may be anything there"
    )
    evidence = {"files": told.files, "files_without_bounds": lacking}
    message = f"{message} ({found.why})"
    fix = found.fix
    if fix is None:
        return Finding(Code.TYPE_WITHOUT_STATISTICS, Severity.INFO, message, None, evidence)
    beyond = facts.plan.snapshot.recording(column).collected is Collected.BEYOND_BUDGET
    effect = _by_footers(facts)
    if effect is not None:
        gone = effect.before - effect.after
        fix += f"; by their footers {gone:,} of {effect.before:,} would go"
    return Finding(
        Code.BEYOND_STATISTICS_BUDGET if beyond else Code.NO_STATISTICS,
        Severity.WARNING,
        message,
        fix,
        evidence,
        found.setting,
        effect,
    )


def _setting(plan: Asked, recording: Recording) -> str | None:
    """The statement that has writers record the column."""
    if recording.setting is None:
        return None
    name, value = recording.setting
    return f"ALTER TABLE {_name(plan)} SET TBLPROPERTIES ('{name}' = '{value}')"


def _name(plan: Asked) -> str:
    return f"{plan.snapshot.format}.`{plan.snapshot.uri}`"


def _by_footers(facts: Facts) -> Effect | None:
    """What the files' own footers would remove, where they were opened."""
    found = facts.workings
    return Effect("files", found.blind, found.blind_kept) if found.blind else None


def _truncated(facts: Facts) -> Iterator[Finding]:
    for column in facts.plan.predicate.columns():
        told = facts.plan.snapshot.recording(column)
        if told.prefix is None or told.longer is None:
            continue
        files = facts.stays.named(Reason.TRUNCATED_BOUND, facts.about(".".join(column.path)))
        if files:
            yield _cut(facts, column, told, files)


def _cut(facts: Facts, column: Column, told: Recording, files: int) -> Finding:
    prefix = told.prefix or 0
    longer = prefix * _LONGER
    value = str(longer) if told.appended else f"truncate({longer})"
    setting = f"ALTER TABLE {_name(facts.plan)} SET TBLPROPERTIES ('{told.longer}' = '{value}')"
    return Finding(
        Code.TRUNCATED_BOUNDS,
        Severity.WARNING,
        f"bounds of {'.'.join(column.path)} are cut off after {prefix} characters, and what was "
        f"asked for differs only behind them: {staying(files)} for that",
        f"{setting}, then rewrite those files",
        {"files": files, "characters": prefix},
        setting,
    )


def _nan_uncounted(facts: Facts) -> Iterator[Finding]:
    costly = [level for level in facts.levels if level.kept_without_nan < level.kept]
    if not costly:
        return
    costs = [
        f"{counted(level.kept - level.kept_without_nan, UNITS[level.level])} of {level.kept}"
        for level in costly
    ]
    columns = (".".join(column.path) for column in facts.plan.predicate.columns())
    names = " and ".join(name for name in columns if name in facts.workings.maybe_nan)
    first = costly[0]
    yield Finding(
        Code.NAN_UNCOUNTED,
        Severity.WARNING,
        f"{names} may hold NaN, which no statistic counts and which is greater than every "
        f"number; kept for that alone: {' and '.join(costs)}",
        "if there is no NaN, --assume-no-nan; or rewrite with a writer that counts NaN",
        {f"{level.level}_for_nan": level.kept - level.kept_without_nan for level in costly},
        "--assume-no-nan",
        Effect(UNITS[first.level] + "s", first.kept, first.kept_without_nan),
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
