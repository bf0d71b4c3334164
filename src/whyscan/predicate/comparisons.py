"""Comparisons, BETWEEN and IN over bound operands."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.predicate import arrow, casts
from whyscan.predicate.scope import Operand, Scope, Uninterpreted
from whyscan.predicate.tree import (
    And,
    Between,
    Comparator,
    Comparison,
    In,
    Literal,
    Or,
    type_of,
)
from whyscan.predicate.types import BOOLEAN, FloatType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.predicate.tree import Expression, Value
    from whyscan.predicate.types import Type


def compare(operator: Comparator, left: Operand, right: Operand, scope: Scope) -> Expression:
    """`left operator right`, both cast to the type they meet in."""
    first, second = casts.meet(left, right, scope)
    return Comparison(operator, first, second)


def between(operand: Operand, low: Operand, high: Operand, scope: Scope) -> Expression:
    """`operand BETWEEN low AND high`; two comparisons where each bound meets in another type."""
    below = casts.meet(operand, low, scope)
    above = casts.meet(operand, high, scope)
    if below[0] == above[0] and arrow.arrow_type(type_of(below[1])) == arrow.arrow_type(
        type_of(above[1])
    ):
        return Between(below[0], below[1], above[1])
    return And(
        (
            Comparison(Comparator.GREATER_EQUAL, *below),
            Comparison(Comparator.LESS_EQUAL, *above),
        )
    )


def is_one_of(operand: Operand, values: Sequence[Operand], scope: Scope) -> Expression:
    """`operand IN (values)`: a set where all are literals, else an OR of comparisons."""
    if not all(isinstance(value.expression, Literal) for value in values):
        return any_of([compare(Comparator.EQUAL, operand, value, scope) for value in values])
    met = casts.together((operand, *values), scope)
    subject, *literals = met.operands
    return In(subject, *as_set([_value(literal) for literal in literals], met.type))


def _value(expression: Expression) -> Value:
    if not isinstance(expression, Literal):
        raise Uninterpreted("a list with values that cannot be computed beforehand")
    return expression.value


def as_set(values: Sequence[Value], kind: Type) -> tuple[pa.Array, bool, bool]:
    """The values sorted and distinct, whether there was a NULL, whether there was a NaN."""
    present = [value for value in values if value is not None]
    null = len(present) < len(values)
    nan = False
    if isinstance(kind, FloatType):
        # 0.0 + x turns -0.0 into 0.0 and leaves every other number.
        numbers = [0.0 + v for v in present if isinstance(v, float) and not math.isnan(v)]
        nan = len(numbers) < len(present)
        present = list(numbers)
    distinct = pc.unique(arrow.array(present, kind))
    return distinct.take(pc.sort_indices(distinct)), null, nan


def is_true(operand: Operand, expected: bool, scope: Scope) -> Expression:  # noqa: FBT001
    """`operand IS TRUE` or `IS FALSE`: never NULL."""
    condition = casts.as_condition(operand, scope)
    return Comparison(Comparator.NULL_SAFE_EQUAL, condition, Literal(expected, BOOLEAN))


def any_of(operands: Sequence[Expression]) -> Expression:
    """`a OR b OR c`, flat."""
    flat = [part for o in operands for part in (o.operands if isinstance(o, Or) else (o,))]
    return flat[0] if len(flat) == 1 else Or(tuple(flat))


def all_of(operands: Sequence[Expression]) -> Expression:
    """`a AND b AND c`, flat."""
    flat = [part for o in operands for part in (o.operands if isinstance(o, And) else (o,))]
    return flat[0] if len(flat) == 1 else And(tuple(flat))
