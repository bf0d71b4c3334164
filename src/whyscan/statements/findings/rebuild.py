"""Changes blocks of a query: the query with a fix applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.statements.sql.relations import Combined, Select, Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from whyscan.statements.sql.relations import Condition, Join, Query, Tree

    Change = Callable[[Query], Query]


def rebuilt(query: Query, change: Change) -> Query:
    """The query with `change` applied to every block, the outermost first."""
    changed = change(query)
    if isinstance(changed, Combined):
        left, right = rebuilt(changed.left, change), rebuilt(changed.right, change)
        return replace(changed, left=left, right=right)
    nested = tuple(replace(n, query=rebuilt(n.query, change)) for n in changed.nested)
    tree = None if changed.tree is None else _inside(changed.tree, change)
    return replace(changed, tree=tree, nested=nested)


def with_block(query: Query, block: Query, other: Query) -> Query:
    """The query with one block replaced by another."""
    return rebuilt(query, lambda candidate: other if candidate is block else candidate)


def with_where(select: Select, condition: Condition) -> Select:
    """The block with one more condition in its WHERE."""
    return replace(select, where=(*select.where, condition))


def with_on(select: Select, join: Join, conditions: tuple[Condition, ...]) -> Select:
    """The block with new conditions in the ON of one of its joins."""
    if select.tree is None:
        return select
    return replace(select, tree=_with_on(select.tree, join, conditions))


def _with_on(tree: Tree, join: Join, conditions: tuple[Condition, ...]) -> Tree:
    if isinstance(tree, Source):
        return tree
    left, right = (_with_on(side, join, conditions) for side in (tree.left, tree.right))
    return replace(tree, left=left, right=right, on=conditions if tree is join else tree.on)


def _inside(tree: Tree, change: Change) -> Tree:
    if not isinstance(tree, Source):
        return replace(tree, left=_inside(tree.left, change), right=_inside(tree.right, change))
    if not isinstance(tree.relation, Select | Combined):
        return tree
    return replace(tree, relation=rebuilt(tree.relation, change))
