"""The joins of a statement as edges between its scans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.statements.records import Edge
from whyscan.statements.sql.relations import (
    Combined,
    Kind,
    Select,
    Source,
    joins,
    sources,
    without_key,
)
from whyscan.statements.sql.table_names import Base
from whyscan.tree.nodes import Column, columns_of
from whyscan.tree.rewrite import substituted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from whyscan.statements.sql.relations import Condition, Query
    from whyscan.tree.nodes import Expression, Path


def edges(query: Query, keys: Sequence[str]) -> tuple[Edge, ...]:
    """One edge per condition that names columns of two scans; `keys` are the scans in order."""
    origins = Origins(query)
    position = {key: index for index, key in enumerate(keys)}
    joined: dict[Edge, None] = {}
    for kind, condition in conditions(query):
        ends = sorted({position[k] for k in origins.scans(condition.expression) if k in position})
        if len(ends) == 2 and len(condition.source_keys()) > 1:  # noqa: PLR2004
            joined[Edge(kind.value, ends[0], ends[1], condition.sql)] = None
    return (*joined, *_crossed(query, position, list(joined)))


def _crossed(query: Query, position: Mapping[str, int], joined: Sequence[Edge]) -> Iterator[Edge]:
    """The edges between scans that are joined without a condition."""
    pairs = {(edge.left, edge.right) for edge in joined}
    for inner in selects(query):
        for join in joins(inner.tree):
            lefts, rights = (
                [position[s.key] for s in sources(side) if s.key in position]
                for side in (join.left, join.right)
            )
            unjoined = not any((min(a, b), max(a, b)) in pairs for a in lefts for b in rights)
            if join.kind is Kind.INNER and lefts and rights and unjoined:
                left, right = sorted((lefts[-1], rights[0]))
                yield Edge("cross", left, right, "")


class Origins:
    """Finds the scans from which the columns of a query come, through derived tables."""

    def __init__(self, query: Query) -> None:
        self._sources = {source.key: source for source in every_source(query)}

    def scans(self, expression: Expression) -> frozenset[str]:
        """The keys of the scans behind the columns of an expression."""
        keys = (self.behind(column.path) for column in columns_of(expression))
        return frozenset[str]().union(*keys)

    def behind(self, path: Path) -> frozenset[str]:
        """The keys of the scans behind one column."""
        source = self._sources.get(path[0])
        if source is None or source.relation is None:
            return frozenset()
        if isinstance(source.relation, Base):
            return frozenset({path[0]})
        reads = (o.reads for o in source.relation.outputs if o.name.lower() == path[1].lower())
        return frozenset[str]().union(*(self.behind(p) for read in reads for p in read))

    def base(self, column: Column) -> Column | None:
        """The scan's column that a column is, through plain outputs; None where it is computed."""
        source = self._sources.get(column.path[0])
        if source is None or source.relation is None:
            return None
        if isinstance(source.relation, Base):
            return column
        if isinstance(source.relation, Combined):
            return None
        for output in source.relation.outputs:
            if output.name.lower() == column.path[1].lower():
                inner = output.expression
                if isinstance(inner, Column):
                    return self.base(Column((*inner.path, *column.path[2:]), column.type))
        return None


def selects(query: Query) -> Iterator[Select]:
    """Every block of a query, the outermost first."""
    pending = [query]
    while pending:
        node = pending.pop()
        if isinstance(node, Combined):
            pending += (node.right, node.left)
            continue
        yield node
        pending += [nested.query for nested in node.nested]
        inner = [s.relation for s in sources(node.tree)]
        pending += [r for r in reversed(inner) if isinstance(r, Select | Combined)]


def one_scan(
    select: Select,
) -> tuple[Source, Callable[[Expression], Expression | None]] | None:
    """The only scan of a block, and a function that rewrites expressions of the block for it.

    The rewritten expression has the table's column names. None where there is not exactly one scan.
    """
    if not isinstance(select.tree, Source) or select.nested or select.tree.barrier:
        return None
    if any(condition.fixed is not None for condition in select.where):
        return None
    source = select.tree
    if isinstance(source.relation, Base):
        return source, lambda e: substituted(e, without_key)
    inner = source.relation
    if not isinstance(inner, Select) or inner.barrier or inner.distinct or inner.groups is not None:
        return None
    below = None if inner.partitions or inner.qualify else one_scan(inner)
    if below is None:
        return None
    outputs = {output.name: output.expression for output in inner.outputs}

    def through(expression: Expression) -> Expression | None:
        changed = substituted(expression, lambda c: outputs.get(c.path[1]))
        return None if changed is None else below[1](changed)

    return below[0], through


def every_source(query: Query) -> Iterator[Source]:
    """Every source of a query and of the queries inside it."""
    for inner in selects(query):
        yield from sources(inner.tree)


def conditions(query: Query) -> Iterator[tuple[Kind, Condition]]:
    """The conditions of ON and WHERE, each with the kind of its join.

    Conditions inside an EXISTS have the kind of the join that the EXISTS is.
    """
    of_exists: dict[int, Kind] = {}
    for inner in selects(query):
        for join in joins(inner.tree):
            for condition in join.on:
                yield join.kind, condition
            if join.exists and isinstance(join.right, Source):
                of_exists[id(join.right.relation)] = join.kind
        for condition in inner.where:
            if condition.fixed is None:
                yield of_exists.get(id(inner), Kind.INNER), condition
