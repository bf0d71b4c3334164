"""Binding of a predicate text: parse it, resolve its columns, type its literals, add casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.errors import limited
from whyscan.predicate.binding.expressions import bind_condition, refuse_text
from whyscan.predicate.binding.names import SchemaColumns
from whyscan.predicate.binding.scope import Scope
from whyscan.predicate.syntax.dialects import dialect_of
from whyscan.predicate.syntax.parse import parse
from whyscan.predicate.syntax.session import Session
from whyscan.tree import zones
from whyscan.tree.clock import Clock
from whyscan.tree.nodes import Conjunct, Opaque, Predicate

if TYPE_CHECKING:
    from whyscan.predicate.syntax.parse import Fragment
    from whyscan.tree.types import Schema


def bind(text: str, schema: Schema, session: Session | None = None) -> Predicate:
    """Bind a predicate text to the columns of a schema.

    SyntaxProblem, UnknownColumn and TypeProblem point at the place in the text. UsageError is
    raised for an unknown dialect or time zone. An expression that whyscan cannot interpret
    becomes `Opaque`.
    """
    with limited():
        return _bind(text, schema, session or Session())


def _bind(text: str, schema: Schema, session: Session) -> Predicate:
    dialect = dialect_of(session.dialect)
    clock = Clock(zones.zone(session.timezone), session.now, first_of_two=dialect.is_spark)
    syntax = parse(text, session.dialect)
    scope = Scope(syntax, dialect, SchemaColumns(schema), clock)
    refuse_text([fragment.tree for fragment in syntax.fragments], scope)
    conjuncts = tuple(_conjunct(fragment, scope) for fragment in syntax.fragments)
    now = session.now if clock.was_read else None
    return Predicate(text, session.dialect, session.timezone, now, conjuncts)


def _conjunct(fragment: Fragment, scope: Scope) -> Conjunct:
    expression = bind_condition(fragment.tree, scope)
    if isinstance(expression, Opaque):
        expression = replace(expression, sql=fragment.sql)
    return Conjunct(expression, fragment.sql)
