"""CAST in ANSI mode, from and to the types that predicates are made of."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

from oracle import clock
from oracle.errors import SqlError, Unsupported
from oracle.numbers import fit_decimal, fit_float, fit_integer, truncated
from whyscan.tree.types import (
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
)

# What Spark trims before it reads an integer, a boolean or a date, and what Java trims before
# it reads a fraction.
BLANK = "".join(map(chr, range(0x21))) + "\x7f"
JAVA_BLANK = "".join(map(chr, range(0x21)))
LONG_DIGITS = 18  # decimals up to here are longs inside Spark
TRUE = {"t", "true", "y", "yes", "1"}
FALSE = {"f", "false", "n", "no", "0"}
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def cast(value: Any, source: Type, target: Type, zone: str) -> Any:
    """A value that is not NULL as another type; raises SqlError where ANSI does."""
    if source == target:
        return value
    match target:
        case BooleanType():
            return _to_boolean(value, source)
        case IntegerType():
            return _to_integer(value, source, target)
        case FloatType():
            return _to_float(value, source, target)
        case DecimalType():
            return _to_decimal(value, source, target)
        case StringType():
            return _to_string(value, source, zone)
        case BinaryType() if isinstance(source, StringType):
            return value.encode()
        case DateType():
            return _to_date(value, source, zone)
        case TimestampType() if target.unit is TimeUnit.MICROSECOND:
            return _to_timestamp(value, source, target, zone)
    raise Unsupported(f"cast of {source} to {target}")


def _to_boolean(value: Any, source: Type) -> bool:
    match source:
        case IntegerType() | FloatType() | DecimalType():
            return value != 0
        case StringType():
            text = value.strip(BLANK).lower()
            if text in TRUE or text in FALSE:
                return text in TRUE
            raise SqlError(f"boolean {value!r}")
    raise Unsupported(f"cast of {source} to boolean")


def _to_integer(value: Any, source: Type, target: IntegerType) -> int:
    match source:
        case BooleanType():
            return int(value)
        case IntegerType():
            return fit_integer(value, target)
        case FloatType():
            return fit_integer(_whole(value), target)
        case DecimalType() if source.precision > LONG_DIGITS and target.bits < 64:
            # Spark goes through a double: 0.99999999999999999999 becomes 1.
            return fit_integer(math.trunc(float(value)), target)
        case DecimalType():
            return fit_integer(truncated(value), target)
        case StringType():
            text = value.strip(BLANK)
            if _INTEGER.fullmatch(text) is None:
                raise SqlError(f"{target} {value!r}")
            return fit_integer(int(text), target)
        case TimestampType(instant=True, unit=TimeUnit.MICROSECOND):
            return fit_integer(value // clock.MICROS, target)
    raise Unsupported(f"cast of {source} to {target}")


def _whole(value: float) -> int:
    if math.isnan(value) or math.isinf(value):
        raise SqlError(f"{value} is no integer")
    return math.trunc(value)


def _to_float(value: Any, source: Type, target: FloatType) -> float:
    match source:
        case BooleanType() | IntegerType() | DecimalType():
            return fit_float(float(value), target)
        case FloatType():
            return fit_float(value, target)
        case StringType():
            return fit_float(_number(value, target), target)
    raise Unsupported(f"cast of {source} to {target}")


def _number(value: str, target: Type) -> float:
    text = value.strip(JAVA_BLANK)
    if _NUMBER.fullmatch(text):
        return float(text)
    named = {"nan": math.nan, "infinity": math.inf, "inf": math.inf, "+inf": math.inf}
    named |= {"-inf": -math.inf, "-infinity": -math.inf, "+infinity": math.inf}
    if text.lower() in named:
        return named[text.lower()]
    if text[-1:].lower() in {"d", "f"}:
        raise Unsupported(f"{target} {value!r}: Java's suffixes")
    raise SqlError(f"{target} {value!r}")


def _to_decimal(value: Any, source: Type, target: DecimalType) -> Decimal | None:
    match source:
        case BooleanType() | IntegerType():
            return fit_decimal(Decimal(int(value)), target)
        case FloatType(bits=64):
            if math.isnan(value) or math.isinf(value):
                return None
            return fit_decimal(Decimal(repr(value)), target)
        case DecimalType():
            return fit_decimal(value, target)
        case StringType():
            text = value.strip(JAVA_BLANK)
            if _NUMBER.fullmatch(text) is None:
                raise SqlError(f"{target} {value!r}")
            return fit_decimal(Decimal(text), target)
    raise Unsupported(f"cast of {source} to {target}")


def _to_string(value: Any, source: Type, zone: str) -> str:
    match source:
        case BooleanType():
            return "true" if value else "false"
        case IntegerType():
            return str(value)
        case DecimalType():
            return f"{value:.{source.scale}f}"
        case DateType():
            return clock.date_text(value)
        case TimestampType(unit=TimeUnit.MICROSECOND):
            return clock.wall_text(clock.to_wall(value, zone) if source.instant else value)
    raise Unsupported(f"cast of {source} to string")


def _to_date(value: Any, source: Type, zone: str) -> int:
    match source:
        case StringType():
            return clock.parse_date(value.strip(BLANK))
        case TimestampType():
            micros = in_micros(value, source)
            wall = clock.to_wall(micros, zone) if source.instant else micros
            return wall // (clock.DAY * clock.MICROS)
    raise Unsupported(f"cast of {source} to date")


def in_micros(value: int, kind: TimestampType) -> int:
    return value if kind.unit is TimeUnit.MICROSECOND else value // 1000


def _to_timestamp(value: Any, source: Type, target: TimestampType, zone: str) -> int:
    match source:
        case DateType():
            wall = value * clock.DAY * clock.MICROS
            return clock.from_wall(wall, zone) if target.instant else wall
        case StringType() if target.instant:
            return clock.parse_timestamp(value.strip(BLANK), zone)
        case TimestampType(unit=TimeUnit.MICROSECOND):
            return clock.to_wall(value, zone) if source.instant else clock.from_wall(value, zone)
        case NullType():
            pass
    raise Unsupported(f"cast of {source} to {target}")
