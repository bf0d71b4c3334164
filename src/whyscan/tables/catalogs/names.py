"""`catalog.namespace.table`: which words name a table of a catalog.

| word | what it names |
|---|---|
| something that exists, an address, a glob, a word with a slash | a path |
| `prod.db.events`, `prod.a.b.events` | a catalog's table, in a namespace of one part or more |
| `` prod.db.`events.2024` ``, `prod."my db".events` | likewise; a quoted part may hold anything |
"""

from __future__ import annotations

import os
import re

from msgspec import Struct

_PART = r"""[^\s./\\:*?\[\]{}"`~]+|"(?:[^"]|"")+"|`(?:[^`]|``)+`"""
_NAME = re.compile(rf"(?:{_PART})(?:\.(?:{_PART})){{2,}}")
_PARTS = re.compile(_PART)


class TableName(Struct, frozen=True):
    """A table's name in a catalog: `parts` are the namespace's, and the table's last."""

    catalog: str
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join((self.catalog, *self.parts))


def table_name(text: str) -> TableName | None:
    """The name that a word is, None for a path. What exists on this machine is a path."""
    if not _NAME.fullmatch(text) or os.path.exists(text):  # noqa: PTH110 - takes any length
        return None
    catalog, *parts = (_unquoted(part) for part in _PARTS.findall(text))
    return TableName(catalog, tuple(parts))


def _unquoted(part: str) -> str:
    quote = part[0]
    return part[1:-1].replace(quote * 2, quote) if quote in '"`' else part
