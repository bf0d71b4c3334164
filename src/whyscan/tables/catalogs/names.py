"""Parses names of the form `catalog.namespace.table`.

| text | what it names |
|---|---|
| a path that exists, an address, a glob, a text with a slash | a path |
| `prod.db.events`, `prod.a.b.events` | a catalog's table, in a namespace of one part or more |
| `` prod.db.`events.2024` ``, `prod."my db".events` | the same; a quoted part may have any text |
"""

from __future__ import annotations

import os
import re

from msgspec import Struct

_PART = r"""[^\s./\\:*?\[\]{}"`~]+|"(?:[^"]|"")+"|`(?:[^`]|``)+`"""
_NAME = re.compile(rf"(?:{_PART})(?:\.(?:{_PART})){{2,}}")
_PREFIX = re.compile(rf"(?:{_PART})(?:\.(?:{_PART}))*")
_PARTS = re.compile(_PART)
_PLAIN = re.compile(r"[\w-]+")


class TableName(Struct, frozen=True):
    """The name of a table in a catalog: `parts` are the namespace, and the table last."""

    catalog: str
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join((self.catalog, *self.parts))


def table_name(text: str) -> TableName | None:
    """Parse the name of a table, None for a path. A text that exists on this machine is a path."""
    if not _NAME.fullmatch(text) or os.path.exists(text):  # noqa: PTH110 - takes any length
        return None
    catalog, *parts = (_unquoted(part) for part in _PARTS.findall(text))
    return TableName(catalog, tuple(parts))


def name_parts(text: str) -> tuple[str, ...] | None:
    """Parse a catalog or a namespace of it, None for another text."""
    if not _PREFIX.fullmatch(text):
        return None
    return tuple(_unquoted(part) for part in _PARTS.findall(text))


def quoted_name(parts: tuple[str, ...]) -> str:
    """Write a name so that it is read as the same parts."""
    return ".".join(
        part if _PLAIN.fullmatch(part) else "`" + part.replace("`", "``") + "`" for part in parts
    )


def _unquoted(part: str) -> str:
    quote = part[0]
    return part[1:-1].replace(quote * 2, quote) if quote in '"`' else part
