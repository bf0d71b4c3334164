r"""Arrow values as JSON has them: numbers where JSON's are exact, text everywhere else.

| SQL type | JSON |
|---|---|
| boolean, integers | boolean, number |
| float, double | number; `"NaN"`, `"Infinity"`, `"-Infinity"` |
| decimal | text, with every digit of its scale |
| date, timestamps | ISO 8601 text, with `Z` for instants |
| string, uuid | text; bytes that are not UTF-8 as `\xff` |
| binary | text of hexadecimal digits |
"""

from __future__ import annotations

import math
import uuid
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from whyscan.fields import Value
from whyscan.tree.types import BinaryType, StringType, TimestampType, UuidType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tree.types import Type

JsonValue: TypeAlias = bool | int | float | Value | None

UUID_BYTES = 16


def json_values(values: pa.Array | pa.ChunkedArray, kind: Type | None = None) -> list[JsonValue]:
    """Return one JSON value per slot.

    `kind` says what the Arrow type does not: text, bytes or uuid, and instant or local time.
    """
    arrow_type = values.type
    if pa.types.is_temporal(arrow_type):
        return _temporal(values, instant=isinstance(kind, TimestampType) and kind.instant)
    if pa.types.is_decimal(arrow_type):
        return [None if v is None else format(v, "f") for v in values.to_pylist()]
    if pa.types.is_floating(arrow_type):
        return [_number(v) for v in values.to_pylist()]
    if pa.types.is_binary(arrow_type) or pa.types.is_large_binary(arrow_type):
        return [None if v is None else _text(v, kind) for v in values.to_pylist()]
    plain: list[JsonValue] = values.to_pylist()
    return plain


def _temporal(values: pa.Array, *, instant: bool) -> list[JsonValue]:
    """Format times with Arrow, because Python's dates end with the year 9999."""
    zone = "Z" if instant else ""
    texts: Sequence[str | None] = values.cast(pa.string()).to_pylist()
    return [None if t is None else t.replace(" ", "T", 1) + zone for t in texts]


def _number(value: float | None) -> JsonValue:
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _text(value: bytes, kind: Type | None) -> str:
    match kind:
        case BinaryType():
            return value.hex()
        case UuidType() if len(value) == UUID_BYTES:
            return str(uuid.UUID(bytes=value))
        case StringType() | None:
            return value.decode(errors="backslashreplace")
        case _:
            return value.hex()
