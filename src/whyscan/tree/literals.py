"""Conversion of literals to other types at binding time: Spark's CAST in ANSI mode.

A value that cannot be converted raises `Inconvertible`; Spark raises an error, too. The result
None means "not converted": for example, Java's text of a double is not imitated.
"""

from __future__ import annotations

import math
import re
import struct
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING
from uuid import UUID

from whyscan.tree import time_text, zones
from whyscan.tree.nodes import Literal
from whyscan.tree.types import (
    BIGINT,
    DOUBLE,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    NullType,
    OtherType,
    StringType,
    StructType,
    TimestampType,
    Type,
    UuidType,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from whyscan.tree.clock import Clock
    from whyscan.tree.nodes import Value
    from whyscan.tree.zones import Zone

MAX_DIGITS = 38
EXACT = Context(prec=120, rounding=ROUND_HALF_UP)
_TRUE = {"t", "true", "y", "yes", "1"}
_FALSE = {"f", "false", "n", "no", "0"}
_NOT_FINITE = {
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), math.inf),
    **dict.fromkeys(("-inf", "-infinity"), -math.inf),
    "nan": math.nan,
}
_SPACE = "".join(map(chr, range(0x21)))
# Around integers, booleans and times Spark also removes DEL. Java trims numbers with a fraction.
_BLANK = _SPACE + "\x7f"
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_DOUBLE = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[dDfF]?", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_INT64 = 2.0**63
_SPECIAL_DAYS = {"today": 0, "yesterday": -1, "tomorrow": 1}


class Inconvertible(ValueError):
    """The value cannot be converted to the type."""


class ShownTwice(Inconvertible):
    """A local time with two instants, of which engines take different ones."""


def number_literal(text: str) -> Literal:
    """A written number: `5` int, `3000000000` bigint, `10.50` decimal(4,2), `1e3` double."""
    if "e" in text.lower():
        return Literal(_finite(float(text)), FloatType(64))
    digits = text.lstrip("+-").replace(".", "")
    if len(digits.lstrip("0")) > MAX_DIGITS:
        raise Inconvertible(f"a number has at most {MAX_DIGITS} digits")
    if "." in text:
        return exact_decimal(Decimal(text))
    value = int(text)
    for kind in (IntegerType(32), BIGINT):
        if kind.least <= value <= kind.greatest:
            return Literal(value, kind)
    return exact_decimal(Decimal(value))


def exact_decimal(value: Decimal) -> Literal:
    """A decimal literal with the smallest precision that fits the value."""
    _, digits, exponent = value.as_tuple()
    scale = max(-int(exponent), 0)
    precision = max(len(digits) + max(int(exponent), 0), scale)
    if precision > MAX_DIGITS:
        raise Inconvertible(f"a number has at most {MAX_DIGITS} digits")
    return Literal(value, DecimalType(precision, scale))


def convert(literal: Literal, target: Type, clock: Clock) -> Literal | None:
    """The literal as another type; None if the cast must stay in the tree."""
    if literal.value is None or (
        isinstance(target, DecimalType)
        and isinstance(literal.value, float)
        and not math.isfinite(literal.value)
    ):
        return Literal(None, target)
    if literal.type == target:
        return literal
    value = _convert(literal, target, clock)
    return None if value is None else Literal(value, target)


def _convert(literal: Literal, target: Type, clock: Clock) -> Value:
    match target:
        case BooleanType():
            return _to_boolean(literal)
        case IntegerType():
            return _to_integer(literal, target)
        case FloatType():
            return _to_float(literal, target)
        case DecimalType():
            return _to_decimal(literal, target)
        case StringType():
            return _to_string(literal, clock)
        case BinaryType():
            return literal.value.encode() if isinstance(literal.value, str) else None
        case UuidType():
            return _to_uuid(literal)
        case DateType():
            return _to_date(literal, clock)
        case TimestampType():
            return _to_timestamp(literal, target, clock)
        case NullType() | IntervalType() | StructType() | OtherType():
            return None


def _to_boolean(literal: Literal) -> bool | None:
    match literal.value:
        case str() as text:
            word = text.strip(_BLANK).lower()
            if word not in _TRUE | _FALSE:
                raise Inconvertible("not a boolean")
            return word in _TRUE
        case int() | float() | Decimal() if _is_number(literal.type):
            return literal.value != 0
        case _:
            return None


def _to_integer(literal: Literal, target: IntegerType) -> int | None:
    value = _integer_part(literal)
    if value is not None and not target.least <= value <= target.greatest:
        raise Inconvertible(f"out of range for {target}")
    return value


def _integer_part(literal: Literal) -> int | None:
    """The number without its fraction. A string with a fraction raises Inconvertible."""
    match literal.value:
        case str() as text:
            text = text.strip(_BLANK)
            if not _INTEGER.fullmatch(text) or len(text) > MAX_DIGITS:
                raise Inconvertible("not an integer")
            return int(text)
        case float() as number if not math.isfinite(number):
            raise Inconvertible("not an integer")
        case bool() | int() | float() | Decimal() if _is_number(literal.type):
            return int(literal.value)
        case int() as units if isinstance(literal.type, TimestampType):
            return units // literal.type.unit.per_second
        case _:
            return None


def _is_number(kind: Type) -> bool:
    return isinstance(kind, BooleanType | IntegerType | FloatType | DecimalType)


def _to_float(literal: Literal, target: FloatType) -> float | None:
    match literal.value:
        case str() as text:
            value = _parse_double(text.strip(_SPACE))
        case bool() | int() | float() | Decimal() if _is_number(literal.type):
            value = float(literal.value)
        case _:
            return None
    return value if target == DOUBLE else nearest_float32(value)


def _parse_double(text: str) -> float:
    special = _NOT_FINITE.get(text.lower())
    if special is not None:
        return special
    match = _DOUBLE.fullmatch(text)
    if match is None:
        raise Inconvertible("not a number")
    return float(match[1])


def nearest_float32(value: float) -> float:
    """The nearest 32-bit float; infinity if the value is out of range."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _finite(value: float) -> float:
    if math.isinf(value):
        raise Inconvertible("out of range for double")
    return value


def _to_decimal(literal: Literal, target: DecimalType) -> Decimal | None:
    match literal.value:
        case str() as text:
            text = text.strip(_SPACE)
            if not _DECIMAL.fullmatch(text) or len(text) > 10 * MAX_DIGITS:
                raise Inconvertible("not a number")
            value = Decimal(text)
        case float() as number:
            value = Decimal(repr(number))
        case bool() | int() | Decimal() if _is_number(literal.type):
            value = Decimal(literal.value)
        case _:
            return None
    return rounded_decimal(value, target)


def rounded_decimal(value: Decimal, target: DecimalType) -> Decimal:
    """The number rounded to the scale of the type. Halves are rounded away from zero."""
    try:
        result = value.quantize(Decimal(1).scaleb(-target.scale), context=EXACT)
    except InvalidOperation as error:
        raise Inconvertible(f"out of range for {target}") from error
    # copy_abs, because abs rounds to the 28 digits of Python's default context.
    if result.copy_abs() >= Decimal(10) ** (target.precision - target.scale):
        raise Inconvertible(f"out of range for {target}")
    return result


def _to_string(literal: Literal, clock: Clock) -> str | None:
    kind = literal.type
    match literal.value:
        case bool() as flag:
            return "true" if flag else "false"
        case Decimal() as number:
            return f"{number:f}"
        case int() as number:
            match kind:
                case DateType():
                    return time_text.format_date(number)
                case TimestampType():
                    return time_text.format_wall(
                        _to_wall(number, kind, clock), kind.unit.per_second
                    )
                case IntegerType():
                    return str(number)
                case _:
                    return None
        case _:
            return None


def _to_uuid(literal: Literal) -> bytes | None:
    if not isinstance(literal.value, str):
        return None
    if not _UUID.fullmatch(literal.value):
        raise Inconvertible("not a uuid")
    return UUID(literal.value).bytes


def _to_date(literal: Literal, clock: Clock) -> int | None:
    match literal:
        case Literal(str() as text, _):
            day = _special_day(text, clock)
            day = time_text.parse_date(text) if day is None else day
            if day is None:
                raise Inconvertible("not a date")
            if not time_text.fits_date(day):
                raise Inconvertible("out of range for date")
            return day
        case Literal(int() as units, TimestampType() as kind):
            return _to_wall(units, kind, clock) // (86_400 * kind.unit.per_second)
        case _:
            return None


def _special_day(text: str, clock: Clock) -> int | None:
    word = text.strip(_BLANK).lower()
    if word == "epoch":
        return 0
    if word == "now":
        return clock.today()
    shift = _SPECIAL_DAYS.get(word)
    return None if shift is None else clock.today() + shift


def _to_timestamp(literal: Literal, target: TimestampType, clock: Clock) -> int | None:
    match literal:
        case Literal(str() as text, _):
            value = _parse_timestamp(text, target, clock)
        case Literal(int() as days, DateType()):
            value = _from_wall(days * 86_400 * target.unit.per_second, target, clock)
        case Literal(int() as units, TimestampType() as kind):
            shifted = _between_clocks(units, kind, target, clock)
            value = shifted * target.unit.per_second // kind.unit.per_second
        case Literal(int() | float() | Decimal() as number, kind) if _is_number(kind):
            value = _from_seconds(number, target)
        case _:
            return None
    if not time_text.fits_int64(value):
        raise Inconvertible(f"out of range for {target}")
    return value


def _from_seconds(number: float | Decimal, target: TimestampType) -> int:
    if isinstance(number, float) and not math.isfinite(number):
        raise Inconvertible("not a timestamp")
    if isinstance(number, float) and abs(number) > _INT64:
        raise Inconvertible(f"out of range for {target}")
    return int(number * target.unit.per_second)


def _between_clocks(units: int, kind: TimestampType, target: TimestampType, clock: Clock) -> int:
    """Convert units between instants and wall time.

    An instant that stays an instant is not converted: the second hour of an overlap would move.
    """
    if kind.instant == target.instant:
        return units
    if kind.instant:
        return _to_wall(units, kind, clock)
    return _from_wall(units, TimestampType(instant=True, unit=kind.unit), clock)


def _parse_timestamp(text: str, target: TimestampType, clock: Clock) -> int:
    special = _special_moment(text, target, clock)
    if special is not None:
        return special
    parsed = time_text.read_timestamp(text)
    if parsed is None or (parsed.day is None and not target.instant):
        raise Inconvertible("not a timestamp")
    day = clock.today() if parsed.day is None else parsed.day
    per_second = target.unit.per_second
    wall = day * 86_400 * per_second + parsed.nanoseconds * per_second // 1_000_000_000
    if not target.instant:
        return wall
    zone = clock.zone if parsed.zone is None else parsed.zone
    return _instant(wall, per_second, zone, clock)


def _special_moment(text: str, target: TimestampType, clock: Clock) -> int | None:
    per_microsecond = target.unit.per_second // zones.SECOND
    word = text.strip(_BLANK).lower()
    if word == "epoch":
        return 0
    if word == "now":
        moment = clock.instant() if target.instant else clock.wall()
        return moment * per_microsecond
    shift = _SPECIAL_DAYS.get(word)
    if shift is None:
        return None
    return _from_wall((clock.today() + shift) * zones.DAY * per_microsecond, target, clock)


def _from_wall(wall: int, target: TimestampType, clock: Clock) -> int:
    """The value of type `target` for a wall time in its units."""
    if not target.instant:
        return wall
    return _instant(wall, target.unit.per_second, clock.zone, clock)


def _instant(wall: int, per_second: int, zone: Zone, clock: Clock) -> int:
    """The instant of a wall time in the zone, both in units of `per_second`."""
    if not clock.first_of_two and zones.shows_twice(wall // per_second * zones.SECOND, zone):
        raise ShownTwice("a clock in this time zone shows this time twice")
    return _shift_by_zone(wall, per_second, zones.to_instant, zone)


def _to_wall(units: int, kind: TimestampType, clock: Clock) -> int:
    """The wall time for a value of type `kind`, in its units."""
    return (
        _shift_by_zone(units, kind.unit.per_second, zones.to_wall, clock.zone)
        if kind.instant
        else units
    )


def _shift_by_zone(
    units: int, per_second: int, move: Callable[[int, Zone], int], zone: Zone
) -> int:
    """Apply `move`, which shifts microseconds by whole seconds, to units of another size."""
    seconds, fraction = divmod(units, per_second)
    return move(seconds * zones.SECOND, zone) // zones.SECOND * per_second + fraction
