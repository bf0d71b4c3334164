"""Findings about the whole outcome: no file is read, or nearly every file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.planning.plan.replan import without
from whyscan.planning.why.implied import partition_extent, partition_values
from whyscan.planning.why.reason_codes import Reason
from whyscan.reports.findings.finding import Code, Effect, Facts, Finding, Severity
from whyscan.reports.words import REASONS, counted, percent
from whyscan.tree import arrow
from whyscan.tree.nodes import Literal, columns_of
from whyscan.tree.rendering import to_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from whyscan.tree.nodes import Column

FEWEST_FILES = 4
"""A table with fewer files than this gets no finding about weak pruning."""

VALUES_AT_MOST = 8
"""The most values of a partition column that are listed."""

WEAK = 0.9
"""Pruning is weak if at least this share of the files is kept."""


def pruning(facts: Facts) -> Iterator[Finding]:
    """Yield all findings of this family."""
    yield from _nothing_kept(facts)
    yield from _weak_pruning(facts)


def _nothing_kept(facts: Facts) -> Iterator[Finding]:
    files = facts.files
    if not files.total or files.kept:
        return
    alone = [i for i, line in enumerate(facts.conjuncts) if line.alone.files == files.total]
    several = len(facts.conjuncts) > 1
    effect = None
    message = f"no row of any of the {counted(files.total, 'file')} can match"
    if several and len(alone) == 1 and not facts.workings.closed:
        sql = facts.conjuncts[alone[0]].sql
        left = facts.read_with(without(facts.plan, alone[0])).files
        message += f": {sql} removes them all; without it {left:,} would stay"
        effect = Effect("files", 0, left)
    evidence: dict[str, int | float | str] = {"files": files.total}
    if shown := _partition_values_text(facts):
        name, verb, values = shown
        evidence["partition_values"] = values
        message += f"; the values of the partition column {name} {verb} {values}"
    yield Finding(
        Code.NOTHING_KEPT,
        Severity.WARNING,
        message,
        "if rows were expected, check the literals: their spelling, case, type and time zone",
        evidence,
        effect=effect,
        conjunct=alone[0] if several and len(alone) == 1 else None,
    )


def _partition_values_text(facts: Facts) -> tuple[str, str, str] | None:
    """Return a partition column whose condition removes every file, a verb, and its values."""
    for line, conjunct in zip(facts.conjuncts, facts.plan.predicate.conjuncts, strict=True):
        if line.alone.files < facts.files.total:
            continue
        for column in columns_of(conjunct.expression):
            name = ".".join(column.path)
            if facts.workings.closed:
                ends = partition_extent(facts.plan, column)
                if ends is not None and len(ends):
                    return name, "lie between", " and ".join(_shown(ends, column))
                continue
            values = partition_values(facts.plan, column)
            if values is not None and len(values):
                more = len(values) - VALUES_AT_MOST
                listed = ", ".join(_shown(values[:VALUES_AT_MOST], column))
                return name, "are", f"{listed} and {more:,} more" if more > 0 else listed
    return None


def _shown(values: pa.Array, column: Column) -> list[str]:
    return [to_sql(Literal(arrow.value(value, column.type), column.type)) for value in values]


def main_reason(facts: Facts) -> Reason | None:
    """Return the reason for which most files stay whose rows do not all match; None if none do."""
    counts = facts.stays.counts()
    reasons = (reason for reason in counts if reason is not Reason.MATCHES_ALL)
    return max(reasons, key=lambda reason: counts[reason], default=None)


def _weak_pruning(facts: Facts) -> Iterator[Finding]:
    """Find pruning that keeps nearly every file, although not all of their rows match."""
    files = facts.files
    counts = facts.stays.counts()
    undecided = files.kept - counts.get(Reason.MATCHES_ALL, 0)
    if files.total < FEWEST_FILES or files.kept < WEAK * files.total:
        return
    if undecided * 2 < files.kept:
        return
    main = main_reason(facts) or Reason.STRADDLES
    gone = files.total - files.kept
    yield Finding(
        Code.WEAK_PRUNING,
        Severity.WARNING,
        f"{percent(files.kept, files.total)} of the files stay: {gone:,} of "
        f"{counted(files.total, 'file')} could be skipped; {counts[main]:,} stay because "
        f"{REASONS[main]}",
        None,
        {"files": files.total, "kept": files.kept, "reason": main.value},
    )
