"""`+ - * / div %` on numbers. ANSI: overflow and division by zero raise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.predicate.tree import Operation
from whyscan.predicate.types import DecimalType, FloatType, IntegerType
from whyscan.pruning.functions import decimals, floats
from whyscan.pruning.functions.corners import (
    Ends,
    by_divisor,
    corners,
    number,
    remainder,
    without_zero,
)
from whyscan.pruning.functions.rules import ends, fitted, strict
from whyscan.pruning.interval import Interval, anything

if TYPE_CHECKING:
    from whyscan.predicate.types import Type
    from whyscan.pruning.functions.rules import Kernel
    from whyscan.pruning.mask import Vector

INT64_DIGITS = 19


def numeric(operation: Operation, left: Interval, right: Interval, kind: Type) -> Interval:
    """`left operation right` for operands of one family of numbers."""
    match (left.type, right.type, kind):
        case (IntegerType(), IntegerType(), IntegerType()):
            return integers(operation, left, right, kind)
        case (FloatType(), FloatType(), FloatType()):
            return floats.arithmetic(operation, left, right, kind)
        case (DecimalType(), DecimalType(), DecimalType() | IntegerType()):
            return decimals.arithmetic(operation, left, right, kind)
        case _:
            return anything(kind, raises=True)


def integers(operation: Operation, left: Interval, right: Interval, kind: IntegerType) -> Interval:
    """Whole numbers: exact, and an error where the result leaves the type."""
    whole = strict(kind, [left, right])
    a, b = _roomy(operation, ends(left), ends(right))
    match operation:
        case Operation.ADD | Operation.SUBTRACT | Operation.MULTIPLY:
            return fitted(whole, corners(KERNELS[operation], operation, a, b), kind)
        case Operation.QUOTIENT:
            quotient = corners(_quotient, operation, a, without_zero(b))
            return by_divisor(fitted(whole, quotient, kind), left, right, b)
        case Operation.REMAINDER:
            rest = remainder(a, without_zero(b), number(1, a[0]))
            return by_divisor(fitted(whole, rest, kind), left, right, b)
        case Operation.DIVIDE:
            return anything(kind, raises=True)


def _roomy(operation: Operation, left: Ends, right: Ends) -> tuple[Ends, Ends]:
    """The operands where the result is exact: in 64 bits if it surely fits, else in decimals."""
    a, b = (decimals.magnitude(pair) for pair in (left, right))
    match operation:
        case Operation.MULTIPLY:
            reach = a * b
        case Operation.QUOTIENT | Operation.REMAINDER:
            reach = max(a, b)
        case _:
            reach = a + b
    if reach < 1 << 63:
        return left, right
    (c, d), (e, f) = left, right
    return (_decimal(c), _decimal(d)), (_decimal(e), _decimal(f))


def _decimal(values: Vector) -> Vector:
    return values.cast(pa.decimal256(INT64_DIGITS, 0))


def _quotient(a: Vector, b: Vector) -> Vector:
    """a div b, towards zero."""
    return decimals.quotient(a, b) if pa.types.is_decimal(a.type) else pc.divide(a, b)


KERNELS: dict[Operation, Kernel] = {
    Operation.ADD: pc.add,
    Operation.SUBTRACT: pc.subtract,
    Operation.MULTIPLY: pc.multiply,
}
