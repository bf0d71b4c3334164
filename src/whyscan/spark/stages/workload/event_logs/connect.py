"""The SQL of Spark Connect: an event has its plan as the text of a protocol message."""

from __future__ import annotations

import re

_COMMON = re.compile(r"(?:^|\s)common \{")
_BRACE_OR_TEXT = re.compile(r"[{}]|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_QUERY = re.compile(
    r"\s*(?:(?:sql_command|input|sql|root|command)\s*\{\s*)*"
    r"(?:query|sql):\s*\"(?P<text>(?:[^\"\\]|\\.)*)\"\s*(?:\}\s*)*",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_NAMED = {"n": b"\n", "r": b"\r", "t": b"\t"}


def sql_of(statement: str) -> str | None:
    """The query of a plan that is nothing but a query in SQL; None for any other."""
    found = _QUERY.fullmatch(_without_common(statement))
    if found is None or "[truncated(size=" in found["text"]:
        return None
    return _unescaped(found["text"])


def _without_common(text: str) -> str:
    """Without where in a program a part of the plan was written."""
    while (common := _COMMON.search(text)) is not None:
        depth, end = 1, len(text)
        for found in _BRACE_OR_TEXT.finditer(text, common.end()):
            depth += (found[0] == "{") - (found[0] == "}")
            if not depth:
                end = found.end()
                break
        text = text[: common.start()] + text[end:]
    return text


def _unescaped(text: str) -> str:
    """Bytes beyond ASCII are written as three octal digits each."""
    parts, end = [], 0
    for found in _ESCAPE.finditer(text):
        parts.append(text[end : found.start()].encode())
        code = found[1]
        parts.append(
            _NAMED.get(code)
            or (bytes([int(code, 8) & 0xFF]) if code.isdecimal() else code.encode())
        )
        end = found.end()
    return b"".join((*parts, text[end:].encode())).decode("utf-8", "replace")
