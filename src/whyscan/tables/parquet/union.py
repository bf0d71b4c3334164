"""Unites several schemas into one: columns by name, with a type that holds all values.

| types | united |
|---|---|
| integers, floats, decimals | the one that holds both |
| int, double | double |
| integer, decimal; decimals | a decimal that holds both |
| date, timestamp_ntz | timestamp_ntz |
| structs | member by member |
| any other two | the first: in files with the second type, statistics are unknown |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.tables.parquet.bounds import DIGITS, holds
from whyscan.tree.types import DecimalType, Field, IntegerType, NullType, Schema, StructType, Type

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_DIGITS = 38


def unite(schemas: Iterable[Schema]) -> Schema:
    """The columns of all schemas in the order of their first appearance."""
    united: tuple[Field, ...] = ()
    for schema in schemas:
        united = _merge(united, schema.fields) if united else schema.fields
    return Schema(united)


def _merge(first: Sequence[Field], second: Sequence[Field]) -> tuple[Field, ...]:
    """Merge fields by exact name, else ignoring case if exactly one field matches."""
    merged = {field.name: field for field in first}
    second_names = {field.name for field in second}
    for field in second:
        name = field.name
        if name not in merged:
            similar = [n for n in merged if n.lower() == name.lower() and n not in second_names]
            name = similar[0] if len(similar) == 1 else name
        present = merged.get(name)
        merged[name] = field if present is None else Field(name, wider(present.type, field.type))
    return tuple(merged.values())


def wider(first: Type, second: Type) -> Type:
    """The type that holds the values of both types, else the first type."""
    match first, second:
        case NullType(), _:
            return second
        case StructType(), StructType():
            return StructType(_merge(first.fields, second.fields))
        case (DecimalType() | IntegerType(), DecimalType() | IntegerType()) if not (
            holds(first, second) or holds(second, first)
        ):
            return _common_decimal(first, second)
        case _:
            return second if holds(second, first) else first


def _common_decimal(
    first: IntegerType | DecimalType, second: IntegerType | DecimalType
) -> IntegerType | DecimalType:
    pair = (_as_decimal(first), _as_decimal(second))
    scale = max(kind.scale for kind in pair)
    integer_digits = max(kind.precision - kind.scale for kind in pair)
    return (
        DecimalType(integer_digits + scale, scale)
        if integer_digits + scale <= MAX_DIGITS
        else first
    )


def _as_decimal(kind: IntegerType | DecimalType) -> DecimalType:
    return DecimalType(DIGITS[kind.bits], 0) if isinstance(kind, IntegerType) else kind


def with_partitions(schema: Schema, fields: Sequence[Field]) -> Schema:
    """The schema with partition columns: they replace columns of the same name, or come last."""
    by_name = {field.name.lower(): field for field in fields}
    kept = [by_name.pop(field.name.lower(), field) for field in schema.fields]
    return Schema((*kept, *by_name.values()))
