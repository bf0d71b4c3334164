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
    match = _QUERY.fullmatch(_without_common(statement))
    if match is None or "[truncated(size=" in match["text"]:
        return None
    return _unescaped(match["text"])


def _without_common(text: str) -> str:
    """Without where in a program a part of the plan was written."""
    while (common := _COMMON.search(text)) is not None:
        depth, end = 1, len(text)
        for match in _BRACE_OR_TEXT.finditer(text, common.end()):
            depth += (match[0] == "{") - (match[0] == "}")
            if not depth:
                end = match.end()
                break
        text = text[: common.start()] + text[end:]
    return text


def _unescaped(text: str) -> str:
    """Bytes beyond ASCII are written as three octal digits each."""
    parts, end = [], 0
    for match in _ESCAPE.finditer(text):
        parts.append(text[end : match.start()].encode())
        code = match[1]
        parts.append(
            _NAMED.get(code)
            or (bytes([int(code, 8) & 0xFF]) if code.isdecimal() else code.encode())
        )
        end = match.end()
    return b"".join((*parts, text[end:].encode())).decode("utf-8", "replace")
