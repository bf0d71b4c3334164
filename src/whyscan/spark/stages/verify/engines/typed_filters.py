"""A condition as the expression of an engine that has no SQL: of PyArrow, or of Polars.

The condition is bound to the table's schema first, and the typed tree is folded with the words of
the engine. What the engine has no word for is refused.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.pruning.same_representation import column_below
from whyscan.spark.stages.verify.engines.engine import EngineRefusal
from whyscan.tables.file_columns import result_type
from whyscan.tree import arrow
from whyscan.tree.nodes import (
    And,
    Arithmetic,
    Between,
    Call,
    Cast,
    Coalesce,
    Comparator,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Operation,
    Or,
    type_of,
)
from whyscan.tree.rendering import to_sql

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whyscan.tree.nodes import Expression
    from whyscan.tree.types import Schema, Type

Build = Any
"""An expression of PyArrow or Polars: Python's operators build more of it."""

COMPARISONS: Mapping[Comparator, Callable[[Build, Build], Build]] = {
    Comparator.EQUAL: operator.eq,
    Comparator.NOT_EQUAL: operator.ne,
    Comparator.LESS: operator.lt,
    Comparator.LESS_EQUAL: operator.le,
    Comparator.GREATER: operator.gt,
    Comparator.GREATER_EQUAL: operator.ge,
}
OPERATIONS: Mapping[Operation, Callable[[Build, Build], Build]] = {
    Operation.ADD: operator.add,
    Operation.SUBTRACT: operator.sub,
    Operation.MULTIPLY: operator.mul,
    Operation.DIVIDE: operator.truediv,
}


class EngineWords(Protocol):
    """What an engine has for the nodes of a condition, beside Python's operators."""

    @property
    def functions(self) -> Mapping[str, Callable[..., Build]]:
        """By its name in Spark; the arguments are expressions."""

    def column(self, path: Sequence[str]) -> Build:
        """A column, or a field of a struct."""

    def literal(self, value: pa.Scalar) -> Build:
        """One value."""

    def listed(self, operand: Build, values: pa.Array) -> Build:
        """`operand IN (values)`."""

    def is_null(self, operand: Build) -> Build:
        """`operand IS NULL`."""

    def like(self, operand: Build, pattern: str, *, ignore_case: bool) -> Build:
        """`operand LIKE pattern`."""

    def cast(self, operand: Build, kind: pa.DataType) -> Build:
        """`CAST(operand AS kind)`."""

    def coalesce(self, operands: Sequence[Build]) -> Build:
        """The first operand that is not NULL."""


def typed_filter(sql: str, schema: Schema, timezone: str, words: EngineWords) -> Build:
    """The engine's expression of a condition in Spark's SQL; EngineRefusal if it has none."""
    predicate = bind(sql, schema, Session(timezone=timezone))
    return _Fold(words).of(predicate.expression)


class _Fold:
    """Folds a typed tree with the words of an engine."""

    def __init__(self, words: EngineWords) -> None:
        self.words = words

    def of(self, expression: Expression) -> Build:
        """The engine's expression of a condition."""
        match expression:
            case And(operands=operands):
                return reduce(operator.and_, map(self.of, operands))
            case Or(operands=operands):
                return reduce(operator.or_, map(self.of, operands))
            case Not(operand=operand):
                return ~self.of(operand)
            case Comparison(operator=sign, left=left, right=right) if sign in COMPARISONS:
                return COMPARISONS[sign](self.side(left, right), self.side(right, left))
            case Between(operand=operand, low=low, high=high):
                value = self.value(operand)
                return (value >= self.side(low, operand)) & (value <= self.side(high, operand))
            case In(operand=operand, values=values, null=False, nan=False):
                kind = _type_beside(operand, type_of(operand))
                return self.words.listed(self.value(operand), _of_type(values, kind))
            case IsNull(operand=operand):
                return self.words.is_null(self.value(operand))
            case Like(operand=operand, pattern=pattern, escape=_, ignore_case=ignore_case):
                return self.words.like(self.value(operand), pattern, ignore_case=ignore_case)
            case Comparison() | In():
                raise EngineRefusal(f"{to_sql(expression)} is not written for this engine")
            case _:
                return self.value(expression)

    def side(self, expression: Expression, other: Expression) -> Build:
        """One side of a comparison: a literal has the type of the column on the other side."""
        if isinstance(expression, Literal) and expression.value is not None:
            kind = _type_beside(other, expression.type)
            values = arrow.array([expression.value], expression.type)
            return self.words.literal(_of_type(values, kind)[0])
        return self.value(expression)

    def value(self, expression: Expression) -> Build:
        """The engine's expression of a value. A column stands without the casts that widen it."""
        column = column_below(expression)
        if column is not None:
            return self.words.column(column.path)
        match expression:
            case Literal(value=value) if value is not None:
                return self.side(expression, expression)
            case Cast(operand=operand, type=kind) if (to := result_type(kind)) is not None:
                return self.words.cast(self.value(operand), to)
            case Arithmetic(operation=operation, left=left, right=right) if operation in OPERATIONS:
                return OPERATIONS[operation](self.side(left, right), self.side(right, left))
            case Call(function=function, arguments=arguments) if function in self.words.functions:
                return self.words.functions[function](*map(self.value, arguments))
            case Coalesce(operands=operands):
                return self.words.coalesce([self.value(operand) for operand in operands])
            case And() | Or() | Not() | Comparison() | Between() | In() | IsNull() | Like():
                return self.of(expression)
            case _:
                raise EngineRefusal(f"{to_sql(expression)} is not written for this engine")


def _type_beside(expression: Expression, kind: Type) -> Type:
    """The type of the column that an expression is, else `kind`."""
    column = column_below(expression)
    return kind if column is None else column.type


def _of_type(values: pa.Array, kind: Type) -> pa.Array:
    """Values as the rows of a scan have them; wider ones if they do not fit."""
    target = result_type(kind)
    if target is None:
        raise EngineRefusal(f"values of {kind} are not written for this engine")
    try:
        return values.cast(target)
    except pa.ArrowInvalid:
        return values.cast(pa.int64()) if pa.types.is_integer(values.type) else values
    except pa.ArrowNotImplementedError:
        raise EngineRefusal(f"values beside {kind} are not written for this engine") from None
