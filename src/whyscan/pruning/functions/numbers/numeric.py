"""Functions of numbers: rounding, roots, logarithms, bits."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.function import Argument, ScalarFunction, by_type, type_of_first
from whyscan.pruning.functions.numbers import decimals
from whyscan.pruning.functions.numbers.arithmetic import INT64_DIGITS
from whyscan.pruning.functions.numbers.corners import number
from whyscan.pruning.functions.numbers.floats import outward, saturated
from whyscan.pruning.functions.rules import (
    all_points,
    as_vector,
    constant,
    decreasing,
    ends,
    exact_or,
    fitted,
    greatest_of,
    increasing,
    mapped,
    pointwise,
    strict,
    wide,
)
from whyscan.pruning.interval import (
    Interval,
    anything,
    greater,
    greatest,
    hull,
    inner,
    keep_bounds,
    least,
    less,
    less_equal,
)
from whyscan.pruning.mask import Mask, Vector, both, either, keep, may, opposite, surely
from whyscan.tree.arrow import MAX_DECIMAL_DIGITS
from whyscan.tree.coercion import fitted_decimal
from whyscan.tree.nodes import Literal, type_of
from whyscan.tree.types import BIGINT, DOUBLE, FLOAT, INT, DecimalType, FloatType, IntegerType

if TYPE_CHECKING:
    from whyscan.pruning.functions.rules import Kernel
    from whyscan.tree.nodes import Expression
    from whyscan.tree.types import Type

ZERO = pa.scalar(0.0)
ZERO_INTEGER = pa.scalar(0)
INTEGER_1 = pa.scalar(1)
WHOLE = pa.decimal128(MAX_DECIMAL_DIGITS, 0)
NEGATED_DIGITS = 34
MOST_PLACES = 300
"""Ten to this power is still a double."""


def _negative(kind: Type, x: Interval) -> Interval:
    """-x: the bounds change sign and places; the least integer has no opposite."""
    match kind:
        case FloatType() if x.type == kind:
            return decreasing(x, kind, pc.negate)
        case IntegerType() | DecimalType() if x.type == kind:
            lower, upper = _exact(x)
            negated = fitted(strict(kind, [x]), (pc.negate(upper), pc.negate(lower)), kind)
            return _vague(negated, _rounds(kind, lower, upper))
        case _:
            return anything(kind, raises=True)


def _abs(kind: Type, x: Interval) -> Interval:
    """abs(x): from zero, or the bound nearest to zero, to the bound furthest from zero."""
    if x.type != kind or not isinstance(kind, IntegerType | DecimalType | FloatType):
        return anything(kind, raises=True)
    lower, upper = _exact(x)
    zero = number(0, lower)
    nearest = greatest_of(zero, lower, pc.negate(upper))
    furthest = greatest_of(pc.abs(lower), pc.abs(upper))
    if isinstance(kind, FloatType):
        return strict(kind, [x], (nearest, furthest))
    return _vague(fitted(strict(kind, [x]), (nearest, furthest), kind), _rounds(kind, lower, upper))


def _rounds(kind: Type, lower: Vector, upper: Vector) -> Mask:
    """Spark negates decimals in 34 digits (measured): longer decimals are rounded or overflow."""
    if not isinstance(kind, DecimalType) or kind.precision <= NEGATED_DIGITS:
        return False
    limit = Decimal(1).scaleb(NEGATED_DIGITS - kind.scale)
    short = may(less, greatest_of(pc.abs(lower), pc.abs(upper)), pa.scalar(limit))
    return opposite(short)


def _vague(result: Interval, mask: Mask) -> Interval:
    """The same, but any value or an error where the mask says yes."""
    return replace(
        keep_bounds(result, opposite(mask)), raises=either(result.raises, both(result.value, mask))
    )


def _exact(x: Interval) -> tuple[Vector, Vector]:
    """Both bounds, in a type that also holds the opposite of the least integer."""
    lower, upper = ends(x)
    if not pa.types.is_integer(lower.type):
        return lower, upper
    wide = pa.decimal256(INT64_DIGITS, 0)
    if decimals.magnitude((lower, upper)) < 1 << 63:
        return lower, upper
    return lower.cast(wide), upper.cast(wide)


def _sign(kind: Type, x: Interval) -> Interval:
    """sign(x): -1, 0 or 1, increasing."""
    if not isinstance(x.type, IntegerType | DecimalType | FloatType):
        return anything(kind, raises=True)
    return increasing(x, kind, lambda end: pc.sign(end).cast(pa.float64()))


# Rounding to integers. Doubles become bigints as in Java: NaN is 0, other values saturate.


def _floor(kind: Type, x: Interval) -> Interval:
    """floor(x): increasing."""
    return _to_whole(kind, x, pc.floor, _floored)


def _ceil(kind: Type, x: Interval) -> Interval:
    """ceil(x): increasing."""
    return _to_whole(kind, x, pc.ceil, lambda end: pc.negate(_floored(pc.negate(end))))


def _to_whole(kind: Type, x: Interval, of_doubles: Kernel, of_decimals: Kernel) -> Interval:
    match (x.type, kind):
        case (IntegerType(), IntegerType()):
            return replace(x, type=kind)
        case (FloatType(), IntegerType()):
            rounded = increasing(x, kind, lambda end: saturated(of_doubles(end)))
            return hull(
                rounded, Interval(kind, ZERO_INTEGER, ZERO_INTEGER, value=x.nan, null=False)
            )
        case (DecimalType(), DecimalType()):
            return increasing(x, kind, of_decimals)
        case _:
            return anything(kind, raises=True)


def _floored(values: Vector) -> Vector:
    """Truncated, and minus one below zero. decimals.py says why this is not `pc.floor`."""
    integers = decimals.truncated(values, 0).cast(pa.decimal256(WHOLE.precision, 0))
    less_one = pc.subtract(integers, Decimal(1))
    return pc.if_else(greater(integers, values), less_one, integers.cast(less_one.type)).cast(WHOLE)


def _round(kind: Type, x: Interval, places: Interval | None = None) -> Interval:
    """round(x, n): ties away from zero."""
    return _rounded(kind, x, places, "half_towards_infinity")


def _bround(kind: Type, x: Interval, places: Interval | None = None) -> Interval:
    """bround(x, n): ties to the even digit."""
    return _rounded(kind, x, places, "half_to_even")


def _rounded(kind: Type, x: Interval, places: Interval | None, mode: str) -> Interval:
    """Increasing with x, for a constant n."""
    digits = 0 if places is None else constant(places)
    match (x.type, kind, digits):
        case (IntegerType(), IntegerType(), int()) if digits >= 0:
            return replace(x, type=kind)
        case (IntegerType(), IntegerType(), int()) if digits >= -decimals.SHORT_DIGITS:
            return _rounded_exactly(kind, x, digits, mode)
        case (DecimalType(scale=scale), DecimalType(), int()) if (
            scale - digits <= decimals.SHORT_DIGITS
        ):
            return _rounded_exactly(kind, x, min(digits, scale), mode)
        case (FloatType(), FloatType(), 0):
            return increasing(x, kind, lambda end: pc.round(end, 0, round_mode=mode))
        case (FloatType(), FloatType(), int()) if abs(digits) <= MOST_PLACES:
            return _near(kind, x, 10.0**-digits)
        case _:
            return anything(kind, raises=True)


def _rounded_exactly(
    kind: IntegerType | DecimalType, x: Interval, digits: int, mode: str
) -> Interval:
    lower, upper = (pc.round(wide(end), digits, round_mode=mode) for end in ends(x))
    return fitted(strict(kind, [x]), (lower, upper), kind)


def _near(kind: FloatType, x: Interval, unit: float) -> Interval:
    """Within one unit of x: Spark rounds the shortest decimal text of a double, Arrow its bits."""
    margin = 2.0**-22 if kind.bits == FLOAT.bits else 2.0**-51
    below, above = (
        None if end is None else _moved(end, sign, unit, margin)
        for end, sign in ((x.lower, -1.0), (x.upper, 1.0))
    )
    return strict(kind, [x], (below, above))


def _moved(end: Vector, sign: float, unit: float, margin: float) -> Vector:
    distance = pc.add(pc.multiply(pc.abs(end), margin), unit)
    return pc.if_else(pc.is_inf(end), end, pc.add(end, pc.multiply(distance, sign)))


# Roots, powers and logarithms.


def _of_doubles(rule: Callable[..., Interval]) -> Callable[..., Interval]:
    """The rule for doubles only; with other arguments the result may be anything."""

    def guarded(kind: Type, *arguments: Interval) -> Interval:
        if all(isinstance(x.type, FloatType) for x in arguments):
            return rule(kind, *arguments)
        return anything(kind, raises=True)

    return guarded


def _sqrt(kind: Type, x: Interval) -> Interval:
    """sqrt(x): increasing; NaN below zero. IEEE rounds it correctly, so points are exact."""
    lower, upper = ends(x)
    root = strict(kind, [x], (pc.sqrt(greatest_of(lower, ZERO)), pc.sqrt(greatest_of(upper, ZERO))))
    return replace(
        root,
        value=both(x.value, may(less_equal, ZERO, upper)),
        nan=either(x.nan, both(x.value, may(less, lower, ZERO))),
    )


def _exp(kind: Type, x: Interval) -> Interval:
    """exp(x): increasing, above 0."""
    return _widened(increasing(x, kind, pc.exp), floor=0.0)


def _logarithm(kernel: Kernel) -> Callable[[Type, Interval], Interval]:
    """Increasing; NULL at and below zero."""

    def rule(kind: Type, x: Interval) -> Interval:
        lower, upper = (keep(surely(less, ZERO, end), end) for end in ends(x))
        logarithm = strict(kind, [x], (mapped(kernel, lower), mapped(kernel, upper)))
        return replace(
            _widened(logarithm),
            value=both(x.value, may(less, ZERO, x.upper)),
            null=either(x.null, both(x.value, may(less_equal, x.lower, ZERO))),
        )

    return rule


def _power(kind: Type, x: Interval, exponent: Interval) -> Interval:
    """power(x, n): increasing for x >= 0 and a constant n > 0. Otherwise it may be anything."""
    n = constant(exponent)
    if not isinstance(n, float) or not 0 < n < float("inf"):
        return anything(kind, raises=either(x.raises, exponent.raises))
    risen = _widened(increasing(x, kind, lambda end: pc.power(end, n)), floor=0.0)
    positive = surely(less_equal, ZERO, x.lower)
    return replace(
        risen,
        lower=keep(positive, risen.lower),
        upper=keep(positive, risen.upper),
        nan=either(x.nan, both(x.value, opposite(positive))),
        null=either(x.null, exponent.null),
        raises=either(x.raises, exponent.raises),
    )


def _widened(x: Interval, floor: float = float("-inf")) -> Interval:
    """Bounds a few units further out: the math libraries of Java and Arrow differ slightly."""
    lower = None if x.lower is None else greatest_of(outward(x.lower, -np.inf), pa.scalar(floor))
    upper = None if x.upper is None else outward(x.upper, np.inf)
    return replace(x, lower=lower, upper=upper)


# Remainders and bits.


def _pmod(kind: Type, x: Interval, divisor: Interval) -> Interval:
    """pmod(a, b): from 0 to b for b > 0; increasing within one multiple of a constant b."""
    if not isinstance(kind, IntegerType):
        return anything(kind, raises=True)
    least, most = ends(divisor)
    positive = surely(less, ZERO_INTEGER, least)
    if positive is False:
        return anything(kind, raises=True)
    lower, upper = (pc.if_else(as_vector(positive), end, INTEGER_1) for end in (least, most))
    a, b = ends(x)
    first, last = (pc.call_function("modulo", [end, lower]) for end in (a, b))
    block, other = (
        pc.call_function("divide", [pc.subtract(e, r), lower]) for e, r in ((a, first), (b, last))
    )
    rises = both(surely(pc.equal, lower, upper), surely(pc.equal, block, other))
    mask = as_vector(rises)
    result = strict(
        kind,
        [x, divisor],
        (pc.if_else(mask, first, ZERO_INTEGER), pc.if_else(mask, last, pc.subtract(upper, 1))),
    )
    other = opposite(positive)
    return replace(
        keep_bounds(result, positive),
        value=either(result.value, other),
        null=either(result.null, other),
        raises=either(result.raises, other),
    )


Bits: TypeAlias = Callable[[Interval, Interval], tuple[Vector | None, Vector | None]]
"""Bounds of an operation on bits, from the bounds of its operands."""


def _bits(kernel: Kernel, bounds: Bits) -> Callable[..., Interval]:
    """Exact for points: sign extension gives integers of every width the same 64 bits."""

    def rule(kind: Type, x: Interval, y: Interval) -> Interval:
        if not all(isinstance(operand.type, IntegerType) for operand in (x, y)):
            return anything(kind, raises=True)
        exact, single = pointwise(kind, [x, y], kernel), all_points([x, y])
        return exact_or(exact, single, bounds(x, y))

    return rule


def _not_negative(x: Interval) -> Mask:
    return surely(less_equal, ZERO_INTEGER, x.lower)


def _common_bits(x: Interval, y: Interval) -> tuple[Vector | None, Vector | None]:
    """x & y: from 0 to the operand that is not negative; bits are only removed."""
    first, second = _not_negative(x), _not_negative(y)
    lower = keep(either(first, second), ZERO_INTEGER)
    return lower, inner(least, keep(first, x.upper), keep(second, y.upper))


def _bits_of_either(x: Interval, y: Interval) -> tuple[Vector | None, Vector | None]:
    """x | y for operands >= 0: at least each operand, at most all bits of the longer one."""
    sure = both(_not_negative(x), _not_negative(y))
    return keep(sure, inner(greatest, x.lower, y.lower)), keep(sure, _ones(x.upper, y.upper))


def _differing_bits(x: Interval, y: Interval) -> tuple[Vector | None, Vector | None]:
    """x ^ y for operands >= 0: at least 0, at most all bits of the longer one."""
    sure = both(_not_negative(x), _not_negative(y))
    return keep(sure, ZERO_INTEGER), keep(sure, _ones(x.upper, y.upper))


def _ones(a: Vector | None, b: Vector | None) -> Vector | None:
    """All bits up to the highest bit of two numbers that are not negative."""
    if a is None or b is None:
        return None
    ones = pc.bit_wise_or(a, b)
    for shift in (1, 2, 4, 8, 16, 32):
        ones = pc.bit_wise_or(ones, pc.shift_right(ones, pa.scalar(shift)))
    return ones


def _invert_bits(kind: Type, x: Interval) -> Interval:
    """~x: -1 - x, decreasing."""
    if not isinstance(x.type, IntegerType):
        return anything(kind, raises=True)
    return decreasing(x, kind, pc.bit_wise_not)


def _whole_type(arguments: tuple[Expression, ...]) -> Type:
    """The result type of floor and ceil: bigint, or a decimal of scale 0."""
    kind = type_of(arguments[0])
    if isinstance(kind, DecimalType):
        return fitted_decimal(kind.precision - kind.scale + 1, 0)
    return BIGINT


def _round_type(arguments: tuple[Expression, ...]) -> Type | None:
    """The result type of round(decimal(p,s), n): scale at most n, one more integer digit."""
    kind = type_of(arguments[0])
    if not isinstance(kind, DecimalType):
        return kind
    match arguments[1:]:
        case ():
            places = 0
        case (Literal(int() as places, _),):
            pass
        case _:
            return None
    integer_digits = kind.precision - kind.scale + 1
    if places < 0:
        return DecimalType(min(max(integer_digits, -places + 1), 38), 0)
    scale = min(kind.scale, places)
    return DecimalType(min(integer_digits + scale, 38), scale)


def _double_function(name: str, rule: Callable[..., Interval], count: int = 1) -> ScalarFunction:
    return ScalarFunction(name, (Argument.DOUBLE,) * count, DOUBLE, by_type(_of_doubles(rule)))


_ONE, _TWO = (Argument.NUMBER,), (Argument.NUMBER, Argument.NUMBER)
_PLACES = (Argument.NUMBER, Argument.INT)

NUMERIC = (
    ScalarFunction("&", _TWO, type_of_first, by_type(_bits(pc.bit_wise_and, _common_bits))),
    ScalarFunction("^", _TWO, type_of_first, by_type(_bits(pc.bit_wise_xor, _differing_bits))),
    ScalarFunction("|", _TWO, type_of_first, by_type(_bits(pc.bit_wise_or, _bits_of_either))),
    ScalarFunction("~", _ONE, type_of_first, by_type(_invert_bits)),
    ScalarFunction("abs", _ONE, type_of_first, by_type(_abs)),
    ScalarFunction("bround", _PLACES, _round_type, by_type(_bround), optional=1),
    ScalarFunction("cbrt", (Argument.DOUBLE,), DOUBLE),
    ScalarFunction("ceil", _ONE, _whole_type, by_type(_ceil)),
    _double_function("exp", _exp),
    ScalarFunction("floor", _ONE, _whole_type, by_type(_floor)),
    ScalarFunction("hash", (Argument.ANY,), INT, repeats=True, strict=False),
    _double_function("ln", _logarithm(pc.ln)),
    ScalarFunction("log", (Argument.DOUBLE, Argument.DOUBLE), DOUBLE),
    _double_function("log10", _logarithm(pc.log10)),
    _double_function("log2", _logarithm(pc.log2)),
    ScalarFunction("negative", _ONE, type_of_first, by_type(_negative)),
    ScalarFunction("pmod", _TWO, type_of_first, by_type(_pmod)),
    _double_function("power", _power, 2),
    ScalarFunction("round", _PLACES, _round_type, by_type(_round), optional=1),
    ScalarFunction("sign", (Argument.DOUBLE,), DOUBLE, by_type(_sign)),
    _double_function("sqrt", _sqrt),
    ScalarFunction("xxhash64", (Argument.ANY,), BIGINT, repeats=True, strict=False),
)
"""The functions of numbers. `log` has a base; `ln` has none."""
