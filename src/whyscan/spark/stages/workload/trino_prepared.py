"""Restore the statement that Trino's `EXECUTE` runs: the prepared text with values for each `?`.

Trino's drivers send every statement with parameters in this way.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType

from whyscan.predicate.syntax.parse import dialect_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.tokenizer_core import Token

_EXECUTE = re.compile(
    r"""\s*EXECUTE\s+
    (?:IMMEDIATE\s+'(?P<text>(?:[^']|'')*+)' | \w+ | "(?:[^"]|"")++")
    (?:\s+USING\s+(?P<values>.+?))?\s*;?\s*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def executed(text: str, prepared: str | None) -> str:
    """The statement that a text executes; the text itself if it is no EXECUTE.

    If the number of values differs from the number of `?`, each `?` stays: it may be any value.
    """
    match = _EXECUTE.fullmatch(text)
    if match is None:
        return text
    statement = prepared if match["text"] is None else match["text"].replace("''", "'")
    if not statement:
        return text
    if match["values"] is None:
        return statement
    try:
        return _filled(statement, _parts(match["values"]))
    except TokenError:
        return statement


def _filled(statement: str, values: Sequence[str]) -> str:
    tokens = dialect_named("trino").tokenize(statement)
    places = [token.start for token in tokens if token.token_type is TokenType.PLACEHOLDER]
    if len(places) != len(values):
        return statement
    cuts = [-1, *places, len(statement)]
    between = [statement[before + 1 : place] for before, place in pairwise(cuts)]
    return "".join(part for pair in zip(between, (*values, ""), strict=True) for part in pair)


def _parts(values: str) -> list[str]:
    """The values of a list, split at commas outside of parentheses."""
    parts, depth, begin = list[str](), 0, 0
    for token in dialect_named("trino").tokenize(values):
        depth += _deeper(token)
        if not depth and token.token_type is TokenType.COMMA:
            parts.append(values[begin : token.start].strip())
            begin = token.end + 1
    return [*parts, values[begin:].strip()]


def _deeper(token: Token) -> int:
    opens = token.token_type in {TokenType.L_PAREN, TokenType.L_BRACKET}
    return int(opens) - int(token.token_type in {TokenType.R_PAREN, TokenType.R_BRACKET})
