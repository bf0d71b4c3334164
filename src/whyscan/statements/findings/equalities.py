"""The equalities that join scans, each with its place in the statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.statements.findings.rebuild import with_block, with_on, with_where
from whyscan.statements.joins.edges import selects
from whyscan.statements.sql.relations import Kind, joins, keys
from whyscan.tree.nodes import Column, Comparator, Comparison, Opaque, columns_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.statements.findings.context import FindingContext
    from whyscan.statements.sql.relations import Condition, Join, Query, Select
    from whyscan.tree.nodes import Expression


class Side(Struct, frozen=True, eq=False):
    """One side of an equality: an expression of one column, and the scan's column behind it."""

    expression: Expression
    column: Column
    base: Column

    @property
    def key(self) -> str:
        """The key of the scan."""
        return self.base.path[0]

    @property
    def table_column(self) -> Column:
        """The scan's column with the table's name for it."""
        return Column(self.base.path[1:], self.base.type)

    @property
    def is_bare(self) -> bool:
        return isinstance(self.expression, Column)


class Link(Struct, frozen=True, eq=False):
    """An equality `left = right` of two scans; `join` is None where it stands in WHERE."""

    select: Select
    join: Join | None
    condition: Condition
    left: Side
    right: Side

    @property
    def sides(self) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
        """Each side with the other side."""
        return (self.left, self.right), (self.right, self.left)

    def restricts(self, side: Side) -> bool:
        """Whether this equality alone makes a row of the side's scan useless without a partner."""
        block_keys = frozenset[str]() if self.select.tree is None else keys(self.select.tree)
        if not {self.left.column.path[0], self.right.column.path[0]} <= block_keys:
            return False
        if self.join is None or self.join.kind in {Kind.INNER, Kind.SEMI}:
            return True
        filled = {Kind.LEFT: self.join.right, Kind.RIGHT: self.join.left}.get(self.join.kind)
        return filled is not None and side.column.path[0] in keys(filled)

    @property
    def clause(self) -> str:
        """The clause of the equality; a condition that follows from it may be added there."""
        return "WHERE" if self.join is None or self.join.kind is Kind.SEMI else "ON"

    def with_condition(self, query: Query, condition: Condition) -> Query:
        """The query with one more condition in the clause of the equality."""
        if self.join is None:
            return with_block(query, self.select, with_where(self.select, condition))
        conditions = (*self.join.on, condition)
        return with_block(query, self.select, with_on(self.select, self.join, conditions))


def links(context: FindingContext) -> list[Link]:
    """Every equality of two scans, once: each use of a CTE repeats its equalities."""
    unique: dict[tuple[str, ...], Link] = {}
    for select in selects(context.query):
        for join, condition in _placed(select):
            link = _link(context, select, join, condition)
            if link is not None:
                names = (context.scans[side.key].title for side in (link.left, link.right))
                unique.setdefault((condition.sql, *names), link)
    return list(unique.values())


def _placed(select: Select) -> Iterator[tuple[Join | None, Condition]]:
    for join in joins(select.tree):
        for condition in join.on:
            yield join, condition
    for condition in select.where:
        yield None, condition


def _link(
    context: FindingContext, select: Select, join: Join | None, condition: Condition
) -> Link | None:
    """The condition as an equality of two scans; None where it is something else."""
    e = condition.expression
    if condition.fixed is not None or not isinstance(e, Comparison):
        return None
    if e.operator is not Comparator.EQUAL:
        return None
    left, right = _side(context, e.left), _side(context, e.right)
    if left is None or right is None or left.key == right.key:
        return None
    return Link(select, join, condition, left, right)


def _side(context: FindingContext, expression: Expression) -> Side | None:
    """The side of an equality; None where it does not have exactly one column of a scan."""
    columns = columns_of(expression)
    if len(columns) != 1 or any(isinstance(node, Opaque) for node in walk(expression)):
        return None
    base = context.origins.base(columns[0])
    if base is None or base.path[0] not in context.static:
        return None
    return Side(expression, columns[0], base)
