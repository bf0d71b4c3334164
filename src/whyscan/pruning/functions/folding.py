"""Constants: a literal is an interval of one point, so the law computes a call of literals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.pruning.functions import FUNCTIONS, apply, arithmetic
from whyscan.pruning.interval import of_literal
from whyscan.tree import arrow
from whyscan.tree.nodes import Call, Literal

if TYPE_CHECKING:
    from whyscan.pruning.interval import Interval
    from whyscan.tree.nodes import Arithmetic
    from whyscan.tree.types import Type
    from whyscan.tree.zones import Zone


def folded(expression: Call | Arithmetic, zone: Zone) -> Literal | None:
    """The value of an operation on literals; None if the law leaves it open or it may raise."""
    strict = True
    if isinstance(expression, Call):
        operands, strict = expression.arguments, FUNCTIONS[expression.function].strict
    else:
        operands = (expression.left, expression.right)
    literals = [operand for operand in operands if isinstance(operand, Literal)]
    if len(literals) < len(operands):
        return None
    if strict and any(literal.value is None for literal in literals):
        return Literal(None, expression.type)
    intervals = [of_literal(literal) for literal in literals]
    if isinstance(expression, Call):
        return _value(apply(expression, intervals, zone), expression.type)
    left, right = intervals
    return _value(arithmetic(expression, left, right, zone), expression.type)


def _value(x: Interval, kind: Type) -> Literal | None:
    """The only value of an interval; None if there are several or an error is possible."""
    match x.value, x.null, x.nan, x.raises:
        case True, False, False, False:
            point = x.lower
            if point is None or not point.is_valid or not point.equals(x.upper):
                return None
            return Literal(arrow.value(point, kind), kind)
        case False, True, False, False:
            return Literal(None, kind)
        case False, False, True, False:
            return Literal(float("nan"), kind)
        case _:
            return None
