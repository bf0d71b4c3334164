"""Replaces `coalesce(a.k, b.k)`, which USING and NATURAL insert, by one column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.statements.sql.relations import Kind, joins, sources
from whyscan.tree.nodes import (
    Coalesce,
    Column,
    Comparator,
    Comparison,
    children,
    columns_of,
    walk,
    with_children,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.statements.sql.relations import Join, Tree
    from whyscan.tree.nodes import Expression

Same = tuple[Column, Column]
"""Two columns: where the second is not NULL, the first equals it."""


def same_columns(tree: Tree) -> list[Same]:
    """The pairs that the equalities of ON make.

    An inner or a left join keeps its left column, a right join its right one; a full join neither.
    """
    pairs = []
    for join in joins(tree):
        for one, other in _equal(join):
            if join.kind in {Kind.INNER, Kind.LEFT}:
                pairs.append((one, other))
            elif join.kind is Kind.RIGHT:
                pairs.append((other, one))
    return pairs


def _equal(join: Join) -> Iterator[Same]:
    """The pairs of columns that ON equates, the left side's column first."""
    left = {source.key for source in sources(join.left)}
    for condition in join.on:
        e = condition.expression
        if not isinstance(e, Comparison) or e.operator is not Comparator.EQUAL:
            continue
        if isinstance(e.left, Column) and isinstance(e.right, Column):
            yield (e.left, e.right) if e.left.path[0] in left else (e.right, e.left)


def without_coalesce(expression: Expression, same: Sequence[Same]) -> Expression:
    """The expression with each coalesce of such columns replaced by the deciding column."""
    if not same or not any(isinstance(part, Coalesce) for part in walk(expression)):
        return expression

    if isinstance(expression, Coalesce):
        return _deciding(expression, same)
    inner = [without_coalesce(part, same) for part in children(expression)]
    return with_children(expression, inner)


def _deciding(expression: Coalesce, same: Sequence[Same]) -> Expression:
    """Return the one operand that the COALESCE can be replaced with, or the COALESCE itself.

    An operand is not needed if another operand equals it wherever it is not NULL.
    """
    remaining = [
        operand
        for operand in dict.fromkeys(expression.operands)
        if not any((other, operand) in same for other in expression.operands)
    ]
    return remaining[0] if len(remaining) == 1 else expression


def on_both_sides(expression: Expression, join: Join) -> tuple[Expression, Expression] | None:
    """A condition on the join columns of a full join, rewritten for each side; else None.

    A row whose key fails it is dropped with or without a partner, and its partner has the same key.
    """
    pairs = list(_equal(join))
    left = without_coalesce(expression, pairs)
    right = without_coalesce(expression, [(other, one) for one, other in pairs])
    lefts, rights = {one for one, _ in pairs}, {other for _, other in pairs}
    if set(columns_of(left)) <= lefts and set(columns_of(right)) <= rights:
        return left, right
    return None
