"""The sentences about what engines read, for every renderer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.errors import shortened
from whyscan.planning.plan.evidence import FILES, ROW_GROUPS
from whyscan.profiles.rule import Alternative, RuleEvidence
from whyscan.reports.words import counted, inert, inert_sql
from whyscan.tables.snapshot import FilterKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.reports.engines import (
        EngineChange,
        EngineFix,
        EngineLevel,
        EngineReading,
        EngineRule,
    )
    from whyscan.reports.levels import Level


LONGEST_SHOWN = 200
"""A list that is divided into several is not shown if it takes more characters than this."""


def engine_lines(engines: Sequence[EngineReading], levels: Sequence[Level]) -> Iterator[str]:
    """Yield a line for each named engine, and one line for all that are not named."""
    yield from (engine_line(engine, levels) for engine in engines if engine.named)
    unnamed = [engine for engine in engines if not engine.named]
    if unnamed:
        yield _common_engines(unnamed, levels)


def engine_line(engine: EngineReading, levels: Sequence[Level]) -> str:
    """Write `metadata proves 1 of 20 files; duckdb 2.0 reads 20: an OR across …; write …`."""
    files = _proven(levels, FILES)
    reads = f"{inert(engine.title)} reads {_number(engine.files)}"
    more = more_row_groups(engine, levels)
    if more is not None and engine.files.kept == files.kept:
        reads += f", and {_number(more)} of their row groups for {_proven(levels, ROW_GROUPS).kept}"
    if engine.evidence != RuleEvidence.MEASURED:
        reads += " by its documentation"
    parts = [f"metadata proves {files.kept:,} of {counted(files.total, 'file')}", reads]
    reasons = reasons_for_more(engine, levels)
    if reasons:
        parts[-1] += f": {inert('; '.join(reasons))}"
    if engine.fix is not None:
        parts.append(fix_sentence(engine.fix))
    return "; ".join(parts)


def rules_that_differ(engine: EngineReading, levels: Sequence[Level]) -> tuple[EngineRule, ...]:
    """The rules at the level at which the engine reads more than metadata proves.

    Where only footers describe files, it is rules of row groups that keep a file.
    """
    if engine.files.kept > _proven(levels, FILES).kept:
        return engine.rules_at(FILES) or engine.rules_at(ROW_GROUPS)
    return () if more_row_groups(engine, levels) is None else engine.rules_at(ROW_GROUPS)


def reasons_for_more(engine: EngineReading, levels: Sequence[Level]) -> tuple[str, ...]:
    """Why an engine reads more than metadata proves: filters that it does not read, and rules."""
    groups = next((level for level in levels if level.level == ROW_GROUPS), None)
    by_bloom = 0 if groups is None else groups.pruned_by.get(FilterKind.BLOOM.value) or 0
    filters = ("it reads no bloom filters",) if by_bloom and not engine.reads_bloom_filters else ()
    effects = (rule.effect for rule in rules_that_differ(engine, levels))
    return tuple(dict.fromkeys((*filters, *effects)))


def more_row_groups(engine: EngineReading, levels: Sequence[Level]) -> EngineLevel | None:
    """The row groups of an engine that reads more of them than metadata proves, else None."""
    groups = engine.level(ROW_GROUPS)
    proven = next((level for level in levels if level.level == ROW_GROUPS), None)
    return None if groups is None or proven is None or groups.kept <= proven.kept else groups


def _common_engines(engines: Sequence[EngineReading], levels: Sequence[Level]) -> str:
    """Write `engines: spark-delta reads 24, trino 4, duckdb 24 (functions on the column)`."""
    by_files = any(engine.files.kept > _proven(levels, FILES).kept for engine in engines)
    unit = "" if by_files else " row groups"
    read = [
        (engine.engine, engine.files if by_files else engine.level(ROW_GROUPS))
        for engine in engines
    ]
    numbers = [
        f"{inert(name)} {'reads ' if not at else ''}{_number(level)}{unit if not at else ''}"
        for at, (name, level) in enumerate(read)
        if level is not None
    ]
    causes = dict.fromkeys(
        rule.concerns for engine in engines for rule in rules_that_differ(engine, levels)
    )
    return f"engines: {', '.join(numbers)} ({', '.join(causes)})"


def fix_sentence(fix: EngineFix) -> str:
    """Write `write a BETWEEN 1 AND 9 beside the list, then it reads 1`."""
    changes = dict.fromkeys(_change(change) for change in fix.changes)
    return f"{' and '.join(changes)}, then it reads {fix.files:,}"


def _change(change: EngineChange) -> str:
    sql = inert_sql(change.sql)
    match Alternative(change.alternative):
        case Alternative.RANGE_BESIDE_LIST:
            return f"write {shortened(sql)} beside the list"
        case Alternative.SHORTER_LISTS if len(sql) > LONGEST_SHOWN:
            return "split the list"
        case Alternative.SHORTER_LISTS | Alternative.RANGE_OF_COLUMN:
            return f"write {shortened(sql)}"


def _proven(levels: Sequence[Level], name: str) -> Level:
    return next(level for level in levels if level.level == name)


def _number(level: EngineLevel) -> str:
    return f"at least {level.kept:,}" if level.at_least else f"{level.kept:,}"
