"""The axis of one column: the bounds of every file and the ranges of the predicate as positions.

| values | positions |
|---|---|
| numbers | themselves; as text if a JavaScript number would not be exact |
| dates, timestamps | days, or microseconds or nanoseconds, since 1970-01-01 |
| text, bytes, uuids, booleans | their rank among all values in `words`, which are in order |
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.domains.ranges import ValueRange, successor
from whyscan.reports.predicate_values import MOST_MARKS, domain_in_words, range_ends
from whyscan.reports.values import json_values
from whyscan.reports.words import inert
from whyscan.tree.types import (
    BinaryType,
    BooleanType,
    DateType,
    NullType,
    OtherType,
    StringType,
    StructType,
    TimestampType,
    UuidType,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.pruning.domains import Domain
    from whyscan.pruning.domains.ranges import Key
    from whyscan.reports.file_bounds import ColumnBounds
    from whyscan.reports.values import JsonValue

EXACT_IN_JAVASCRIPT = 2**53
LONGEST_WORD = 80


def axis(column: ColumnBounds) -> dict[str, Any] | None:
    """Return the axis as JSON; None for a type without an order."""
    head = {
        "name": inert(column.column),
        "type": str(column.type),
        "partitioned": column.partitioned,
        "says": None if column.domain is None else domain_in_words(column.domain),
    }
    match column.type:
        case StringType() | BinaryType() | UuidType() | BooleanType():
            return {**head, **_ranked(column)}
        case DateType():
            return {**head, "kind": "date", **_measured(column)}
        case TimestampType():
            zone = "Z" if column.type.instant else ""
            per_second = column.type.unit.per_second
            terms = {"kind": "time", "perSecond": per_second, "zone": zone}
            return {**head, **terms, **_measured(column)}
        case NullType() | StructType() | OtherType():
            return None
        case _:
            return {**head, "kind": "number", **_measured(column)}


def _measured(column: ColumnBounds) -> dict[str, Any]:
    low, high = range_ends(column.domain, column.type)
    return {
        "lower": _positions(column.lower),
        "upper": _positions(column.upper),
        "ranges": list(zip(_positions(low), _positions(high), strict=True)),
    }


def _positions(values: pa.Array) -> list[JsonValue]:
    arrow_type = values.type
    if pa.types.is_date32(arrow_type):
        return list(values.cast(pa.int32()).to_pylist())
    if pa.types.is_timestamp(arrow_type) or pa.types.is_integer(arrow_type):
        integers = values.cast(pa.int64())
        exact = integers.to_pylist()
        wide = pc.max(pc.abs(integers)).as_py()
        if wide is not None and not 0 <= wide <= EXACT_IN_JAVASCRIPT:
            return [None if v is None else str(v) for v in exact]
        return list(exact)
    return json_values(values)


def _ranked(column: ColumnBounds) -> dict[str, Any]:
    """Place values by rank; each value has a cell from half below its rank to half above."""
    spans = _spans(column.domain)
    named = pa.array([k for r in spans for k in _named(r)], column.lower.type)
    words = pc.unique(pa.concat_arrays([column.lower, column.upper, named])).drop_null()
    words = words.take(pc.sort_indices(words))
    ordered = words.to_pylist()
    return {
        "kind": "rank",
        "words": [cut(inert(str(word))) for word in json_values(words, column.type)],
        "lower": pc.index_in(column.lower, words).to_pylist(),
        "upper": pc.index_in(column.upper, words).to_pylist(),
        "ranges": [(_edge(r.low, ordered), _edge(r.high, ordered)) for r in spans],
    }


def _spans(domain: Domain | None) -> tuple[ValueRange, ...]:
    if domain is None:
        return ()
    if isinstance(domain.values, tuple):
        return domain.values
    keys = domain.values.to_pylist()
    if len(keys) > MOST_MARKS:
        return (ValueRange(keys[0], successor(keys[-1], domain.type)),)
    return tuple(ValueRange(key, successor(key, domain.type)) for key in keys)


def _named(item: ValueRange) -> Iterator[Key]:
    """Yield the values of the predicate, without the bytes that were added to make a successor."""
    for key in (item.low, item.high):
        if isinstance(key, bytes):
            yield key.rstrip(b"\0\xff")
        elif key is not None:
            yield key


def _edge(key: Key | None, ordered: Sequence[Key]) -> float | None:
    return None if key is None else bisect_left(ordered, key) - 0.5


def cut(word: str) -> str:
    """Cut a word to the length that a cell can show."""
    return word if len(word) <= LONGEST_WORD else f"{word[: LONGEST_WORD - 1]}…"
