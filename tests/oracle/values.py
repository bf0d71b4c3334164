"""The values that break pruning, type by type, and the steps between them."""

from __future__ import annotations

import math
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

from oracle.clock import DAY, MICROS, days_of
from oracle.numbers import BIG, fit_float
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    TimeUnit,
    Type,
)

if TYPE_CHECKING:
    from oracle.dice import Dice

NANOS = TimestampType(instant=False, unit=TimeUnit.NANOSECOND)
NARROW = DecimalType(5, 2)
LONG = DecimalType(20, 3)
WIDE = DecimalType(38, 0)
FRACTION = DecimalType(38, 38)

TYPES: tuple[Type, ...] = (
    BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, NARROW, LONG, WIDE, FRACTION,
    STRING, BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ, NANOS,
)  # fmt: skip

# One character each; `K` is the Kelvin sign, whose lower case is an ASCII k.
ALPHABET = "\x00\x7fÿ\ud7ff\ufffd\U0010ffff%_\\ßİıKakKz 5"  # noqa: RUF001
WORDS = ("", "a", "ab", "abc", "appı", "apple", "apricot", "foo_bar", "foo\\", "5", "-1", "true")  # noqa: RUF001
DATED = ("2024-03-01", "2024-02-30", "2024-03-01 12:00:00", "0001-01-01")
BYTES = (b"", b"\x00", b"\x7f", b"\x80", b"\xff", b"\xff\xff", b"a\xff", b"ab", b"a")

SPRING = days_of(2024, 3, 1)
FOLD = days_of(2010, 11, 7)  # St John's turns its clocks back one minute past midnight
DAYS = (days_of(1, 1, 1), days_of(1582, 10, 4), -366, -1, 0, 1, FOLD - 1, FOLD, SPRING - 1, SPRING)
FOLD_INSTANT = (FOLD * DAY + 2 * 3600 + 31 * 60) * MICROS
INSTANTS = (
    -DAY * MICROS, -1, 0, 1, 999_999,
    FOLD_INSTANT - 1, FOLD_INSTANT, FOLD_INSTANT + 59 * 60 * MICROS, FOLD_INSTANT + 3600 * MICROS,
    FOLD * DAY * MICROS, (FOLD + 1) * DAY * MICROS,
    SPRING * DAY * MICROS - 1, SPRING * DAY * MICROS, (SPRING * DAY + 43_200) * MICROS,
    days_of(1850, 1, 1) * DAY * MICROS,
)  # fmt: skip
FLOATS = (
    math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 1.5, 0.1, 5.0, 5e-324, 1e300, 16_777_217.0,
)  # fmt: skip


@cache
def pool(kind: Type) -> list[Any]:
    """The special values of a type."""
    match kind:
        case BooleanType():
            return [False, True]
        case IntegerType():
            least, greatest = -(1 << (kind.bits - 1)), (1 << (kind.bits - 1)) - 1
            return [0, 1, -1, 2, 5, 10, -10, least, least + 1, greatest - 1, greatest]
        case FloatType():
            return [fit_float(value, kind) for value in FLOATS]
        case DecimalType():
            step = Decimal(1).scaleb(-kind.scale)
            most = Decimal((0, (9,) * kind.precision, -kind.scale))
            values = [0 * step, step, -step, most, most.copy_negate(), BIG.subtract(most, step)]
            whole = [Decimal(n).quantize(step) for n in (1, 5, -1) if kind.precision > kind.scale]
            return values + whole
        case StringType():
            return [*WORDS, *DATED]
        case BinaryType():
            return list(BYTES)
        case DateType():
            return list(DAYS)
        case TimestampType(unit=TimeUnit.NANOSECOND):
            return [-1, 0, 1, 999, 1000, SPRING * DAY * MICROS * 1000]
        case TimestampType():
            return list(INSTANTS)
    raise NotImplementedError(str(kind))


def any_value(dice: Dice, kind: Type) -> Any:
    """Any value of a type but NULL."""
    if dice.one_in(2):
        match kind:
            case IntegerType():
                return dice.number(-4, 4)
            case StringType():
                return "".join(dice.pick(ALPHABET) for _ in range(dice.number(0, 3)))
            case FloatType():
                return float(dice.number(-3, 3))
            case DateType():
                return SPRING + dice.number(-40, 40)
    return dice.pick(pool(kind))


def neighbours(value: Any, kind: Type) -> list[Any]:
    """The value and what stands one step beside it."""
    match kind:
        case IntegerType() | DateType() | TimestampType():
            near = [value - 1, value, value + 1]
            if isinstance(kind, IntegerType):
                limit = 1 << (kind.bits - 1)
                return [v for v in near if -limit <= v < limit]
            return near
        case FloatType() if not (math.isnan(value) or math.isinf(value)):
            return [
                fit_float(v, kind) for v in (math.nextafter(value, -math.inf), value, value + 1)
            ]
        case StringType():
            return [value, value + "a", value[:-1], value + "\x00"]
        case BinaryType():
            return [value, value + b"\x00", value[:-1]]
        case DecimalType():
            step = Decimal(1).scaleb(-kind.scale)
            limit = Decimal(10) ** (kind.precision - kind.scale)
            near = [BIG.subtract(value, step), value, BIG.add(value, step)]
            return [v for v in near if v.copy_abs() < limit]
    return [value]
