"""Reads Iceberg schemas. A column keeps its field id, which manifests and data files use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whyscan.errors import TableError
from whyscan.tables.counts import is_number
from whyscan.tree.arrow import MAX_DECIMAL_DIGITS
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    STRING,
    UUID,
    DecimalType,
    Field,
    OtherType,
    Schema,
    StructType,
    TimestampType,
    TimeUnit,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.tree.nodes import Path

PRIMITIVES: dict[str, Type] = {
    "boolean": BOOLEAN,
    "int": INT,
    "long": BIGINT,
    "float": FLOAT,
    "double": DOUBLE,
    "date": DATE,
    "timestamp": TimestampType(instant=False),
    "timestamptz": TimestampType(instant=True),
    "timestamp_ns": TimestampType(instant=False, unit=TimeUnit.NANOSECOND),
    "timestamptz_ns": TimestampType(instant=True, unit=TimeUnit.NANOSECOND),
    "string": STRING,
    "uuid": UUID,
    "binary": BINARY,
    "unknown": NULL,
}

_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)")
_DEEPEST = 100
_LARGEST_ID = (1 << 31) - 1


class IcebergColumn(Struct, frozen=True):
    """A column or a member of a struct, with its field id.

    `default` is the JSON of its initial default: the column's value in files that are older than
    the column, None for NULL. `required`: neither the column nor a struct around it is NULL.
    """

    path: Path
    type: Type
    id: int
    default: Any = None
    required: bool = False


class TableSchema(Struct, frozen=True):
    """A schema with its columns by field id, including structs and their members.

    `document` is the JSON of the schema.
    """

    schema: Schema
    leaves: dict[int, IcebergColumn]
    document: Any

    def at(self, path: Path) -> IcebergColumn | None:
        """The column with that path; None without one."""
        return next((leaf for leaf in self.leaves.values() if leaf.path == path), None)


def table_schema(document: Any) -> TableSchema:
    """Read a schema of `metadata.json`."""
    schema = Schema(_fields(document, 0))
    leaves: dict[int, IcebergColumn] = {}
    for leaf in _leaves(document, (), required=True):
        if leaf.id in leaves:
            raise TableError(f"the schema has two columns with the field id {leaf.id}")
        leaves[leaf.id] = leaf
    return TableSchema(schema, leaves, document)


def _leaves(document: Any, above: Path, *, required: bool) -> Iterator[IcebergColumn]:
    for member in document["fields"]:
        path, kind = (*above, member["name"]), member["type"]
        never_null = required and member.get("required") is True
        yield IcebergColumn(
            path, type_of_field(kind, 0), member["id"], member.get("initial-default"), never_null
        )
        if isinstance(kind, dict) and kind.get("type") == "struct":
            yield from _leaves(kind, path, required=never_null)


def _fields(document: Any, depth: int) -> tuple[Field, ...]:
    if depth > _DEEPEST:
        raise TableError(f"the schema nests structs deeper than {_DEEPEST} levels")
    try:
        return tuple(_field(member, depth) for member in document["fields"])
    except (KeyError, TypeError) as error:
        raise TableError(f"the schema is malformed: {error!r} in a struct") from None


def _field(member: Any, depth: int) -> Field:
    name, number = member["name"], member["id"]
    if not isinstance(name, str) or not is_number(number) or abs(number) > _LARGEST_ID:
        shown = str(number)[:40]
        raise TableError(f"the schema is malformed: {name!r} with the id {shown} is no column")
    return Field(name, type_of_field(member["type"], depth), number)


def type_of_field(document: Any, depth: int) -> Type:
    match document:
        case {"type": "struct"}:
            return StructType(_fields(document, depth + 1))
        case {"type": str() as name}:
            return OtherType(name)
        case str() as name if name in PRIMITIVES:
            return PRIMITIVES[name]
        case str() as name if decimal := _DECIMAL.fullmatch(name):
            return _decimal(int(decimal[1]), int(decimal[2]))
        case str() as name if name.startswith("fixed["):
            return BINARY
        case str() as name:
            return OtherType(name)
        case _:
            raise TableError(f"the schema is malformed: {str(document)[:80]!r} is not a type")


def _decimal(precision: int, scale: int) -> Type:
    if not 0 <= scale <= precision or not 0 < precision <= MAX_DECIMAL_DIGITS:
        return OtherType(f"decimal({precision},{scale})")
    return DecimalType(precision, scale)
