"""`cast` and `try_cast` between numbers, booleans and text.

| from | to | law |
|---|---|---|
| integer | integer, decimal | the same number; an error outside the target |
| decimal, double | integer | towards zero; an error outside the target, and for NaN |
| decimal of over 18 digits | below bigint | as a double first: 0.9999999999999999999 is 1 |
| decimal | decimal | half up at the new scale; an error beyond the precision |
| integer, decimal | double, float | the nearest; never NaN |
| double | decimal | half up; an error beyond the precision, NULL for NaN and infinities |
| number | boolean | FALSE only for zero |
| boolean | number, string | 0 and 1, 'false' and 'true' |
| string | number, boolean | not monotone: exact for points in a plain notation |
| integer, decimal | string | not monotone: exact for points |
| string | binary | the same bytes |

`try_cast` turns the errors of the conversion itself into NULL.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.pruning.functions.numbers import decimals
from whyscan.pruning.functions.numbers.corners import number
from whyscan.pruning.functions.numbers.floats import outward, rounded, saturated
from whyscan.pruning.functions.rules import (
    WIDE_DIGITS,
    as_vector,
    contains,
    ends,
    extremes,
    fitted,
    greatest_of,
    increasing,
    least_of,
    pointwise,
    strict,
    wide,
)
from whyscan.pruning.interval import Interval, anything, equal, less, less_equal, only_null
from whyscan.pruning.mask import Mask, Vector, both, either, keep, may, opposite, surely
from whyscan.tree.arrow import MAX_DECIMAL_DIGITS
from whyscan.tree.nodes import CastFailure
from whyscan.tree.types import (
    BIGINT,
    DOUBLE,
    BinaryType,
    BooleanType,
    DecimalType,
    FloatType,
    IntegerType,
    NullType,
    StringType,
    Type,
)

EXACT_INTEGER = 2**53
EXACT_POWER_OF_TEN = 22
"""Integers up to the first and powers of ten up to the second are doubles: division rounds once."""

LONG_DIGITS = 18
"""Spark holds decimals with up to this many digits as longs."""

INTEGER_TEXT = r"[+-]?[0-9]{1,18}"
DECIMAL_TEXT = r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?"
DOUBLE_TEXT = r"[+-]?[0-9]{1,300}(?:\.[0-9]{1,300})?(?:[eE][+-]?[0-9]{1,3})?"
TEXT_SCALE = 18
"""The greatest number of places of a decimal's text that is read."""

PLAIN_PLACES = 6
"""Up to this many places Arrow writes a decimal as Spark does; with more it writes `1E-7`."""

WORD = r"(?:[!-~\x80-\xff](?:[ -~\x80-\xff]*[!-~\x80-\xff])?)?"
"""Text without blanks at its ends and without control characters, which Spark removes."""

TRUE_WORDS = pa.array(["t", "true", "y", "yes", "1"])
FALSE_WORDS = pa.array(["f", "false", "n", "no", "0"])


def plain_cast(x: Interval, target: Type, failure: CastFailure) -> Interval:
    """A cast that needs no time zone. A cast without a rule may have any value."""
    if x.type == target:
        return x
    if isinstance(x.type, NullType):
        return replace(only_null(target), raises=x.raises)
    converted = _converted(x, target)
    if converted is None:
        return anything(target, raises=True)
    if failure is CastFailure.RAISE:
        return converted
    return replace(converted, null=either(converted.null, converted.raises), raises=x.raises)


def _converted(x: Interval, target: Type) -> Interval | None:
    match target:
        case IntegerType():
            return _to_integer(x, target)
        case DecimalType():
            return _to_decimal(x, target)
        case FloatType():
            return _to_float(x, target)
        case BooleanType():
            return _to_boolean(x, target)
        case StringType():
            return _to_string(x, target)
        case BinaryType() if isinstance(x.type, StringType):
            return replace(x, type=target)
        case _:
            return None


def _to_integer(x: Interval, target: IntegerType) -> Interval | None:
    match x.type:
        case IntegerType():
            return fitted(strict(target, [x]), ends(x), target)
        case DecimalType() if x.type.precision > LONG_DIGITS and target.bits < BIGINT.bits:
            return _float_to_integer(_decimal_to_float(x, DOUBLE), target)
        case DecimalType():
            lower, upper = (decimals.truncated(end, 0) for end in ends(x))
            return fitted(strict(target, [x]), (lower, upper), target)
        case FloatType():
            return _float_to_integer(x, target)
        case BooleanType():
            return increasing(x, target, lambda end: end.cast(pa.int64()))
        case StringType():
            return _parsed(x, target, INTEGER_TEXT)
        case _:
            return None


def _float_to_integer(x: Interval, target: IntegerType) -> Interval:
    """Towards zero. The bounds of bigint, as doubles, count as inside."""
    lower, upper = (pc.trunc(end) for end in ends(x))
    least, greatest = (pa.scalar(float(end.as_py())) for end in extremes(target))
    escapes = either(surely(less, lower, least), surely(less, greatest, upper))
    inside = both(may(less_equal, lower, greatest), may(less_equal, least, upper))
    result = strict(target, [x])
    first, last = (least_of(greatest_of(end, least), greatest) for end in (lower, upper))
    return replace(
        result,
        lower=saturated(first),
        upper=saturated(last),
        value=both(x.value, inside),
        raises=either(x.raises, x.nan, both(x.value, escapes)),
    )


def _to_decimal(x: Interval, target: DecimalType) -> Interval | None:
    match x.type:
        case IntegerType() | DecimalType():
            lower, upper = (decimals.half_up(wide(end), target.scale) for end in ends(x))
            return fitted(strict(target, [x]), (lower, upper), target)
        case FloatType():
            return _float_to_decimal(x, target)
        case BooleanType():
            numbers = increasing(x, IntegerType(8), lambda end: end.cast(pa.int64()))
            return _to_decimal(numbers, target)
        case StringType():
            return _parsed(x, target, DECIMAL_TEXT)
        case _:
            return None


def _float_to_decimal(x: Interval, target: DecimalType) -> Interval:
    """Spark rounds the shortest decimal text of the double, half away from zero.

    The text is a number between the two neighbours of the double, so these are the bounds.
    """
    # The double of 10^28 is a little less than 10^28: a number beyond it must stay beyond it.
    limit = pa.scalar(2 * 10.0 ** (target.precision - target.scale))
    room = pa.decimal256(WIDE_DIGITS, target.scale)
    lower, upper = ends(x)
    first, last = (
        greatest_of(least_of(end, limit), pc.negate(limit)).cast(room)
        for end in (outward(lower, -np.inf), outward(upper, np.inf))
    )
    result = fitted(strict(target, [x]), (first, last), target)
    infinite = either(contains(x, pa.scalar(np.inf)), contains(x, pa.scalar(-np.inf)))
    return replace(result, null=either(x.null, x.nan, infinite))


def _to_float(x: Interval, target: FloatType) -> Interval | None:
    match x.type:
        case IntegerType() | BooleanType():
            narrow = pa.float64() if target.bits == DOUBLE.bits else pa.float32()
            return increasing(x, target, lambda end: _number(end, narrow))
        case DecimalType():
            return _decimal_to_float(x, target)
        case FloatType():
            return increasing(x, target, lambda end: rounded(end, target))
        case StringType():
            return _parsed(x, target, DOUBLE_TEXT)
        case _:
            return None


def _number(values: Vector, narrow: pa.DataType) -> Vector:
    """Integers as floats: rounded to the type at once, not first to a double."""
    return pc.cast(values.cast(pa.int64()), narrow, safe=False).cast(pa.float64())


def _decimal_to_float(x: Interval, target: FloatType) -> Interval:
    """The nearest double where one division gives it, else a bound a little further out."""
    lower, upper = (
        None if end is None else rounded(_nearest(end, towards, target), target)
        for end, towards in ((x.lower, -np.inf), (x.upper, np.inf))
    )
    return strict(target, [x], (lower, upper))


def _nearest(values: Vector, towards: float, target: FloatType) -> Vector:
    if isinstance(values, pa.Scalar):
        return _nearest(pa.array([values.as_py()], values.type), towards, target)[0]
    unscaled = values.view(pa.decimal128(MAX_DECIMAL_DIGITS, 0)).cast(pa.float64())
    nearest = pc.divide(unscaled, 10.0**values.type.scale)
    around = outward(nearest, towards)
    if values.type.scale > EXACT_POWER_OF_TEN or target.bits != DOUBLE.bits:
        return around
    return pc.if_else(pc.less(pc.abs(unscaled), EXACT_INTEGER), nearest, around)


def _to_boolean(x: Interval, target: BooleanType) -> Interval | None:
    match x.type:
        case IntegerType() | DecimalType() | FloatType():
            return _is_not_zero(x, target)
        case StringType():
            return _parsed_boolean(x, target)
        case _:
            return None


def _is_not_zero(x: Interval, target: BooleanType) -> Interval:
    """TRUE for all values except zero; TRUE for NaN."""
    lower, upper = ends(x)
    zero = number(0, lower)
    may_be_zero = both(x.value, surely(less_equal, lower, zero), surely(less_equal, zero, upper))
    only_zero = both(surely(equal, lower, zero), surely(equal, zero, upper), opposite(x.nan))
    return Interval(
        target,
        as_vector(opposite(may_be_zero)),
        as_vector(opposite(only_zero)),
        value=x.present,
        null=x.null,
        raises=x.raises,
    )


def _to_string(x: Interval, target: StringType) -> Interval | None:
    match x.type:
        case BinaryType():
            return replace(x, type=target)
        case BooleanType():
            return increasing(x, target, _text)
        case IntegerType():
            return pointwise(target, [x], _text)
        case DecimalType(scale=scale) if 0 <= scale <= PLAIN_PLACES:
            return pointwise(target, [x], _text)
        case DecimalType() | FloatType():
            return Interval(target, None, None, value=x.present, null=x.null, raises=x.raises)
        case _:
            return None


def _text(values: Vector) -> Vector:
    return values.cast(pa.string()).cast(pa.binary())


# Text to values. Spark reads more notations than these patterns (infinity, suffixes, other white
# space): a text that the patterns do not cover may be any value or an error.


def _parsed(x: Interval, target: IntegerType | DecimalType | FloatType, grammar: str) -> Interval:
    """The number that a point spells in plain notation."""
    written = _matched(x, grammar)
    if written is None:
        return _unread(x, target)
    digits = pc.replace_substring_regex(written.cast(pa.string()), r"^\+", "")
    result = _unread(x, target, unread=opposite(surely(pc.is_valid, written)))
    match target:
        case IntegerType():
            return _point(result, digits.cast(pa.int64()), target)
        case DecimalType():
            exact = digits.cast(pa.decimal256(WIDE_DIGITS, TEXT_SCALE))
            return _point(result, decimals.half_up(exact, target.scale), target)
        case FloatType():
            narrow = pa.float64() if target.bits == DOUBLE.bits else pa.float32()
            number = digits.cast(narrow).cast(pa.float64())
            return replace(result, lower=number, upper=number)


def _point(result: Interval, end: Vector, target: IntegerType | DecimalType) -> Interval:
    return fitted(result, (end, end), target)


def _unread(x: Interval, target: Type, *, unread: Mask = True) -> Interval:
    """Any value or an error, where the text was not read."""
    result = strict(target, [x], raises=both(x.value, unread))
    nan = isinstance(target, FloatType) and both(x.value, unread)
    return replace(result, nan=nan)


def _matched(x: Interval, grammar: str) -> Vector | None:
    """The text of a point without blanks; unknown if it is no point or does not match."""
    text = keep(x.point(), x.lower)
    if text is None:
        return None
    return pc.struct_field(pc.extract_regex(text, pattern=f"^ *(?P<text>{grammar}) *$"), [0])


def _parsed_boolean(x: Interval, target: BooleanType) -> Interval:
    """'t', 'true', 'y', 'yes', '1' and their opposites, in any case; other words are an error."""
    written = _matched(x, WORD)
    if written is None:
        return _unread(x, target)
    word = pc.ascii_lower(written.cast(pa.string(), safe=False))
    true, false = (pc.is_in(word, value_set=words) for words in (TRUE_WORDS, FALSE_WORDS))
    recognised = surely(pc.or_, true, false)
    end = keep(recognised, true)
    wrong_word = both(surely(pc.is_valid, written), opposite(recognised))
    read = replace(_unread(x, target, unread=opposite(recognised)), lower=end, upper=end)
    return replace(read, value=both(read.value, opposite(wrong_word)))
