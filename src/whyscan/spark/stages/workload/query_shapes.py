"""The shape of a statement: its text without literals."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType

from whyscan.predicate.syntax.parse import dialect_named
from whyscan.predicate.syntax.redact import HIDDEN, LITERALS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlglot.tokenizer_core import Token

_ITEM = r"(?:(?:(?:DATE|TIMESTAMP) )?\?|NULL|TRUE|FALSE)"
_ROW = rf"\({_ITEM}(?:, {_ITEM})*+\)"
_LIST = re.compile(rf"\bIN {_ROW}")
_ROWS = re.compile(rf"\b(VALUES {_ROW})(?:, {_ROW})++")
_NO_SPACE_BEFORE = frozenset({",", ")", ".", "]"})
_NO_SPACE_AFTER = frozenset({"(", ".", "["})


def shape_of(text: str, dialect: str) -> str:
    """The statement with `?` for each literal and each list of literals.

    Space, comments, the case of words and the signs of numbers make no difference. The shape of a
    text that is no SQL is the text.
    """
    try:
        tokens = dialect_named(dialect).tokenize(text)
    except TokenError:
        return " ".join(text.split())
    spaced = _spaced(_without_signs(_words(tokens, text)))
    return _ROWS.sub(r"\1", _LIST.sub(f"IN ({HIDDEN})", spaced))


def _words(tokens: Sequence[Token], text: str) -> list[str]:
    """Keywords in upper case, other words in lower case, literals as `?`, quoted names as is.

    `'it''s'` is two tokens and one literal.
    """
    end, words = 0, list[str]()
    for token in tokens:
        # `5L` gives several tokens at one position: the literal is the first.
        if token.start < end or token.token_type is TokenType.SEMICOLON:
            continue
        end = token.end + 1
        if token.token_type in LITERALS:
            words += [HIDDEN] if words[-1:] != [HIDDEN] else []
        elif token.token_type is TokenType.VAR:
            words.append(token.text.lower())
        elif token.token_type is TokenType.IDENTIFIER:
            words.append(text[token.start : end])
        else:
            words.append(token.text.upper())
    return words


def _without_signs(words: Sequence[str]) -> Iterator[str]:
    """The words without the signs of literals: a sign is not after an operand."""
    before = "("
    for word, behind in pairwise([*words, ""]):
        if word in {"-", "+"} and behind == HIDDEN and not _is_operand(before):
            continue
        yield word
        before = word


def _is_operand(word: str) -> bool:
    return word[-1] in '?)]`"' or word.islower()


def _spaced(words: Iterable[str]) -> str:
    text, before = "", "("
    for word in words:
        called = word == "(" and before.islower()
        tight = before in _NO_SPACE_AFTER or word in _NO_SPACE_BEFORE or called
        text += word if tight else f" {word}"
        before = word
    return text
