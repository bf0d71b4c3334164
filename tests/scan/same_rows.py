"""Rows of two readers, whatever order they come in and whichever Arrow types hold them."""

from __future__ import annotations

import math
import uuid
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa


def plain(value: Any) -> Any:
    """A value as something that can be counted: NaN is equal to itself, lists become tuples."""
    match value:
        case float() if math.isnan(value):
            return "NaN"
        case float():
            return value + 0.0
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC).replace(tzinfo=None)
        case uuid.UUID():
            return str(value)
        case dict():
            return tuple(sorted((key, plain(inner)) for key, inner in value.items()))
        case list() | tuple():
            return tuple(plain(inner) for inner in value)
        case bytearray() | memoryview():
            return bytes(value)
        case _:
            return value


def counted(table: pa.Table) -> Counter:
    """How often each row is there; timestamps as numbers, which have no last year."""
    columns = [[plain(v) for v in _values(column)] for column in table.columns]
    return Counter(zip(*columns, strict=True)) if columns else Counter()


def _values(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us"), safe=False).cast(pa.int64()).to_pylist()
    if pa.types.is_date(column.type):
        return column.cast(pa.date32()).cast(pa.int32()).to_pylist()
    return column.to_pylist()


def difference(ours: pa.Table, theirs: pa.Table) -> str:
    """What one has and the other has not; empty where both have the same rows."""
    if ours.column_names != theirs.column_names:
        return f"columns {ours.column_names} and {theirs.column_names}"
    if _are_equal_in_order(ours, theirs):
        return ""
    mine, yours = counted(ours), counted(theirs)
    if mine == yours:
        return ""
    more, less = list((mine - yours).items())[:3], list((yours - mine).items())[:3]
    return f"{ours.num_rows} and {theirs.num_rows} rows; ours alone {more}; theirs alone {less}"


def _are_equal_in_order(ours: pa.Table, theirs: pa.Table) -> bool:
    """Quick for a million rows; False does not say that they differ: NaN, lists, another type."""
    order = [(name, "ascending") for name in ours.column_names]
    try:
        return ours.sort_by(order).equals(theirs.cast(ours.schema).sort_by(order))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, ValueError):
        return False
