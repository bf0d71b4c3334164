"""Spark's functions on single values: what the catalogue of intervals must contain.

Written from Spark's behaviour, not from the catalogue; test_spark.py holds it against Spark.
NULL is None, and an error is `Raised`.
"""

from __future__ import annotations

import math
import re
import struct
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal, localcontext

from whyscan.tree.nodes import Operation
from whyscan.tree.types import BooleanType, DecimalType, FloatType, IntegerType, StringType


class Raised(Exception):
    """Spark reports an error for this row."""


WIDE = Context(prec=400, Emax=999_999, Emin=-999_999)


def strict(function):
    """NULL for a NULL argument."""
    return lambda *arguments: None if None in arguments else function(*arguments)


def to_float32(value: float) -> float:
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def fit(value, kind):
    """The value in its type, or an error."""
    match kind:
        case IntegerType():
            if not kind.least <= value <= kind.greatest:
                raise Raised
            return value
        case DecimalType():
            rounded = at_scale(value, kind.scale, ROUND_HALF_UP)
            if abs(rounded) >= Decimal(10) ** (kind.precision - kind.scale):
                raise Raised
            return rounded
        case FloatType():
            return to_float32(value) if kind.bits == 32 else value


def at_scale(value: Decimal, scale: int, mode: str) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-scale), mode, WIDE)


# Arithmetic.


def calculate(operation: Operation, a, b, kind):
    with localcontext(WIDE):
        if isinstance(a, float):
            return fit(float_operation(operation, a, b), kind)
        if isinstance(a, Decimal):
            return decimal_operation(operation, a, b, kind)
        return fit(whole_operation(operation, a, b), kind)


def whole_operation(operation: Operation, a, b):
    match operation:
        case Operation.ADD:
            return a + b
        case Operation.SUBTRACT:
            return a - b
        case Operation.MULTIPLY:
            return a * b
        case Operation.QUOTIENT:
            return towards_zero(a, nonzero(b))
        case Operation.REMAINDER:
            return a - nonzero(b) * towards_zero(a, b)


def decimal_operation(operation: Operation, a, b, kind):
    match operation:
        case Operation.MULTIPLY:
            return fit(Context(prec=39, rounding=ROUND_HALF_UP).multiply(a, b), kind)
        case Operation.DIVIDE:
            return fit(at_scale(a / nonzero(b), 38, ROUND_HALF_UP), kind)
        case Operation.QUOTIENT:
            whole = int(a / nonzero(b))
            return (whole + 2**63) % 2**64 - 2**63
        case Operation.REMAINDER:
            return fit(a % nonzero(b), kind)
        case _:
            return fit(whole_operation(operation, a, b), kind)


def float_operation(operation: Operation, a: float, b: float) -> float:
    match operation:
        case Operation.DIVIDE:
            return a / nonzero(b) if math.isfinite(b) or math.isfinite(a) else math.nan
        case Operation.REMAINDER:
            finite = not math.isnan(nonzero(b)) and math.isfinite(a)
            return math.fmod(a, b) if finite else math.nan
        case _:
            return whole_operation(operation, a, b)


def nonzero(b):
    if b == 0:
        raise Raised
    return b


def towards_zero(a: int, b: int) -> int:
    whole = abs(a) // abs(b)
    return whole if (a < 0) == (b < 0) else -whole


# Functions of numbers.


def saturate(value: float) -> int:
    if math.isnan(value):
        return 0
    return max(
        -(2**63),
        min(2**63 - 1, int(value) if math.isfinite(value) else int(math.copysign(2**64, value))),
    )


def floor(x, kind):
    if isinstance(x, float):
        return saturate(math.floor(x) if math.isfinite(x) else x)
    return x if isinstance(x, int) else x.to_integral_value("ROUND_FLOOR")


def ceil(x, kind):
    if isinstance(x, float):
        return saturate(math.ceil(x) if math.isfinite(x) else x)
    return x if isinstance(x, int) else x.to_integral_value("ROUND_CEILING")


def rounding(mode: str):
    def rounded(x, places, kind):
        if isinstance(x, float):
            if not math.isfinite(x):
                return x
            text = repr(x) if kind.bits == 64 else float32_text(x)
            return fit(float(at_scale(Decimal(text), places, mode)), kind)
        if isinstance(x, int):
            return fit(int(at_scale(Decimal(x), places, mode)), kind) if places < 0 else x
        return fit(at_scale(x, places, mode), kind)

    return rounded


def float32_text(value: float) -> str:
    """The shortest text that reads back as the same float."""
    return next(
        t for digits in range(1, 10) if to_float32(float(t := f"{value:.{digits}g}")) == value
    )


half_up = rounding(ROUND_HALF_UP)
half_even = rounding(ROUND_HALF_EVEN)


NEGATING = Context(prec=34, rounding=ROUND_HALF_EVEN)
"""Scala negates a BigDecimal in its default context, and so rounds the longest ones."""


def negative(x, kind):
    return fit(NEGATING.minus(x) if isinstance(x, Decimal) else -x, kind)


def absolute(x, kind):
    return negative(x, kind) if x < 0 else x


def sign(x, kind):
    return x if math.isnan(x) else float((x > 0) - (x < 0))


def sqrt(x, kind):
    return math.sqrt(x) if x >= 0 else math.nan


def logarithm(function):
    def of_positive(x, kind):
        if math.isnan(x) or x == math.inf:
            return x
        return function(x) if x > 0 else None

    return of_positive


def exp(x, kind):
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def pmod(a: int, b: int, kind):
    rest = whole_operation(Operation.REMAINDER, a, b)
    return whole_operation(Operation.REMAINDER, rest + b, b) if rest < 0 else rest


def order(value):
    """NaN above all numbers."""
    return (1, 0) if isinstance(value, float) and math.isnan(value) else (0, value)


def least(*values):
    return min((v for v in values if v is not None), key=order, default=None)


def greatest(*values):
    return max((v for v in values if v is not None), key=order, default=None)


# Casts.


def cast(value, source, target):
    """CAST; NULL goes to NULL before this."""
    match (source, target):
        case (_, _) if source == target:
            return value
        case (StringType(), IntegerType()):
            return fit(read(value, r"[+-]?[0-9]+", int), target)
        case (StringType(), DecimalType()):
            return fit(read(value, r"[+-]?[0-9]+(?:\.[0-9]+)?", Decimal), target)
        case (StringType(), FloatType()):
            return fit(read(value, r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", float), target)
        case (StringType(), BooleanType()):
            return read_boolean(value)
        case (BooleanType(), StringType()):
            return "true" if value else "false"
        case (IntegerType(), StringType()):
            return str(value)
        case (DecimalType(), StringType()):
            return f"{value:f}"
        case (_, BooleanType()):
            return value != 0
        case (BooleanType(), _):
            return cast(int(value), IntegerType(32), target)
        case (FloatType(), IntegerType()):
            return float_to_integer(value, target)
        case (FloatType(), DecimalType()):
            return fit(Decimal(repr(value)), target) if math.isfinite(value) else None
        case (DecimalType(), IntegerType()) if source.precision > 18 and target.bits < 64:
            return float_to_integer(float(value), target)
        case (DecimalType(), IntegerType()):
            return fit(int(value.to_integral_value(ROUND_DOWN)), target)
        case (IntegerType(), DecimalType()):
            return fit(Decimal(value), target)
        case (IntegerType() | DecimalType(), FloatType(bits=32)):
            return nearest_float32(value)
        case (IntegerType() | DecimalType(), FloatType()):
            return float(value)
        case _:
            return fit(value, target)


def nearest_float32(value) -> float:
    """Rounded once: the float whose distance to the exact number is least, ties to even."""
    guess = to_float32(float(value))
    if math.isinf(guess):
        return guess
    bits = struct.unpack("i", struct.pack("f", guess))[0]
    around = [struct.unpack("f", struct.pack("i", bits + step))[0] for step in (-1, 0, 1) if guess]
    exact = WIDE.create_decimal(value)
    return min(
        around or [guess],
        key=lambda f: (abs(WIDE.subtract(exact, Decimal(f))), struct.pack("f", f)[0] & 1),
    )


def float_to_integer(value: float, target: IntegerType) -> int:
    if not math.isfinite(value) or not float(target.least) <= math.trunc(value) <= float(
        target.greatest
    ):
        raise Raised
    return max(target.least, min(target.greatest, math.trunc(value)))


def read(text: str, grammar: str, convert):
    """Blanks around it do not count. What Spark reads beyond this grammar is not told here."""
    if re.fullmatch(f" *({grammar}) *", text) is None:
        raise Raised
    return convert(text.strip(" "))


def read_boolean(text: str) -> bool:
    word = text.strip(" ").lower()
    if word in ("t", "true", "y", "yes", "1"):
        return True
    if word in ("f", "false", "n", "no", "0"):
        return False
    raise Raised


# Text.


def substring(text: str, position: int, length: int) -> str:
    """Positions from 1, or from the end; what lies before the start is counted and not there."""
    first = position - 1 if position > 0 else position + len(text) if position < 0 else 0
    return "".join(c for i, c in enumerate(text) if first <= i < first + length)


def pad(text: str, size: int, filler: str) -> tuple[str, str]:
    missing = max(size - len(text), 0) if filler else 0
    return text[: max(size, 0)], (filler * missing)[:missing]


def translate(text: str, old: str, new: str) -> str:
    letters = ""
    for letter in text:
        at = old.find(letter)
        letters += letter if at < 0 else new[at : at + 1]
    return letters


def initcap(text: str) -> str:
    previous, letters = " ", []
    for letter in text:
        letters.append(letter.upper() if previous == " " else letter.lower())
        previous = letter
    return "".join(letters)


TEXT = {
    "ascii": lambda s: ord(s[0]) if s else 0,
    "contains": lambda s, part: part in s,
    "endswith": lambda s, part: s[len(s) - len(part) :] == part if len(part) <= len(s) else False,
    "initcap": initcap,
    "instr": lambda s, part: s.find(part) + 1,
    "left": lambda s, n: s[: max(n, 0)],
    "length": len,
    "lower": str.lower,
    "lpad": lambda s, n, filler: "".join(reversed(pad(s, n, filler))),
    "ltrim": lambda s: s.lstrip(" "),
    "octet_length": lambda s: len(s.encode()),
    "repeat": lambda s, n: s * max(n, 0),
    "replace": lambda s, old, new: new.join(s.split(old)) if old else s,
    "reverse": lambda s: "".join(reversed(s)),
    "right": lambda s, n: s[max(len(s) - n, 0) :] if n > 0 else "",
    "rpad": lambda s, n, filler: "".join(pad(s, n, filler)),
    "rtrim": lambda s: s.rstrip(" "),
    "startswith": lambda s, part: s[: len(part)] == part,
    "substring": substring,
    "translate": translate,
    "trim": lambda s: s.strip(" "),
    "upper": str.upper,
}


def like(text: str, pattern: str, escape: str | None) -> bool:
    """One character at a time, by trying both readings of a `%`."""
    if not pattern:
        return not text
    head, rest = pattern[0], pattern[1:]
    if head == escape:
        if not rest or rest[0] not in ("_", "%", escape):
            raise Raised
        return text[:1] == rest[0] and like(text[1:], rest[1:], escape)
    if head == "%":
        return any(like(text[i:], rest, escape) for i in range(len(text) + 1))
    return bool(text) and head in ("_", text[0]) and like(text[1:], rest, escape)


def power(x: float, n: float, kind) -> float:
    """Java's: NaN for a negative number to a broken power."""
    if math.isnan(x) or (x < 0 and math.isfinite(x) and n != int(n)):
        return math.nan
    try:
        return math.pow(x, n)
    except OverflowError:
        return math.inf if x > 0 or n % 2 == 0 else -math.inf


def mod(a: int, b: int, kind) -> int:
    return calculate(Operation.REMAINDER, a, b, kind)


def inverted(x: int, kind) -> int:
    return ~x


def bits_and(a: int, b: int, kind) -> int:
    return a & b


def bits_or(a: int, b: int, kind) -> int:
    return a | b


def bits_xor(a: int, b: int, kind) -> int:
    return a ^ b
