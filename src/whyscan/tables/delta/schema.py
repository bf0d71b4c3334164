"""The schema of a Delta table: columns with the physical names that files and statistics use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whyscan.errors import TableError
from whyscan.tables.counts import is_number
from whyscan.tables.delta.log import LOG
from whyscan.tables.json_text import read_json
from whyscan.tree.names import folded, single
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    DecimalType,
    Field,
    OtherType,
    Schema,
    StructType,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from whyscan.tree.nodes import Path

PHYSICAL_NAME = "delta.columnMapping.physicalName"
FIELD_ID = "delta.columnMapping.id"
GENERATION = "delta.generationExpression"
TYPE_CHANGES = "delta.typeChanges"
COLLATIONS = "__COLLATIONS"
CHAR_OR_VARCHAR = "__CHAR_VARCHAR_TYPE_STRING"

_PLAIN: Mapping[str, Type] = {
    "string": STRING,
    "long": BIGINT,
    "integer": INT,
    "short": SMALLINT,
    "byte": TINYINT,
    "float": FLOAT,
    "double": DOUBLE,
    "decimal": DecimalType(10, 0),
    "boolean": BOOLEAN,
    "binary": BINARY,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "timestamp_ntz": TIMESTAMP_NTZ,
    "void": NULL,
    "null": NULL,
}
MALFORMED = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""The exceptions that JSON of an unexpected shape causes."""

_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(-?\d{1,2})\s*\)")


class DeltaColumn(Struct, frozen=True):
    """A column or a member of a struct; `physical` is its path in statistics and in data files.

    `was_float`: the column was widened from float to double, so that old files have floats.
    `generated_as` is its generation expression, None without one.
    """

    path: Path
    type: Type
    physical: Path
    field_id: int | None = None
    was_float: bool = False
    generated_as: str | None = None


class DeltaSchema(Struct, frozen=True):
    """The columns in order, and the members of structs by path.

    `document` is the JSON of the schema; `mapped`: data files use physical names.
    """

    logical: Schema
    columns: Mapping[Path, DeltaColumn]
    document: Mapping[str, Any]
    mapped: bool

    def find(self, path: Path) -> DeltaColumn | None:
        """The column with that path in any case; None without one, AmbiguousName for several."""
        wanted = folded(path)
        return single([c for p, c in self.columns.items() if folded(p) == wanted], ".".join(path))


def read_schema(text: str | None, *, mapped: bool) -> DeltaSchema:
    """Read a `schemaString`; `mapped`: data files use physical names."""
    try:
        root = read_json(text or "", LOG)
        columns = list(_columns(root["fields"], (), (), mapped=mapped))
    except MALFORMED as error:
        raise TableError(
            f"the table's schema cannot be read: {type(error).__name__}",
            hint="the metaData action of its log holds it as `schemaString`",
        ) from None
    top = tuple(
        Field(column.path[0], column.type, column.field_id)
        for column in columns
        if len(column.path) == 1
    )
    return DeltaSchema(Schema(top), {c.path: c for c in columns}, root, mapped)


def _columns(
    fields: list[dict[str, Any]], above: Path, physical_above: Path, *, mapped: bool
) -> Iterator[DeltaColumn]:
    for field in fields:
        metadata = field.get("metadata") or {}
        name = _text(field["name"])
        physical_name = metadata.get(PHYSICAL_NAME) if mapped else None
        path, physical = (
            (*above, name),
            (*physical_above, name if physical_name is None else _text(physical_name)),
        )
        yield DeltaColumn(
            path,
            type_of_field(field["type"], metadata),
            physical,
            field_id=_number(metadata.get(FIELD_ID)) if mapped else None,
            was_float=any(c.get("fromType") == "float" for c in metadata.get(TYPE_CHANGES) or ()),
            generated_as=None if GENERATION not in metadata else _text(metadata[GENERATION]),
        )
        if _is_struct(field["type"]):
            yield from _columns(field["type"]["fields"], path, physical, mapped=mapped)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:40]!r} is no text")
    return value


def _number(value: Any) -> int | None:
    return value if is_number(value) else None


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, dict) and kind.get("type") == "struct"


def type_of_field(kind: Any, metadata: Mapping[str, Any]) -> Type:
    """The type of a field. Text that is not ordered by its bytes is an `OtherType`, no string.

    Spark pads both sides of a comparison with CHAR, and a collation has its own order.
    """
    if isinstance(kind, dict):
        return _nested(kind)
    declared = metadata.get(CHAR_OR_VARCHAR)
    if isinstance(declared, str) and declared.lower().startswith("char"):
        return OtherType(declared)
    if metadata.get(COLLATIONS):
        return OtherType("collated string")
    decimal = _DECIMAL.fullmatch(kind)
    if decimal is not None:
        return DecimalType(int(decimal[1]), int(decimal[2]))
    return _PLAIN.get(kind, OtherType(kind))


def _nested(kind: Mapping[str, Any]) -> Type:
    if kind.get("type") == "struct":
        return StructType(
            tuple(
                Field(
                    _text(field["name"]), type_of_field(field["type"], field.get("metadata") or {})
                )
                for field in kind["fields"]
            )
        )
    return OtherType(str(kind["type"]))
