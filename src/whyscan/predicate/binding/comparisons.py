"""Comparisons, BETWEEN, IN, AND and OR of bound operands."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.predicate.binding import casts
from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted
from whyscan.tree import arrow
from whyscan.tree.nodes import (
    And,
    Between,
    Call,
    Column,
    Comparator,
    Comparison,
    In,
    Literal,
    Not,
    Or,
    type_of,
)
from whyscan.tree.types import BIGINT, BOOLEAN, FloatType, IntegerType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tree.nodes import Expression, Value
    from whyscan.tree.types import Type


_UPWARDS = {Comparator.LESS, Comparator.LESS_EQUAL}
_ORDERS = _UPWARDS | {Comparator.GREATER, Comparator.GREATER_EQUAL}


def compare(operator: Comparator, left: Operand, right: Operand, scope: Scope) -> Expression:
    """`left operator right`. Both operands are cast to their common type."""
    if scope.dialect.is_spark and (constant := _beyond_bigint(operator, left, right)) is not None:
        return constant
    both = casts.cast_pair(left, right, scope)
    starts = _starts_with(*both)
    if starts is not None and operator in (Comparator.EQUAL, Comparator.NOT_EQUAL):
        return starts if operator is Comparator.EQUAL else Not(starts)
    return compared(operator, *both, scope)


def _starts_with(left: Expression, right: Expression) -> Call | None:
    """`startswith(x, 'abc')`, which is what `instr(x, 'abc') = 1` says; None for others."""
    match (left, right):
        case (Call("instr", (text, Literal(str() as search) as start)), Literal(1)) if search:
            return Call("startswith", (text, start), BOOLEAN)
        case (Literal(1), Call("instr", (_, Literal()))):
            return _starts_with(right, left)
        case _:
            return None


def compared(operator: Comparator, left: Expression, right: Expression, scope: Scope) -> Comparison:
    """`left operator right` for two operands of one type."""
    if operator is Comparator.NULL_SAFE_EQUAL or not isinstance(type_of(left), FloatType):
        return Comparison(operator, left, right)
    return Comparison(operator, left, right, scope.dialect.nan_order)


def _beyond_bigint(operator: Comparator, left: Operand, right: Operand) -> Literal | None:
    """Spark replaces `integer < literal beyond bigint` by TRUE or FALSE, also for NULL."""
    if operator not in _ORDERS:
        return None
    match (left.expression, right.expression):
        case (subject, Literal(Decimal() as value, _)):
            upwards = operator in _UPWARDS
        case (Literal(Decimal() as value, _), subject):
            upwards = operator not in _UPWARDS
        case _:
            return None
    if BIGINT.least <= value <= BIGINT.greatest or not isinstance(type_of(subject), IntegerType):
        return None
    return Literal((value > 0) == upwards, BOOLEAN)


def between(operand: Operand, low: Operand, high: Operand, scope: Scope) -> Expression:
    """`operand BETWEEN low AND high`. If the bounds need different casts, two comparisons."""
    below = compare(Comparator.GREATER_EQUAL, operand, low, scope)
    above = compare(Comparator.LESS_EQUAL, operand, high, scope)
    match (below, above):
        case (
            Comparison(left=subject, right=least) as first,
            Comparison(left=second_subject, right=most),
        ) if (
            subject == second_subject
            and _have_same_arrow_type(least, most)
            and (not first.nan_unordered or (_is_number(least) and _is_number(most)))
        ):
            return Between(subject, least, most)
        case _:
            return all_of([below, above])


def _is_number(expression: Expression) -> bool:
    """Whether an expression is a literal other than NaN: no order puts NaN between two such."""
    if not isinstance(expression, Literal):
        return False
    return not (isinstance(expression.value, float) and math.isnan(expression.value))


def _have_same_arrow_type(left: Expression, right: Expression) -> bool:
    return bool(arrow.arrow_type(type_of(left)) == arrow.arrow_type(type_of(right)))


def is_one_of(operand: Operand, values: Sequence[Operand], scope: Scope) -> Expression:
    """`operand IN (values)`: a set if all values are literals, else an OR of comparisons.

    All operands are cast to one common type, which may differ from the common type of two.
    """
    common = casts.cast_to_common_type((operand, *values), scope)
    subject, *literals = common.operands
    if not all(isinstance(value.expression, Literal) for value in values):
        equalities = (compared(Comparator.EQUAL, subject, value, scope) for value in literals)
        return any_of(list(equalities))
    values_and_flags = as_set([_value(literal) for literal in literals], common.type)
    if not scope.dialect.nan_is_greatest and values_and_flags[2]:
        raise Uninterpreted("a list with NaN, which may equal no value")
    return In(subject, *values_and_flags)


def _value(expression: Expression) -> Value:
    if not isinstance(expression, Literal):
        raise Uninterpreted("a list with values that cannot be computed beforehand")
    return expression.value


def as_set(values: Sequence[Value], kind: Type) -> tuple[pa.Array, bool, bool]:
    """The sorted distinct values, whether there is a NULL, and whether there is a NaN."""
    present = [value for value in values if value is not None]
    null = len(present) < len(values)
    nan = False
    if isinstance(kind, FloatType):
        # 0.0 + x turns -0.0 into 0.0 and keeps every other number.
        numbers = [0.0 + v for v in present if isinstance(v, float) and not math.isnan(v)]
        nan = len(numbers) < len(present)
        present = list(numbers)
    distinct = pc.unique(arrow.array(present, kind))
    return distinct.take(pc.sort_indices(distinct)), null, nan


def is_true(operand: Operand, expected: bool, scope: Scope) -> Expression:  # noqa: FBT001
    """`operand IS TRUE` or `operand IS FALSE`, which is never NULL."""
    condition = casts.as_condition(operand, scope)
    return Comparison(Comparator.NULL_SAFE_EQUAL, condition, Literal(expected, BOOLEAN))


LONG_DISJUNCTION = 16
"""The number of equalities of one column under an OR from which on they become an IN list."""


def any_of(operands: Sequence[Expression]) -> Expression:
    """`a OR b OR c`, without nested ORs. A long `x = 1 OR x = 2 OR …` becomes an IN list."""
    flat = [part for o in operands for part in (o.operands if isinstance(o, Or) else (o,))]
    parts = _with_lists(flat) if len(flat) >= LONG_DISJUNCTION else flat
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def _with_lists(parts: Sequence[Expression]) -> list[Expression]:
    """The operands with the equalities of each column as one IN list, after the other operands."""
    values: dict[Column, list[Comparison]] = {}
    rest: list[Expression] = []
    for part in parts:
        match part:
            case Comparison(Comparator.EQUAL, Column() as column, Literal()) if (
                _have_same_arrow_type(column, part.right)
                and (_is_number(part.right) or not part.nan_unordered)
            ):
                values.setdefault(column, []).append(part)
            case _:
                rest.append(part)
    for column, equalities in values.items():
        if len(equalities) < LONG_DISJUNCTION:
            rest.extend(equalities)
        else:
            listed = [_value(equality.right) for equality in equalities]
            rest.append(In(column, *as_set(listed, column.type)))
    return rest


def all_of(operands: Sequence[Expression]) -> Expression:
    """`a AND b AND c`, without nested ANDs."""
    flat = [part for o in operands for part in (o.operands if isinstance(o, And) else (o,))]
    return flat[0] if len(flat) == 1 else And(tuple(flat))
