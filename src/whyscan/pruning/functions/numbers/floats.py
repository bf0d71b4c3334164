"""IEEE arithmetic on intervals: rounding is monotone, so bounds map to bounds.

The result is NaN for inf - inf, 0 * inf, inf / inf and inf % x. A 32-bit result is computed as a
double and rounded again, which for these operations is the same as rounding once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.numbers.corners import (
    Ends,
    by_divisor,
    corners,
    without_zero,
    zero_between,
)
from whyscan.pruning.functions.rules import ends, greatest_of, least_of, strict
from whyscan.pruning.interval import Interval, anything
from whyscan.pruning.mask import Mask, Vector, both, either, opposite, surely
from whyscan.tree.nodes import Operation

if TYPE_CHECKING:
    from whyscan.tree.types import FloatType

INFINITY = pa.scalar(float("inf"))
MINUS_INFINITY = pa.scalar(float("-inf"))
ZERO = pa.scalar(0.0)
ULPS = 4
"""How far the results of two good math libraries may differ, in units of the last place."""


def arithmetic(operation: Operation, left: Interval, right: Interval, kind: FloatType) -> Interval:
    """`left operation right` on float or double."""
    a, b = ends(left), ends(right)
    match operation:
        case Operation.ADD:
            return _computed(left, right, corners(pc.add, operation, a, b), _opposed(a, b), kind)
        case Operation.SUBTRACT:
            return arithmetic(Operation.ADD, left, negated(right), kind)
        case Operation.MULTIPLY:
            nan = either(both(zero_between(a), _infinite(b)), both(_infinite(a), zero_between(b)))
            return _computed(left, right, corners(_product, operation, a, b), nan, kind)
        case Operation.DIVIDE:
            bounds = corners(pc.divide, operation, a, without_zero(b))
            nan = both(_infinite(a), _infinite(b))
            return by_divisor(_computed(left, right, bounds, nan, kind), left, right, b)
        case Operation.REMAINDER:
            result = _computed(left, right, _remainder(a, without_zero(b)), _infinite(a), kind)
            return by_divisor(result, left, right, b)
        case Operation.QUOTIENT:
            return anything(kind, raises=True)


def _computed(
    left: Interval, right: Interval, bounds: Ends, nan: Mask, kind: FloatType
) -> Interval:
    """The result with these bounds; a NaN bound is unknown. `nan`: two values may give NaN."""
    result = strict(kind, [left, right])
    lower, upper = (pc.is_nan(end) for end in bounds)
    return replace(
        result,
        lower=pc.if_else(lower, MINUS_INFINITY, rounded(bounds[0], kind)),
        upper=pc.if_else(upper, INFINITY, rounded(bounds[1], kind)),
        value=both(result.value, opposite(both(nan, left.point(), right.point()))),
        nan=either(result.nan, both(result.value, nan)),
    )


def negated(x: Interval) -> Interval:
    """-x: the ends change sign and places."""
    return replace(
        x,
        lower=None if x.upper is None else pc.negate(x.upper),
        upper=None if x.lower is None else pc.negate(x.lower),
    )


def rounded(values: Vector, kind: FloatType) -> Vector:
    """Doubles as the nearest values of the type; above the greatest float is infinity."""
    if kind.bits == pa.float64().bit_width:
        return values
    return pc.cast(values, pa.float32(), safe=False).cast(pa.float64())


def saturated(values: Vector) -> Vector:
    """Doubles as 64-bit integers, towards zero; values outside become the nearest integer."""
    above, below = pc.greater_equal(values, 2.0**63), pc.less_equal(values, -(2.0**63))
    inside = pc.if_else(pc.or_(above, below), 0.0, values)
    integers = pc.cast(inside, pa.int64(), safe=False)
    return pc.if_else(above, 2**63 - 1, pc.if_else(below, -(2**63), integers))


def outward(values: Vector, towards: float) -> Vector:
    """Doubles moved by a few units of the last place; unknown stays unknown."""
    if isinstance(values, pa.Scalar):
        return outward(pa.array([values.as_py()], pa.float64()), towards)[0]
    numbers = values.to_numpy(zero_copy_only=False)
    for _ in range(ULPS):
        numbers = np.nextafter(numbers, towards)
    return pc.if_else(values.is_valid(), pa.array(numbers), pa.scalar(None, pa.float64()))


def _product(a: Vector, b: Vector) -> Vector:
    """a * b, and 0 for the corner 0 * inf: the products near it reach zero and no further."""
    result = pc.multiply(a, b)
    return pc.if_else(pc.is_nan(result), ZERO, result)


def _opposed(a: Ends, b: Ends) -> Mask:
    """inf + -inf is possible."""
    return either(
        both(surely(pc.equal, a[1], INFINITY), surely(pc.equal, b[0], MINUS_INFINITY)),
        both(surely(pc.equal, a[0], MINUS_INFINITY), surely(pc.equal, b[1], INFINITY)),
    )


def _infinite(pair: Ends) -> Mask:
    return either(surely(pc.equal, pair[0], MINUS_INFINITY), surely(pc.equal, pair[1], INFINITY))


def _remainder(left: Ends, divisor: Ends) -> Ends:
    """a % b: the sign of a, at most as far from zero as a or b; exact for points."""
    (a, b), (c, d) = left, divisor
    most = greatest_of(pc.abs(c), pc.abs(d))
    exact = pc.call_function("remainder", [a, c])
    single = pc.and_(pc.and_(pc.equal(a, b), pc.equal(c, d)), pc.invert(pc.is_nan(exact)))
    lower = greatest_of(least_of(a, ZERO), pc.negate(most))
    upper = least_of(greatest_of(b, ZERO), most)
    return pc.if_else(single, exact, lower), pc.if_else(single, exact, upper)
