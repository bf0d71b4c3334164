"""Iceberg schemas as ours: every column keeps its field id, which is what names it in a manifest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whyscan.errors import TableError
from whyscan.predicate.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    UUID,
    DecimalType,
    Field,
    OtherType,
    Schema,
    StructType,
    TimestampType,
    Type,
    Unit,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.predicate.tree import Path

PRIMITIVES: dict[str, Type] = {
    "boolean": BOOLEAN,
    "int": INT,
    "long": BIGINT,
    "float": FLOAT,
    "double": DOUBLE,
    "date": DATE,
    "timestamp": TimestampType(instant=False),
    "timestamptz": TimestampType(instant=True),
    "timestamp_ns": TimestampType(instant=False, unit=Unit.NANOSECOND),
    "timestamptz_ns": TimestampType(instant=True, unit=Unit.NANOSECOND),
    "string": STRING,
    "uuid": UUID,
    "binary": BINARY,
}

_DECIMAL = re.compile(r"decimal\((\d{1,2}),\s*(\d{1,2})\)")
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column that a manifest may have statistics of. `default` is its initial default."""

    path: Path
    type: Type
    id: int
    default: Any = None


def schema(document: Any) -> Schema:
    """A struct document of `metadata.json`."""
    return Schema(_fields(document, 0))


def leaves(document: Any, above: Path = ()) -> Iterator[Leaf]:
    """Every column and struct member, structs included, with its field id."""
    for member in document["fields"]:
        path = (*above, member["name"])
        yield Leaf(path, _type(member["type"], 0), member["id"], member.get("initial-default"))
        if isinstance(member["type"], dict) and member["type"].get("type") == "struct":
            yield from leaves(member["type"], path)


def _fields(document: Any, depth: int) -> tuple[Field, ...]:
    if depth > _DEEPEST:
        raise TableError(f"the schema nests structs deeper than {_DEEPEST} levels")
    try:
        return tuple(
            Field(member["name"], _type(member["type"], depth), member["id"])
            for member in document["fields"]
        )
    except (KeyError, TypeError) as error:
        raise TableError(f"the schema is malformed: {error!r} in a struct") from None


def _type(document: Any, depth: int) -> Type:
    match document:
        case {"type": "struct"}:
            return StructType(_fields(document, depth + 1))
        case {"type": str() as name}:
            return OtherType(name)
        case str() as name if name in PRIMITIVES:
            return PRIMITIVES[name]
        case str() as name if found := _DECIMAL.fullmatch(name):
            return DecimalType(int(found[1]), int(found[2]))
        case str() as name if name.startswith("fixed["):
            return BINARY
        case str() as name:
            return OtherType(name)
        case _:
            raise TableError(f"the schema is malformed: {document!r} is not a type")
