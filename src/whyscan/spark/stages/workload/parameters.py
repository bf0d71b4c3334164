"""Put the values of parameters into the texts of prepared statements.

| what a log has | values |
|---|---|
| a list of JSON | numbers, texts, booleans and null |
| `$1 = '5', $2 = NULL`, as PostgreSQL logs them | the text behind each `=` |
| `ExecutionParameters` of Athena | each text as it is |

A parameter without a value stays: it may be any value.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType

from whyscan.errors import WhyscanError
from whyscan.predicate.syntax.parse import dialect_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlglot.tokenizer_core import Token

_OF_POSTGRES = re.compile(r"\$(\d+) = (NULL|'(?:[^']|'')*')")


def values_of(logged: Any) -> dict[int, str]:
    """The SQL text of each value of a log, by the number of its parameter from 1."""
    if isinstance(logged, str):
        numbered = {int(number): text for number, text in _OF_POSTGRES.findall(logged)}
        if numbered:
            return numbered
        try:
            logged = json.loads(logged)
        except ValueError:
            return {}
    if not isinstance(logged, list):
        return {}
    texts = enumerate(map(_literal, logged), 1)
    return {number: text for number, text in texts if text is not None}


def _literal(value: Any) -> str | None:
    match value:
        case None | bool():
            return "NULL" if value is None else str(value).upper()
        case int():
            return str(value)
        case str() if "\\" not in value:
            return "'" + value.replace("'", "''") + "'"
        case _:
            # A backslash is an escape in some dialects, and a float is a decimal in others.
            return None


def arguments_of(logged: Any) -> dict[int, str]:
    """The values of `ExecutionParameters`: Athena puts each text into the statement as it is."""
    return dict(enumerate(map(str, logged), 1)) if isinstance(logged, list) else {}


def filled(statement: str, values: Mapping[int, str], dialect: str) -> str:
    """The statement with its values in the places of `$1` or of `?`.

    If the number of values differs from the number of `?`, each `?` stays.
    """
    if not values:
        return statement
    try:
        tokens = dialect_named(dialect).tokenize(statement)
    except (TokenError, WhyscanError):
        return statement
    marks = [token for token in tokens if token.token_type is TokenType.PLACEHOLDER]
    if len(marks) == len(values):
        places = [(mark.start, mark.end, at) for at, mark in enumerate(marks, 1)]
    else:
        places = list(_numbered(tokens))
    pieces, before = [], 0
    for start, end, at in places:
        if at in values:
            pieces += [statement[before:start], values[at]]
            before = end + 1
    return "".join((*pieces, statement[before:]))


def _numbered(tokens: Sequence[Token]) -> Iterator[tuple[int, int, int]]:
    """The first and last character of each `$1`, and its number."""
    for mark, number in pairwise(tokens):
        is_number = number.token_type is TokenType.NUMBER and number.text.isdecimal()
        adjacent = mark.end + 1 == number.start
        if mark.token_type is TokenType.PARAMETER and is_number and adjacent:
            yield mark.start, number.end, int(number.text)
