"""The output columns of queries, and queries that only rename or widen columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.statements.sql.relations import Output, Select, Source
from whyscan.statements.stay_reasons import StayReason
from whyscan.tree.nodes import Cast, Column, Literal, type_of
from whyscan.tree.types import Field, IntegerType, NullType, OtherType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import exp

    from whyscan.statements.sql.relations import Query
    from whyscan.statements.sql.table_names import Base
    from whyscan.tree.nodes import Expression, Path

UNKNOWN = OtherType("unknown")


def fields_of(query: Query) -> tuple[Field, ...]:
    """The columns of a query's result; of columns with the same name the type is unknown."""
    names = [output.name.lower() for output in query.outputs]
    fields: dict[str, Field] = {}
    for output, name in zip(query.outputs, names, strict=True):
        is_unique = output.expression is not None and names.count(name) == 1
        kind = (
            type_of(output.expression) if is_unique and output.expression is not None else UNKNOWN
        )
        fields.setdefault(name, Field(output.name, kind))
    return tuple(fields.values())


def widened_to_match(query: Query, other: Query) -> Query:
    """One side of a set operation, with its columns widened to the types of the other side.

    | this side   | other side     | becomes          |
    |-------------|----------------|------------------|
    | an integer  | a wider one    | CAST to that     |
    | NULL        | of any type    | NULL of its type |
    """
    pairs = zip(query.outputs, other.outputs, strict=True)
    outputs = (replace(m, expression=_widened(m.expression, o.expression)) for m, o in pairs)
    return replace(query, outputs=tuple(outputs))


def _widened(expression: Expression | None, other: Expression | None) -> Expression | None:
    """The expression cast to the other side's type, where that is a wider integer or it is NULL."""
    if expression is None or other is None:
        return expression
    kind, other_kind = type_of(expression), type_of(other)
    if isinstance(kind, NullType):
        return Literal(None, other_kind)
    if (
        isinstance(kind, IntegerType)
        and isinstance(other_kind, IntegerType)
        and kind.bits < other_kind.bits
    ):
        return Cast(expression, other_kind)
    return expression


def combined_output(left: Output, right: Output) -> Output:
    """A column of a set operation; it has an expression only if both sides have the same type."""
    same = (
        left.expression is not None
        and right.expression is not None
        and type_of(left.expression) == type_of(right.expression)
    )
    return Output(left.name, left.expression if same else None, left.reads | right.reads)


def outputs_by_name(left: Query, right: Query) -> tuple[Output, ...]:
    """The columns of a set operation that matches them by name: a side may lack some."""
    reads: dict[str, frozenset[Path]] = {}
    for output in (*left.outputs, *right.outputs):
        reads[output.name] = reads.get(output.name, frozenset()) | output.reads
    return tuple(Output(name, None, paths) for name, paths in reads.items())


def values(node: exp.Values) -> Select:
    """The block of VALUES: rows that the text lists."""
    names = node.alias_column_names
    outputs = tuple(Output(name, None, frozenset()) for name in names)
    return Select(None, outputs)


def renamed(
    alias: str, key: str, relation: Base | Query, fields: Sequence[Field], names: Sequence[str]
) -> Select:
    """`t AS u(a, b)`: the first columns renamed."""
    inner = Source(f"{key}'", alias, relation, tuple(fields))
    new_names = [*names, *(f.name for f in fields[len(names) :])]
    outputs = []
    for name, field in zip(new_names, fields, strict=False):
        column = Column((inner.key, field.name), field.type)
        outputs.append(Output(name, column, frozenset({column.path})))
    return Select(inner, tuple(outputs))


def pivoted(
    alias: str, key: str, relation: Base | Query | None, fields: tuple[Field, ...]
) -> Select:
    """A pivot reads all columns of its source, and no condition passes into it."""
    inner = Source(f"{key}^", alias, relation, fields)
    reads = frozenset((inner.key, f.name) for f in fields)
    return Select(inner, (), groups=(), reads=reads, barrier=StayReason.PIVOTED)
