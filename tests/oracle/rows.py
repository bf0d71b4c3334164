"""A predicate's value for one row: TRUE, FALSE, NULL (None), a value, or RAISED."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from oracle import casts, functions, numbers, order
from oracle.errors import SqlError, Unsupported
from whyscan.tree.nodes import (
    And,
    Arithmetic,
    Between,
    Call,
    Case,
    Cast,
    CastFailure,
    Coalesce,
    Column,
    Comparator,
    Comparison,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Opaque,
    Operation,
    Or,
    type_of,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.tree.nodes import Path


class Outcome(Enum):
    """How a row may end without a value of its own."""

    RAISED = "raised"


RAISED: Final = Outcome.RAISED


class Sequence(Enum):
    """In which order the operands of AND and OR are looked at."""

    LEFT_TO_RIGHT = "as Spark evaluates them: the first that decides, or raises, ends it"
    LUCKY = "as an optimiser may reorder them: one that decides hides one that raises"


def evaluate_row(expression: Expression, row: Mapping[Path, Any], zone: str = "UTC") -> Any:
    """What Spark answers for this row."""
    return _outcome(Evaluator(row, zone, Sequence.LEFT_TO_RIGHT), expression)


def possible(expression: Expression, row: Mapping[Path, Any], zone: str = "UTC") -> set[Any]:
    """What Spark may answer, whatever the opaque parts are and in whatever order it looks."""
    guesses = (
        (True, False, None) if any(isinstance(n, Opaque) for n in walk(expression)) else (None,)
    )
    return {
        _outcome(Evaluator(row, zone, sequence, guess), expression)
        for sequence in Sequence
        for guess in guesses
    }


def _outcome(evaluator: Evaluator, expression: Expression) -> Any:
    try:
        return evaluator.value(expression)
    except SqlError:
        return RAISED


@dataclass(frozen=True)
class Evaluator:
    """One row, its session's zone, and an order of evaluation."""

    row: Mapping[Path, Any]
    zone: str
    sequence: Sequence
    opaque: Any = Unsupported

    def value(self, node: Expression) -> Any:
        match node:
            case Column():
                return self.row[node.path]
            case Literal():
                return node.value
            case Opaque():
                if self.opaque is Unsupported:
                    raise Unsupported(node.sql)
                return self.opaque
            case And():
                return self._first(node.operands, decisive=False)
            case Or():
                return self._first(node.operands, decisive=True)
            case Not():
                inner = self.value(node.operand)
                return None if inner is None else not inner
            case Comparison():
                return self._comparison(node)
            case Between():
                low = Comparison(Comparator.GREATER_EQUAL, node.operand, node.low)
                high = Comparison(Comparator.LESS_EQUAL, node.operand, node.high)
                return self._first((low, high), decisive=False)
            case In():
                return self._in(node)
            case IsNull():
                return self.value(node.operand) is None
            case Like():
                return self._like(node)
            case _:
                return self._computed(node)

    def _computed(self, node: Expression) -> Any:
        match node:
            case Case():
                for condition, result in node.branches:
                    if self.value(condition) is True:
                        return self.value(result)
                return self.value(node.otherwise)
            case Coalesce():
                values = (self.value(operand) for operand in node.operands)
                return next((value for value in values if value is not None), None)
            case Cast():
                return self._cast(node)
            case Arithmetic():
                return self._arithmetic(node)
            case Call():
                return self._call(node)
        raise Unsupported(type(node).__name__)

    def _first(self, operands: tuple[Expression, ...], *, decisive: bool) -> bool | None:
        """AND ends at the first FALSE, OR at the first TRUE; NULL only where nothing decides."""
        answer: bool | None = not decisive
        error: SqlError | None = None
        for operand in operands:
            try:
                value = self.value(operand)
            except SqlError as raised:
                if self.sequence is Sequence.LEFT_TO_RIGHT:
                    raise
                error = raised
                continue
            if value is decisive:
                return decisive
            answer = None if value is None else answer
        if error is not None:
            raise error
        return answer

    def _comparison(self, node: Comparison) -> bool | None:
        left = self.value(node.left)
        if node.operator is Comparator.NULL_SAFE_EQUAL:
            right = self.value(node.right)
            if left is None or right is None:
                return left is right
            return order.equal(left, right)
        right = None if left is None else self.value(node.right)
        if left is None or right is None:
            return None
        match node.operator:
            case Comparator.EQUAL:
                return order.equal(left, right)
            case Comparator.NOT_EQUAL:
                return not order.equal(left, right)
            case Comparator.LESS:
                return order.less(left, right)
            case Comparator.LESS_EQUAL:
                return not order.less(right, left)
            case Comparator.GREATER:
                return order.less(right, left)
            case Comparator.GREATER_EQUAL:
                return not order.less(left, right)

    def _in(self, node: In) -> bool | None:
        value = self.value(node.operand)
        if value is None:
            return None
        if value != value:  # noqa: PLR0124 - NaN, which the list keeps apart
            hit = node.nan
        else:
            hit = any(order.equal(value, listed) for listed in plain(node.values, value))
        if hit:
            return True
        return None if node.null else False

    def _like(self, node: Like) -> bool | None:
        value = self.value(node.operand)
        if value is None:
            return None
        fold = str.lower if node.ignore_case else str
        return like_regex(fold(node.pattern), node.escape).fullmatch(fold(value)) is not None

    def _cast(self, node: Cast) -> Any:
        value = self.value(node.operand)
        if value is None:
            return None
        try:
            return casts.cast(value, type_of(node.operand), node.type, self.zone)
        except SqlError:
            if node.failure is CastFailure.NULL:
                return None
            raise

    def _arithmetic(self, node: Arithmetic) -> Any:
        first, second = node.left, node.right
        if node.operation in (Operation.DIVIDE, Operation.QUOTIENT, Operation.REMAINDER):
            first, second = second, first
        one = self.value(first)
        other = None if one is None else self.value(second)
        if one is None or other is None:
            return None
        left, right = (one, other) if first is node.left else (other, one)
        return numbers.calculate(node.operation, left, right, node.type)

    def _call(self, node: Call) -> Any:
        values: list[Any] = []
        for argument in node.arguments:
            values.append(self.value(argument))
            if values[-1] is None and node.function not in functions.NULL_TOLERANT:
                return None  # Spark looks no further: what follows cannot raise
        kinds = [type_of(argument) for argument in node.arguments]
        return functions.call(node, values, kinds, self.zone)


def plain(values: pa.Array, like: Any) -> list[Any]:
    """An Arrow list of literals as the oracle's values."""
    if pa.types.is_date32(values.type):
        return values.cast(pa.int32()).to_pylist()
    if pa.types.is_timestamp(values.type):
        return values.cast(pa.int64()).to_pylist()
    listed = values.to_pylist()
    if isinstance(like, str):
        return [v.decode() if isinstance(v, bytes) else v for v in listed]
    return listed


def like_regex(pattern: str, escape: str | None) -> re.Pattern[str]:
    """LIKE as a regular expression; an escape must stand before `_`, `%` or itself."""
    out, at = [], 0
    while at < len(pattern):
        char = pattern[at]
        if char == escape:
            at += 1
            if at == len(pattern) or pattern[at] not in {"_", "%", escape}:
                raise SqlError(f"LIKE {pattern!r}")
            out.append(re.escape(pattern[at]))
        else:
            out.append({"%": ".*", "_": "."}.get(char) or re.escape(char))
        at += 1
    return re.compile("".join(out), re.DOTALL)
