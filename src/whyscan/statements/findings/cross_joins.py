"""Finds sources of one block that no condition joins: every row of one meets every other row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.findings import Code, Finding, Severity
from whyscan.statements.findings.rebuild import with_block, with_where
from whyscan.statements.joins.edges import selects
from whyscan.statements.sql.relations import (
    Combined,
    Condition,
    Kind,
    Select,
    Source,
    free_reads,
    joins,
    sources,
)
from whyscan.statements.sql.table_names import Base
from whyscan.tree.nodes import Column, Comparator, Comparison, Literal
from whyscan.tree.types import OtherType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from whyscan.reports.findings import Effect
    from whyscan.statements.findings.context import FindingContext
    from whyscan.statements.sql.relations import Query, Tree
    from whyscan.tree.nodes import Path

TRIED_AT_MOST = 4
"""At most so many pairs of columns with the same name are tried as the missing equality."""

_BESIDE = {Kind.SEMI, Kind.ANTI, Kind.NOT_IN}

Group = list[Source]


def cross_joins(context: FindingContext) -> Iterator[Finding]:
    """The findings about missing join conditions."""
    for select in selects(context.query):
        first, *others = [
            group for group in _groups(select) if not all(_one_row(context, s) for s in group)
        ] or [[]]
        for other in others:
            yield _finding(context, select, first, other)


def _groups(select: Select) -> list[Group]:
    """The sources of a block whose rows are combined, grouped by what joins them."""
    combined = [source for source in _combined(select.tree) if source.relation is not None]
    groups_by_keys: list[tuple[set[str], Group]] = [({source.key}, [source]) for source in combined]
    for names in _ties(select):
        tied = [group for group in groups_by_keys if group[0] & names]
        loose = [group for group in groups_by_keys if not group[0] & names]
        keys = names.union(*(keys for keys, _ in tied))
        groups_by_keys = [*loose, (keys, [source for _, group in tied for source in group])]
    order = {source.key: at for at, source in enumerate(combined)}
    groups = [sorted(group, key=lambda s: order[s.key]) for _, group in groups_by_keys if group]
    return sorted(groups, key=lambda group: order[group[0].key])


def _combined(tree: Tree | None) -> Iterator[Source]:
    """The sources of a FROM clause without the right sides of semi and anti joins."""
    if isinstance(tree, Source):
        yield tree
    elif tree is not None:
        yield from _combined(tree.left)
        if tree.kind not in _BESIDE:
            yield from _combined(tree.right)


def _ties(select: Select) -> Iterator[set[str]]:
    """Sets of source keys that something joins: a condition, a subquery or a constant."""
    conditions = [*select.where, *(c for join in joins(select.tree) for c in join.on)]
    yield from (set(condition.source_keys()) for condition in conditions)
    yield from _pinned(conditions)
    for source in sources(select.tree):
        if isinstance(source.relation, Select | Combined):
            yield {source.key, *_keys(free_reads(source.relation))}
    for nested in select.nested:
        around = frozenset() if nested.within is None else nested.within.source_keys()
        yield {*around, *_keys(free_reads(nested.query))}
    for join in joins(select.tree):
        if join.kind is Kind.OPAQUE:
            yield {source.key for source in sources(join)}


def _pinned(conditions: Iterable[Condition]) -> Iterator[set[str]]:
    """Sources with columns that equal the same constant: `a.k = 5 AND b.k = 5`."""
    pinned: dict[Literal, set[str]] = {}
    for condition in conditions:
        match condition.expression:
            case Comparison(Comparator.EQUAL, Column() as column, Literal() as value):
                pinned.setdefault(value, set()).add(column.path[0])
            case Comparison(Comparator.EQUAL, Literal() as value, Column() as column):
                pinned.setdefault(value, set()).add(column.path[0])
            case _:
                pass
    yield from pinned.values()


def _keys(paths: AbstractSet[Path]) -> set[str]:
    return {path[0] for path in paths}


def _one_row(context: FindingContext, source: Source) -> bool:
    """Whether a source is proved to have at most one row."""
    if isinstance(source.relation, Base):
        rows = _rows(context, source)
        return rows is not None and rows <= 1
    return source.relation is not None and _single(context, source.relation)


def _single(context: FindingContext, query: Query) -> bool:
    if isinstance(query, Combined):
        return False
    if query.groups == () or (query.cut is not None and query.cut.limit in {0, 1}):
        return True
    return all(_one_row(context, source) for source in sources(query.tree))


def _rows(context: FindingContext, source: Source) -> int | None:
    return context.rows(source.key) if source.key in context.static else None


def _finding(context: FindingContext, select: Select, one: Group, other: Group) -> Finding:
    """The finding about two groups of sources that no condition joins."""
    names = [_named(context, group) for group in (one, other)]
    counts = [_rows(context, group[0]) if len(group) == 1 else None for group in (one, other)]
    pairs = "every row of one meets every row of the other"
    evidence: dict[str, int | float | str] = {}
    if counts[0] is not None and counts[1] is not None:
        product = counts[0] * counts[1]
        pairs = f"up to {counts[0]:,} rows meet up to {counts[1]:,} each, {product:,} pairs"
        evidence = {"rows": counts[0], "other_rows": counts[1], "pairs": product}
    rewrite, effect = _missing(context, select, one, other)
    fix = "if they belong together, join them by a condition"
    if rewrite is not None:
        fix = f"if they belong together, add {rewrite}"
        if effect is not None:
            fix += f", which leaves {effect.after:,} of {effect.before:,} {effect.unit} to read"
    return Finding(
        Code.CROSS_JOIN,
        Severity.WARNING,
        f"no condition joins {names[0]} with {names[1]}: {pairs}",
        fix,
        evidence,
        rewrite,
        effect,
    )


def _named(context: FindingContext, group: Group) -> str:
    return " and ".join(context.titles.get(source.key, source.alias) for source in group)


def _missing(
    context: FindingContext, select: Select, one: Sequence[Source], other: Sequence[Source]
) -> tuple[str | None, Effect | None]:
    """The equality of two columns with the same name that saves most files, as SQL."""
    tried = [
        Comparison(Comparator.EQUAL, left, right)
        for s in one
        for t in other
        for left, right in _same_names(s, t)
    ][:TRIED_AT_MOST]
    best: tuple[str | None, Effect | None] = (None, None)
    for equality in tried:
        sql = context.sql(equality)
        added = with_where(select, Condition(equality, sql, None))
        gain = context.gain(with_block(context.query, select, added))
        effect = None if gain is None else gain[1]
        if best[0] is None or _spared(effect) > _spared(best[1]):
            best = (sql, effect)
    return best


def _same_names(left: Source, right: Source) -> Iterator[tuple[Column, Column]]:
    """The pairs of columns that have the same name and type in both sources."""
    other_fields = {field.name.lower(): field for field in right.fields}
    for field in left.fields:
        match = other_fields.get(field.name.lower())
        if match is not None and match.type == field.type and not isinstance(match.type, OtherType):
            yield (
                Column((left.key, field.name), field.type),
                Column((right.key, match.name), match.type),
            )


def _spared(effect: Effect | None) -> int:
    return 0 if effect is None else effect.before - effect.after
