"""LIKE, ILIKE, RLIKE and SIMILAR TO: the escape character of each dialect, and the pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.predicate.binding import casts
from whyscan.predicate.binding.calls import call
from whyscan.predicate.binding.comparisons import all_of
from whyscan.predicate.binding.opaque import opaque
from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.tree.nodes import Like, Literal
from whyscan.tree.types import STRING

if TYPE_CHECKING:
    from sqlglot import exp

    from whyscan.tree.nodes import Expression


def like(operand: Operand, pattern: Operand, escape: str | None, scope: Scope) -> Like:
    """`operand LIKE pattern`. `escape` is the escape character; None if there is none."""
    text = _text_of(pattern)
    casts.require_case(scope)
    if escape is None and "\\" in text and scope.dialect.family is DialectFamily.OTHER:
        raise Uninterpreted("what a backslash means in a pattern of this dialect")
    subject = casts.implicit_cast(operand, STRING, scope)
    if escape is None:
        return Like(subject, text, None, ignore_case=False)
    return Like(subject, _checked(text, escape, pattern, scope), escape, ignore_case=False)


def escape_of(operand: Operand | None, scope: Scope) -> str | None:
    """The character after ESCAPE. Without ESCAPE it is the default of the dialect."""
    if operand is None:
        return scope.dialect.like_escape
    text = _text_of(operand)
    if len(text) > 1 or (not text and scope.dialect.is_spark):
        raise scope.problem("ESCAPE takes one character", operand)
    return text or None


def _text_of(operand: Operand) -> str:
    match operand.expression:
        case Literal(str() as text, _):
            return text
        case _:
            raise Uninterpreted("a pattern that is not a string literal")


def _checked(pattern: str, escape: str, at: Operand, scope: Scope) -> str:
    """The pattern with escapes only before `%`, `_` and the escape character itself.

    Postgres ignores an escape before another character; other dialects raise an error.
    """
    characters, rest = [], iter(pattern)
    for character in rest:
        if character != escape:
            characters.append(character)
            continue
        escaped = next(rest, None)
        if escaped is not None and escaped in {"%", "_", escape}:
            characters.append(escape + escaped)
        elif escaped is not None and scope.dialect.lenient_escape:
            characters.append(escaped)
        else:
            raise scope.problem(
                f"in a pattern {escape!r} stands before %, _ or itself",
                at,
                hint=f"write {escape * 2!r} for the character itself",
            )
    return "".join(characters)


def ignoring_case(expression: Like) -> Expression:
    """The same LIKE without regard to case: ILIKE."""
    return Like(expression.operand, expression.pattern, expression.escape, ignore_case=True)


def regular(node: exp.Expr, sides: tuple[Operand, Operand], scope: Scope) -> Expression:
    """`text RLIKE pattern`: some substring of the text matches.

    `~` matches the complete text in DuckDB 1 and a substring in DuckDB 2 (measured). A matching
    substring is necessary in both, and nothing more is certain.
    """
    if scope.dialect.family is DialectFamily.OTHER:
        raise Uninterpreted("a regular expression that may not regard case")
    match = call("rlike", sides, scope)
    if scope.dialect.family is not DialectFamily.DUCKDB:
        return match
    return all_of([match, opaque(node, "a match of a part or of the whole text", scope)])


def similar(operand: Operand, pattern: Operand, scope: Scope) -> Expression:
    """DuckDB's `operand SIMILAR TO pattern`: a regular expression for the complete text."""
    if scope.dialect.family is not DialectFamily.DUCKDB:
        raise Uninterpreted("SIMILAR TO in this dialect")
    anchored = Literal(f"^(?:{_text_of(pattern)})$", STRING)
    return call("rlike", (operand, Operand(anchored, pattern.origin)), scope)
