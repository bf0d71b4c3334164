"""What is done with tokens before they are parsed: bounds, AND fragments, long lists.

The parser is compiled and recursive: past its depth the process dies without an exception,
so depth is measured here, on the tokens, where strings and comments are out of the way.
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
"""Of a tree, and of calls within calls: a stack frame or several each, here and in evaluation."""
MAX_BRACKETS = 250
"""Of parentheses: they cost the parser's stack alone."""
MAX_TOKENS = 2_000_000
SHORTEST_EXTRACTED_LIST = 16

CALL_MARK = "\u0192"
"""Put before every function's name, so that the parser takes it for a function it does not know
and hands over name and arguments as they were written, not its own reading of them."""


def called(node: exp.Expr) -> str:
    """The name of the function that is called, in lower case and without the mark."""
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
    """One literal of a long list: what kind of token, its text with the sign, and where."""

    kind: TokenType
    text: str
    start: int
    end: int
    prefix: TokenType | None = None
    """DATE or a timestamp keyword in front of a string."""


class _Depth(Struct):
    """How deep the parser is: what each open bracket, and the prefixes before it, cost it."""

    open_costs: list[int] = field(default_factory=list)
    total: int = 0
    run: int = 0

    def read(self, kind: TokenType, previous: TokenType | None) -> int:
        if kind in _OPENING or (kind is TokenType.LT and previous in _NESTED_TYPE):
            plain = kind is TokenType.L_PAREN and previous not in _CALLED
            self.open_costs.append(self.run + (1 if plain else MAX_BRACKETS // MAX_DEPTH))
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
    """Refuse what would take the parser's stack."""
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
    """Refuse `a > > b`, which the parser takes for `a >> b`; `ARRAY<ARRAY<INT> >` is a type."""
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
    """Where a token stands."""
    return TextSpan(token.start, token.end + 1)


def mark_calls(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with `CALL_MARK` before the name of every function that is called."""
    tokens = _with_signs(tokens)
    marked = list(tokens)
    for index, following in enumerate(tokens[1:]):
        token = tokens[index]
        if (
            following.token_type is TokenType.L_PAREN
            and token.token_type in _CALLED
            and token.text.upper() not in _SPECIAL_SYNTAX
        ):
            marked[index] = Token(
                TokenType.VAR,
                CALL_MARK + token.text,
                token.line,
                token.col,
                token.start,
                token.end,
            )
    return marked


_BEFORE_AN_OPERAND = {
    TokenType.L_PAREN, TokenType.COMMA, TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE,
    TokenType.GT, TokenType.GTE, TokenType.NULLSAFE_EQ, TokenType.AND, TokenType.OR, TokenType.NOT,
    TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.BETWEEN,
    TokenType.WHEN, TokenType.THEN, TokenType.ELSE, TokenType.CASE, TokenType.WHERE, TokenType.ON,
    TokenType.SELECT, TokenType.HAVING,
}  # fmt: skip
_NAMES = {TokenType.VAR, TokenType.IDENTIFIER}


def _with_signs(tokens: Sequence[Token]) -> Sequence[Token]:
    """`+x` as `positive(x)`: the parser drops the sign, which makes a number of a text in Spark."""
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
    """Where a column's dotted name ends that starts there; None for anything else."""
    end = start
    while end < len(tokens) and tokens[end].token_type in _NAMES:
        if end + 1 >= len(tokens) or tokens[end + 1].token_type is not TokenType.DOT:
            called_ = end + 1 < len(tokens) and tokens[end + 1].token_type is TokenType.L_PAREN
            return None if called_ else end
        end += 2
    return None


def _replacement(token: Token, kind: TokenType, text: str) -> Token:
    """A token that nobody wrote, in the place of another."""
    return Token(kind, text, token.line, token.col, token.start, token.end)


def join_quotes(tokens: Sequence[Token], text: str) -> list[Token]:
    """`'it''s'` as one string, as Spark 4 reads it; the tokenizer makes two of it."""
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
    """The top-level AND fragments, parentheses around an AND taken off."""
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
    """Where the ANDs of the outermost level stand; none where an OR is weaker."""
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
    """`((a AND b))` to `a AND b`; anything else as it is, `(a)` too."""
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


def lift_lists(tokens: list[Token]) -> tuple[list[Token], dict[int, tuple[ListLiteral, ...]]]:
    """The tokens with each long IN list of literals replaced by one string, and the lists.

    The parser makes a tree node of every value, which is most of its time on a long list.
    A list is found again by the offset of the string that stands for it.
    """
    kept: list[Token] = []
    lists: dict[int, tuple[ListLiteral, ...]] = {}
    next_kept = 0
    for opening in _openings(tokens):
        if opening < next_kept:
            continue
        items, end = _read_items(tokens, opening + 1)
        if len(items) >= SHORTEST_EXTRACTED_LIST:
            first = tokens[opening + 1]
            lists[first.start] = tuple(items)
            kept += tokens[next_kept : opening + 1]
            kept.append(_placeholder(first))
            next_kept = end
    return kept + tokens[next_kept:], lists


def _openings(tokens: Sequence[Token]) -> list[int]:
    """Where the parentheses behind an IN stand."""
    words = [i for i, token in enumerate(tokens) if token.token_type is TokenType.IN]
    return [i + 1 for i in words if tokens[i + 1 : i + 2] and tokens[i + 1].token_type in _OPENING]


def _placeholder(token: Token) -> Token:
    return Token(TokenType.STRING, "\u2026", token.line, token.col, token.start, token.end)


def _read_items(tokens: Sequence[Token], index: int) -> tuple[list[ListLiteral], int]:
    """The literals from `index` to the closing parenthesis; nothing if anything else is there."""
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
    """A number with its sign, or a string with its type."""
    kind, text, start, end = second.token_type, second.text, first.start, second.end + 1
    if first.token_type is TokenType.DASH and kind is TokenType.NUMBER:
        return ListLiteral(kind, "-" + text, start, end)
    if first.token_type in _TYPED and kind is TokenType.STRING:
        return ListLiteral(kind, text, start, end, first.token_type)
    return None
