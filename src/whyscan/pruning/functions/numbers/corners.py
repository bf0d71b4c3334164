"""The least and the greatest result of an operation on two intervals.

| operation | lower | upper |
|---|---|---|
| a + b | lower + lower | upper + upper |
| a - b | lower - upper | upper - lower |
| a * b, a / b, a div b | the least of the four corners | the greatest |
| a % b | between 0 and a, and nearer to 0 than b | likewise |

A divisor that may be zero may raise, and makes the bounds unknown.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.rules import as_vector, greatest_of, least_of, with_common_type
from whyscan.pruning.interval import Interval, keep_bounds
from whyscan.pruning.mask import Mask, Vector, both, either, opposite, surely
from whyscan.tree.nodes import Operation

if TYPE_CHECKING:
    from whyscan.pruning.functions.rules import Kernel

Ends: TypeAlias = tuple[Vector, Vector]
"""Lower and upper bound, both known."""


def corners(kernel: Kernel, operation: Operation, left: Ends, right: Ends) -> Ends:
    """The least and the greatest result of an operation that is monotone in each operand."""
    (a, b), (c, d) = left, right
    if a is b and c is d:
        point = kernel(a, c)
        return point, point
    match operation:
        case Operation.ADD:
            return kernel(a, c), kernel(b, d)
        case Operation.SUBTRACT:
            return kernel(a, d), kernel(b, c)
        case _:
            four = (kernel(a, c), kernel(a, d), kernel(b, c), kernel(b, d))
            return least_of(*four), greatest_of(*four)


def zero_between(divisor: Ends) -> Mask:
    """The divisor may be zero."""
    zero = number(0, divisor[0])
    return surely(pc.and_, pc.less_equal(divisor[0], zero), pc.less_equal(zero, divisor[1]))


def without_zero(divisor: Ends) -> Ends:
    """The divisor, replaced by 1 where it may be zero: a kernel must not divide by zero."""
    return without(zero_between(divisor), divisor)


def without(mask: Mask, divisor: Ends) -> Ends:
    """The divisor, replaced by 1 where the mask says yes."""
    yes, one = as_vector(mask), _nonzero(divisor[0])
    return pc.if_else(yes, one, divisor[0]), pc.if_else(yes, one, divisor[1])


def by_divisor(result: Interval, left: Interval, right: Interval, divisor: Ends) -> Interval:
    """The result of a division: an error or any value where the divisor may be zero.

    Where the divisor can only be zero, the result is only an error.
    """
    zero = number(0, divisor[0])
    may_be_zero = both(right.value, zero_between(divisor))
    only_zero = both(surely(pc.equal, divisor[0], zero), surely(pc.equal, divisor[1], zero))
    return replace(
        keep_bounds(result, opposite(may_be_zero)),
        value=both(
            either(result.value, both(left.value, right.value, may_be_zero)), opposite(only_zero)
        ),
        nan=both(result.nan, either(opposite(only_zero), right.nan)),
        raises=either(result.raises, both(left.present, may_be_zero)),
    )


def remainder(left: Ends, divisor: Ends, unit: pa.Scalar) -> Ends:
    """a % b: the sign of a, at most as far from zero as a, and nearer to zero than b by `unit`.

    For a constant divisor it increases with the dividend, within one multiple of the divisor.
    """
    (a, b), (c, d) = left, divisor
    # The least integer has no opposite, but its opposite minus one exists.
    below = pc.negate(pc.add(least_of(c, pc.negate(unit)), unit))
    above = pc.subtract(greatest_of(d, unit), unit)
    most = greatest_of(below, above)
    zero = number(0, most)
    lower = greatest_of(least_of(a, zero), pc.negate(most))
    upper = least_of(greatest_of(b, zero), most)
    first, last = (pc.call_function("remainder", [end, c]) for end in (a, b))
    rises = pc.and_(pc.equal(c, d), pc.equal(pc.subtract(a, first), pc.subtract(b, last)))
    first, last, lower, upper = with_common_type(first, last, lower, upper)
    return pc.if_else(rises, first, lower), pc.if_else(rises, last, upper)


def _nonzero(like: Vector) -> pa.Scalar:
    """1, or 0.5 if the type has no digits before the point."""
    if pa.types.is_decimal(like.type) and like.type.precision == like.type.scale:
        return pa.scalar(Decimal("0.5"), like.type)
    return number(1, like)


def number(value: int, like: Vector) -> pa.Scalar:
    """A small integer in the Arrow type of a vector."""
    if pa.types.is_decimal(like.type):
        return pa.scalar(Decimal(value), like.type)
    return pa.scalar(value, like.type)
