"""Typed trees with other columns in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from whyscan.predicate.tree import (
    And,
    Arithmetic,
    Between,
    Call,
    Case,
    Cast,
    Coalesce,
    Column,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Opaque,
    Or,
)

if TYPE_CHECKING:
    from whyscan.predicate.tree import Expression

Change: TypeAlias = Callable[[Column], "Expression | None"]
"""What stands in a column's place, of the same type; None where nothing can."""


def substituted(expression: Expression, change: Change) -> Expression | None:
    """The expression with every column changed; None where one of them cannot be.

    What is opaque takes columns for columns, and nothing else: its text is not ours to edit.
    """
    match expression:
        case Literal():
            return expression
        case Column():
            return change(expression)
        case Opaque():
            found = [change(column) for column in expression.columns]
            columns = tuple(column for column in found if isinstance(column, Column))
            return replace(expression, columns=columns) if len(columns) == len(found) else None
        case And() | Or() | Coalesce():
            operands = _all(expression.operands, change)
            return None if operands is None else replace(expression, operands=operands)
        case Comparison() | Arithmetic():
            sides = _all((expression.left, expression.right), change)
            return None if sides is None else replace(expression, left=sides[0], right=sides[1])
        case Between():
            ends = _all((expression.operand, expression.low, expression.high), change)
            if ends is None:
                return None
            return replace(expression, operand=ends[0], low=ends[1], high=ends[2])
        case Case():
            return _case(expression, change)
        case Call():
            arguments = _all(expression.arguments, change)
            return None if arguments is None else replace(expression, arguments=arguments)
        case Not() | In() | IsNull() | Like() | Cast():
            operand = substituted(expression.operand, change)
            return None if operand is None else replace(expression, operand=operand)


def _all(parts: tuple[Expression, ...], change: Change) -> tuple[Expression, ...] | None:
    found = [substituted(part, change) for part in parts]
    kept = tuple(part for part in found if part is not None)
    return kept if len(kept) == len(found) else None


def _case(expression: Case, change: Change) -> Expression | None:
    inner = _all(tuple(part for branch in expression.branches for part in branch), change)
    otherwise = substituted(expression.otherwise, change)
    if inner is None or otherwise is None:
        return None
    branches = tuple(zip(inner[::2], inner[1::2], strict=True))
    return replace(expression, branches=branches, otherwise=otherwise)
