"""Finds filters on the wrong side of an outer join: one filters nothing, one undoes the join."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.findings import Code, Finding, Severity
from whyscan.reports.words import counted
from whyscan.statements.findings.rebuild import with_block, with_on, with_where
from whyscan.statements.joins.edges import selects
from whyscan.statements.placement.facts import fact_of, rejects_null
from whyscan.statements.sql.relations import Kind, Source, joins, keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.statements.findings.context import FindingContext
    from whyscan.statements.sql.relations import Condition, Join, Select, Tree


def outer_joins(context: FindingContext) -> Iterator[Finding]:
    """The findings about outer joins."""
    for select in selects(context.query):
        for join in joins(select.tree):
            if join.kind in {Kind.LEFT, Kind.RIGHT}:
                yield from _filters_nothing(context, select, join)
            if join.kind in {Kind.LEFT, Kind.RIGHT, Kind.FULL}:
                yield from _undone(context, select, join)


def _preserved(join: Join) -> Tree:
    return join.left if join.kind is Kind.LEFT else join.right


def _filters_nothing(context: FindingContext, select: Select, join: Join) -> Iterator[Finding]:
    """Findings for conditions in ON that remove no row of the side that an outer join keeps."""
    preserved_keys = keys(_preserved(join))
    for condition in join.on:
        if (
            condition.fixed is not None
            or not condition.source_keys()
            or not condition.source_keys() <= preserved_keys
        ):
            continue
        scans = context.origins.scans(condition.expression) & context.static.keys()
        if len(scans) != 1 or _applied(context, condition, *scans):
            continue
        yield _moved(context, select, join, condition, *scans)


def _applied(context: FindingContext, condition: Condition, key: str) -> bool:
    """Whether the condition does filter, because the facts above make the join an inner join."""
    return any(f.written == condition.sql and f.via is None for f in context.facts(key))


def _moved(
    context: FindingContext, select: Select, join: Join, condition: Condition, key: str
) -> Finding:
    """The finding with the move of the condition from ON to WHERE as its fix."""
    rest = tuple(c for c in join.on if c is not condition)
    changed = with_block(context.query, select, with_where(with_on(select, join, rest), condition))
    leaf = context.leaves(changed).get(key)
    reads = context.reading(key)
    effect = None if leaf is None else context.effect(key, context.kept(leaf))
    title = context.titles[key]
    then = "" if effect is None else f"; it then reads {effect.after:,} of them"
    return Finding(
        Code.FILTER_ON_WRONG_SIDE,
        Severity.INFO if effect is None else Severity.WARNING,
        f"{condition.sql} in the ON of a {join.kind.value} join filters no row of {title}: one "
        f"that fails it stays, with NULLs for the other side; {reads.kept:,} of "
        f"{counted(reads.total, 'file')} are read",
        f"if it is to filter, move it from ON to WHERE{then}",
        {"files": reads.kept},
        f"WHERE {condition.sql}",
        effect,
    )


def _undone(context: FindingContext, select: Select, join: Join) -> Iterator[Finding]:
    """A finding for conditions of WHERE that drop the rows which the join fills with NULLs."""
    filled = {Kind.LEFT: (join.right,), Kind.RIGHT: (join.left,)}
    undone_sides = [
        (side, conditions)
        for side in filled.get(join.kind, (join.left, join.right))
        if (conditions := [c for c in select.where if _rejects(context, c, keys(side))])
    ]
    if not undone_sides:
        return
    first = undone_sides[0][1][0]
    names = " and ".join(_named(context, side) for side, _ in undone_sides)
    kind = _remaining_kind(join, [side for side, _ in undone_sides])
    yield Finding(
        Code.FILTER_ON_WRONG_SIDE,
        Severity.INFO,
        f"{first.sql} in WHERE drops every row that the {join.kind.value} join fills with NULLs "
        f"for {names}: it is {'an' if kind is Kind.INNER else 'a'} {kind.value} join",
        f"say {kind.value.upper()} JOIN, which is the same here; or move the condition to ON, if "
        "rows without a partner are to stay",
        {"conditions": sum(len(conditions) for _, conditions in undone_sides)},
        f"{kind.value.upper()} JOIN",
    )


def _rejects(context: FindingContext, condition: Condition, keys: frozenset[str]) -> bool:
    condition_fact = fact_of(condition)
    return condition_fact is not None and rejects_null(condition_fact, keys, context.zone)


def _named(context: FindingContext, side: Tree) -> str:
    if not isinstance(side, Source):
        return "its side"
    return context.titles.get(side.key, side.alias)


def _remaining_kind(join: Join, undone_sides: list[Tree]) -> Kind:
    """The kind of join that remains when some sides are never filled with NULLs."""
    if join.kind is not Kind.FULL or len(undone_sides) > 1:
        return Kind.INNER
    return Kind.RIGHT if undone_sides[0] is join.right else Kind.LEFT
