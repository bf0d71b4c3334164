"""Turn bounds into Arrow structs with one field per family of types, of which one is set.

| types | field | where it does not fit |
|---|---|---|
| boolean | `boolean` | |
| integers, intervals of time | `integer` | |
| float, double | `double` | |
| decimals | `decimal`, of 20 digits before the point and 18 behind | `text`, with every digit |
| string | `text` | `bytes`: a bound that was cut within a character |
| uuid | `text` | `bytes` |
| binary | `bytes` | |
| date | `date` | |
| timestamps of microseconds; a wall clock's are as if in UTC | `timestamp` | |
| timestamps of nanoseconds | `text`, in ISO 8601 | |

All containers of a part use the same field for a column, so that bounds can be compared.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pyarrow as pa

from whyscan.reports.values import UUID_BYTES, json_values
from whyscan.tree.types import (
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    StringType,
    TimestampType,
    TimeUnit,
    UuidType,
)

if TYPE_CHECKING:
    from whyscan.tree.types import Type

FAMILIES = {
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "decimal": pa.decimal128(38, 18),
    "double": pa.float64(),
    "text": pa.string(),
    "bytes": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
}
BOUND = pa.struct(list(FAMILIES.items()))


def bounds(kind: Type, ends: pa.Array) -> pa.StructArray:
    """One struct per container for the lower or upper ends of a column; null if unknown."""
    families = _in_families(kind, ends)
    count = len(ends)
    children = [families.get(name, pa.nulls(count, type_)) for name, type_ in FAMILIES.items()]
    return pa.StructArray.from_arrays(children, fields=list(BOUND), mask=ends.is_null())


def _in_families(kind: Type, ends: pa.Array) -> dict[str, pa.Array]:
    match kind:
        case BooleanType():
            return {"boolean": ends}
        case IntegerType() | IntervalType():
            return {"integer": ends.cast(pa.int64())}
        case FloatType():
            return {"double": ends.cast(pa.float64())}
        case DecimalType():
            return _decimals(ends)
        case DateType():
            return {"date": ends}
        case TimestampType(unit=TimeUnit.NANOSECOND):
            return {"text": pa.array(json_values(ends, kind), pa.string())}
        case TimestampType():
            return {"timestamp": ends.view(pa.int64()).view(FAMILIES["timestamp"])}
        case StringType():
            return _texts(ends)
        case UuidType():
            return _uuids(ends)
        case _:
            return {"bytes": ends.cast(pa.binary())}


def _decimals(ends: pa.Array) -> dict[str, pa.Array]:
    try:
        return {"decimal": ends.cast(FAMILIES["decimal"])}
    except pa.ArrowInvalid:
        return {"text": pa.array(json_values(ends), pa.string())}


def _texts(ends: pa.Array) -> dict[str, pa.Array]:
    try:
        return {"text": ends.cast(pa.string())}
    except pa.ArrowInvalid:
        texts = [_decoded(value) for value in ends.to_pylist()]
    cut = [None if t is not None else v for t, v in zip(texts, ends.to_pylist(), strict=True)]
    return {"text": pa.array(texts, pa.string()), "bytes": pa.array(cut, pa.binary())}


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def _uuids(ends: pa.Array) -> dict[str, pa.Array]:
    values = ends.to_pylist()
    if any(value is not None and len(value) != UUID_BYTES for value in values):
        return {"bytes": ends}
    texts = [None if value is None else str(uuid.UUID(bytes=value)) for value in values]
    return {"text": pa.array(texts, pa.string())}
