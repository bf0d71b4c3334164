"""Parsing of SQL text: one syntax tree for each top-level AND fragment, in any sqlglot dialect."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from msgspec import Struct
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect, Dialects
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from whyscan.errors import SyntaxProblem, TextSpan, UsageError
from whyscan.predicate.syntax import keywords
from whyscan.predicate.syntax import tokens as tokens_

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.predicate.syntax.tokens import ListLiteral

MAX_CHARACTERS = 10_000_000
_MAX_SHOWN = 80
DIALECTS = tuple(sorted(dialect.value for dialect in Dialects if dialect.value))

_STATEMENT = {
    TokenType.ALTER,
    TokenType.CREATE,
    TokenType.DELETE,
    TokenType.DROP,
    TokenType.INSERT,
    TokenType.MERGE,
    TokenType.SELECT,
    TokenType.UPDATE,
    TokenType.WITH,
}
_SPARK_DIALECTS = {"spark", "databricks"}
_LEFT_CHAINS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod)


TYPED_LITERALS = frozenset(
    {
        exp.DataType.Type.DATE,
        exp.DataType.Type.TIMESTAMP,
        exp.DataType.Type.TIMESTAMPTZ,
        exp.DataType.Type.TIMESTAMPLTZ,
        exp.DataType.Type.TIMESTAMPNTZ,
    }
)
"""The types of typed literals, such as `DATE '2024-03-01'`."""


class Fragment(Struct, frozen=True):
    """One top-level AND fragment: its syntax tree and its original text."""

    tree: exp.Expr
    sql: str


class Syntax(Struct, frozen=True):
    """A parsed predicate. `lists` has the long IN lists by the offset of their first literal."""

    text: str
    dialect: str
    fragments: tuple[Fragment, ...]
    lists: Mapping[int, tuple[ListLiteral, ...]]


def parse(text: str, dialect: str = "spark") -> Syntax:
    """Parse a predicate text of a dialect. SyntaxProblem if it is not a condition."""
    language = dialect_named(dialect)
    tokens, lists = tokens_.extract_long_lists(_tokens_of_condition(text, language))
    tokens_.check_depth(tokens, text)
    _check_is_condition(tokens, text)
    tree = _parse_tokens(tokens_.mark_calls(tokens_.with_signs(tokens)), text, language)
    trees = conjuncts(tree)
    fragments = list(tokens_.split_conjuncts(tokens))
    # A function may have the name AND; then a fragment before it is empty.
    sources = [_source(fragment, text) for fragment in fragments] if all(fragments) else []
    if len(sources) != len(trees):
        sources = [sql_of(conjunct, dialect) for conjunct in trees]
    return Syntax(text, dialect, tuple(map(Fragment, trees, sources)), lists)


def sql_of(tree: exp.Expr, dialect: str) -> str:
    """The tree as text of its dialect, close to the original text."""
    # The generator warns about text that another dialect cannot run; this text is only shown.
    restored = tree.transform(_typed_literal, dialect)
    text = restored.sql(
        dialect=dialect, normalize_functions=False, unsupported_level=ErrorLevel.IGNORE
    )
    return text.replace(tokens_.CALL_MARK, "")


def _typed_literal(node: exp.Expr, dialect: str) -> exp.Expr:
    """A node for `DATE '2024-03-01'`, which the parser turns into a cast of a string."""
    if type(node) is not exp.Cast or not isinstance(node.this, exp.Literal):
        return node
    if not node.this.is_string or node.to.this not in TYPED_LITERALS:
        return node
    kind = node.to.sql(dialect=dialect).partition("(")[0]
    return exp.Var(this=f"{kind} {node.this.sql(dialect=dialect)}")


def conjuncts(tree: exp.Expr) -> list[exp.Expr]:
    """The operands `a`, `b`, `c` of `(a AND b) AND c`."""
    return flatten_chain(tree, exp.And)


def flatten_chain(tree: exp.Expr, link: type[exp.Expr]) -> list[exp.Expr]:
    """The operands of a chain of one associative operator, also inside parentheses.

    It is a loop: a long chain is a tree that is too deep for recursion.
    """
    operands, pending = [], [tree]
    while pending:
        operand = pending.pop()
        inner = unwrapped(operand)
        if isinstance(inner, link):
            pending += (inner.args["expression"], inner.args["this"])
        else:
            operands.append(operand)
    return operands


def unwrapped(node: exp.Expr) -> exp.Expr:
    """The node inside of parentheses, or the node itself."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def dialect_named(name: str) -> Dialect:
    """The dialect of that name. An unknown name raises UsageError with a similar name as hint."""
    if name.lower() in DIALECTS:
        return Dialect.get_or_raise(name.lower())
    near = difflib.get_close_matches(name.lower(), DIALECTS, n=1)
    hint = f"did you mean {near[0]}?" if near else "known dialects: " + ", ".join(DIALECTS)
    raise UsageError(f"unknown dialect {name!r}", hint=hint)


def _tokens_of_condition(text: str, dialect: Dialect) -> list[Token]:
    """The tokens of a predicate, whose first word is never a command: `show = 1`.

    The tokenizer makes one string of what follows a command, so it gets another word.
    """
    tokens = tokenize(text, dialect)
    if not tokens or tokens[0].token_type not in dialect.tokenizer_class.COMMANDS:
        return keywords.first_word_as_name(tokens) if _is_spark(dialect) else tokens
    first = tokens[0]
    word = text[first.start : first.end + 1]
    place = (first.line, first.col, first.start, first.end)
    _, *rest = tokenize(text[: first.start] + "x" * len(word) + text[first.end + 1 :], dialect)
    return [Token(TokenType.IDENTIFIER, word, *place), *rest]


def tokenize(text: str, dialect: Dialect) -> list[Token]:
    """The tokens of a text. SyntaxProblem if the text is too long or ends inside a token."""
    if len(text) > MAX_CHARACTERS:
        raise SyntaxProblem(
            f"the SQL is longer than {MAX_CHARACTERS:,} characters",
            hint="join with a table of the values instead",
        )
    if not _is_unicode(text):
        raise SyntaxProblem(
            f"the SQL holds bytes that are not UTF-8: {ascii(text)[:_MAX_SHOWN]}",
            hint="write it in UTF-8, or the bytes as X'ff'",
        )
    try:
        tokens = dialect.tokenize(_without_numbers(text, dialect))
    except TokenError as error:
        raise SyntaxProblem(
            "the SQL breaks off inside a string, a quoted name or a comment",
            text=text,
            span=_unclosed(text),
            hint="close the quotes",
        ) from error
    if len(tokens) > tokens_.MAX_TOKENS:
        raise SyntaxProblem(
            f"the SQL has more than {tokens_.MAX_TOKENS:,} tokens",
            hint="write it in parts, or with fewer values",
        )
    tokens_.check_shifts(tokens, text)
    keywords.check_numbers(tokens, text)
    if _is_spark(dialect):
        tokens = keywords.as_spark_reads(tokens, text)
    doubled = "''" in text or '""' in text
    return tokens_.join_quotes(tokens, text) if doubled else tokens


_QUOTED_OR_NUMBERED = re.compile(
    r"""'[^']*+' | "[^"]*+" | --[^\n]*+ | /\*.*?\*/ | (\$\d++)(?![\w$])""", re.DOTALL | re.VERBOSE
)


def _without_numbers(text: str, dialect: Dialect) -> str:
    """The text with `? ` for the parameter `$1`, where `$1,$` begins a string for the tokenizer."""
    if "$" not in text or "\\'" in text or not dialect.tokenizer_class.HEREDOC_STRINGS:
        return text
    return _QUOTED_OR_NUMBERED.sub(
        lambda match: match[0] if match[1] is None else "?".ljust(len(match[0])), text
    )


def _is_spark(dialect: Dialect) -> bool:
    return type(dialect).__name__.lower() in _SPARK_DIALECTS


def _is_unicode(text: str) -> bool:
    """Whether the text can be encoded. Lone surrogates stand for bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unclosed(text: str) -> TextSpan:
    """The text from the last quote to the end: the tokenizer gives no position for its error."""
    last = max((text.rfind(quote) for quote in ("'", '"', "`", "/*")), default=-1)
    return TextSpan(max(last, 0), len(text))


def _check_is_condition(tokens: Sequence[Token], text: str) -> None:
    if not tokens:
        raise SyntaxProblem("the predicate is empty", text=text, hint="write a condition, or true")
    first = tokens[0]
    if first.token_type is TokenType.WHERE:
        raise SyntaxProblem(
            "a predicate starts behind WHERE",
            text=text,
            span=tokens_.span_of(first),
            hint="leave out the word WHERE",
        )
    if first.token_type in _STATEMENT:
        raise SyntaxProblem(
            "this is a statement, not a condition",
            text=text,
            span=tokens_.span_of(first),
            hint="give the condition behind WHERE alone, or the whole query with --sql",
        )
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            raise SyntaxProblem(
                "a predicate is one condition, without semicolons",
                text=text,
                span=tokens_.span_of(token),
                hint="leave the semicolon out",
            )


def _parse_tokens(tokens: list[Token], text: str, dialect: Dialect) -> exp.Expr:
    try:
        trees = dialect.parser().parse_into(exp.Condition, tokens, text)
    except ParseError as error:
        raise problem(error, tokens, text) from error
    # The parser does not check the number of arguments: a malformed call can raise IndexError
    # and other exceptions.
    except Exception as error:
        raise SyntaxProblem(
            "this part is not an expression", text=text, span=_span(tokens)
        ) from error
    tree = trees[0] if trees else None
    if not isinstance(tree, exp.Expr):
        raise SyntaxProblem("this part is not an expression", text=text, span=_span(tokens))
    if len(tokens) > tokens_.MAX_DEPTH:
        check_tree_depth(tree, text, _span(tokens))
    return tree


def problem(error: ParseError, tokens: Sequence[Token], text: str) -> SyntaxProblem:
    """The SyntaxProblem for an error of the parser, with its place in the text."""
    details = error.errors[0] if error.errors else {}
    message = _plain_message(str(details.get("description") or "this part is not an expression"))
    span = _span_of_error(text, details) or _span(tokens)
    return SyntaxProblem(message, text=text, span=span)


def _plain_message(description: str) -> str:
    """The message of sqlglot without the names of its classes."""
    missing = re.match(r"Required keyword: '(\w+)' missing for <class '.*\.(\w+)'>", description)
    if missing:
        return "an operand is missing here"
    description = re.sub(r" but got <Token .*", " here", description)
    if description.startswith("Expecting "):
        return "expected " + description.removeprefix("Expecting ") + " after this"
    if "Unexpected token" in description:
        return "this does not belong here"
    return description[:1].lower() + description[1:].rstrip(".")


def _span_of_error(text: str, details: Mapping[str, object]) -> TextSpan | None:
    """The span of a parser error. The parser gives the line and column of its last character."""
    line, column, word = details.get("line"), details.get("col"), details.get("highlight")
    if not (isinstance(line, int) and isinstance(column, int) and isinstance(word, str)):
        return None
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    end = min(start + column, len(text))
    return TextSpan(max(end - max(len(word), 1), 0), end)


def check_tree_depth(tree: exp.Expr, text: str, span: TextSpan) -> None:
    """Refuse trees that are too deep for recursion, such as the chain of casts `a::int::int…`."""
    pending: list[tuple[exp.Expr, int, type | None]] = [(tree, 0, None)]
    while pending:
        node, depth, parent = pending.pop()
        if depth > tokens_.MAX_DEPTH:
            raise SyntaxProblem("the SQL nests too deep", text=text, span=span)
        below = parent if isinstance(node, exp.Paren) else type(node)
        pending.extend(
            (child, depth + _added_depth(node, child, parent), below)
            for child in node.iter_expressions()
        )


def _added_depth(node: exp.Expr, child: exp.Expr, parent: type | None) -> int:
    """1 if binding of `child` needs one more stack frame, 0 if a loop binds the chain."""
    if isinstance(node, exp.Paren | exp.If):
        return 0
    if isinstance(node, exp.And | exp.Or | exp.Not | exp.DPipe):
        return int(type(node) is not parent)
    return int(not (isinstance(node, _LEFT_CHAINS) and child is node.this))


def _span(tokens: Sequence[Token]) -> TextSpan:
    return TextSpan(tokens[0].start, tokens[-1].end + 1)


def _source(tokens: Sequence[Token], text: str) -> str:
    span = _span(tokens)
    return text[span.start : span.end]
