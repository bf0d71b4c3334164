"""Reads an expression of Polars, from its JSON, as a typed predicate.

Polars holds NaN for the greatest value. JSON has no NaN and no infinity: Polars writes null for
them, so such a literal is not interpreted. A version of Polars that writes another tree gets files
that are not pruned, and no wrong rows.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct

from whyscan.engines.pushed_filters import (
    FilteredSchema,
    NotInterpreted,
    all_of,
    any_of,
    as_condition,
    cast,
    is_nan,
    literal_of,
    opaque,
)
from whyscan.tree.literals import EXACT, nearest_float32
from whyscan.tree.nodes import (
    Call,
    Cast,
    Comparator,
    IsNull,
    Literal,
    NanOrder,
    Not,
    type_of,
)
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    NULL,
    STRING,
    TIMESTAMP_NTZ,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    TimeUnit,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from whyscan.tree.nodes import Column, Expression
    from whyscan.tree.types import Schema

_COMPARATORS = {
    "Eq": Comparator.EQUAL,
    "NotEq": Comparator.NOT_EQUAL,
    "Lt": Comparator.LESS,
    "LtEq": Comparator.LESS_EQUAL,
    "Gt": Comparator.GREATER,
    "GtEq": Comparator.GREATER_EQUAL,
}
_CLOSED = {
    "Both": (Comparator.GREATER_EQUAL, Comparator.LESS_EQUAL),
    "Left": (Comparator.GREATER_EQUAL, Comparator.LESS),
    "Right": (Comparator.GREATER, Comparator.LESS_EQUAL),
    "None": (Comparator.GREATER, Comparator.LESS),
}
_UNITS = {"Milliseconds": "ms", "Microseconds": "us", "Nanoseconds": "ns"}
_INTEGERS = {f"Int{bits}": IntegerType(bits) for bits in (8, 16, 32, 64)}
_MALFORMED = (KeyError, IndexError, TypeError, ValueError, pa.ArrowException, RecursionError)
"""What a tree raises whose form is not the one that this module reads."""


def read_polars_filter(expression: pl.Expr, schema: Schema) -> Expression:
    """The condition of an expression; a part that cannot be interpreted is `Opaque`."""
    import polars as pl

    try:
        node = json.loads(expression.meta.serialize(format="json"))
    except (pl.exceptions.PolarsError, ValueError, RecursionError) as error:
        # A predicate that Polars changes while it runs, such as that of a top-k, has no JSON.
        return opaque(str(expression), str(error), ())
    reader = _PolarsFilter(FilteredSchema(schema, NanOrder.GREATEST))
    return reader.condition(node)


class _PolarsFilter(Struct, frozen=True):
    """Reads the nodes of one expression."""

    columns: FilteredSchema

    def condition(self, node: Any) -> Expression:
        """The condition of a boolean node: `Opaque` where it cannot be interpreted."""
        match node:
            case {"BinaryExpr": {"left": left, "op": "And" | "LogicalAnd", "right": right}}:
                return all_of((self.condition(left), self.condition(right)))
            case {"BinaryExpr": {"left": left, "op": "Or" | "LogicalOr", "right": right}}:
                return any_of((self.condition(left), self.condition(right)))
            case {"Function": {"input": [operand], "function": {"Boolean": "Not"}}}:
                return Not(self.condition(operand))
            case _:
                pass
        try:
            return as_condition(self.value(node))
        except (NotInterpreted, *_MALFORMED) as reason:
            return opaque(json.dumps(node)[:_LONGEST], str(reason), self.named(node))

    def named(self, node: Any) -> Iterator[Column]:
        """The columns that a tree names, members of structs by the name of their column."""
        match node:
            case {"Column": str() as name}:
                try:
                    yield self.columns.column(name)
                except NotInterpreted:
                    return
            case dict():
                for inner in node.values():
                    yield from self.named(inner)
            case list() if node and not isinstance(node[0], int):
                for inner in node:
                    yield from self.named(inner)

    def value(self, node: Any) -> Expression:
        match node:
            case {"Column": str() as name}:
                return self.columns.column(name)
            case {"Literal": literal}:
                return _literal(literal)
            case {"BinaryExpr": {"left": left, "op": operator, "right": right}}:
                return self.comparison(operator, self.value(left), self.value(right))
            case {"Cast": {"expr": operand, "dtype": {"Literal": kind}}}:
                return _cast(self.value(operand), _type(kind))
            case {"Function": {"input": inputs, "function": {"Boolean": function}}}:
                return self.boolean(function, inputs)
            case {"Function": {"input": [text, start], "function": {"StringExpr": "StartsWith"}}}:
                return _starts_with(self.value(text), self.value(start))
            case {
                "Function": {"input": [inner], "function": {"StructExpr": {"FieldByName": name}}}
            }:
                return self.columns.column(*_path(inner), name)
            case _:
                raise NotInterpreted("this expression is not interpreted")

    def comparison(self, operator: str, left: Expression, right: Expression) -> Expression:
        if operator == "EqValidity" and right == Literal(None, NULL):
            return IsNull(left)
        if operator == "NotEqValidity" and right == Literal(None, NULL):
            return Not(IsNull(left))
        if operator not in _COMPARATORS:
            raise NotInterpreted(f"the operator {operator} is not interpreted")
        return self.columns.compared(_COMPARATORS[operator], left, right)

    def boolean(self, function: Any, inputs: Sequence[Any]) -> Expression:
        subject = self.value(inputs[0])
        match function:
            case "IsNull":
                return IsNull(subject)
            case "IsNotNull":
                return Not(IsNull(subject))
            case "IsNan":
                # Polars gives NULL for NULL.
                own = self.columns.compared(Comparator.EQUAL, subject, subject)
                return all_of((is_nan(subject), own))
            case {"IsIn": {"nulls_equal": False}}:
                return self.columns.is_in(subject, list(_values(inputs[1])))
            case {"IsBetween": {"closed": closed}}:
                low, high = self.value(inputs[1]), self.value(inputs[2])
                above, below = _CLOSED[closed]
                compared = self.columns.compared
                return all_of((compared(above, subject, low), compared(below, subject, high)))
            case _:
                raise NotInterpreted(f"the function {function} is not interpreted")


_LONGEST = 200
"""How many characters of a tree a report shows."""


def _path(node: Any) -> tuple[str, ...]:
    match node:
        case {"Column": str() as name}:
            return (name,)
        case {"Function": {"input": [inner], "function": {"StructExpr": {"FieldByName": name}}}}:
            return (*_path(inner), name)
        case _:
            raise NotInterpreted("a member of something other than a column is not interpreted")


def _literal(literal: Any) -> Literal:
    match literal:
        case {"Dyn": {"Int": int() as value}}:
            return Literal(value, _integer_type(value))
        case {"Dyn": {"Float": value}}:
            return Literal(_finite(value), DOUBLE)
        case {"Dyn": {"Str": str() as text}}:
            return Literal(text, STRING)
        case {"Scalar": "Null"}:
            return Literal(None, NULL)
        case {"Scalar": {**scalar}} if len(scalar) == 1:
            ((kind, value),) = scalar.items()
            return _scalar(str(kind), value)
        case _:
            raise NotInterpreted("this literal is not interpreted")


def _scalar(kind: str, value: Any) -> Literal:
    match kind, value:
        case "Null", _:
            return Literal(None, NULL)
        case "Boolean", bool():
            return Literal(value, BOOLEAN)
        case "Float32", _:
            # JSON has the shortest digits of a number of 32 bits, which are another number.
            return Literal(nearest_float32(_finite(value)), FLOAT)
        case "Float64", _:
            return Literal(_finite(value), DOUBLE)
        case "String", str():
            return Literal(value, STRING)
        case "Binary", list():
            return Literal(bytes(value), BINARY)
        case "Date", int():
            return Literal(value, DATE)
        case "Datetime", [int() as count, str() as unit, zone]:
            return literal_of(pa.scalar(count, pa.timestamp(_UNITS[unit], zone and "UTC")))
        case "Decimal", [int() as digits, _, int() as scale]:
            precision = max(len(str(abs(digits))), scale)
            return Literal(Decimal(digits).scaleb(-scale, EXACT), DecimalType(precision, scale))
        case (("Int8" | "Int16" | "Int32" | "Int64" | "UInt8" | "UInt16" | "UInt32" | "UInt64"), _):
            return Literal(int(value), _INTEGERS.get(kind, _integer_type(int(value))))
        case _:
            raise NotInterpreted("this literal is not interpreted")


def _finite(value: Any) -> float:
    if not isinstance(value, float | int):
        raise NotInterpreted("NaN and infinity have no JSON")
    return float(value)


def _integer_type(value: int) -> IntegerType:
    if not BIGINT.least <= value <= BIGINT.greatest:
        raise NotInterpreted("the number is beyond 64 bits")
    return BIGINT


def _values(node: Any) -> Iterator[Literal]:
    """The values of a list; raises NotInterpreted for NULL, which is in no list or in each."""
    match node:
        case {"Literal": {"Series": content}} | {"Literal": {"Scalar": {"List": content}}}:
            column = pa.ipc.open_stream(bytes(content)).read_all().column(0).combine_chunks()
        case _:
            raise NotInterpreted("a list of expressions is not interpreted")
    while pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = column.flatten()
    if column.null_count:
        raise NotInterpreted("a list with NULL is not interpreted")
    for value in column:
        yield literal_of(value)


def _type(kind: Any) -> Type:
    match kind:
        case "Date":
            return DATE
        case "Float64":
            return DOUBLE
        case "Float32":
            return FLOAT
        case "String":
            return STRING
        case str() if kind in _INTEGERS:
            return _INTEGERS[kind]
        case {"Datetime": ["Microseconds", None]}:
            return TIMESTAMP_NTZ
        case {"Decimal": [int() as precision, int() as scale]}:
            return DecimalType(precision, scale)
        case _:
            raise NotInterpreted(f"a cast to {kind} is not interpreted")


def _cast(operand: Expression, target: Type) -> Expression:
    """A cast that keeps every value, or one from a timestamp without a zone to its date."""
    match type_of(operand), target:
        case kind, same if kind == same:
            return operand
        case IntegerType() as kind, IntegerType() as wider if kind.bits <= wider.bits:
            return cast(operand, wider)
        case IntegerType() | FloatType(), FloatType(bits=64):
            return cast(operand, target)
        case TimestampType(instant=False, unit=TimeUnit.MICROSECOND), DateType():
            return Cast(operand, DATE)
        case DateType(), TimestampType(instant=False, unit=TimeUnit.MICROSECOND):
            return Cast(operand, TIMESTAMP_NTZ)
        case kind, _:
            raise NotInterpreted(f"a cast from {kind} to {target} is not interpreted")


def _starts_with(text: Expression, start: Expression) -> Expression:
    if not isinstance(type_of(text), StringType) or not isinstance(start, Literal):
        raise NotInterpreted("only the beginning of a text is interpreted")
    return Call("startswith", (text, start), BOOLEAN)
