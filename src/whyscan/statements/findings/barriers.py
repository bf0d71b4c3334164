"""Finds filters that stay above LIMIT, DISTINCT ON or a window function, and what they cost."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.reports.findings import Code, Finding, Severity
from whyscan.reports.words import counted
from whyscan.statements.findings.rebuild import rebuilt
from whyscan.statements.sql.relations import Select
from whyscan.statements.stay_reasons import REASON_WORDS, StayReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.statements.findings.context import FindingContext
    from whyscan.statements.placement.placement import PlacedScan
    from whyscan.statements.sql.relations import Query

_OTHERWISE = {
    StayReason.LIMIT: "LIMIT then takes from the rows that match",
    StayReason.OFFSET: "OFFSET then skips rows that match",
    StayReason.DISTINCT_ON: "DISTINCT ON then picks among the rows that match",
    StayReason.WINDOW: "the function then sees only the rows that match",
}
"""What would change if a condition were moved below the barrier above which it stays."""


def barriers(context: FindingContext) -> Iterator[Finding]:
    """Yield the findings about filters above a barrier."""
    scans = context.static.values()
    reasons = {stayed.reason for planned in scans for stayed in planned.leaf.above}
    for reason in _OTHERWISE:
        if reason in reasons:
            changed = rebuilt(context.query, partial(_opened, reason=reason))
            yield from _below_barrier(context, reason, context.leaves(changed))


def _opened(block: Query, reason: StayReason) -> Query:
    """Return the block without the barrier."""
    if block.barrier is reason:
        return replace(block, barrier=None)
    if isinstance(block, Select) and reason is StayReason.WINDOW:
        return replace(block, partitions=())
    return block


def _below_barrier(
    context: FindingContext, reason: StayReason, leaves: dict[str, PlacedScan]
) -> Iterator[Finding]:
    """Yield a finding for each scan that would read less with its conditions below the barrier."""
    for key, leaf in leaves.items():
        before = {fact.written for fact in context.facts(key)}
        stayed_sql = {
            stayed.sql for stayed in context.static[key].leaf.above if stayed.reason is reason
        }
        new = [fact.written for fact in leaf.facts if fact.written in stayed_sql - before]
        effect = context.effect(key, context.kept(leaf)) if new else None
        if effect is None:
            continue
        reads = counted(effect.before, "file")
        yield Finding(
            Code.FILTER_ABOVE_BARRIER,
            Severity.INFO,
            f"{' AND '.join(dict.fromkeys(new))} filters no file of {context.titles[key]}: "
            f"{REASON_WORDS[reason]}; {reads} are read, and below it {effect.after:,} would be",
            f"if the query allows it, move it below; that is not the same: {_OTHERWISE[reason]}",
            {"files": effect.before},
            effect=effect,
        )
