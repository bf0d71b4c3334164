"""Casts that change only the type: the value and its Arrow representation stay the same."""

from __future__ import annotations

from whyscan.tree.nodes import Cast, Column, Expression
from whyscan.tree.types import DecimalType, FloatType, IntegerType, Type


def column_below(expression: Expression) -> Column | None:
    """The column itself, or the column below casts to wider types; None for other expressions."""
    while isinstance(expression, Cast):
        inner = expression.operand
        if not isinstance(inner, Cast | Column) or not _widens(inner.type, expression.type):
            return None
        expression = inner
    return expression if isinstance(expression, Column) else None


def share_representation(a: Type, b: Type) -> bool:
    """Equal values of the two types have the same representation."""
    match a, b:
        case (IntegerType(), IntegerType()) | (FloatType(), FloatType()):
            return True
        case DecimalType(), DecimalType():
            return a.scale == b.scale
        case _:
            return a == b


def _widens(narrow: Type, wide: Type) -> bool:
    match narrow, wide:
        case IntegerType(), IntegerType():
            return narrow.bits <= wide.bits
        case FloatType(), FloatType():
            return narrow.bits <= wide.bits
        case DecimalType(), DecimalType():
            return narrow.scale == wide.scale and narrow.precision <= wide.precision
        case _:
            return narrow == wide
