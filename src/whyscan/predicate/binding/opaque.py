"""Binding of columns, and of opaque conditions: the columns that they name must exist."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from sqlglot import exp

from whyscan.errors import TextSpan, UnknownColumn
from whyscan.predicate.binding import names, time_calls
from whyscan.predicate.binding.scope import Scope, Uninterpreted
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.predicate.syntax.parse import sql_of
from whyscan.tree.nodes import Call, Column, Literal, Opaque
from whyscan.tree.types import STRING, StringType, StructType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.tree.nodes import Expression


def opaque(node: exp.Expr, reason: str, scope: Scope) -> Opaque:
    """An opaque condition for a node that whyscan cannot interpret."""
    columns = dict.fromkeys(_columns(node, scope))
    return Opaque(sql_of(node, scope.syntax.dialect), reason, tuple(columns))


def column(node: exp.Expr, scope: Scope) -> Column:
    """The column of a dotted name."""
    try:
        resolved = names.resolve(_parts(node), scope.columns, scope.syntax.text)
    except UnknownColumn as problem:
        problem.literal = _intended_literal(node, scope)
        if problem.literal is not None:
            problem.hint = names.suggestion(
                node.name, scope.columns.schema.names(), problem.literal
            )
        raise
    if resolved.path[-1] in {"file_block_start", "file_block_length"} and len(resolved.path) > 1:
        raise Uninterpreted("where in its file a split begins")
    return resolved


def column_value(node: exp.Expr, scope: Scope) -> Expression:
    """The value of a column; `nullif(s, '')` where an empty text is NULL."""
    resolved = column(node, scope)
    if scope.dialect.empty_text_is_null and isinstance(resolved.type, StringType):
        return Call("nullif", (resolved, Literal("", STRING)), STRING)
    return resolved


def _intended_literal(node: exp.Expr, scope: Scope) -> str | None:
    """The literal `'AIR'` for the unknown name of `mode = AIR`, where `mode` is a string column."""
    if not isinstance(node, exp.Column) or len(node.parts) > 1:
        return None
    if not isinstance(node.parent, exp.Predicate):
        return None
    for other in node.parent.iter_expressions():
        if not isinstance(other, exp.Column) or id(other) == id(node):
            continue
        with suppress(UnknownColumn, Uninterpreted):
            resolved = names.resolve(_parts(other), scope.columns, scope.syntax.text)
            if isinstance(resolved.type, StringType):
                place = _part(node.this).span
                word = scope.syntax.text[place.start : place.end].strip('"`[]')
                return f"'{word or node.name}'"
    return None


def member(node: exp.Expr, scope: Scope) -> Column:
    """Snowflake's `place:city`: the member of a struct with exactly that name.

    In other dialects the path leads into JSON text, in which a string has quotes.
    """
    if scope.dialect.family is not DialectFamily.SNOWFLAKE:
        raise Uninterpreted("a path into a document")
    target = column(node.this, scope)
    for key in _keys(node.expression):
        members = target.type.fields if isinstance(target.type, StructType) else ()
        inner = next((field for field in members if field.name == key), None)
        if inner is None:
            raise Uninterpreted("a path into a document")
        target = Column((*target.path, inner.name), inner.type)
    return target


def _keys(path: exp.Expr) -> Iterator[object]:
    """The names `a`, `b` of the path `$.a.b`; None for a step that is not a plain name."""
    steps = path.expressions if isinstance(path, exp.JSONPath) else [path]
    for step in steps:
        if not isinstance(step, exp.JSONPathRoot):
            yield step.this if isinstance(step, exp.JSONPathKey) else None


def _parts(node: exp.Expr) -> Sequence[names.NamePart]:
    """The names `a`, `b`, `c` of `a.b.c` or `a.b['c']`."""
    match node:
        case exp.Column():
            return [_part(identifier) for identifier in node.parts]
        case exp.Dot(expression=exp.Identifier() as member):
            return [*_parts(node.this), _part(member)]
        case exp.Bracket(expressions=[exp.Literal(is_string=True) as member]):
            return [*_parts(node.this), _part(member)]
        case exp.Paren():
            return _parts(node.this)
        case _:
            raise Uninterpreted("a member of something computed")


def _part(identifier: exp.Expr) -> names.NamePart:
    if isinstance(identifier, exp.Star):
        raise Uninterpreted("all columns at once")
    place = identifier.meta
    return names.NamePart(
        identifier.name, TextSpan(place.get("start", 0), place.get("end", -1) + 1)
    )


def _columns(node: exp.Expr, scope: Scope) -> Iterator[Column]:
    """The columns below a node. Unknown names in a subquery are ignored."""
    for column_node in node.find_all(exp.Column, bfs=False):
        in_subquery = column_node.find_ancestor(exp.Query) is not None
        try:
            yield column(column_node, scope)
        except Uninterpreted:
            continue
        except UnknownColumn:
            if in_subquery or column_node.name.lower() in time_calls.UNIT_WORDS:
                continue
            raise
