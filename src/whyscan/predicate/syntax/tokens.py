"""Work on tokens before parsing: depth limits, AND fragments, function names, long IN lists.

The parser is compiled and recursive: SQL that nests too deep ends the process without an
exception. So the depth is measured on the tokens, which exclude strings and comments.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field
from sqlglot import Parser
from sqlglot.tokenizer_core import Token, TokenType

from whyscan.errors import SyntaxProblem, TextSpan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlglot import exp

MAX_DEPTH = 100
"""The greatest depth of a tree and of nested calls. Each level costs one or more stack frames."""
MAX_BRACKETS = 250
"""The greatest depth of parentheses. They cost stack frames only in the parser."""
MAX_TOKENS = 2_000_000
SHORTEST_EXTRACTED_LIST = 16

CALL_MARK = "\u0192"
"""A prefix for the name of every called function. The parser then sees an unknown function and
keeps its name and arguments as they are in the text."""


def function_name(node: exp.Expr) -> str:
    """The name of a called function in lower case, without `CALL_MARK`."""
    return str(node.this).removeprefix(CALL_MARK).lower()


_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
_PREFIX = {
    TokenType.NOT,
    TokenType.DASH,
    TokenType.PLUS,
    TokenType.TILDE,
    TokenType.INTERVAL,
}
_NESTED_TYPE = {
    TokenType.ARRAY,
    TokenType.LIST,
    TokenType.MAP,
    TokenType.NULLABLE,
    TokenType.OBJECT,
    TokenType.STRUCT,
}
_WEAKER_THAN_AND = {TokenType.OR, TokenType.XOR, TokenType.ARROW, TokenType.COLON_EQ}

_SPECIAL_SYNTAX = {
    "CAST",
    "TRY_CAST",
    "SAFE_CAST",
    "EXTRACT",
    "TRIM",
    "SUBSTRING",
    "POSITION",
    "IF",
}
_NOT_CALLED = {
    TokenType.ALL,
    TokenType.ANY,
    TokenType.COLLATE,
    TokenType.EXISTS,
    TokenType.FILTER,
    TokenType.GLOB,
    TokenType.IDENTIFIER,
    TokenType.ILIKE,
    TokenType.LIKE,
    TokenType.RLIKE,
    TokenType.ROW,
    TokenType.SOME,
    TokenType.UNNEST,
    TokenType.WINDOW,
    TokenType.XOR,
}
_CALLED = (Parser.FUNC_TOKENS - Parser.TYPE_TOKENS - _NOT_CALLED) | {TokenType.VAR}

_PLAIN = {
    TokenType.NUMBER,
    TokenType.STRING,
    TokenType.NULL,
    TokenType.TRUE,
    TokenType.FALSE,
}
_TYPED = {
    TokenType.DATE,
    TokenType.TIMESTAMP,
    TokenType.TIMESTAMPLTZ,
    TokenType.TIMESTAMPNTZ,
    TokenType.TIMESTAMPTZ,
}


class ListLiteral(NamedTuple):
    """One literal of a long IN list: the kind of its token, its text with the sign, its place."""

    kind: TokenType
    text: str
    start: int
    end: int
    prefix: TokenType | None = None
    """DATE or a timestamp keyword before a string."""


class _Depth(Struct):
    """The depth of the parser's stack while the tokens are read from left to right.

    `open_costs` has the cost of each open bracket with the prefix operators before it, `total`
    is their sum, and `run` counts the prefix operators before the current token.
    """

    open_costs: list[int] = field(default_factory=list)
    total: int = 0
    run: int = 0

    def read(self, kind: TokenType, previous: TokenType | None) -> int:
        if kind in _OPENING or (kind is TokenType.LT and previous in _NESTED_TYPE):
            is_plain = kind is TokenType.L_PAREN and previous not in _CALLED
            self.open_costs.append(self.run + (1 if is_plain else MAX_BRACKETS // MAX_DEPTH))
            self.total += self.open_costs[-1]
            self.run = 0
        elif kind in _PREFIX:
            self.run += 1
        else:
            self.run = 0
            if kind in _CLOSING and self.open_costs:
                self.total -= self.open_costs.pop()
        return self.total + self.run


def check_depth(tokens: Sequence[Token], text: str) -> None:
    """Raise SyntaxProblem for SQL that is too deep for the stack of the parser."""
    depth, previous = _Depth(), None
    for token in tokens:
        kind = token.token_type
        if depth.read(kind, previous) > MAX_BRACKETS:
            raise SyntaxProblem(
                "the SQL nests too deep",
                text=text,
                span=span_of(token),
                hint="flatten it: AND and OR need no parentheses among themselves",
            )
        previous = kind


def check_shifts(tokens: Sequence[Token], text: str) -> None:
    """Refuse `a > > b`, which the parser reads as `a >> b`. `ARRAY<ARRAY<INT> >` is allowed."""
    types = 0
    for previous, token in pairwise(tokens):
        kind = token.token_type
        if kind is TokenType.LT and (types or previous.token_type in _NESTED_TYPE):
            types += 1
        elif kind is TokenType.GT and types:
            types -= 1
        elif kind in _SHIFTS and kind is previous.token_type and previous.end + 1 < token.start:
            raise SyntaxProblem("this does not belong here", text=text, span=span_of(token))


_SHIFTS = {TokenType.LT, TokenType.GT}


def span_of(token: Token) -> TextSpan:
    """The place of a token in the text."""
    return TextSpan(token.start, token.end + 1)


def mark_calls(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with `CALL_MARK` before the name of every called function."""
    marked = list(tokens)
    for index, following in enumerate(tokens[1:]):
        token = tokens[index]
        if (
            following.token_type is TokenType.L_PAREN
            and token.token_type in _CALLED
            and token.text.upper() not in _SPECIAL_SYNTAX
        ):
            marked[index] = _replacement(token, TokenType.VAR, CALL_MARK + token.text)
    return marked


def mark_empty_calls(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with `CALL_MARK` before the name of every function without arguments: `f()`."""
    marked = list(tokens)
    for at, (token, opening, closing) in enumerate(
        zip(tokens, tokens[1:], tokens[2:], strict=False)
    ):
        kinds = opening.token_type, closing.token_type
        if kinds == (TokenType.L_PAREN, TokenType.R_PAREN) and token.token_type in _CALLED:
            marked[at] = _replacement(token, TokenType.VAR, CALL_MARK + token.text)
    return marked


_BEFORE_AN_OPERAND = {
    TokenType.L_PAREN, TokenType.COMMA, TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE,
    TokenType.GT, TokenType.GTE, TokenType.NULLSAFE_EQ, TokenType.AND, TokenType.OR, TokenType.NOT,
    TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.BETWEEN,
    TokenType.WHEN, TokenType.THEN, TokenType.ELSE, TokenType.CASE, TokenType.WHERE, TokenType.ON,
    TokenType.SELECT, TokenType.HAVING,
}  # fmt: skip
_NAMES = {TokenType.VAR, TokenType.IDENTIFIER}


def with_signs(tokens: list[Token]) -> list[Token]:
    """The tokens with `+x` as `positive(x)`.

    The parser drops the sign, but in Spark it turns a string into a number.
    """
    if not any(token.token_type is TokenType.PLUS for token in tokens):
        return tokens
    with_calls: list[Token] = []
    closing: dict[int, int] = {}
    for index, token in enumerate(tokens):
        before = tokens[index - 1].token_type if index else TokenType.L_PAREN
        if token.token_type is TokenType.PLUS and before in _BEFORE_AN_OPERAND:
            end = _name_end(tokens, index + 1)
            if end is not None:
                with_calls += [
                    _replacement(token, TokenType.VAR, "positive"),
                    _replacement(token, TokenType.L_PAREN, "("),
                ]
                closing[end] = closing.get(end, 0) + 1
                continue
        with_calls.append(token)
        with_calls += [_replacement(token, TokenType.R_PAREN, ")")] * closing.get(index, 0)
    return with_calls


def _name_end(tokens: Sequence[Token], start: int) -> int | None:
    """The index of the last token of a dotted column name; None if there is no column name."""
    end = start
    while end < len(tokens) and tokens[end].token_type in _NAMES:
        if end + 1 >= len(tokens) or tokens[end + 1].token_type is not TokenType.DOT:
            is_call = end + 1 < len(tokens) and tokens[end + 1].token_type is TokenType.L_PAREN
            return None if is_call else end
        end += 2
    return None


def _replacement(token: Token, kind: TokenType, text: str) -> Token:
    """A token of another kind and text at the place of a token."""
    return Token(kind, text, token.line, token.col, token.start, token.end)


def join_quotes(tokens: Sequence[Token], text: str) -> list[Token]:
    """The tokens with `'it''s'` as one string, as in Spark 4. The tokenizer makes two strings."""
    joined: list[Token] = []
    for token in tokens:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.token_type is token.token_type is TokenType.STRING
            and last.end + 1 == token.start
            and text[last.end] == text[token.start]
        ):
            content = last.text + text[token.start] + token.text
            token = Token(last.token_type, content, last.line, token.col, last.start, token.end)  # noqa: PLW2901
            joined.pop()
        joined.append(token)
    return joined


def split_conjuncts(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of each top-level AND fragment. Parentheses around an AND are removed."""
    pending = [tokens]
    while pending:
        fragment = _without_parentheses(pending.pop())
        cuts = _conjunctions(fragment)
        if not cuts:
            yield fragment
            continue
        edges = [-1, *cuts, len(fragment)]
        parts = [fragment[a + 1 : b] for a, b in pairwise(edges)]
        pending.extend(reversed(parts))


def _conjunctions(tokens: Sequence[Token]) -> list[int]:
    """The indices of the ANDs on the top level; none if an OR binds more weakly."""
    depth, between, cuts = 0, 0, []
    for index, token in enumerate(tokens):
        kind = token.token_type
        if kind in _OPENING:
            depth += 1
        elif kind in _CLOSING:
            depth = max(depth - 1, 0)
        elif depth:
            continue
        elif kind is TokenType.BETWEEN:
            between += 1
        elif kind is TokenType.AND and between:
            between -= 1
        elif kind is TokenType.AND:
            cuts.append(index)
        elif kind in _WEAKER_THAN_AND:
            return []
    return cuts


def _without_parentheses(tokens: list[Token]) -> list[Token]:
    """The tokens of `a AND b` for `((a AND b))`. Other tokens stay, also `(a)`."""
    inner = tokens
    while _is_parenthesised(inner):
        inner = inner[1:-1]
    return inner if _conjunctions(inner) else tokens


def _is_parenthesised(tokens: Sequence[Token]) -> bool:
    if not tokens or tokens[0].token_type is not TokenType.L_PAREN:
        return False
    depth = 0
    for index, token in enumerate(tokens):
        if token.token_type in _OPENING:
            depth += 1
        elif token.token_type in _CLOSING:
            depth -= 1
            if depth <= 0:
                return 1 < index == len(tokens) - 1
    return False


def extract_long_lists(
    tokens: list[Token],
) -> tuple[list[Token], dict[int, tuple[ListLiteral, ...]]]:
    """The tokens with one string instead of each long IN list of literals, and the lists.

    The parser would make a node for every value, which takes most of its time. The key of a list
    is the offset of the string that replaces it.
    """
    result: list[Token] = []
    lists: dict[int, tuple[ListLiteral, ...]] = {}
    next_token = 0
    for opening in _openings(tokens):
        if opening < next_token:
            continue
        items, end = _read_items(tokens, opening + 1)
        if len(items) >= SHORTEST_EXTRACTED_LIST:
            first = tokens[opening + 1]
            lists[first.start] = tuple(items)
            result += tokens[next_token : opening + 1]
            result.append(_placeholder(first))
            next_token = end
    return result + tokens[next_token:], lists


def _openings(tokens: Sequence[Token]) -> list[int]:
    """The indices of the opening parentheses after an IN."""
    words = [i for i, token in enumerate(tokens) if token.token_type is TokenType.IN]
    return [i + 1 for i in words if tokens[i + 1 : i + 2] and tokens[i + 1].token_type in _OPENING]


def _placeholder(token: Token) -> Token:
    return Token(TokenType.STRING, "\u2026", token.line, token.col, token.start, token.end)


def _read_items(tokens: Sequence[Token], index: int) -> tuple[list[ListLiteral], int]:
    """The literals from `index` to the closing parenthesis, and the index of the parenthesis.

    The list is empty if it has anything else than literals.
    """
    items: list[ListLiteral] = []
    last = len(tokens) - 1
    while index < last:
        token = tokens[index]
        kind = token.token_type
        if kind in _PLAIN:
            items.append(ListLiteral(kind, token.text, token.start, token.end + 1))
            index += 1
        elif (signed := _read_pair(token, tokens[index + 1])) is not None:
            items.append(signed)
            index += 2
        else:
            break
        separator = tokens[index].token_type if index <= last else None
        if separator is TokenType.R_PAREN:
            return items, index
        if separator is not TokenType.COMMA:
            break
        index += 1
    return [], index


def _read_pair(first: Token, second: Token) -> ListLiteral | None:
    """The literal of two tokens: a sign and a number, or a type and a string; else None."""
    kind, text, start, end = second.token_type, second.text, first.start, second.end + 1
    if first.token_type is TokenType.DASH and kind is TokenType.NUMBER:
        return ListLiteral(kind, "-" + text, start, end)
    if first.token_type in _TYPED and kind is TokenType.STRING:
        return ListLiteral(kind, text, start, end, first.token_type)
    return None
