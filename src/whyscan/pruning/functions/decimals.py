"""Exact numbers behind a point: arithmetic in as many digits as the operands have.

Spark computes the exact result, rounds it half up to the scale of the result's type, and
raises where it then has more digits than the type.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.predicate.tree import Operation
from whyscan.predicate.types import BIGINT, DecimalType, IntegerType
from whyscan.pruning.functions.corners import (
    Ends,
    by_divisor,
    corners,
    remainder,
    without_zero,
)
from whyscan.pruning.functions.rules import WIDE_DIGITS, ends, fitted, strict
from whyscan.pruning.interval import Interval, anything, defined
from whyscan.pruning.mask import Vector, both, either, opposite

WIDE = Context(prec=WIDE_DIGITS)
QUOTIENT_SCALE = 38
"""Spark rounds a quotient to this scale first, then to that of the result (Decimal.scala)."""

PRODUCT_DIGITS = 39
"""Spark rounds a product to this many digits first."""


def arithmetic(
    operation: Operation, left: Interval, right: Interval, kind: DecimalType | IntegerType
) -> Interval:
    """`left operation right` on decimals; `div` gives a bigint."""
    a, b = (compact(ends(x)) for x in (left, right))
    if _digits(operation, a[0].type, b[0].type) > WIDE_DIGITS:
        return anything(kind, raises=True)
    whole = strict(kind, [left, right])
    match (operation, kind):
        case (Operation.ADD | Operation.SUBTRACT, DecimalType()):
            kernel = pc.add if operation is Operation.ADD else pc.subtract
            return _rounded(whole, corners(kernel, operation, a, b), kind)
        case (Operation.MULTIPLY, DecimalType()):
            bounds = corners(pc.multiply, operation, a, b)
            return _rounded(whole, _slackened(bounds, kind), kind)
        case (Operation.DIVIDE, DecimalType()):
            bounds = corners(_divided, operation, a, without_zero(b))
            return by_divisor(_rounded(whole, bounds, kind), left, right, b)
        case (Operation.REMAINDER, DecimalType()):
            return by_divisor(_remainder(whole, a, b, kind), left, right, b)
        case (Operation.QUOTIENT, IntegerType()):
            bounds = corners(quotient, operation, a, without_zero(b))
            return by_divisor(_wrapped(whole, bounds), left, right, b)
        case _:
            return anything(kind, raises=True)


def quotient(a: Vector, b: Vector) -> Vector:
    """a div b, towards zero."""
    return truncated(pc.divide(a, b))


def truncated(values: Vector) -> Vector:
    """Whole numbers, towards zero."""
    return rescaled(pc.trunc(values), 0)


def _divided(a: Vector, b: Vector) -> Vector:
    """a / b, half up at Spark's first scale. Arrow cuts off behind it, which decides no tie."""
    scale = _dividend_scale(a.type, b.type)
    roomy = a.cast(pa.decimal256(a.type.precision - a.type.scale + scale, scale))
    return half_up(pc.divide(roomy, b), QUOTIENT_SCALE)


def _dividend_scale(a: pa.DataType, b: pa.DataType) -> int:
    """Arrow's quotient has the dividend's scale and the divisor's digits and one more."""
    return max(int(a.scale), QUOTIENT_SCALE - int(b.precision))


def _digits(operation: Operation, a: pa.DataType, b: pa.DataType) -> int:
    """The digits of Arrow's result, by its rules for decimals."""
    whole: int = a.precision - a.scale
    match operation:
        case Operation.MULTIPLY:
            return int(a.precision + b.precision + 1)
        case Operation.DIVIDE:
            return int(whole + b.scale + _dividend_scale(a, b) + b.precision + 1)
        case Operation.QUOTIENT:
            return int(whole + b.scale + max(6, a.scale + b.precision + 1))
        case _:
            return int(max(whole, b.precision - b.scale) + max(a.scale, b.scale) + 1)


def _rounded(whole: Interval, bounds: Ends, kind: DecimalType) -> Interval:
    lower, upper = (half_up(end, kind.scale) for end in bounds)
    return fitted(whole, (lower, upper), kind)


def _slackened(bounds: Ends, kind: DecimalType) -> Ends:
    """One unit further out where Spark rounds a long product twice."""
    if _whole_digits(bounds) <= PRODUCT_DIGITS:
        return bounds
    unit = pa.scalar(Decimal(1).scaleb(-kind.scale), pa.decimal256(kind.scale + 1, kind.scale))
    lower, upper = (half_up(end, kind.scale) for end in bounds)
    return pc.subtract(lower, unit), pc.add(upper, unit)


def _remainder(whole: Interval, a: Ends, b: Ends, kind: DecimalType) -> Interval:
    first, second = a[0].type, b[0].type
    scale = max(first.scale, second.scale)
    common = pa.decimal256(_digits(Operation.ADD, first, second), scale)
    unit = pa.scalar(Decimal(1).scaleb(-scale), common)
    c, d, e, f = (end.cast(common) for end in (*a, *without_zero(b)))
    rest = remainder((c, d), (e, f), unit)
    # BigDecimal.remainder refuses a quotient of more digits than its context has.
    impossible = _digits(Operation.QUOTIENT, first, second) > PRODUCT_DIGITS
    found = _rounded(whole, rest, kind)
    return replace(found, raises=either(found.raises, both(found.value, impossible)))


def _wrapped(whole: Interval, bounds: Ends) -> Interval:
    """`div` outside the bigints wraps around without an error (measured): unknown there."""
    found = fitted(whole, bounds, BIGINT)
    inside = opposite(both(found.raises, opposite(whole.raises)))
    return replace(defined(found, inside), value=whole.value, raises=whole.raises)


def compact(pair: Ends) -> Ends:
    """The same in no more digits than they have, and one before the point."""
    scale = pair[0].type.scale
    narrow = pa.decimal256(max(_whole_digits(pair), scale + 1), scale)
    lower, upper = pair
    return lower.cast(narrow), upper.cast(narrow)


def _whole_digits(pair: Ends) -> int:
    return len(str(int(magnitude(pair).scaleb(pair[0].type.scale, WIDE))))


def magnitude(pair: Ends) -> Decimal:
    """How far from zero the furthest end of any container lies; 0 without containers."""
    return max(abs(Decimal(end or 0)) for vector in pair for end in _least_and_greatest(vector))


def _least_and_greatest(values: Vector) -> tuple[int | Decimal | None, ...]:
    if isinstance(values, pa.Scalar):
        return (values.as_py(),)
    return tuple(pc.min_max(values).as_py().values())


def half_up(values: Vector, scale: int) -> Vector:
    """Rounded to a scale, ties away from zero."""
    if values.type.scale <= scale:
        return rescaled(values, scale)
    roomy = values.cast(pa.decimal256(WIDE_DIGITS, values.type.scale))
    return rescaled(pc.round(roomy, scale, round_mode="half_towards_infinity"), scale)


def rescaled(values: Vector, scale: int) -> Vector:
    """The same numbers with another count of places, which loses none of them."""
    return values.cast(pa.decimal256(WIDE_DIGITS, scale))
