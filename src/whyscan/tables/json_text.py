"""Reads the JSON documents of tables, and refuses text that cannot be encoded as UTF-8."""

from __future__ import annotations

import json
from typing import Any

from whyscan.tables import budget

_SMALL = 1 << 20
_WIDEST = 4
_OBJECT, _LIST, _MEMBER, _QUOTE = 240, 64, 10, 25
"""About how many bytes Python takes for each `{`, `[`, `,` and quote of a document."""


def read_json(text: str | bytes, name: str) -> Any:
    r"""Parse a document; raises ValueError or RecursionError. `name` is the file's name in errors.

    An escape such as `\ud800` is half a character: Python reads it, but cannot encode it.
    """
    if len(text) > _SMALL:
        budget.check(_parsed_size(text), name)
    document = json.loads(text)
    halves = b"\\ud" if isinstance(text, bytes) else "\\ud"
    if halves in text.lower():  # type: ignore[operator]
        json.dumps(document, ensure_ascii=False).encode()
    return document


def _parsed_size(text: str | bytes) -> int:
    """About how many bytes Python takes to parse a document and to keep its objects."""
    marks = ((b"{", _OBJECT), (b"[", _LIST), (b",", _MEMBER), (b'"', _QUOTE))
    if isinstance(text, bytes):
        objects = sum(text.count(mark) * size for mark, size in marks)
    else:
        objects = sum(text.count(mark.decode()) * size for mark, size in marks)
    return objects + len(text) * (2 + (1 if text.isascii() else _WIDEST))
