"""Masking of credentials in reports: `mask_credentials` for every text of a record.

The facade masks reports before it returns them, so before any writer wraps or escapes their text.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.masking import mask_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

T = TypeVar("T")

PLAN = "plan"
"""The field of a scan that contains its plan. It keeps the original text to read the table."""
_WITHOUT_TEXT = frozenset({int, float, bool, type(None)})
_MAY_HOLD_CREDENTIALS = r"://|[?&;#][^=]*=|%3[Dd]|@.*/|:/|//"


def masked(record: T) -> T:
    """Return the record with masked texts, or the same object if there is nothing to mask."""
    return cast("T", _masked(record))


def _masked(value: Any) -> Any:
    # Most values of a report are numbers: `match` would try every case for each of them.
    if type(value) in _WITHOUT_TEXT:
        return value
    match value:
        case Enum():
            return value
        case str():
            return mask_credentials(value)
        case bytes():
            # The ends of a text range are bytes.
            text = value.decode("utf-8", "surrogateescape")
            shown = mask_credentials(text)
            return value if shown is text else shown.encode("utf-8", "surrogateescape")
        case Struct():
            return _masked_struct(value)
        case tuple() | list():
            return _masked_sequence(value)
        case dict():
            return _masked_mapping(value)
        case pa.Array() | pa.ChunkedArray():
            return masked_array(value)
        case pa.Table():
            columns = [masked_array(column) for column in value.columns]
            same = all(new is old for new, old in zip(columns, value.columns, strict=True))
            return value if same else pa.table(columns, schema=value.schema)
        case _:
            return value


def _masked_struct(record: Struct) -> Struct:
    changed = {}
    for name in record.__struct_fields__:
        if name != PLAN:
            old = getattr(record, name)
            new = _masked(old)
            if new is not old:
                changed[name] = new
    return replace(record, **changed) if changed else record


def _masked_sequence(values: Sequence[Any]) -> Sequence[Any]:
    new = [_masked(value) for value in values]
    same = all(new_value is old_value for new_value, old_value in zip(new, values, strict=True))
    return values if same else type(values)(new)  # type: ignore[call-arg]


def _masked_mapping(values: Mapping[Any, Any]) -> Mapping[Any, Any]:
    new = {_masked(key): _masked(value) for key, value in values.items()}
    same = all(
        new_key is old_key and new[new_key] is value
        for new_key, (old_key, value) in zip(new, values.items(), strict=False)
    )
    return values if same and len(new) == len(values) else new


def masked_array(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Mask the texts of an array, or of its dictionary. Bounds of text are bytes."""
    kind = array.type
    if isinstance(array, pa.ChunkedArray):
        chunks = [masked_array(chunk) for chunk in array.chunks]
        same = all(new is old for new, old in zip(chunks, array.chunks, strict=True))
        return array if same else pa.chunked_array(chunks, kind)
    if pa.types.is_dictionary(kind):
        words = masked_array(array.dictionary)
        if words.equals(array.dictionary):
            return array
        return pa.DictionaryArray.from_arrays(array.indices, words)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind)):
        return array
    if not pc.any(pc.match_substring_regex(array, _MAY_HOLD_CREDENTIALS)).as_py():
        return array
    old = array.to_pylist()
    new = _masked_sequence(old)
    return array if new is old else pa.array(new, kind)
