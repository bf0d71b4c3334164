"""Literals that no value of a type can equal.

The values of a type form a grid: integers, or decimals with a fixed number of places. A literal
between two grid points equals no value, whatever the bounds are: for an integer `i = 5.5` is never
TRUE, and `i <> 5.5` never FALSE. Spark's optimiser uses the same rule.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec.structs import replace

from whyscan.tree.nodes import Cast, Comparator, Comparison, Expression, In, Literal, type_of
from whyscan.tree.types import DecimalType, FloatType, IntegerType, Type

if TYPE_CHECKING:
    from whyscan.pruning.truth import Truth
    from whyscan.tree.nodes import Value


def compared_on_grid(truth: Truth, comparison: Comparison) -> Truth:
    """The truth of a comparison, without equality if the literal cannot equal the other side."""
    match comparison:
        case Comparison(left=operand, right=Literal(value)) if _is_off(operand, value):
            pass
        case Comparison(left=Literal(value), right=operand) if _is_off(operand, value):
            pass
        case _:
            return truth
    match comparison.operator:
        case Comparator.EQUAL | Comparator.NULL_SAFE_EQUAL:
            return truth.only_if(true=lambda: False)
        case Comparator.NOT_EQUAL:
            return truth.only_if(false=lambda: False)
        case _:
            return truth


def listed_on_grid(listed: In) -> In:
    """The IN list without the values that the operand can never equal."""
    if _grid(listed.operand) is None:
        return listed
    on = [not _is_off(listed.operand, value) for value in listed.values.to_pylist()]
    return listed if all(on) else replace(listed, values=listed.values.filter(pa.array(on)))


def _is_off(operand: Expression, value: Value) -> bool:
    match _grid(operand), value:
        case IntegerType(), Decimal():
            return _has_places(value, 0)
        case DecimalType(scale=scale), Decimal():
            return _has_places(value, scale)
        case IntegerType(), float():
            return not value.is_integer()
        case _:
            return False


def _grid(expression: Expression) -> Type | None:
    """The type before a widening cast, whose values the expression has; None for other expressions.

    Floats are left out: for DuckDB and Trino `f = 5.2` is TRUE for the float that is nearest to
    5.2.
    """
    if not isinstance(expression, Cast):
        return None
    match type_of(expression.operand), expression.type:
        case IntegerType() as source, DecimalType() | FloatType():
            return source
        case DecimalType() as source, DecimalType(scale=scale) if source.scale <= scale:
            return source
        case _:
            return None


def _has_places(value: Decimal, places: int) -> bool:
    """The decimal has nonzero digits after the first `places` places."""
    _, digits, exponent = value.as_tuple()
    beyond = -int(exponent) - places
    return beyond > 0 and any(digits[-beyond:])
