"""Coded facts about a run, each with its evidence in numbers and a fix where there is one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from whyscan.explain.wording import counted
from whyscan.planning.judgement import flags
from whyscan.predicate.tree import Opaque, walk
from whyscan.predicate.types import FloatType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.explain.coverage import Coverage
    from whyscan.explain.levels import Level
    from whyscan.planning.plan import ScanPlan
    from whyscan.planning.pushdown import Class
    from whyscan.predicate.tree import Conjunct


UNITS = {"manifests": "manifest", "files": "file", "row_groups": "row group"}


class Code(StrEnum):
    """What a finding is about."""

    NOTHING_KEPT = "NOTHING_KEPT"
    NO_PARTITION_FILTER = "NO_PARTITION_FILTER"
    NO_STATISTICS = "NO_STATISTICS"
    UNINTERPRETED = "UNINTERPRETED"
    NAN_UNCOUNTED = "NAN_UNCOUNTED"
    CONTRADICTORY_STATISTICS = "CONTRADICTORY_STATISTICS"


class Severity(StrEnum):
    """How much it matters: it costs pruning, or it is good to know."""

    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact; `fix` is None where there is nothing to do."""

    code: Code
    severity: Severity
    message: str
    fix: str | None


@dataclass(frozen=True, slots=True)
class Facts:
    """What findings are made from: the plan, and what was counted of it."""

    plan: ScanPlan
    classes: tuple[Class, ...]
    levels: tuple[Level, ...]
    coverage: tuple[Coverage, ...]
    contradictions: int


def findings(facts: Facts) -> tuple[Finding, ...]:
    """All that apply, the gravest first."""
    return (
        *_nothing_kept(facts),
        *_no_partition_filter(facts),
        *_no_statistics(facts),
        *_uninterpreted(facts),
        *_nan_uncounted(facts),
        *_contradictory(facts),
    )


def _nothing_kept(facts: Facts) -> Iterator[Finding]:
    files = facts.levels[0]
    if files.total and not files.kept:
        yield Finding(
            Code.NOTHING_KEPT,
            Severity.WARNING,
            f"no row of any of the {counted(files.total, 'file')} can match",
            "if rows were expected, check the literals: their spelling, case, type and time zone",
        )


def _no_partition_filter(facts: Facts) -> Iterator[Finding]:
    sources = facts.plan.snapshot.partition_sources
    if sources and not {c.path for c in facts.plan.predicate.columns()} & set(sources):
        names = ", ".join(".".join(path) for path in sources)
        yield Finding(
            Code.NO_PARTITION_FILTER,
            Severity.WARNING,
            f"the table is partitioned by {names}, and no conjunct names a partition column",
            f"if the query allows it, add a condition on {names}",
        )


def _no_statistics(facts: Facts) -> Iterator[Finding]:
    for column in facts.coverage:
        if column.mode == "exact":
            continue
        yield Finding(
            Code.NO_STATISTICS,
            Severity.WARNING,
            f"{column.files - column.files_with_bounds:,} of {counted(column.files, 'file')} "
            f"cannot be skipped by {column.column}: without bounds it may be anything there",
            f"rewrite those files with statistics for {column.column}",
        )


def _uninterpreted(facts: Facts) -> Iterator[Finding]:
    for conjunct, found in zip(facts.plan.predicate.conjuncts, facts.classes, strict=True):
        if found.interpreted:
            continue
        for sql, why in _unread(conjunct):
            yield Finding(
                Code.UNINTERPRETED,
                Severity.WARNING,
                f"{sql} cannot be evaluated from metadata: {why}",
                "compare the bare column with a constant where the query allows it",
            )


def _unread(conjunct: Conjunct) -> list[tuple[str, str]]:
    opaque = [n for n in walk(conjunct.expression) if isinstance(n, Opaque)]
    named = list(dict.fromkeys((node.sql, node.why) for node in opaque))
    return named or [(conjunct.sql, "no rule says how its values follow from the bounds")]


def _nan_uncounted(facts: Facts) -> Iterator[Finding]:
    costs = [
        f"{counted(level.kept - level.kept_without_nan, UNITS[level.level])} of {level.kept}"
        for level in facts.levels
        if level.kept_without_nan < level.kept
    ]
    if costs:
        names = " and ".join(_nan_columns(facts.plan))
        yield Finding(
            Code.NAN_UNCOUNTED,
            Severity.WARNING,
            f"{names} may hold NaN, which no statistic counts and which is greater than every "
            f"number; kept for that alone: {' and '.join(costs)}",
            "if there is no NaN, --assume-no-nan; or rewrite with a writer that counts NaN",
        )


def _nan_columns(plan: ScanPlan) -> Iterator[str]:
    """The float columns for which some container that NaN keeps has no evidence."""
    evidence = plan.evidence
    containers, judgement = evidence.files.containers, evidence.judgement
    if evidence.groups is not None and evidence.group_judgement is not None:
        containers, judgement = evidence.groups.containers, evidence.group_judgement
    spared = judgement.kept & ~judgement.kept_without_nan
    for column in plan.predicate.columns():
        if not isinstance(column.type, FloatType):
            continue
        possible = flags(containers.interval(column).nan, containers.count)
        if bool(np.any(possible & spared)):
            yield ".".join(column.path)


def _contradictory(facts: Facts) -> Iterator[Finding]:
    if facts.contradictions:
        yield Finding(
            Code.CONTRADICTORY_STATISTICS,
            Severity.WARNING,
            f"{counted(facts.contradictions, 'statistic')} cannot be true (a lower bound above "
            "the upper one, or more NULLs than rows) and said nothing",
            "find out which writer made them: engines that trust them lose rows",
        )
