"""ANSI arithmetic: overflow and division by zero raise."""

from __future__ import annotations

import math
import struct
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from typing import Any

from oracle.errors import SqlError, Unsupported
from whyscan.tree.nodes import Operation
from whyscan.tree.types import DecimalType, FloatType, IntegerType, Type

BIG = Context(prec=800)


def fit_integer(value: int, kind: IntegerType) -> int:
    limit = 1 << (kind.bits - 1)
    if not -limit <= value < limit:
        raise SqlError(f"{value} is no {kind}")
    return value


def fit_float(value: float, kind: FloatType) -> float:
    """A float is a double that survived 32 bits."""
    if kind.bits == 64 or math.isnan(value) or math.isinf(value):
        return value
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def fit_decimal(value: Decimal, kind: DecimalType) -> Decimal:
    """Rounded half up to the scale; too many digits before the point raise."""
    rounded = value.quantize(Decimal(1).scaleb(-kind.scale), ROUND_HALF_UP, BIG)
    if rounded.copy_abs() >= Decimal(10) ** (kind.precision - kind.scale):
        raise SqlError(f"{value} is no {kind}")
    return rounded


def fit(value: Any, kind: Type) -> Any:
    match kind:
        case IntegerType():
            return fit_integer(value, kind)
        case FloatType():
            return fit_float(value, kind)
        case DecimalType():
            return fit_decimal(value, kind)
    raise Unsupported(f"arithmetic of {kind}")


def calculate(operation: Operation, a: Any, b: Any, kind: Type) -> Any:
    """`a operation b` of two values that are not NULL."""
    if isinstance(a, bool) or not isinstance(a, int | float | Decimal):
        raise Unsupported(f"arithmetic of {a!r}")
    match operation:
        case Operation.ADD | Operation.SUBTRACT | Operation.MULTIPLY:
            return fit(_exact(operation, a, b), kind)
        case Operation.DIVIDE:
            return fit(_divide(a, b), kind)
        case Operation.QUOTIENT:
            _not_zero(b)
            return fit(_towards_zero(a, b), kind)
        case Operation.REMAINDER:
            _not_zero(b)
            return fit(_remainder(a, b), kind)


def _exact(operation: Operation, a: Any, b: Any) -> Any:
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        method = {"+": BIG.add, "-": BIG.subtract, "*": BIG.multiply}[operation.value]
        return method(a, b)
    if isinstance(a, float) != isinstance(b, float):
        raise Unsupported(f"{a!r} {operation.value} {b!r}: two types")
    if operation is Operation.ADD:
        return a + b
    return a - b if operation is Operation.SUBTRACT else a * b


def _divide(a: Any, b: Any) -> Any:
    _not_zero(b)
    if isinstance(a, Decimal):
        return BIG.divide(a, b)
    if isinstance(a, int):
        raise Unsupported("fractional division of integers: Spark divides doubles")
    return a / b


def _not_zero(b: Any) -> None:
    if b == 0:
        raise SqlError("division by zero")


def _towards_zero(a: Any, b: Any) -> int:
    if isinstance(a, float):
        raise Unsupported("div of floats")
    if isinstance(a, Decimal):
        return int(BIG.divide_int(a, b))
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(a: Any, b: Any) -> Any:
    """Of the dividend's sign, as Java has it."""
    if isinstance(a, float):
        return math.nan if math.isinf(a) or math.isnan(a) or math.isnan(b) else math.fmod(a, b)
    if isinstance(a, Decimal):
        return BIG.remainder(a, b)
    return a - b * _towards_zero(a, b)


def half_up(value: Decimal, digits: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, BIG)


def truncated(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_DOWN, BIG))
