"""Keywords and operators that the tokenizer reads differently from Spark.

In Spark nearly every keyword can be the name of a column: in `outer = 1`, `outer` is a column.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from sqlglot import Parser
from sqlglot.tokenizer_core import Token, TokenType

from whyscan.errors import SyntaxProblem
from whyscan.predicate.syntax.tokens import span_of

if TYPE_CHECKING:
    from collections.abc import Sequence

# The parser itself accepts names of types as columns, and `ARRAY<DATE>` must stay a type.
_UNCHANGED = (Parser.TYPE_TOKENS - {TokenType.UNION}) | {
    TokenType.CURRENT_DATE,
    TokenType.CURRENT_TIMESTAMP,
    TokenType.CURRENT_USER,
    TokenType.FALSE,
    TokenType.IDENTIFIER,
    TokenType.NULL,
    TokenType.NUMBER,
    TokenType.STRING,
    TokenType.TRUE,
    TokenType.VAR,
}
_COMPARATORS = {
    TokenType.EQ,
    TokenType.GT,
    TokenType.GTE,
    TokenType.LT,
    TokenType.LTE,
    TokenType.NEQ,
    TokenType.NULLSAFE_EQ,
}
_SIGNS = {TokenType.DASH, TokenType.PLUS, TokenType.STAR}
_OPERATORS = _COMPARATORS | _SIGNS | {TokenType.DPIPE, TokenType.MOD, TokenType.SLASH}
_BEFORE_A_VALUE = {
    *_OPERATORS,
    TokenType.AND,
    TokenType.BETWEEN,
    TokenType.COMMA,
    TokenType.DOT,
    TokenType.HAVING,
    TokenType.L_PAREN,
    TokenType.NOT,
    TokenType.ON,
    TokenType.OR,
    TokenType.WHEN,
    TokenType.WHERE,
}
_AFTER_A_VALUE = {
    *_OPERATORS,
    TokenType.AND,
    TokenType.BETWEEN,
    TokenType.COMMA,
    TokenType.ILIKE,
    TokenType.IN,
    TokenType.IS,
    TokenType.LIKE,
    TokenType.OR,
    TokenType.RLIKE,
    TokenType.R_PAREN,
}
_BEFORE_A_SIGN = {"all", "any", "case", "distinct", "exists", "interval", "not", "select", "some"}
"""Words after which a sign can begin a value: `SELECT -1`, `count(DISTINCT -x)`."""

_NO_OPERATORS = {"&<", "&>", "~~", "~~~", "~*", "~~*", "!~", "!~~", "^@"}
"""Operators of Postgres that the tokenizer accepts in every dialect."""


def as_spark_reads(tokens: list[Token], text: str) -> list[Token]:
    """The tokens with keywords as names, where Spark reads them as names."""
    new_tokens = list(tokens)
    for index, token in enumerate(tokens):
        if token.text in _NO_OPERATORS and token.token_type is not TokenType.STRING:
            raise SyntaxProblem("this does not belong here", text=text, span=span_of(token))
        # X'ff00' is not a word, but the text of its token looks like one.
        is_word = token.text.isidentifier() and text[token.start : token.end + 1] == token.text
        if is_word and _is_a_name(tokens, new_tokens, index):
            new_tokens[index] = Token(
                TokenType.IDENTIFIER,
                token.text,
                token.line,
                token.col,
                token.start,
                token.end,
            )
    return new_tokens


def first_word_as_name(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a condition with a name at its start, as in `case + 1 > 0`.

    A condition starts with no SELECT and no DISTINCT, and with a CASE only if an END follows.
    """
    after_word = tokens[1].token_type if len(tokens) > 1 else None
    if after_word not in {TokenType.PLUS, TokenType.DASH}:
        return list(tokens)
    first, *rest = tokens
    words = _BEFORE_A_SIGN - {"interval", "not"}
    kinds = {token.token_type for token in rest}
    if first.text.lower() not in words or kinds & {TokenType.END, TokenType.FROM}:
        return list(tokens)
    return [
        Token(TokenType.IDENTIFIER, first.text, first.line, first.col, first.start, first.end),
        *rest,
    ]


def _is_a_name(tokens: Sequence[Token], new_tokens: Sequence[Token], index: int) -> bool:
    """Whether a keyword is a name: the tokens before and after it are those around a value."""
    token = tokens[index]
    if token.token_type in _UNCHANGED:
        return token.text.lower() == "if" and _is_between_value_borders(tokens, new_tokens, index)
    return _is_between_value_borders(tokens, new_tokens, index)


def _is_between_value_borders(
    tokens: Sequence[Token], new_tokens: Sequence[Token], index: int
) -> bool:
    before = new_tokens[index - 1].token_type if index else None
    after = tokens[index + 1].token_type if index + 1 < len(tokens) else None
    if before is not None and before not in _BEFORE_A_VALUE:
        return False
    behind_not = before is TokenType.NOT and index > 1
    if behind_not and new_tokens[index - 2].token_type not in _BEFORE_A_VALUE:
        # A value stands before the NOT: the word is an operator, as in `x NOT BETWEEN -1 AND 1`.
        return False
    if tokens[index].token_type is TokenType.NOT and _is_before_a_name(tokens, index):
        return False
    if before is None and after is TokenType.OR:
        # For example CREATE OR REPLACE.
        return False
    if after in _SIGNS and tokens[index].text.lower() in _BEFORE_A_SIGN:
        return False
    return after is None or after in _AFTER_A_VALUE


def _is_before_a_name(tokens: Sequence[Token], index: int) -> bool:
    """Whether the word after a NOT is a name: `NOT between = 1`, but not `not BETWEEN 1 AND 2`."""
    word = tokens[index + 1] if index + 1 < len(tokens) else None
    if word is None or not word.text.isidentifier():
        return False
    after = tokens[index + 2].token_type if index + 2 < len(tokens) else None
    return after is None or after in _AFTER_A_VALUE - _SIGNS


def check_numbers(tokens: Sequence[Token], text: str) -> None:
    """Raise SyntaxProblem for `. 5`, which the parser reads as `.5`."""
    for point, number in pairwise(tokens):
        if (
            point.token_type is TokenType.DOT
            and number.token_type is TokenType.NUMBER
            and point.end + 1 < number.start
        ):
            raise SyntaxProblem("this does not belong here", text=text, span=span_of(point))
