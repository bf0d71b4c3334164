"""What a query gives: its columns, and the queries that only give others' by other names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.statements.sql.relations import Output, Select, Source
from whyscan.tree.nodes import Cast, Column, Literal, type_of
from whyscan.tree.types import Field, IntegerType, NullType, OtherType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import exp

    from whyscan.statements.sql.relations import Query
    from whyscan.statements.sql.table_names import Base
    from whyscan.tree.nodes import Expression

UNKNOWN = OtherType("unknown")


def fields_of(query: Query) -> tuple[Field, ...]:
    """The columns of a query's result. Of several with one name, none can be told apart."""
    names = [output.name.lower() for output in query.outputs]
    found: dict[str, Field] = {}
    for output, name in zip(query.outputs, names, strict=True):
        known = output.expression is not None and names.count(name) == 1
        kind = type_of(output.expression) if known and output.expression is not None else UNKNOWN
        found.setdefault(name, Field(output.name, kind))
    return tuple(found.values())


def alike(one: Query, other: Query) -> Query:
    """The first of two sides of a set operation, with its columns widened as the second needs.

    | this side   | other side     | becomes          |
    |-------------|----------------|------------------|
    | an integer  | a wider one    | CAST to that     |
    | NULL        | of any type    | NULL of its type |
    """
    pairs = zip(one.outputs, other.outputs, strict=True)
    outputs = (replace(m, expression=_widened(m.expression, o.expression)) for m, o in pairs)
    return replace(one, outputs=tuple(outputs))


def _widened(mine: Expression | None, theirs: Expression | None) -> Expression | None:
    if mine is None or theirs is None:
        return mine
    own, wanted = type_of(mine), type_of(theirs)
    if isinstance(own, NullType):
        return Literal(None, wanted)
    if isinstance(own, IntegerType) and isinstance(wanted, IntegerType) and own.bits < wanted.bits:
        return Cast(mine, wanted)
    return mine


def either(left: Output, right: Output) -> Output:
    """A column of a set operation: of a type only where both sides have the same one."""
    same = (
        left.expression is not None
        and right.expression is not None
        and type_of(left.expression) == type_of(right.expression)
    )
    return Output(left.name, left.expression if same else None, left.reads | right.reads)


def values(node: exp.Values) -> Select:
    """Rows that the text lists."""
    names = node.alias_column_names
    outputs = tuple(Output(name, None, frozenset()) for name in names)
    return Select(None, (), outputs, None, (), (), (), (), frozenset())


def renamed(
    alias: str, key: str, relation: Base | Query, fields: Sequence[Field], names: Sequence[str]
) -> Select:
    """`t AS u(a, b)`: the columns by other names, from the first on."""
    inner = Source(f"{key}'", alias, relation, tuple(fields))
    given = [*names, *(f.name for f in fields[len(names) :])]
    outputs = []
    for name, known in zip(given, fields, strict=False):
        column = Column((inner.key, known.name), known.type)
        outputs.append(Output(name, column, frozenset({column.path})))
    return Select(inner, (), tuple(outputs), None, (), (), (), (), frozenset())


def pivoted(
    alias: str, key: str, relation: Base | Query | None, fields: tuple[Field, ...]
) -> Select:
    """A pivot reads all of what it turns, and nothing passes."""
    inner = Source(f"{key}^", alias, relation, fields)
    reads = frozenset((inner.key, f.name) for f in fields)
    return Select(inner, (), (), (), (), (), (), (), reads, barrier="it is pivoted")
