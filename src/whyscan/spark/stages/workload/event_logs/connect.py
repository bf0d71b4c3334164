"""Read the SQL of a Spark Connect event, which has the plan as the text of a protobuf message."""

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
    """The SQL of a plan that is only a SQL query; None for other plans."""
    match = _QUERY.fullmatch(_without_common(statement))
    if match is None or "[truncated(size=" in match["text"]:
        return None
    return _unescaped(match["text"])


def _without_common(text: str) -> str:
    """The text without its `common` blocks, which have positions in the user's program."""
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
    """The text without escapes; bytes beyond ASCII are written as octal digits."""
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
