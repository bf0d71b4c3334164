"""Bind the predicates of a run for the planner, and write them as Spark SQL.

Spark has no timestamps of nanoseconds. Such a timestamp becomes the number of nanoseconds since
1970, which compares in the same way. A predicate that does more than compare is not rewritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import WhyscanError
from whyscan.planning.plan.request import bind_request
from whyscan.tables.parquet.metadata_columns import FILE_PATH
from whyscan.tree.nodes import (
    And,
    Between,
    Column,
    Comparison,
    In,
    IsNull,
    Literal,
    Not,
    Or,
    children,
    columns_of,
    leaves_within,
    with_children,
)
from whyscan.tree.rendering import to_sql
from whyscan.tree.types import (
    BIGINT,
    IntervalType,
    NullType,
    OtherType,
    StructType,
    TimestampType,
    TimeUnit,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whyscan.planning.plan.scan_plan import Options
    from whyscan.tables.snapshot import Snapshot
    from whyscan.terms import PlanTerms
    from whyscan.tree.nodes import Expression, Path, Predicate
    from whyscan.tree.types import Type

SPARKS = frozenset({"spark", "databricks", "spark2"})
TRINO = "trino"
EVERYTHING = "*"
TIME = "time"
_NESTED = frozenset({"array", "list", "map"})
_UNMEASURED = (IntervalType, NullType, StructType)


class CheckedPredicate(Struct, frozen=True):
    """One predicate that is verified; if `why` is set, it cannot be, and the rest is None.

    `sql` is the predicate in Spark SQL on the rows of `RowReader`. `native` is True if the same SQL
    works on the rows of Spark's reader.
    """

    text: str
    dialect: str
    predicate: Predicate | None = None
    options: Options | None = None
    sql: str | None = None
    native: bool = True
    why: str | None = None


class PredicateText(Struct, frozen=True):
    """The text of a predicate and its dialect."""

    text: str
    dialect: str = "spark"


def questions(
    snapshot: Snapshot, conditions: Sequence[PredicateText], terms: PlanTerms
) -> tuple[CheckedPredicate, ...]:
    """Each distinct predicate; one that cannot be bound does not stop the others."""
    return tuple(_question(snapshot, condition, terms) for condition in dict.fromkeys(conditions))


def _question(snapshot: Snapshot, condition: PredicateText, terms: PlanTerms) -> CheckedPredicate:
    text, dialect = condition.text, condition.dialect
    try:
        predicate, options = bind_request(snapshot, text, (), replace(terms, dialect=dialect))
        for column in predicate.columns():
            if (why := _why_not_comparable(column)) is not None:
                return CheckedPredicate(text, dialect, why=why)
        numbers = _has_nanoseconds(predicate.expression)
        sql = _on_numbers(predicate) if numbers else translated(text, dialect, "spark")
    except WhyscanError as error:
        return CheckedPredicate(text, dialect, why=error.message)
    options = replace(options, every_manifest=True)
    return CheckedPredicate(text, dialect, predicate, options, sql, native=not numbers)


def _on_numbers(predicate: Predicate) -> str:
    """The SQL of the predicate with nanosecond timestamps as numbers."""
    expression = _in_ticks(predicate.expression)
    if expression is None:
        raise WhyscanError("nanoseconds are compared, and nothing else: Spark has none")
    return to_sql(expression)


def translated(text: str, dialect: str, target: str) -> str:
    """The condition in the SQL of another engine; unchanged if both dialects are the same."""
    if dialect == target or (dialect in SPARKS and target in SPARKS):
        return text
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(text, read=dialect)
        if target == TRINO:
            # Trino unwraps a CAST to a range of its column, and not a TRY_CAST.
            tree = tree.transform(
                lambda node: exp.cast(node.this, node.to) if isinstance(node, exp.TryCast) else node
            )
        return tree.sql(target)
    except SqlglotError as error:
        line = str(error).splitlines()[0]
        raise WhyscanError(f"cannot be said in {target}'s SQL: {line}") from error


def _why_not_comparable(column: Column) -> str | None:
    """Why Spark cannot compare the values of a column; None if it can."""
    name = ".".join(column.path)
    if column.path[0] == FILE_PATH[0]:
        return f"{name} is no column of the rows"
    if not isinstance(column.type, OtherType) or column.type.name in _NESTED:
        return None
    if column.type.name == TIME and len(column.path) == 1:
        return None
    return f"rows of {name} are not compared: its type is {column.type}"


def measured(
    snapshot: Snapshot, predicates: Sequence[CheckedPredicate], selected: Sequence[str]
) -> tuple[Column, ...]:
    """The columns whose statistics are compared: those of the predicates and `selected`."""
    named = [c for q in predicates if q.predicate is not None for c in q.predicate.columns()]
    columns = leaves_within(snapshot.schema().fields)
    every = [c for c in columns if not isinstance(c.type, OtherType) or c.type.name == TIME]
    if EVERYTHING in selected:
        named += every
    else:
        named += [_named(word, every) for word in selected]
    fit = (c for c in named if not isinstance(c.type, _UNMEASURED))
    return tuple(dict.fromkeys(c for c in fit if c.path[0] != FILE_PATH[0]))


def paths_read(
    predicates: Sequence[CheckedPredicate], columns: Sequence[Column]
) -> tuple[Path, ...]:
    """The paths of the predicates' columns and of the measured columns."""
    named = (q.predicate.columns() for q in predicates if q.predicate is not None)
    return tuple(dict.fromkeys(c.path for columns_read in (*named, columns) for c in columns_read))


def _named(word: str, every: Sequence[Column]) -> Column:
    from whyscan.errors import UnknownColumn

    for column in every:
        if ".".join(column.path).lower() == word.lower():
            return column
    raise UnknownColumn(f"there is no column {word} whose statistics could be compared")


def _has_nanoseconds(expression: Expression) -> bool:
    """Whether a column of the expression is a nanosecond timestamp."""
    return any(_is_nanoseconds(column.type) for column in columns_of(expression))


def _in_ticks(expression: Expression) -> Expression | None:
    """The expression on numbers; None if it does more with nanoseconds than compare them."""
    match expression:
        case And() | Or() | Not():
            return _over(expression, _in_ticks)
        case _ if not _has_nanoseconds(expression):
            return expression
        case In():
            numbers = replace(expression, values=expression.values.view(pa.int64()))
            return _over(numbers, _number)
        case Comparison() | Between() | IsNull():
            return _over(expression, _number)
        case _:
            return None


def _over(
    expression: Expression, change: Callable[[Expression], Expression | None]
) -> Expression | None:
    changed: Sequence[Expression | None] = [change(part) for part in children(expression)]
    rewritten = [part for part in changed if part is not None]
    return with_children(expression, rewritten) if len(rewritten) == len(changed) else None


def _number(operand: Expression) -> Expression | None:
    """A column or literal of nanoseconds as a number; None for other operands."""
    match operand:
        case Column() | Literal() if _is_nanoseconds(operand.type):
            return replace(operand, type=BIGINT)
        case _:
            return None


def _is_nanoseconds(kind: Type) -> bool:
    return isinstance(kind, TimestampType) and kind.unit is TimeUnit.NANOSECOND
