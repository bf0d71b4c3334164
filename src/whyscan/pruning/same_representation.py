"""Casts that change only the type: the value and its Arrow representation stay the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.tree import arrow
from whyscan.tree.nodes import Cast, Column, Comparator, Comparison, Expression, In, Literal
from whyscan.tree.types import DecimalType, FloatType, IntegerType, Type

if TYPE_CHECKING:
    import pyarrow as pa


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


def column_and_values(expression: Comparison | In) -> tuple[Column, pa.Array] | None:
    """The column and the values of `column = v` and `column IN (v, …)`; None for others."""
    match expression:
        case In():
            column = column_below(expression.operand)
            return None if column is None else (column, expression.values)
        case Comparison(
            Comparator.EQUAL | Comparator.NULL_SAFE_EQUAL, Literal() as literal, operand
        ):
            return _column_and_value(operand, literal)
        case Comparison(
            Comparator.EQUAL | Comparator.NULL_SAFE_EQUAL, operand, Literal() as literal
        ):
            return _column_and_value(operand, literal)
        case _:
            return None


def _column_and_value(operand: Expression, literal: Literal) -> tuple[Column, pa.Array] | None:
    column = column_below(operand)
    if (
        column is None
        or literal.value is None
        or not share_representation(column.type, literal.type)
    ):
        return None
    return column, arrow.array([literal.value], literal.type)


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
