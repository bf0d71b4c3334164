"""The bounds of an inventory: Arrow structs with one field per family of types, one of them set.

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

All containers of a part use the same field for a column, so that bounds can be compared. `bounds`
writes the structs, and `ends` reads exactly the values that were written.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.tree.arrow import arrow_type
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
    from collections.abc import Callable

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
_UUID_BYTES = 16


def bounds(kind: Type, ends: pa.Array) -> pa.StructArray:
    """One struct per container for the lower or upper ends of a column; null if unknown."""
    families = _in_families(kind, ends)
    count = len(ends)
    children = [families.get(name, pa.nulls(count, type_)) for name, type_ in FAMILIES.items()]
    return pa.StructArray.from_arrays(children, fields=list(BOUND), mask=ends.is_null())


def _in_families(kind: Type, ends: pa.Array) -> dict[str, pa.Array]:
    match kind:
        case DecimalType():
            return _decimals(ends)
        case StringType():
            return _texts(ends)
        case UuidType():
            return _uuids(ends)
        case _:
            (family,) = families(kind)
            return {family: _written(kind, family, ends)}


def _written(kind: Type, family: str, ends: pa.Array) -> pa.Array:
    match family, kind:
        case "timestamp", _:
            return ends.view(pa.int64()).view(FAMILIES[family])
        case "text", TimestampType(instant=instant):
            return _times(ends, instant=instant)
        case _:
            return ends.cast(FAMILIES[family])


def _times(ends: pa.Array, *, instant: bool) -> pa.Array:
    """Nanoseconds as text. Arrow writes them, because Python's times end with the year 9999."""
    texts = pc.replace_substring(ends.cast(pa.string()), " ", "T", max_replacements=1)
    return pc.binary_join_element_wise(texts, "Z", "") if instant else texts


def _decimals(ends: pa.Array) -> dict[str, pa.Array]:
    try:
        return {"decimal": ends.cast(FAMILIES["decimal"])}
    except pa.ArrowInvalid:
        texts = [None if value is None else format(value, "f") for value in ends.to_pylist()]
        return {"text": pa.array(texts, pa.string())}


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
    if any(value is not None and len(value) != _UUID_BYTES for value in values):
        return {"bytes": ends}
    texts = [None if value is None else str(uuid.UUID(bytes=value)) for value in values]
    return {"text": pa.array(texts, pa.string())}


def families(kind: Type) -> tuple[str, ...]:
    """The fields that the bounds of a column of this type may use."""
    match kind:
        case BooleanType():
            return ("boolean",)
        case IntegerType() | IntervalType():
            return ("integer",)
        case FloatType():
            return ("double",)
        case DecimalType():
            return "decimal", "text"
        case DateType():
            return ("date",)
        case TimestampType(unit=TimeUnit.NANOSECOND):
            return ("text",)
        case TimestampType():
            return ("timestamp",)
        case StringType() | UuidType():
            return "text", "bytes"
        case _:
            return ("bytes",)


def ends(kind: Type, structs: pa.StructArray) -> pa.Array:
    """The lower or upper ends of a column, as `bounds` got them; null if unknown."""
    first, *more = (_read(kind, name, structs.field(name)) for name in families(kind))
    return pc.coalesce(first, *more) if more else first


def _read(kind: Type, family: str, recorded: pa.Array) -> pa.Array:
    # Writers of the inventory's own format may store another unit of time.
    values = recorded.cast(FAMILIES[family])
    match family, kind:
        case "timestamp", _:
            return values.view(pa.int64()).view(arrow_type(kind))
        case "text", UuidType():
            return _mapped(values, lambda text: uuid.UUID(text).bytes)
        case "text", TimestampType():
            return pc.utf8_rtrim(values, "Z").cast(arrow_type(kind))
        case _:
            return values.cast(arrow_type(kind))


def _mapped(values: pa.Array, change: Callable[[str], bytes]) -> pa.Array:
    items = [None if value is None else change(value) for value in values.to_pylist()]
    return pa.array(items, pa.binary())
