"""Rewrites facts between a block and its reader: from outputs to sources and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.statements.placement.facts import Fact
from whyscan.statements.roles import Origin
from whyscan.statements.sql.relations import keys_of
from whyscan.statements.sql.using_columns import on_both_sides
from whyscan.statements.stay_reasons import StayReason
from whyscan.tree.nodes import (
    Column,
    Comparator,
    Comparison,
    Literal,
    children,
    columns_of,
    type_of,
)
from whyscan.tree.rewrite import substituted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.statements.sql.relations import Combined, Join, Query, Select
    from whyscan.tree.nodes import Expression, Path


def paths(expression: Expression) -> set[Path]:
    """The paths of the columns that an expression names."""
    return {column.path for column in columns_of(expression)}


def both_sides(facts: Sequence[Fact], join: Join) -> tuple[list[Fact], list[Fact]]:
    """The facts about the join columns of a full join, rewritten for each side."""
    lefts, rights = [], []
    for fact in facts:
        sides = on_both_sides(fact.expression, join)
        if sides is not None and fact.keys:
            lefts.append(Fact(sides[0], fact.written, None, fact.origin, fact.via))
            rights.append(Fact(sides[1], fact.written, None, fact.origin, fact.via))
    return lefts, rights


def outward(fact: Fact, output_columns: dict[Path, Column]) -> Fact | None:
    """A fact of a block, rewritten with its output columns; None where an output is missing."""

    def change(column: Column) -> Column | None:
        for depth in range(len(column.path), 1, -1):
            output_column = output_columns.get(column.path[:depth])
            if output_column is not None:
                return Column((*output_column.path, *column.path[depth:]), column.type)
        return None

    expression = substituted(fact.expression, change)
    if expression is None or not keys_of(expression):
        return None
    return Fact(expression, fact.written, None, fact.origin, fact.via)


def constants(select: Select, key: str) -> list[Fact]:
    """Facts from constant outputs: `SELECT 5 AS k` gives k = 5."""
    facts = []
    for output in select.outputs:
        value = output.expression
        if isinstance(value, Literal) and value.value is not None and one_per_group(value, select):
            column = Column((key, output.name), value.type)
            equal = Comparison(Comparator.EQUAL, column, value)
            facts.append(Fact(equal, output.name, None, Origin.SPREAD))
    return facts


def inward(fact: Fact, key: str, select: Select) -> tuple[Fact | None, StayReason | None]:
    """A fact about the outputs of a block, rewritten for its sources, or why it does not pass."""
    if select.barrier is not None:
        return None, select.barrier
    outputs = {output.name: output.expression for output in select.outputs}
    names = {path[1] for path in paths(fact.expression) if path[0] == key}
    expressions = [outputs.get(name) for name in names]
    if any(expression is None for expression in expressions):
        return None, StayReason.COMPUTED_FROM_MANY_ROWS
    values = [expression for expression in expressions if expression is not None]
    if not all(one_per_group(value, select) for value in values):
        return None, StayReason.GROUP_BY
    if not all(_covered(value, keys) for keys in select.partitions for value in values):
        return None, StayReason.WINDOW

    def change(column: Column) -> Expression | None:
        if column.path[0] != key:
            return column
        value = outputs[column.path[1]]
        if len(column.path) == 2:  # noqa: PLR2004
            return value
        if isinstance(value, Column):
            return Column((*value.path, *column.path[2:]), column.type)
        return None

    inner = substituted(fact.expression, change)
    if inner is None:
        return None, StayReason.NOT_UNDERSTOOD
    return Fact(inner, fact.written, None, fact.origin, fact.via), None


def by_position(fact: Fact, key: str, query: Combined, side: Query) -> Fact | None:
    """A fact about a set operation's rows, with the names of one side; None where types differ."""
    places = {output.name: i for i, output in enumerate(query.outputs)}

    def change(column: Column) -> Column | None:
        if column.path[0] != key:
            return column
        position = places[column.path[1]]
        side_output = side.outputs[position]
        if query.outputs[position].expression is None or side_output.expression is None:
            return None
        plain = len(column.path) == 2  # noqa: PLR2004
        if plain and type_of(side_output.expression) != column.type:
            return None
        return Column((key, side_output.name, *column.path[2:]), column.type)

    expression = substituted(fact.expression, change)
    if expression is None:
        return None
    return Fact(expression, fact.written, None, fact.origin, fact.via)


def through_windows(fact: Fact, select: Select) -> bool:
    """Whether a fact is the same for all rows of a partition, in every window."""
    return all(_covered(fact.expression, keys) for keys in select.partitions)


def one_per_group(expression: Expression, select: Select) -> bool:
    """Whether an expression has the same value for a group as for each row of the group."""
    return select.groups is None or _covered(expression, select.groups, select.rolled_up)


def _covered(
    expression: Expression, keys: Sequence[Expression], null: Sequence[Expression] = ()
) -> bool:
    """Whether rows with the same keys have the same value of the expression.

    No part of the expression may be one of `null`, which may be NULL instead of their value.
    """
    if expression in keys:
        return True
    if expression in null:
        return False
    inner = children(expression)
    if not inner:
        return isinstance(expression, Literal)
    return all(_covered(part, keys, null) for part in inner)
