"""Findings about engines: they read more than metadata proves, or more than their profile says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.planning.plan.evidence import FILES
from whyscan.reports.engine_phrases import (
    fix_sentence,
    more_row_groups,
    reasons_for_more,
    rules_that_differ,
)
from whyscan.reports.findings.finding import Code, Effect, Facts, Finding, Severity
from whyscan.reports.words import counted, inert, unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.reports.engines import EngineLevel, EngineReading
    from whyscan.reports.levels import Level

MUCH = 2
"""An engine reads much more if it reads this many times what metadata proves."""


def engines(facts: Facts) -> Iterator[Finding]:
    """Yield all findings of this family."""
    yield from _reads_more(facts)


def _reads_more(facts: Facts) -> Iterator[Finding]:
    """Find the named engine that reads the most more, of those that read much more."""
    each = [
        (engine, read, proven)
        for engine in facts.engines
        if engine.named
        for read, proven in (_level_of(engine, facts.levels),)
        if read.kept > proven.kept and read.kept >= MUCH * proven.kept
    ]
    if not each:
        return
    engine, read, proven = max(each, key=lambda one: (one[1].level == FILES, one[1].kept))
    rules = rules_that_differ(engine, facts.levels)
    reasons = "; ".join(reasons_for_more(engine, facts.levels)) or "no rule names the reason"
    more = len(each) - 1
    several = f"; {counted(more, 'other engine')} read much more, too" if more else ""
    fix, is_of_files = engine.fix, read.level == FILES
    effect = Effect("files", read.kept, fix.files) if fix is not None and is_of_files else None
    yield Finding(
        Code.ENGINE_READS_MORE,
        Severity.WARNING,
        f"{inert(engine.title)} reads {counted(read.kept, unit(read.level))} where metadata proves "
        f"{proven.kept:,}: {inert(reasons)}{several}",
        None if fix is None else fix_sentence(fix),
        {
            "engine": engine.title,
            "level": read.level,
            "read": read.kept,
            "proven": proven.kept,
            "rules": ", ".join(dict.fromkeys(rule.id for rule in rules)),
        },
        rewrite=None if fix is None else fix.predicate,
        effect=effect,
    )


def _level_of(engine: EngineReading, levels: Sequence[Level]) -> tuple[EngineLevel, Level]:
    """The level at which an engine reads more: row groups if its files are those that are proven.

    With it comes what metadata proves there.
    """
    more = more_row_groups(engine, levels)
    files = next(level for level in levels if level.level == FILES)
    if more is None or engine.files.kept > files.kept:
        return engine.files, files
    return more, next(level for level in levels if level.level == more.level)


def beyond_profile(
    engines: Sequence[EngineReading], levels: Sequence[Level], read: int, runs: int
) -> Finding | None:
    """Find that runs of a log read more files than the profile predicts, or much more than proven.

    `read` is the mean over the runs. Of several named engines the one that reads the most counts.
    """
    named = [engine for engine in engines if engine.named]
    proven = next(level for level in levels if level.level == FILES)
    evidence: dict[str, int | float | str] = {"read": read, "proven": proven.kept, "runs": runs}
    mean = f"by the log, {counted(runs, 'run')} read {counted(read, 'file')} each on average"
    if not named:
        if read <= proven.kept or read < MUCH * proven.kept:
            return None
        return Finding(
            Code.ENGINE_READS_MORE,
            Severity.WARNING,
            f"{mean}, where metadata proves {proven.kept:,}",
            "name the engine with --engine: its profile says which rules make the difference",
            evidence,
        )
    most = max(named, key=lambda engine: engine.files.kept)
    if read <= most.files.kept or most.files.at_least:
        return None
    return Finding(
        Code.ENGINE_READS_MORE,
        Severity.WARNING,
        f"{mean}, where the profile of {inert(most.title)} predicts {most.files.kept:,} and "
        f"metadata proves {proven.kept:,}",
        fix_sentence(most.fix)
        if most.fix is not None
        else "compare the version of the engine, its settings and the snapshot that it read",
        {**evidence, "engine": most.title, "predicted": most.files.kept},
        rewrite=None if most.fix is None else most.fix.predicate,
    )
