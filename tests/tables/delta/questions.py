"""Predicates made from a table's own rows: typed trees, as Spark's SQL and as that of peers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oracle import clock, render
from oracle.dice import Rolled
from oracle.errors import Unsupported
from oracle.predicates import Maker
from oracle.rows import RAISED, evaluate_row, plain
from oracle.tables import Row, World
from whyscan.tree.arrow import arrow_type
from whyscan.tree.nodes import (
    And,
    Between,
    Column,
    Comparator,
    Comparison,
    Expression,
    In,
    IsNull,
    Literal,
    Not,
    Or,
)
from whyscan.tree.types import (
    DateType,
    FloatType,
    NullType,
    OtherType,
    StringType,
    StructType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from whyscan.tables.delta.snapshot import DeltaSnapshot
    from whyscan.tree.nodes import Path

UNORDERED = (NullType, OtherType, StructType)
DEPTHS = (0, 1, 0, 1, 2)


@dataclass(frozen=True)
class Question:
    """A predicate in Spark's SQL; the `tree` is None where it was written by hand."""

    sql: str
    tree: Expression | None = None


def columns(snapshot: DeltaSnapshot) -> dict[Path, Type]:
    """The columns that predicates are made of."""
    every = snapshot.state.schema.columns.values()
    return {c.path: c.type for c in every if not isinstance(c.type, UNORDERED)}


def rows_of(schema: Mapping[Path, Type], values: Sequence[pa.Array]) -> tuple[Row, ...]:
    """A file's rows as the oracle has them, from one array a column."""
    columns = [
        _python_values(array, kind) for array, kind in zip(values, schema.values(), strict=True)
    ]
    return tuple(dict(zip(schema, row, strict=True)) for row in zip(*columns, strict=True))


def _python_values(array: pa.Array, kind: Type) -> list[Any]:
    target = arrow_type(kind)
    if isinstance(kind, TimestampType):
        array = array.cast(target, safe=False)
    return plain(array.cast(target), "" if isinstance(kind, StringType) else None)


def world(schema: Mapping[Path, Type], files: Sequence[tuple[Row, ...]]) -> World:
    """Rows alone: what is recorded of them is the table's own business."""
    return World(schema, tuple(files), (), (), "UTC")


def questions(data: World, count: int, seed: int) -> Iterator[Question]:
    """Predicates of every kind that raise on no row."""
    maker = Maker(Rolled.of(seed), data, certain=True)
    made = 0
    while made < count:
        tree = maker.predicate(DEPTHS[made % len(DEPTHS)])
        try:
            text = render.sql(tree)
            raises = any(evaluate_row(tree, row) is RAISED for file in data.rows for row in file)
        except Unsupported:
            continue
        if not raises and "`" in text:
            made += 1
            yield Question(text, tree)


def plain_questions(data: World, count: int, seed: int) -> Iterator[Question]:
    """Predicates that delta-rs and delta-explain can read as well."""
    maker = Maker(Rolled.of(seed), data, certain=True)
    made = 0
    while made < count:
        tree = maker.predicate(DEPTHS[made % len(DEPTHS)])
        try:
            peers_sql(tree)
        except Unsupported:
            continue
        made += 1
        yield Question(render.sql(tree), tree)


def peers_sql(tree: Expression) -> str:
    """Columns against literals under AND, OR and NOT, in the SQL that the peers share."""
    match tree:
        case And(operands) | Or(operands):
            word = " AND " if isinstance(tree, And) else " OR "
            return "(" + word.join(map(peers_sql, operands)) + ")"
        case Not(operand):
            return f"(NOT {peers_sql(operand)})"
        case Comparison(operator, left, right) if operator is not Comparator.NULL_SAFE_EQUAL:
            return f"({_side(left, right)} {operator.value} {_side(right, left)})"
        case Between(Column() as column, low, high):
            return f"({_name(column)} BETWEEN {_side(low, column)} AND {_side(high, column)})"
        case In(Column() as column, values, null=False, nan=False) if len(values):
            like = "" if isinstance(column.type, StringType) else None
            listed = (_literal(value, column.type) for value in plain(values, like))
            return f"({_name(column)} IN ({', '.join(listed)}))"
        case IsNull(Column() as column):
            return f"({_name(column)} IS NULL)"
    raise Unsupported(type(tree).__name__)


def _side(side: Expression, other: Expression) -> str:
    match side, other:
        case Column(), Literal():
            return _name(side)
        case Literal(value), Column():
            return _literal(value, side.type)
    raise Unsupported("neither a column beside a literal nor a literal beside a column")


def _name(column: Column) -> str:
    if not all(name.isidentifier() for name in column.path) or len(column.path) > 2:
        raise Unsupported("a name that wants quotes, or deeper than delta-rs looks")
    return ".".join(column.path)


def _literal(value: Any, kind: Type) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        raise Unsupported("a literal that peers spell differently")
    match kind:
        case DateType():
            return f"'{clock.date_text(value)}'"
        case TimestampType(instant=True):
            return f"'{clock.wall_text(value).replace(' ', 'T')}Z'"
        case TimestampType():
            return f"'{clock.wall_text(value)}'"
        case StringType() if "\0" in value:
            raise Unsupported("an argument of a command has no NUL")
        case StringType():
            return "'" + value.replace("'", "''") + "'"
        case FloatType():
            return repr(value)
    return render.literal(value, kind).removeprefix("CAST('").split("' AS ")[0]
