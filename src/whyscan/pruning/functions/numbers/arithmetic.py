"""`+ - * / div %` on numbers. ANSI mode: overflow and division by zero raise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.numbers import decimals, floats
from whyscan.pruning.functions.numbers.corners import (
    Ends,
    by_divisor,
    corners,
    number,
    remainder,
    without_zero,
)
from whyscan.pruning.functions.rules import (
    contains,
    ends,
    extremes,
    fitted,
    strict,
    with_common_type,
)
from whyscan.pruning.interval import Interval, anything, less_equal
from whyscan.pruning.mask import both, either, has_value, keep, opposite, surely
from whyscan.tree.nodes import Operation
from whyscan.tree.types import BIGINT, DecimalType, FloatType, IntegerType

if TYPE_CHECKING:
    from whyscan.pruning.mask import Vector
    from whyscan.tree.types import Type

INT64_DIGITS = 19
LEAST, GREATEST = extremes(BIGINT)
ONE, MINUS_ONE = pa.scalar(1), pa.scalar(-1)


def numeric(
    operation: Operation, left: Interval, right: Interval, kind: Type, *, may_exceed: bool = False
) -> Interval:
    """`left operation right` for two integers, two floats or two decimals."""
    match (left.type, right.type, kind):
        case (IntegerType(), IntegerType(), IntegerType()):
            return integers(operation, left, right, kind, may_exceed=may_exceed)
        case (FloatType(), FloatType(), FloatType()):
            return floats.arithmetic(operation, left, right, kind)
        case (DecimalType(), DecimalType(), DecimalType() | IntegerType()):
            return decimals.arithmetic(operation, left, right, kind)
        case _:
            return anything(kind, raises=True)


def integers(
    operation: Operation,
    left: Interval,
    right: Interval,
    kind: IntegerType,
    *,
    may_exceed: bool = False,
) -> Interval:
    """Integers: the result is exact, and an error outside the type.

    With `may_exceed` it may also be beyond the type: then there is no bound on that side.
    """
    result = strict(kind, [left, right])
    a, b = ends(left), ends(right)
    match operation:
        case Operation.ADD | Operation.SUBTRACT | Operation.MULTIPLY:
            bounds = corners(decimals.KERNELS[operation], operation, *_roomy(operation, a, b))
            outcome = fitted(result, bounds, kind)
            return _exceeding(operation, outcome, bounds, left, right) if may_exceed else outcome
        case Operation.QUOTIENT:
            bounds = corners(_quotient, operation, a, without_zero(b))
            quotient = _without_overflow(fitted(result, bounds, kind), left, right)
            return by_divisor(quotient, left, right, b)
        case Operation.REMAINDER:
            bounds = remainder(a, without_zero(b), number(1, a[0]))
            return by_divisor(fitted(result, bounds, kind), left, right, b)
        case Operation.DIVIDE:
            return anything(kind, raises=True)


def _exceeding(
    operation: Operation, outcome: Interval, exact: Ends, left: Interval, right: Interval
) -> Interval:
    """The outcome without the bounds that are not exact: operands may be beyond their type."""
    a, b = ((has_value(x.lower), has_value(x.upper)) for x in (left, right))
    match operation:
        case Operation.ADD:
            below, above = both(a[0], b[0]), both(a[1], b[1])
        case Operation.SUBTRACT:
            below, above = both(a[0], b[1]), both(a[1], b[0])
        case _:
            below = above = both(*a, *b)
    least, greatest, lower, upper = with_common_type(*extremes(outcome.type), *exact)
    return replace(
        outcome,
        lower=keep(both(below, surely(less_equal, least, lower)), outcome.lower),
        upper=keep(both(above, surely(less_equal, upper, greatest)), outcome.upper),
        value=both(left.value, right.value),
    )


def _roomy(operation: Operation, left: Ends, right: Ends) -> tuple[Ends, Ends]:
    """The operands in a type where the result is exact: 64 bits if it fits, else decimals."""
    a, b = (decimals.magnitude(pair) for pair in (left, right))
    reach = a * b if operation is Operation.MULTIPLY else a + b
    if reach < 1 << 63:
        return left, right
    wide = pa.decimal256(INT64_DIGITS, 0)
    (c, d), (e, f) = left, right
    return (c.cast(wide), d.cast(wide)), (e.cast(wide), f.cast(wide))


def _quotient(a: Vector, b: Vector) -> Vector:
    """a div b, towards zero; the greatest bigint for the one quotient that overflows."""
    overflow = pc.and_(pc.equal(a, LEAST), pc.equal(b, MINUS_ONE))
    divided = pc.divide(a, pc.if_else(overflow, ONE, b))
    return pc.if_else(overflow, GREATEST, divided)


def _without_overflow(quotient: Interval, left: Interval, right: Interval) -> Interval:
    """The least bigint div -1 raises."""
    overflow = both(contains(left, LEAST), contains(right, MINUS_ONE))
    nothing_else = both(overflow, left.point(), right.point())
    return replace(
        quotient,
        value=both(quotient.value, opposite(nothing_else)),
        raises=either(quotient.raises, overflow),
    )
