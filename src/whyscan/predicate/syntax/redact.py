"""SQL without its literals, for readers who may see the query but not the values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType

from whyscan.predicate.syntax.parse import dialect_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot.tokenizer_core import Token

HIDDEN = "?"

LITERALS = frozenset(
    {
        TokenType.BIT_STRING,
        TokenType.BYTE_STRING,
        TokenType.HEREDOC_STRING,
        TokenType.HEX_STRING,
        TokenType.NATIONAL_STRING,
        TokenType.NUMBER,
        TokenType.RAW_STRING,
        TokenType.STRING,
        TokenType.UNICODE_STRING,
    }
)


def without_literals(text: str, dialect: str) -> str:
    """The text with `?` for every literal, and without comments, which may contain values."""
    spans = list(_spans(text, dialect))
    if not spans:
        return HIDDEN
    redacted, end = "", 0
    for start, stop, literal in spans:
        gap = " " if redacted and start > end else ""
        redacted += gap + (HIDDEN if literal else text[start:stop])
        end = stop
    return redacted


def literals(text: str, dialect: str) -> Iterator[tuple[str, str, str]]:
    """For each literal the token before it, the literal and the token after it, as text."""
    spans = list(_spans(text, dialect))
    words = ["", *(text[start:stop] for start, stop, _ in spans), ""]
    for at, (_, _, literal) in enumerate(spans, start=1):
        if literal:
            yield words[at - 1], words[at], words[at + 1]


def _spans(text: str, dialect: str) -> Iterator[tuple[int, int, bool]]:
    """Start, end and "is a literal" of each token. Only the first of overlapping tokens (`5L`)."""
    try:
        tokens: list[Token] = dialect_named(dialect).tokenize(text)
    except TokenError:
        return
    end = 0
    for token in tokens:
        if token.start >= end:
            end = token.end + 1
            yield token.start, end, token.token_type in LITERALS
