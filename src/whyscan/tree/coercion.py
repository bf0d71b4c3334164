"""The common type of two operands, and the result type of arithmetic: Spark's ANSI rules.

| operands | common type |
|---|---|
| integers | the wider integer type |
| integer, decimal | a decimal with room for both |
| float, any other number | double |
| decimals | a decimal with the digits of both before and after the point, at most 38 |
| string, integer | bigint |
| string, float or decimal | double |
| string, any other type | the other type |
| date, timestamp | the timestamp |
| timestamp, timestamp_ntz | timestamp |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.tree.nodes import Operation
from whyscan.tree.types import (
    BIGINT,
    DOUBLE,
    NULL,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    NullType,
    StringType,
    TimestampType,
    TimeUnit,
    Type,
    UuidType,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_PRECISION = 38
_MIN_ADJUSTED_SCALE = 6
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}


def common_type(left: Type, right: Type) -> Type | None:
    """The type in which two operands are compared; None if they cannot be compared."""
    if left == right or isinstance(right, NullType):
        return left
    if isinstance(left, NullType):
        return right
    if isinstance(left, StringType):
        return _common_with_string(right)
    if isinstance(right, StringType):
        return _common_with_string(left)
    if is_numeric(left) and is_numeric(right):
        return _common_number(left, right)
    return _common_time(left, right)


def common_type_of(kinds: Iterable[Type]) -> Type | None:
    """The type in which all operands are compared. Strings are taken first, as in Spark."""
    common: Type | None = NULL
    for kind in sorted(kinds, key=lambda kind: not isinstance(kind, StringType)):
        common = None if common is None else common_type(common, kind)
    return common


def _common_with_string(other: Type) -> Type | None:
    match other:
        case IntegerType():
            return BIGINT
        case FloatType() | DecimalType():
            return DOUBLE
        case BooleanType() | BinaryType() | DateType() | TimestampType() | UuidType():
            return other
        case _:
            return None


def is_numeric(kind: Type) -> bool:
    return isinstance(kind, IntegerType | FloatType | DecimalType)


def _common_number(left: Type, right: Type) -> Type:
    match (left, right):
        case (IntegerType(), IntegerType()):
            return IntegerType(max(left.bits, right.bits))
        case (FloatType(bits=32), FloatType(bits=32)):
            return left
        case (IntegerType() | DecimalType(), IntegerType() | DecimalType()):
            return wider_decimal(as_decimal(left), as_decimal(right))
        case _:
            return DOUBLE


def _common_time(left: Type, right: Type) -> Type | None:
    match (left, right):
        case (DateType(), TimestampType()):
            return right
        case (TimestampType(), DateType()):
            return left
        case (TimestampType(), TimestampType()):
            finer = (
                TimeUnit.NANOSECOND if TimeUnit.NANOSECOND in {left.unit, right.unit} else left.unit
            )
            return TimestampType(left.instant or right.instant, finer)
        case _:
            return None


def as_decimal(kind: Type) -> DecimalType:
    """The decimal type that contains every value of an integer or decimal type."""
    match kind:
        case IntegerType():
            return DecimalType(_DIGITS[kind.bits], 0)
        case DecimalType():
            return kind
        case _:
            raise TypeError(f"{kind} has no decimal that holds it")


def wider_decimal(left: DecimalType, right: DecimalType) -> DecimalType:
    """A decimal with room for the digits of both. Beyond 38 digits the scale becomes smaller."""
    scale = max(left.scale, right.scale)
    integer_digits = max(left.precision - left.scale, right.precision - right.scale)
    excess = max(integer_digits + scale - MAX_PRECISION, 0)
    return DecimalType(min(integer_digits + scale, MAX_PRECISION), max(scale - excess, 0))


def arithmetic_type(operation: Operation, left: Type, right: Type) -> Type | None:
    """The result type of an operation on numbers; None if the types do not allow it."""
    match (operation, common_type(left, right)):
        case (Operation.QUOTIENT, IntegerType() | DecimalType()):
            return BIGINT
        case (Operation.QUOTIENT, _):
            return None
        case (_, DecimalType()):
            return _decimal_result(operation, as_decimal(left), as_decimal(right))
        case (Operation.DIVIDE, IntegerType() | FloatType()):
            return DOUBLE
        case (_, IntegerType() | FloatType() as common):
            return common
        case _:
            return None


def _decimal_result(operation: Operation, left: DecimalType, right: DecimalType) -> DecimalType:
    """The result type of decimal arithmetic in Spark, with at most 38 digits."""
    p1, s1, p2, s2 = left.precision, left.scale, right.precision, right.scale
    match operation:
        case Operation.ADD | Operation.SUBTRACT:
            scale = max(s1, s2)
            return fitted_decimal(max(p1 - s1, p2 - s2) + scale + 1, scale)
        case Operation.MULTIPLY:
            return fitted_decimal(p1 + p2 + 1, s1 + s2)
        case Operation.DIVIDE:
            scale = max(_MIN_ADJUSTED_SCALE, s1 + p2 + 1)
            return fitted_decimal(p1 - s1 + s2 + scale, scale)
        case Operation.REMAINDER | Operation.QUOTIENT:
            scale = max(s1, s2)
            return fitted_decimal(min(p1 - s1, p2 - s2) + scale, scale)


def exact_digits(operation: Operation, left: DecimalType, right: DecimalType) -> tuple[int, int]:
    """The number of digits before and after the point that an exact result needs."""
    integer_digits = (left.precision - left.scale, right.precision - right.scale)
    match operation:
        case Operation.MULTIPLY:
            return sum(integer_digits), left.scale + right.scale
        case _:
            return max(integer_digits) + 1, max(left.scale, right.scale)


def fitted_decimal(precision: int, scale: int) -> DecimalType:
    """A decimal of at most 38 digits. The scale becomes smaller, but not below six."""
    if precision <= MAX_PRECISION:
        return DecimalType(precision, scale)
    integer_digits = precision - scale
    kept_scale = max(MAX_PRECISION - integer_digits, min(scale, _MIN_ADJUSTED_SCALE))
    return DecimalType(MAX_PRECISION, kept_scale)
