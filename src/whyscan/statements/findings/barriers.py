"""Finds filters that stay above LIMIT, DISTINCT ON or a window function, and what they cost."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.reports.findings import Code, Finding, Severity
from whyscan.reports.words import counted
from whyscan.statements.findings.rebuild import rebuilt
from whyscan.statements.sql.relations import Select

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.statements.findings.context import FindingContext
    from whyscan.statements.placement.placement import PlacedScan
    from whyscan.statements.sql.relations import Query

WINDOW = "it stands above a window function"
_OTHERWISE = {
    "it stands above LIMIT": "LIMIT then takes from the rows that match",
    "it stands above OFFSET": "OFFSET then skips rows that match",
    "it stands above DISTINCT ON": "DISTINCT ON then picks among the rows that match",
    WINDOW: "the function then sees only the rows that match",
}
"""By the reason why a condition stays above: what would change if it were moved below."""


def barriers(context: FindingContext) -> Iterator[Finding]:
    """The findings about filters above a barrier."""
    reasons = {stayed.why for planned in context.static.values() for stayed in planned.leaf.above}
    for why in _OTHERWISE:
        if why in reasons:
            changed = rebuilt(context.query, partial(_opened, why=why))
            yield from _behind(context, why, context.leaves(changed))


def _opened(block: Query, why: str) -> Query:
    """The block without the barrier."""
    if block.barrier == why:
        return replace(block, barrier=None)
    if isinstance(block, Select) and why == WINDOW:
        return replace(block, partitions=())
    return block


def _behind(context: FindingContext, why: str, leaves: dict[str, PlacedScan]) -> Iterator[Finding]:
    """A finding for each scan that would read less with its conditions below the barrier."""
    for key, leaf in leaves.items():
        before = {fact.written for fact in context.facts(key)}
        stayed_sql = {stayed.sql for stayed in context.static[key].leaf.above if stayed.why == why}
        new = [fact.written for fact in leaf.facts if fact.written in stayed_sql - before]
        effect = context.effect(key, context.kept(leaf)) if new else None
        if effect is None:
            continue
        reads = counted(effect.before, "file")
        yield Finding(
            Code.FILTER_ABOVE_BARRIER,
            Severity.INFO,
            f"{' AND '.join(dict.fromkeys(new))} filters no file of {context.titles[key]}: "
            f"{why}; {reads} are read, and below it {effect.after:,} would be",
            f"if the query allows it, move it below; that is not the same: {_OTHERWISE[why]}",
            {"files": effect.before},
            effect=effect,
        )
