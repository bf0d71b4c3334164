"""Parses SQL text into the tree of one statement, and the views that the text defines before it."""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct
from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from whyscan.errors import SyntaxProblem, TextSpan, limited
from whyscan.predicate.syntax import tokens as tokens_
from whyscan.predicate.syntax.parse import (
    Syntax,
    check_tree_depth,
    dialect_named,
    problem,
    tokenize,
)
from whyscan.statements.sql.unions import balance_unions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlglot.dialects.dialect import Dialect

_NEVER_CALLED = {TokenType.INSERT, TokenType.VALUES}
"""Keywords that stand before a parenthesis in statements, and are functions elsewhere."""

TARGET = "target"
"""The key of the mark on the table that a change writes."""

FINAL = "final"
"""The key of the mark on a table that is read with ClickHouse's FINAL."""

STATEMENTS = (
    exp.Query,
    exp.Insert,
    exp.Update,
    exp.Delete,
    exp.Merge,
    exp.Create,
    exp.TruncateTable,
    exp.MultitableInserts,
)
_NOT_READING = (
    exp.Command,
    exp.DDL,
    exp.Drop,
    exp.TruncateTable,
    exp.Alter,
    exp.Set,
    exp.Use,
    exp.Describe,
    exp.Show,
    exp.Copy,
    exp.Cache,
)
_VERBS = {TokenType.MERGE, TokenType.INSERT}
_EVOLUTION = ("WITH", "SCHEMA", "EVOLUTION")


class Statement(Struct, frozen=True):
    """A parsed statement. `syntax` has no fragments; messages and lifted lists refer to it."""

    syntax: Syntax
    tree: exp.Expr
    views: Mapping[str, exp.Query]


def parse_statement(text: str, dialect: str = "spark") -> Statement:
    """The only statement of a text, after the views that it defines."""
    with limited(), quiet():
        return _statement(text, dialect)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the parser's log: our errors say what is wrong."""
    logger = logging.getLogger("sqlglot")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _statement(text: str, dialect: str) -> Statement:
    language = dialect_named(dialect)
    written = [token for token in tokenize(text, language) if not _is_long_hint(token)]
    tokens, lists = tokens_.extract_long_lists(_with_named_stages(_without_evolution(written)))
    tokens_.check_depth(tokens, text)
    parsed = _parsed(tokens, text, language)
    trees = [t for t in parsed if t is not None and not isinstance(t, exp.Semicolon)]
    views: dict[str, exp.Query] = {}
    while len(trees) > 1 and (view := _view(trees[0])) is not None:
        views[view[0]] = view[1]
        trees = trees[1:]
    if len(trees) != 1:
        raise _not_one(len(trees), text)
    tree = _as_query(trees[0])
    if not isinstance(tree, STATEMENTS) or _without_query(tree):
        is_other_statement = isinstance(tree, _NOT_READING)
        first = _first_of_last(tokens)
        verb = first.text.upper()
        raise SyntaxProblem(
            f"{verb} reads no table" if is_other_statement else f"{verb} begins no statement",
            text=text,
            span=tokens_.span_of(first),
            hint="SELECT, INSERT, MERGE, UPDATE, DELETE and CREATE TABLE AS can be explained",
        )
    return Statement(Syntax(text, dialect.lower(), (), lists), tree, views)


LONGEST_HINT = 10_000


def _is_long_hint(token: Token) -> bool:
    """Whether a hint is so long that parsing takes seconds: it does not change what is read."""
    return token.token_type is TokenType.HINT and len(token.text) > LONGEST_HINT


def _as_query(tree: exp.Expr) -> exp.Expr:
    """The query whose rows a statement takes; other statements as they are.

    | statement                              | query                    |
    |----------------------------------------|--------------------------|
    | `VALUES (1)`                           | `SELECT * FROM (VALUES)` |
    | `PIVOT t ON a USING b`, `UNPIVOT t …`  | `SELECT * FROM t`        |
    | `COPY t TO 'x'`                        | `SELECT * FROM t`        |
    | `COPY (q) TO 'x'`, `COPY INTO … (q)`   | q                        |
    | `CACHE TABLE x AS q`, `EXPORT … AS q`  | q                        |
    """
    match tree:
        case exp.Values():
            inner: exp.Expr = tree
        case exp.Pivot() | exp.Copy(this=exp.Table(), args={"kind": False}):
            inner = tree.this
        case (
            exp.Copy(this=exp.Subquery(this=exp.Query() as query), args={"kind": False})
            | exp.Copy(args={"files": [exp.Subquery(this=exp.Query() as query)]})
            | exp.Cache(args={"expression": exp.Query() as query})
            | exp.Export(this=exp.Query() as query)
        ):
            return query
        case _:
            return tree
    rows = exp.Select(expressions=[exp.Star()]).from_(inner, copy=False)
    rows.set("with_", tree.args.get("with_"))
    return rows


def _without_evolution(tokens: list[Token]) -> list[Token]:
    """The tokens without WITH SCHEMA EVOLUTION, which the parser does not support.

    It does not change what a MERGE reads.
    """
    for at, token in enumerate(tokens):
        if token.token_type in _VERBS:
            behind = tokens[at + 1 : at + 1 + len(_EVOLUTION)]
            if tuple(token.text.upper() for token in behind) == _EVOLUTION:
                return [*tokens[: at + 1], *tokens[at + 1 + len(_EVOLUTION) :]]
    return tokens


_STAGE_ENDS = {TokenType.LIMIT, TokenType.TABLE_SAMPLE, TokenType.DISTINCT}
"""Pipe operators whose result is another table for the operators behind them."""
_STAGE = re.compile(r"_stage\d+_(.*)")
_KEEPS_UNMATCHED = {TokenType.RIGHT, TokenType.FULL}


def _with_named_stages(tokens: list[Token]) -> list[Token]:
    """Insert `|> AS t` between pipe operators that would otherwise be joined in the wrong order.

    The parser puts the operators of a pipe into one SELECT: it reads `|> LIMIT 3 |> WHERE a` as
    `WHERE a LIMIT 3`. A named stage is a CTE. Its name contains that of the first table, because
    columns can still be written with it.
    """
    places: dict[int, list[int]] = {}
    ends: dict[int, str] = {}
    depth = 0
    for at, token in enumerate(tokens):
        if token.token_type is TokenType.L_PAREN:
            depth += 1
        elif token.token_type is TokenType.R_PAREN:
            places.pop(depth, None)
            depth -= 1
        elif token.token_type is TokenType.PIPE_GT:
            pipe = places.setdefault(depth, [])
            if pipe and _ends_stage(tokens[pipe[-1] + 1], tokens[at + 1 : at + 2]):
                first = tokens[pipe[0] - 1]
                name = first.text if first.token_type is TokenType.VAR else ""
                ends[at] = f"_stage{at}_{name}"
            pipe.append(at)
    staged: list[Token] = []
    for at, token in enumerate(tokens):
        if at in ends:
            staged += (
                Token(kind, text, token.line, token.col, token.start, token.end)
                for kind, text in (
                    (TokenType.PIPE_GT, "|>"),
                    (TokenType.ALIAS, "AS"),
                    (TokenType.VAR, ends[at]),
                )
            )
        staged.append(token)
    return staged


def _stage(name: exp.Identifier) -> exp.Table:
    """The table of a stage, under the name of the first table where we have named it."""
    table = exp.Table(this=name)
    match = _STAGE.fullmatch(name.name)
    if match is not None and match[1]:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(match[1])))
    return table


def _ends_stage(operator: Token, following: Sequence[Token]) -> bool:
    """Whether the operator behind a pipe operator sees its result only."""
    if operator.token_type is TokenType.WHERE:
        return any(token.token_type in _KEEPS_UNMATCHED for token in following)
    return operator.token_type in _STAGE_ENDS


def _parsed(tokens: list[Token], text: str, dialect: Dialect) -> list[exp.Expr | None]:
    """Parse twice: the first pass separates names before parentheses from calls.

    The second pass parses marked calls.
    """
    tokens = tokens_.with_signs(tokens)
    try:
        plain = _parse(tokens, text, dialect)
    except SyntaxProblem:
        # The parser knows how many arguments some functions have: Spark's concat() has none.
        tokens = tokens_.mark_empty_calls(tokens)
        plain = _parse(tokens, text, dialect)
    names = _starts(plain, exp.Identifier)
    marked = tokens_.mark_calls(tokens)
    chosen = [
        token if token.start in names or token.token_type in _NEVER_CALLED else call
        for token, call in zip(tokens, marked, strict=True)
    ]
    try:
        trees = _parse(chosen, text, dialect)
    except SyntaxProblem:
        # Some calls have a special syntax, JSON_OBJECT('a': 1), and some words before a
        # parenthesis are no calls, * EXCLUDE (a): mark only what the parser reads as a call.
        called = _starts(plain, exp.Func)
        kept = [
            call if token.start in called else token
            for token, call in zip(tokens, chosen, strict=True)
        ]
        trees = _parse(kept, text, dialect)
    for tree in trees:
        for final in [] if tree is None else list(tree.find_all(exp.Final)):
            final.this.meta[FINAL] = True
            final.replace(final.this)
        for start in [] if tree is None else tree.find_all(exp.From):
            if isinstance(start.this, exp.TableAlias):  # behind `|> AS t`
                start.set("this", _stage(start.this.this))
        if tree is not None and len(tokens) > tokens_.MAX_DEPTH:
            balance_unions(tree)
            check_tree_depth(tree, text, TextSpan(0, len(text)))
    return trees


def _starts(trees: list[exp.Expr | None], node_type: type[exp.Expr]) -> set[int]:
    """The positions in the text where nodes of a type begin, as far as nodes have one."""
    nodes = (node for tree in trees if tree is not None for node in tree.find_all(node_type))
    return {node.meta["start"] for node in nodes if "start" in node.meta}


def _parse(tokens: list[Token], text: str, dialect: Dialect) -> list[exp.Expr | None]:
    try:
        return dialect.parser().parse(list(tokens), text)
    except ParseError as error:
        raise problem(error, tokens, text) from error
    # The compiled parser raises these for some malformed statements.
    except (IndexError, TypeError, AttributeError, ValueError) as error:
        raise SyntaxProblem("this is not a statement", text=text) from error


def _view(tree: exp.Expr) -> tuple[str, exp.Query] | None:
    """`CREATE VIEW name AS query`: the name in lower case, and the query; None for others."""
    if not isinstance(tree, exp.Create) or str(tree.args.get("kind")).upper() != "VIEW":
        return None
    query, target = tree.expression, tree.this
    if not isinstance(query, exp.Query):
        return None
    if not isinstance(target, exp.Schema):
        return target.name.lower(), query
    columns = [exp.to_identifier(column.name) for column in target.expressions]
    alias = exp.TableAlias(this=exp.to_identifier("_view"), columns=columns)
    renamed = exp.Select(expressions=[exp.Star()]).from_(exp.Subquery(this=query, alias=alias))
    return target.this.name.lower(), renamed


def _without_query(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Create) and not isinstance(tree.expression, exp.Query)


def _first_of_last(tokens: list[Token]) -> Token:
    """The first token of the last statement."""
    behind = [b for a, b in pairwise(tokens) if a.token_type is TokenType.SEMICOLON]
    return behind[-1] if behind else tokens[0]


def _not_one(count: int, text: str) -> SyntaxProblem:
    if not count:
        return SyntaxProblem("there is no statement", text=text, hint="write a query")
    return SyntaxProblem(
        f"these are {count} statements",
        text=text,
        hint="explain them one at a time; only CREATE VIEW may come before the last",
    )
