"""Records as JSON. A record is the document: every field is a member under its encoded name.

A record names in class variables where its document differs from its fields:

| class variable | meaning |
|---|---|
| `OMITTED` | fields that are no members |
| `FLAT` | fields whose own members stand beside the others; None has no members |
| `COMPUTED` | properties that are members, after the fields |
| `OPTIONAL` | fields that are members unless they are None or False |
| `ONE_PER_LINE` | members with many items, each written as one line of text |
| `RULES` | what the JSON Schema says beyond the types |
| `PLAIN` | True: msgspec writes the record, because there may be a million of them |

`reports/schema.py` makes the JSON Schema from the same record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from os import urandom
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import UNSET, Struct
from msgspec.json import Encoder, decode
from msgspec.json import format as spaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Json = dict[str, Any]
SCHEMA_VERSION = "1.0"


class Member(NamedTuple):
    """One member of a document: its name in JSON, and the attribute of the record."""

    name: str
    attribute: str
    flat: bool = False
    optional: bool = False
    one_per_line: bool = False


def document(record: Struct) -> Json:
    """Return the document of a report as dictionaries and lists."""
    return _document(record, lambda items: [_plain(item, list) for item in items])


def to_json(record: Struct) -> str:
    """Return the document of a report as text.

    The text is ASCII, so that a name with escape codes cannot control a terminal.
    """
    pieces: dict[str, Iterable[Any]] = {}

    def lines(items: Iterable[Any]) -> str:
        token = urandom(16).hex()
        pieces[token] = items
        return token

    text = json.dumps(_document(record, lines), indent=2, allow_nan=False)
    parts = []
    for token, items in pieces.items():
        before, text = text.split(f'"{token}"')
        line = before[before.rfind("\n") + 1 :]
        margin = "\n" + " " * (len(line) - len(line.lstrip()))
        written = ",".join(f"{margin}  {item}" for item in _lines(items))
        parts += [before, "[", written, margin if written else "", "]"]
    return "".join((*parts, text, "\n"))


def version() -> str:
    """Return the version of the installed package."""
    from importlib.metadata import version as installed

    return installed("whyscan")


def moment(microseconds: int | None) -> str | None:
    """Format microseconds since 1970 as ISO 8601 in UTC."""
    if microseconds is None:
        return None
    return _instant(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds))


def _instant(at: date) -> str:
    return at.isoformat().replace("+00:00", "Z")


def members_of(record: type[Struct]) -> tuple[Member, ...]:
    """Return the members of a record's document."""
    omitted, flat = getattr(record, "OMITTED", ()), getattr(record, "FLAT", ())
    optional, lines = getattr(record, "OPTIONAL", ()), getattr(record, "ONE_PER_LINE", ())
    fields = zip(record.__struct_encode_fields__, record.__struct_fields__, strict=True)
    members = [
        Member(name, attribute, attribute in flat, attribute in optional, name in lines)
        for name, attribute in fields
        if attribute not in omitted
    ]
    computed = getattr(record, "COMPUTED", {})
    return (*members, *(Member(n, a, one_per_line=n in lines) for n, a in computed.items()))


_members: dict[type, tuple[Member, ...]] = {}
Lines = Any
"""How members with one line per item are written: a function of the items."""


def _document(record: Struct, lines: Callable[[Iterable[Any]], Any]) -> Json:
    head = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "whyscan", "version": version()},
    }
    return head | dict(_struct(record, lines))


def _plain(value: Any, lines: Lines) -> Any:
    """Return a value of a record as JSON has it."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Struct):
        return dict(_struct(value, lines))
    if isinstance(value, tuple | list):
        return [_plain(item, lines) for item in value]
    if isinstance(value, Mapping):
        return {_plain(key, lines): _plain(item, lines) for key, item in value.items()}
    if isinstance(value, date):
        return _instant(value)
    raise TypeError(f"a document cannot have a {type(value).__name__}")


def _struct(record: Struct, lines: Lines) -> Iterator[tuple[str, Any]]:
    kind = type(record)
    members = _members.get(kind)
    if members is None:
        members = _members.setdefault(kind, members_of(kind))
    for member in members:
        value = getattr(record, member.attribute)
        if member.flat:
            yield from () if value is None else _struct(value, lines)
        elif value is not UNSET and not (member.optional and (value is None or value is False)):
            yield member.name, lines(value) if member.one_per_line else _plain(value, lines)


def _lines(items: Iterable[Any]) -> Iterator[str]:
    """Yield the text of one item at a time: dictionaries of all files would need much memory."""
    encode = Encoder().encode
    for item in items:
        if not getattr(item, "PLAIN", False):
            yield json.dumps(_plain(item, list), allow_nan=False)
            continue
        text = spaced(encode(item), indent=0)
        yield text.decode() if text.isascii() else json.dumps(decode(text), allow_nan=False)
