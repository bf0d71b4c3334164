"""One schema from several: columns by name, types as wide as they must be.

| types | united |
|---|---|
| integers, floats, decimals | the one that holds both |
| int, double | double |
| integer, decimal; decimals | a decimal that holds both |
| date, timestamp_ntz | timestamp_ntz |
| structs | member by member |
| any other two | the first: where a file has the second, its statistics are unknown |
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
    """By exact name, else without regard to case where that leaves one choice."""
    merged = {field.name: field for field in first}
    own = {field.name for field in second}
    for field in second:
        name = field.name
        if name not in merged:
            near = [n for n in merged if n.lower() == name.lower() and n not in own]
            name = near[0] if len(near) == 1 else name
        known = merged.get(name)
        merged[name] = field if known is None else Field(name, wider(known.type, field.type))
    return tuple(merged.values())


def wider(first: Type, second: Type) -> Type:
    """The type that holds both, else the first."""
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
    whole = max(kind.precision - kind.scale for kind in pair)
    return DecimalType(whole + scale, scale) if whole + scale <= MAX_DIGITS else first


def _as_decimal(kind: IntegerType | DecimalType) -> DecimalType:
    return DecimalType(DIGITS[kind.bits], 0) if isinstance(kind, IntegerType) else kind


def with_partitions(schema: Schema, fields: Sequence[Field]) -> Schema:
    """The schema with partition columns: in place of a column of that name, else at the end."""
    by_name = {field.name.lower(): field for field in fields}
    kept = [by_name.pop(field.name.lower(), field) for field in schema.fields]
    return Schema((*kept, *by_name.values()))
