"""Decimal arithmetic, in as many digits as the operands have.

Spark computes the exact result, rounds it half up to the scale of the result's type, and raises if
it then has more digits than the type.
"""

from __future__ import annotations

from decimal import Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.numbers.corners import (
    Ends,
    by_divisor,
    corners,
    remainder,
    without,
    without_zero,
)
from whyscan.pruning.functions.rules import (
    WIDE_DIGITS,
    Kernel,
    ends,
    fitted,
    greatest_of,
    least_of,
    strict,
)
from whyscan.pruning.interval import Interval, anything, greater, keep_bounds
from whyscan.pruning.mask import Mask, Vector, both, either, opposite, surely
from whyscan.tree.nodes import Operation
from whyscan.tree.types import BIGINT, DecimalType, IntegerType

WIDE = Context(prec=WIDE_DIGITS)
QUOTIENT_SCALE = 38
"""Spark rounds a quotient to this scale first, then to that of the result (Decimal.scala)."""

PRODUCT_DIGITS = 39
"""Spark rounds a product to this many digits first."""

SHORT_DIVISOR = 2**32 - 1
SHORT_DIGITS = 9
"""The greatest divisor, and power of ten, by which Arrow divides in one step."""

KERNELS: dict[Operation, Kernel] = {
    Operation.ADD: pc.add,
    Operation.SUBTRACT: pc.subtract,
    Operation.MULTIPLY: pc.multiply,
}


def arithmetic(
    operation: Operation, left: Interval, right: Interval, kind: DecimalType | IntegerType
) -> Interval:
    """`left operation right` on decimals; `div` gives a bigint."""
    if operation in (Operation.DIVIDE, Operation.QUOTIENT, Operation.REMAINDER):
        return _division(operation, left, right, kind)
    a, b = (compact(ends(x)) for x in (left, right))
    if isinstance(kind, IntegerType) or _digits(operation, a[0].type, b[0].type) > WIDE_DIGITS:
        return anything(kind, raises=True)
    bounds = corners(KERNELS[operation], operation, a, b)
    if operation is Operation.MULTIPLY:
        bounds = _slackened(bounds, kind)
    return _rounded(strict(kind, [left, right]), bounds, kind)


def _division(
    operation: Operation, left: Interval, right: Interval, kind: DecimalType | IntegerType
) -> Interval:
    divisor = ends(right)
    long = _is_long(divisor)
    a, b = compact(ends(left)), compact(without(long, without_zero(divisor)))
    if _digits(operation, a[0].type, b[0].type) > WIDE_DIGITS:
        return anything(kind, raises=True)
    unbounded = strict(kind, [left, right])
    match (operation, kind):
        case (Operation.DIVIDE, DecimalType()):
            result = _rounded(unbounded, corners(_divided, operation, a, b), kind)
        case (Operation.REMAINDER, DecimalType()):
            result = _remainder(unbounded, a, b, kind)
        case (Operation.QUOTIENT, IntegerType()):
            result = _wrapped(unbounded, corners(quotient, operation, a, b))
        case _:
            return anything(kind, raises=True)
    vague = both(unbounded.value, long)
    result = replace(
        keep_bounds(result, opposite(vague)),
        value=either(result.value, vague),
        raises=either(result.raises, vague),
    )
    return by_divisor(result, left, right, divisor)


def _is_long(divisor: Ends) -> Mask:
    """Some divisor has more than 32 bits: Arrow's long division is then not always right.

    It gives 4294967294 for 4294967295.9e18 / 1e18. Such bounds stay unknown.
    """
    limit = Decimal(SHORT_DIVISOR).scaleb(-divisor[0].type.scale)
    most = greatest_of(pc.abs(divisor[0]), pc.abs(divisor[1]))
    return surely(lambda m: greater(m, pa.scalar(limit)), most)


def quotient(a: Vector, b: Vector) -> Vector:
    """a div b, towards zero."""
    return truncated(pc.divide(a, b), 0)


def truncated(values: Vector, scale: int) -> Vector:
    """Truncated to `scale` places, towards zero, in steps whose divisor has 32 bits."""
    while values.type.scale > scale:
        step = max(scale, values.type.scale - SHORT_DIGITS)
        values = pc.cast(values, pa.decimal256(WIDE_DIGITS, step), safe=False)
    return values


def half_up(values: Vector, scale: int) -> Vector:
    """Rounded to a scale, ties away from zero: only the next digit decides."""
    if values.type.scale <= scale:
        return rescaled(values, scale)
    next_digit = rescaled(truncated(values, scale + 1), scale + 1)
    return rescaled(pc.round(next_digit, scale, round_mode="half_towards_infinity"), scale)


def rescaled(values: Vector, scale: int) -> Vector:
    """The same numbers with another scale, which is large enough for them."""
    return values.cast(pa.decimal256(WIDE_DIGITS, scale))


def _divided(a: Vector, b: Vector) -> Vector:
    """a / b, half up at Spark's first scale. Arrow truncates after it, which decides no tie."""
    scale = _dividend_scale(a.type, b.type)
    roomy = a.cast(pa.decimal256(a.type.precision - a.type.scale + scale, scale))
    return half_up(pc.divide(roomy, b), QUOTIENT_SCALE)


def _dividend_scale(a: pa.DataType, b: pa.DataType) -> int:
    """Arrow's quotient has the scale of the dividend plus the digits of the divisor plus one."""
    return max(int(a.scale), QUOTIENT_SCALE - int(b.precision))


def _digits(operation: Operation, a: pa.DataType, b: pa.DataType) -> int:
    """The digits of Arrow's result, by Arrow's rules for decimals."""
    whole_digits: int = a.precision - a.scale
    match operation:
        case Operation.MULTIPLY:
            return int(a.precision + b.precision + 1)
        case Operation.DIVIDE:
            return int(whole_digits + b.scale + _dividend_scale(a, b) + b.precision + 1)
        case Operation.QUOTIENT:
            return int(whole_digits + b.scale + max(6, a.scale + b.precision + 1))
        case _:
            return int(max(whole_digits, b.precision - b.scale) + max(a.scale, b.scale) + 1)


def _rounded(result: Interval, bounds: Ends, kind: DecimalType) -> Interval:
    lower, upper = (half_up(end, kind.scale) for end in bounds)
    return fitted(result, (lower, upper), kind)


def _slackened(bounds: Ends, kind: DecimalType) -> Ends:
    """Bounds one unit further out where Spark rounds a long product twice."""
    if _whole_digits(bounds) <= PRODUCT_DIGITS:
        return bounds
    # A bound far outside the type overflows anyway: it is moved near, to leave room for the unit.
    room = pa.decimal256(kind.precision + 2, kind.scale)
    unit = pa.scalar(Decimal(1).scaleb(-kind.scale), room)
    lower, upper = (_brought_near(half_up(end, kind.scale), room) for end in bounds)
    return pc.subtract(lower, unit), pc.add(upper, unit)


def _brought_near(values: Vector, room: pa.DataType) -> Vector:
    most = pa.scalar(Decimal((0, (9,) * room.precision, -room.scale)), values.type)
    inside = least_of(greatest_of(values, pc.negate(most)), most)
    return inside.cast(room)


def _remainder(result: Interval, a: Ends, b: Ends, kind: DecimalType) -> Interval:
    first, second = a[0].type, b[0].type
    scale = max(first.scale, second.scale)
    common = pa.decimal256(_digits(Operation.ADD, first, second), scale)
    unit = pa.scalar(Decimal(1).scaleb(-scale), common)
    c, d, e, f = (end.cast(common) for end in (*a, *b))
    rest = remainder((c, d), (e, f), unit)
    # BigDecimal.remainder refuses a quotient of more digits than its context has.
    impossible = _digits(Operation.QUOTIENT, first, second) > PRODUCT_DIGITS
    rounded = _rounded(result, rest, kind)
    return replace(rounded, raises=either(rounded.raises, both(rounded.value, impossible)))


def _wrapped(result: Interval, bounds: Ends) -> Interval:
    """`div` outside bigint wraps around without an error (measured): its bounds are unknown."""
    fitting = fitted(result, bounds, BIGINT)
    inside = opposite(both(fitting.raises, opposite(result.raises)))
    return replace(keep_bounds(fitting, inside), value=result.value, raises=result.raises)


def compact(pair: Ends) -> Ends:
    """The same numbers in the least number of digits, with at least one before the point."""
    scale = pair[0].type.scale
    narrow = pa.decimal256(max(_whole_digits(pair), scale + 1), scale)
    lower, upper = pair
    return lower.cast(narrow), upper.cast(narrow)


def _whole_digits(pair: Ends) -> int:
    return len(str(int(magnitude(pair).scaleb(pair[0].type.scale, WIDE))))


def magnitude(pair: Ends) -> Decimal:
    """The greatest distance from zero of any bound of any container; 0 without containers."""
    # copy_abs, because abs rounds to the 28 digits of Python's context.
    extremes = (Decimal(end or 0) for vector in pair for end in _least_and_greatest(vector))
    return max(end.copy_abs() for end in extremes)


def _least_and_greatest(values: Vector) -> tuple[int | Decimal | None, ...]:
    if isinstance(values, pa.Scalar):
        return (values.as_py(),)
    return tuple(pc.min_max(values).as_py().values())
