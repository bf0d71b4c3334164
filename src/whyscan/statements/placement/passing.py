"""What may pass between a block and who reads it: facts in the words of one or the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.statements.placement.facts import Fact
from whyscan.statements.records import Origin
from whyscan.statements.sql.relations import keys_of
from whyscan.statements.sql.using_columns import on_both_sides
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

    from whyscan.statements.sql.relations import Combined, Join, Output, Query, Select
    from whyscan.tree.nodes import Expression, Path


def paths(expression: Expression) -> set[Path]:
    """The columns that an expression names."""
    return {column.path for column in columns_of(expression)}


def both_sides(facts: Sequence[Fact], join: Join) -> tuple[list[Fact], list[Fact]]:
    """Facts about the columns that a full join joins by, for either side."""
    lefts, rights = [], []
    for known in facts:
        found = on_both_sides(known.expression, join)
        if found is not None and known.keys:
            lefts.append(Fact(found[0], known.written, None, known.origin, known.via))
            rights.append(Fact(found[1], known.written, None, known.origin, known.via))
    return lefts, rights


def outward(known: Fact, given: dict[Path, Column]) -> Fact | None:
    """A fact inside a block in the words of its outputs; None where they do not have them."""

    def change(column: Column) -> Column | None:
        for depth in range(len(column.path), 1, -1):
            found = given.get(column.path[:depth])
            if found is not None:
                return Column((*found.path, *column.path[depth:]), column.type)
        return None

    expression = substituted(known.expression, change)
    if expression is None or not keys_of(expression):
        return None
    return Fact(expression, known.written, None, known.origin, known.via)


def constants(outputs: Sequence[Output], key: str) -> list[Fact]:
    """`SELECT 5 AS k`: k = 5."""
    found = []
    for output in outputs:
        value = output.expression
        if isinstance(value, Literal) and value.value is not None:
            column = Column((key, output.name), value.type)
            equal = Comparison(Comparator.EQUAL, column, value)
            found.append(Fact(equal, output.name, None, Origin.SPREAD))
    return found


def inward(known: Fact, key: str, select: Select) -> tuple[Fact | None, str]:
    """A fact about a block's outputs in the words of its sources, or why it does not pass."""
    if select.barrier is not None:
        return None, select.barrier
    outputs = {output.name: output.expression for output in select.outputs}
    named = {path[1] for path in paths(known.expression) if path[0] == key}
    used = [outputs.get(name) for name in named]
    if any(expression is None for expression in used):
        return None, "it is computed from many rows, or by what is not understood"
    values = [expression for expression in used if expression is not None]
    if select.groups is not None and not _all_covered(values, select.groups):
        return None, "it stands above GROUP BY"
    if not all(_all_covered(values, keys) for keys in select.partitions):
        return None, "it stands above a window function"

    def change(column: Column) -> Expression | None:
        if column.path[0] != key:
            return column
        found = outputs[column.path[1]]
        if len(column.path) == 2:  # noqa: PLR2004
            return found
        if isinstance(found, Column):
            return Column((*found.path, *column.path[2:]), column.type)
        return None

    inner = substituted(known.expression, change)
    if inner is None:
        return None, "it is computed by what is not understood"
    return Fact(inner, known.written, None, known.origin, known.via), ""


def by_position(known: Fact, key: str, query: Combined, side: Query) -> Fact | None:
    """A fact about a set operation's rows by the names of one side; None where types differ."""
    places = {output.name: i for i, output in enumerate(query.outputs)}

    def change(column: Column) -> Column | None:
        if column.path[0] != key:
            return column
        position = places[column.path[1]]
        own = side.outputs[position]
        if query.outputs[position].expression is None or own.expression is None:
            return None
        plain = len(column.path) == 2  # noqa: PLR2004
        if plain and type_of(own.expression) != column.type:
            return None
        return Column((key, own.name, *column.path[2:]), column.type)

    expression = substituted(known.expression, change)
    if expression is None:
        return None
    return Fact(expression, known.written, None, known.origin, known.via)


def through_windows(known: Fact, select: Select) -> bool:
    """Whether a fact holds of whole partitions of every window."""
    return all(covered(known.expression, keys) for keys in select.partitions)


def _all_covered(values: Sequence[Expression], keys: Sequence[Expression]) -> bool:
    return all(covered(value, keys) for value in values)


def covered(expression: Expression, keys: Sequence[Expression]) -> bool:
    """Whether rows with the same keys have the same value of the expression."""
    if expression in keys or isinstance(expression, Literal):
        return True
    inner = children(expression)
    return bool(inner) and all(covered(part, keys) for part in inner)
