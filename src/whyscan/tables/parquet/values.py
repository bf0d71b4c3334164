"""Turns the text of a partition folder into a value: Spark's type inference and conversion.

Numbers are read by Java's grammars: `01` and `+1` are integers, `1e5` a decimal, ` 5`, `1d` and
`0x1p3` doubles. Percent codes are decoded only for text and timestamps, one code per character.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING

from whyscan.tree import arrow, time_text, zones
from whyscan.tree.literals import nearest_float32
from whyscan.tree.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    NullType,
    OtherType,
    StringType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from whyscan.tree.nodes import Value
    from whyscan.tree.zones import Zone

NULL_TEXT = "__HIVE_DEFAULT_PARTITION__"
TIME = OtherType("time(6)")
MAX_DIGITS = 38

_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?")
_DOUBLE = re.compile(r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)", re.ASCII)
_HEX_DOUBLE = re.compile(
    r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d+[fFdD]?", re.ASCII
)
_DATE = re.compile(r"-?\d{4}-\d{2}-\d{2}", re.ASCII)
_TIMESTAMP = re.compile(r"-?\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d)?", re.ASCII)
_TIME = re.compile(r"\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?", re.ASCII)
_JAVA_SPACE = "".join(map(chr, range(0x21)))
_DIGITS = {32: 10, 64: 20}
_NOTHING: Type = NULL


class UnreadableValue(ValueError):
    """The text is no value of the type; the argument is the text."""


def unescape(text: str) -> str:
    """Decode `%XX`: one code is one character, never a byte of UTF-8; `+` is a plus."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def infer(texts: Iterable[str]) -> Type:
    """The type of a partition column: the narrowest that holds every value, else text."""
    kinds: Iterable[Type] = map(infer_value, dict.fromkeys(texts))
    return reduce(_wider, kinds, _NOTHING)


def infer_value(text: str) -> Type:
    """The type of one value; types are tried in Spark's order."""
    if text == NULL_TEXT:
        return NULL
    integer = _integer(text)
    if integer is not None:
        return INT if _fits(integer, INT) else BIGINT if _fits(integer, BIGINT) else _numeric(text)
    return _numeric(text)


def _numeric(text: str) -> Type:
    number = _integral(text)
    if number is not None:
        return DecimalType(len(str(abs(number))), 0)
    if _double(text) is not None:
        return DOUBLE
    return _temporal(unescape(text), text)


def _temporal(decoded: str, text: str) -> Type:
    if _TIMESTAMP.fullmatch(decoded) and time_text.read_timestamp(decoded) is not None:
        return TIMESTAMP
    if _DATE.fullmatch(text) and time_text.parse_date(text) is not None:
        return DATE
    if _TIME.fullmatch(decoded) and time_text.read_timestamp(decoded) is not None:
        return TIME
    return STRING


def _wider(left: Type, right: Type) -> Type:
    """The type that holds both. A double does not hold numbers that it might round."""
    match left, right:
        case _ if left == right:
            return left
        case (NullType(), other) | (other, NullType()):
            return other
        case IntegerType(), IntegerType():
            return BIGINT
        case (IntegerType() | DecimalType(), IntegerType() | DecimalType()):
            return DecimalType(max(_digits(left), _digits(right)), 0)
        case (IntegerType(bits=32), FloatType()) | (FloatType(), IntegerType(bits=32)):
            return DOUBLE
        case (DateType(), TimestampType()) | (TimestampType(), DateType()):
            return TIMESTAMP
        case _:
            return STRING


def _digits(kind: IntegerType | DecimalType) -> int:
    return kind.precision if isinstance(kind, DecimalType) else _DIGITS[kind.bits]


def convert(texts: Sequence[str], kind: Type, zone: Zone) -> pa.Array:
    """Raw texts as values of the type (see tree/arrow.py); the sentinel is NULL.

    Raises UnreadableValue with the offending text.
    """
    converted: dict[str, Value] = {NULL_TEXT: None}
    for text in texts:
        if text not in converted:
            converted[text] = _value(text, kind, zone)
    return arrow.array([converted[text] for text in texts], kind)


def _value(text: str, kind: Type, zone: Zone) -> Value:
    value: Value
    match kind:
        case StringType():
            return unescape(text)
        case BinaryType():
            return text.encode()
        case BooleanType():
            value = {"true": True, "false": False}.get(text.lower())
        case IntegerType():
            integer = _integer(text)
            value = integer if integer is not None and _fits(integer, kind) else None
        case FloatType():
            number = _double(text)
            value = (
                number if number is None or kind.bits == DOUBLE.bits else nearest_float32(number)
            )
        case DecimalType():
            value = _decimal(text, kind)
        case DateType():
            value = time_text.parse_date(text)
        case TimestampType():
            value = _timestamp(unescape(text), kind, zone)
        case _:
            return None
    if value is None:
        raise UnreadableValue(text)
    return value


def _integer(text: str) -> int | None:
    return int(text) if _INTEGER.fullmatch(text) else None


def _fits(value: int, kind: IntegerType) -> bool:
    return kind.least <= value <= kind.greatest


def _integral(text: str) -> int | None:
    """A decimal number of scale 0 by the rules of Java's BigDecimal; None beyond 38 digits."""
    match = _NUMBER.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        return None
    sign, digits, fraction, exponent = match.groups(default="")
    shift = int(exponent or 0) - len(fraction)
    unscaled = int(digits + fraction)
    if shift < 0 or (unscaled and len(str(unscaled)) + shift > MAX_DIGITS):
        return None
    value: int = unscaled * 10**shift if unscaled else 0
    return -value if sign == "-" else value


def _double(text: str) -> float | None:
    text = text.strip(_JAVA_SPACE)
    if _DOUBLE.fullmatch(text):
        return float(text.rstrip("fFdD") if text[-1] in "fFdD" else text)
    if not _HEX_DOUBLE.fullmatch(text):
        return None
    try:
        return float.fromhex(text.rstrip("fFdD"))
    except OverflowError:
        return -math.inf if text[0] == "-" else math.inf


def _decimal(text: str, kind: DecimalType) -> Decimal | None:
    """The number, None if the type does not hold all of its digits."""
    match = _NUMBER.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        return None
    sign, integer_digits, fraction, exponent = match.groups(default="")
    unscaled = int(integer_digits + fraction)
    shift = int(exponent or 0) - len(fraction) + kind.scale
    if unscaled and not -MAX_DIGITS <= shift <= MAX_DIGITS:
        return None
    scaled, rest = divmod(unscaled * 10 ** max(shift, 0), 10 ** max(-shift, 0))
    if rest or scaled >= 10**kind.precision:
        return None
    digits = tuple(int(digit) for digit in str(scaled))
    return Decimal((int(sign == "-"), digits, -kind.scale))


def _timestamp(text: str, kind: TimestampType, zone: Zone) -> int | None:
    reading = time_text.read_timestamp(text)
    if reading is None or reading.day is None:
        return None
    wall = reading.day * zones.DAY + reading.nanoseconds // 1000
    moment = zones.to_instant(wall, reading.zone or zone) if kind.instant else wall
    units = moment * (kind.unit.per_second // zones.SECOND)
    return units if time_text.fits_int64(units) else None
