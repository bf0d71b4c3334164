"""Findings about the outcome as a whole: nothing is read, or nearly everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.explain.findings.finding import Code, Effect, Facts, Finding, Severity
from whyscan.explain.wording import REASONS, counted, percent
from whyscan.planning.reason_codes import Reason
from whyscan.planning.replan import without

if TYPE_CHECKING:
    from collections.abc import Iterator

FEWEST_FILES = 4
"""Of fewer files nobody expects any to go."""

WEAK = 0.9
"""A share of files: whatever keeps as many removes next to nothing."""


def pruning(facts: Facts) -> Iterator[Finding]:
    """All of this family."""
    yield from _nothing_kept(facts)
    yield from _weak(facts)


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
    yield Finding(
        Code.NOTHING_KEPT,
        Severity.WARNING,
        message,
        "if rows were expected, check the literals: their spelling, case, type and time zone",
        {"files": files.total},
        effect=effect,
    )


def _weak(facts: Facts) -> Iterator[Finding]:
    """Nearly every file stays, and not because its rows match."""
    files = facts.files
    counts = facts.stays.counts()
    undecided = files.kept - counts.get(Reason.MATCHES_ALL, 0)
    if files.total < FEWEST_FILES or files.kept < WEAK * files.total:
        return
    if undecided * 2 < files.kept:
        return
    main = max(
        (r for r in counts if r is not Reason.MATCHES_ALL), key=lambda reason: counts[reason]
    )
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
