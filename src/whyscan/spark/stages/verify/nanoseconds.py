"""Rewrite predicates on nanosecond timestamps for Spark, which has no such type.

A timestamp becomes the number of nanoseconds since 1970, which compares in the same way. A
predicate that does more than compare is not rewritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec.structs import replace

from whyscan.tree.nodes import (
    And,
    Between,
    Column,
    Comparison,
    In,
    IsNull,
    Literal,
    Not,
    Or,
    children,
    columns_of,
    with_children,
)
from whyscan.tree.types import BIGINT, TimestampType, TimeUnit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whyscan.tree.nodes import Expression
    from whyscan.tree.types import Type


def has_nanoseconds(expression: Expression) -> bool:
    """Whether a column of the expression is a nanosecond timestamp."""
    return any(_is_nanoseconds(column.type) for column in columns_of(expression))


def in_ticks(expression: Expression) -> Expression | None:
    """The expression on numbers; None if it does more with nanoseconds than compare them."""
    match expression:
        case And() | Or() | Not():
            return _over(expression, in_ticks)
        case _ if not has_nanoseconds(expression):
            return expression
        case In():
            numbers = replace(expression, values=expression.values.view(pa.int64()))
            return _over(numbers, _number)
        case Comparison() | Between() | IsNull():
            return _over(expression, _number)
        case _:
            return None


def _over(
    expression: Expression, change: Callable[[Expression], Expression | None]
) -> Expression | None:
    changed: Sequence[Expression | None] = [change(part) for part in children(expression)]
    rewritten = [part for part in changed if part is not None]
    return with_children(expression, rewritten) if len(rewritten) == len(changed) else None


def _number(operand: Expression) -> Expression | None:
    """A column or literal of nanoseconds as a number; None for other operands."""
    match operand:
        case Column() | Literal() if _is_nanoseconds(operand.type):
            return replace(operand, type=BIGINT)
        case _:
            return None


def _is_nanoseconds(kind: Type) -> bool:
    return isinstance(kind, TimestampType) and kind.unit is TimeUnit.NANOSECOND
