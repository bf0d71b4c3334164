"""Reads the types of columns as Hive writes them: `struct<a:int,b:array<string>>`.

| Hive | whyscan |
|---|---|
| `timestamp`, `timestamp with local time zone` | an instant, as Spark reads it |
| `varchar(n)` | a string |
| `char(n)` | a type without an order: Spark pads both sides of a comparison |
| `array`, `map`, `uniontype`, what is not known | a type without an order |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whyscan.errors import UsageError
from whyscan.tables.parquet.type_names import type_named
from whyscan.tree.types import NULL, STRING, TIMESTAMP, Field, OtherType, StructType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.tree.types import Type

_DEEPEST = 64
_WORDS = {
    "timestamp with local time zone": TIMESTAMP,
    "double precision": type_named("double"),
    "void": NULL,
}
_COLLECTIONS = ("array", "map", "uniontype")


def hive_type(text: str, depth: int = 0) -> Type:
    """The type that Hive writes as this text; it never fails."""
    name = " ".join(text.lower().split())
    if name in _WORDS:
        return _WORDS[name]
    if name.startswith("varchar"):
        return STRING
    kind, _, rest = text.strip().partition("<")
    if kind.lower() == "struct" and rest.endswith(">") and depth < _DEEPEST:
        members = [member.partition(":") for member in _members(rest[:-1])]
        fields = (Field(n.strip().strip("`"), hive_type(t, depth + 1)) for n, _, t in members)
        return StructType(tuple(fields))
    if kind.lower() in _COLLECTIONS:
        return OtherType("map" if kind.lower() == "map" else "array")
    try:
        return type_named(name)
    except UsageError:
        return OtherType(name)


def _members(text: str) -> Iterator[str]:
    """Split at the commas that are inside no brackets."""
    depth, start = 0, 0
    for match in re.finditer(r"[<>(),]", text):
        match match[0]:
            case "<" | "(":
                depth += 1
            case ">" | ")":
                depth -= 1
            case _ if depth == 0:
                yield text[start : match.start()]
                start = match.end()
    if text:
        yield text[start:]
