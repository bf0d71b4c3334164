"""Subqueries in conditions: IN and EXISTS become joins, others stay in their expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from sqlglot import exp

from whyscan.predicate.binding.expressions import COMPARATORS
from whyscan.predicate.syntax.parse import unwrapped
from whyscan.statements.sql.relations import Combined, Condition, Kind, Select
from whyscan.tree.nodes import Column, Comparator, Comparison, type_of
from whyscan.tree.types import IntegerType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from whyscan.statements.sql.relations import Source
    from whyscan.statements.sql.scopes import Frame
    from whyscan.tree.types import Type


def semi_join(
    node: exp.Expr, condition: Condition, frame: Frame, build: Callable[[exp.Expr], Source]
) -> tuple[Kind, Source, tuple[Condition, ...], bool] | None:
    """The join that a condition of WHERE is: its kind, right side, ON, and whether by EXISTS.

    None where it is not (NOT) IN, `= ANY` or (NOT) EXISTS with a subquery.
    """
    inner, negated = _unnegated(node)
    if isinstance(inner, exp.Exists) and isinstance(inner.this, exp.Query):
        return (Kind.ANTI if negated else Kind.SEMI), build(inner.this), (), True
    query = _listing(inner)
    if query is None:
        return None
    source = build(query)
    if negated:
        return Kind.NOT_IN, source, (), False
    conditions = _membership(inner.this, source, condition, frame)
    return Kind.SEMI, source, conditions, False


def subject_of(node: exp.Expr) -> exp.Expr | None:
    """What (NOT) IN and `= ANY` compare with the rows of a subquery; None for EXISTS."""
    inner, _ = _unnegated(node)
    return None if isinstance(inner, exp.Exists) else inner.this


def _listing(node: exp.Expr) -> exp.Expr | None:
    """The subquery of `a IN (SELECT …)` or of `a = ANY (SELECT …)`, which mean the same."""
    if isinstance(node, exp.In):
        query = node.args.get("query")
        return None if query is None else unwrapped(query)
    if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Any):
        query = unwrapped(node.expression.this)
        return query if isinstance(query, exp.Query) else None
    return None


def _unnegated(node: exp.Expr) -> tuple[exp.Expr, bool]:
    negated, inner = False, unwrapped(node)
    while isinstance(inner, exp.Not):
        negated, inner = not negated, unwrapped(inner.this)
    return inner, negated


def _membership(
    subject: exp.Expr, source: Source, condition: Condition, frame: Frame
) -> tuple[Condition, ...]:
    """The equalities of an IN: a = c AND b = d for `(a, b) IN (SELECT c, d …)`.

    Sides of different types are left out. Integers of any width are compared.
    """
    inner = unwrapped(subject)
    members = inner.expressions if isinstance(inner, exp.Tuple) else [inner]
    query = source.relation
    if not isinstance(query, Select | Combined) or len(members) != len(query.outputs):
        return ()
    conditions = []
    for member, output in zip(members, query.outputs, strict=True):
        value = frame.value(member)
        other = _column(source, output.name)
        if value is not None and other is not None and _are_comparable(type_of(value), other.type):
            equal = Comparison(Comparator.EQUAL, value, other)
            conditions.append(Condition(equal, condition.sql, condition.bare))
    return tuple(conditions)


def _are_comparable(left: Type, right: Type) -> bool:
    return left == right or (isinstance(left, IntegerType) and isinstance(right, IntegerType))


def _column(source: Source, name: str) -> Column | None:
    for field in source.fields:
        if field.name == name:
            return Column((source.key, field.name), field.type)
    return None


_MIRRORED = {
    Comparator.LESS: Comparator.GREATER,
    Comparator.LESS_EQUAL: Comparator.GREATER_EQUAL,
    Comparator.GREATER: Comparator.LESS,
    Comparator.GREATER_EQUAL: Comparator.LESS_EQUAL,
}


def with_comparison(node: exp.Expr, condition: Condition, frame: Frame) -> Condition:
    """The condition `a < (SELECT …)` with its operator and `a`; other conditions unchanged.

    `a <=> (SELECT …)` says nothing: a subquery without rows gives NULL, which it finds.
    """
    operator = COMPARATORS.get(type(node))
    if operator is None or operator is Comparator.NULL_SAFE_EQUAL:
        return condition
    left, right = unwrapped(node.this), unwrapped(node.expression)
    if isinstance(left, exp.Query):
        left, right, operator = right, left, _MIRRORED.get(operator, operator)
    value = frame.value(left) if isinstance(right, exp.Query) else None
    return condition if value is None else replace(condition, compares=(operator, value))


def nested_queries(node: exp.Expr) -> Iterator[exp.Expr]:
    """The outermost subqueries of an expression."""
    for part in node.walk(prune=lambda n: isinstance(n, exp.Query)):
        if isinstance(part, exp.Query):
            yield part
