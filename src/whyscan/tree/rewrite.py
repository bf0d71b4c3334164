"""Replacement of the columns of an expression by other expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from whyscan.tree.nodes import Column, Opaque, children, with_children

if TYPE_CHECKING:
    from whyscan.tree.nodes import Expression

Change: TypeAlias = Callable[[Column], "Expression | None"]
"""Returns the replacement of a column, of the same type; None if there is none."""


def substituted(expression: Expression, change: Change) -> Expression | None:
    """The expression with every column replaced; None if a column has no replacement.

    In an `Opaque` expression a column can only be replaced by a column: its text stays as it is.
    """
    if isinstance(expression, Column):
        return change(expression)
    operands = []
    for child in children(expression):
        operand = substituted(child, change)
        if operand is None:
            return None
        if isinstance(expression, Opaque) and not isinstance(operand, Column):
            return None
        operands.append(operand)
    return with_children(expression, operands)
