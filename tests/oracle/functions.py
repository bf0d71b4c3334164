"""Functions by their Spark name, on values of one row."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import TYPE_CHECKING, Any

from oracle import casts, clock, order
from oracle.errors import SqlError, Unsupported
from oracle.numbers import BIG, fit, fit_decimal, fit_integer, half_up
from whyscan.tree.types import (
    BIGINT,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whyscan.tree.nodes import Call

SHORT = Context(prec=34, rounding=ROUND_HALF_EVEN)
DAY_MICROS = clock.DAY * clock.MICROS


def call(node: Call, values: Sequence[Any], kinds: Sequence[Type], zone: str) -> Any:
    """The call's value; a NULL argument is a NULL result unless the function says otherwise."""
    name = node.function
    if name in NULL_TOLERANT:
        return NULL_TOLERANT[name](values)
    if any(value is None for value in values):
        return None
    if name in OF_TIME:
        return OF_TIME[name](_wall(values[0], kinds[0], zone))
    if name in OF_TEXT and isinstance(kinds[0], StringType):
        return OF_TEXT[name](*values)
    if name in OF_NUMBERS:
        return OF_NUMBERS[name](node, values, kinds)
    if name in OF_DAYS:
        days = casts.cast(values[0], kinds[0], DateType(), zone)
        return _fit_days(OF_DAYS[name](days, *values[1:]))
    if name == "date_trunc":
        return _date_trunc(values[0], values[1], kinds[1], node.type, zone)
    raise Unsupported(f"{name}({', '.join(map(str, kinds))})")


# Functions that look at NULL themselves.


def _extreme(pick: Callable[..., Any]) -> Callable[[Sequence[Any]], Any]:
    def of(values: Sequence[Any]) -> Any:
        present = [value for value in values if value is not None]
        return pick(present, key=order.key) if present else None

    return of


def _nullif(values: Sequence[Any]) -> Any:
    a, b = values
    return None if a is not None and b is not None and order.equal(a, b) else a


def _first_present(values: Sequence[Any]) -> Any:
    return next((value for value in values if value is not None), None)


NULL_TOLERANT: dict[str, Callable[[Sequence[Any]], Any]] = {
    "greatest": _extreme(max),
    "least": _extreme(min),
    "nullif": _nullif,
    "nvl": _first_present,
    "ifnull": _first_present,
}


# Parts of a date or of a clock's reading: the argument is microseconds on the wall.


def _wall(value: int, kind: Type, zone: str) -> int:
    match kind:
        case DateType():
            return value * DAY_MICROS
        case TimestampType():
            micros = casts.in_micros(value, kind)
            return clock.to_wall(micros, zone) if kind.instant else micros
    raise Unsupported(f"a part of {kind}")


def _days(wall: int) -> int:
    return wall // DAY_MICROS


def _clock(wall: int) -> int:
    return wall % DAY_MICROS // clock.MICROS


def _day_of_year(wall: int) -> int:
    days = _days(wall)
    return days - clock.days_of(clock.civil(days)[0], 1, 1) + 1


OF_TIME: dict[str, Callable[[int], int]] = {
    "year": lambda wall: clock.civil(_days(wall))[0],
    "month": lambda wall: clock.civil(_days(wall))[1],
    "day": lambda wall: clock.civil(_days(wall))[2],
    "dayofmonth": lambda wall: clock.civil(_days(wall))[2],
    "quarter": lambda wall: (clock.civil(_days(wall))[1] + 2) // 3,
    "dayofyear": _day_of_year,
    "dayofweek": lambda wall: (_days(wall) + 4) % 7 + 1,
    "weekday": lambda wall: (_days(wall) + 3) % 7,
    "hour": lambda wall: _clock(wall) // 3600,
    "minute": lambda wall: _clock(wall) // 60 % 60,
    "second": lambda wall: _clock(wall) % 60,
    "to_date": _days,
}


def _trunc_days(days: int, unit: str) -> int | None:
    year, month, _ = clock.civil(days)
    match unit.lower():
        case "year" | "yyyy" | "yy":
            return clock.days_of(year, 1, 1)
        case "quarter":
            return clock.days_of(year, (month - 1) // 3 * 3 + 1, 1)
        case "month" | "mon" | "mm":
            return clock.days_of(year, month, 1)
        case "week":
            return days - (days + 3) % 7
    return None


def _date_trunc(unit: str, value: int, kind: Type, target: Type, zone: str) -> int | None:
    """To a day or longer on the wall; to an hour or shorter likewise, where offsets are whole."""
    wall = _wall(value, kind, zone)
    steps = {"microsecond": 1, "millisecond": 1000, "second": clock.MICROS}
    steps |= {"minute": 60 * clock.MICROS, "hour": 3600 * clock.MICROS}
    name = unit.lower()
    if name in {"microsecond", "millisecond", "second"}:
        cut = wall - wall % steps[name]
        return value - (wall - cut)
    if name in {"minute", "hour"}:
        # Within the same offset: a fold's second hour stays the second one.
        return value - wall % steps[name]
    days = _days(wall) if name in {"day", "dd"} else _trunc_days(_days(wall), name)
    if days is None:
        return None
    start = days * DAY_MICROS
    if not (isinstance(target, TimestampType) and target.instant):
        return start
    # A day keeps its offset where midnight is shown twice; longer units take the first one.
    kept = value - (wall - start)
    if name in {"day", "dd"} and clock.to_wall(kept, zone) == start:
        return kept
    return clock.from_wall(start, zone)


def _add_months(days: int, months: int) -> int:
    year, month, day = clock.civil(days)
    years, index = divmod(year * 12 + month - 1 + months, 12)
    return clock.days_of(years, index + 1, min(day, clock.month_length(years, index + 1)))


def _last_day(days: int) -> int:
    year, month, _ = clock.civil(days)
    return clock.days_of(year, month, clock.month_length(year, month))


OF_DAYS: dict[str, Callable[..., int | None]] = {
    "date_add": lambda days, n: days + n,
    "date_sub": lambda days, n: days - n,
    "add_months": _add_months,
    "last_day": _last_day,
    "trunc": _trunc_days,
}


def _fit_days(days: int | None) -> int | None:
    if days is not None and not -(1 << 31) <= days < 1 << 31:
        raise Unsupported("a date beyond its integer")
    return days


# Text: positions count characters, from 1.


def _substring(text: str, position: int, length: int = 1 << 31) -> str:
    start = position - 1 if position > 0 else (len(text) + position if position < 0 else 0)
    end = start + length
    return text[max(start, 0) : end] if end > max(start, 0) else ""


def _left(text: str, length: int) -> str:
    return text[: max(length, 0)]


def _right(text: str, length: int) -> str:
    return text[-length:] if length > 0 else ""


OF_TEXT: dict[str, Callable[..., Any]] = {
    "substring": _substring,
    "substr": _substring,
    "left": _left,
    "right": _right,
    "lower": str.lower,
    "lcase": str.lower,
    "upper": str.upper,
    "ucase": str.upper,
    "concat": lambda *parts: "".join(parts),
    "length": len,
    "char_length": len,
    "reverse": lambda text: text[::-1],
    "startswith": str.startswith,
    "endswith": str.endswith,
    "contains": lambda text, part: part in text,
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
}


# Numbers.


def _to_long(value: float) -> int:
    """Java's conversion: NaN is 0, and what is too large ends at the limit."""
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return BIGINT.greatest if value > 0 else BIGINT.least
    return min(max(int(value), BIGINT.least), BIGINT.greatest)


def _whole(rounding: str, of_float: Callable[[float], int]) -> Callable[..., Any]:
    def of(node: Call, values: Sequence[Any], kinds: Sequence[Type]) -> Any:
        if len(values) != 1:
            raise Unsupported(f"{node.function} to a scale")
        (value,) = values
        match kinds[0]:
            case IntegerType():
                return value
            case FloatType():
                finite = not (math.isnan(value) or math.isinf(value))
                return _to_long(of_float(value) if finite else value)
            case DecimalType() if isinstance(node.type, DecimalType):
                return fit_decimal(value.to_integral_value(rounding, BIG), node.type)
        raise Unsupported(f"{node.function} of {kinds[0]}")

    return of


def _abs(node: Call, values: Sequence[Any], kinds: Sequence[Type]) -> Any:
    value = values[0]
    return (
        _negative(node, values, kinds)
        if value < 0
        else value
        if isinstance(value, Decimal)
        else abs(value)
    )


def _negative(node: Call, values: Sequence[Any], kinds: Sequence[Type]) -> Any:
    """Spark negates decimals in a context of 34 digits, and so rounds what is longer."""
    value = values[0]
    return fit(SHORT.minus(value) if isinstance(value, Decimal) else -value, kinds[0])


def _positive(node: Call, values: Sequence[Any], kinds: Sequence[Type]) -> Any:
    return values[0]


def _round(node: Call, values: Sequence[Any], kinds: Sequence[Type]) -> Any:
    value, digits = values[0], values[1] if len(values) > 1 else 0
    match kinds[0]:
        case IntegerType() if isinstance(node.type, IntegerType):
            if digits >= 0:
                return value
            return fit_integer(int(half_up(Decimal(value), digits)), kinds[0])
        case FloatType(bits=64):
            if math.isnan(value) or math.isinf(value):
                return value
            return float(half_up(Decimal(repr(value)), digits))
        case DecimalType() if isinstance(node.type, DecimalType) and digits >= 0:
            return fit_decimal(half_up(value, min(digits, kinds[0].scale)), node.type)
    raise Unsupported(f"round of {kinds[0]}")


def _sign(node: Call, values: Sequence[Any], kinds: Sequence[Type]) -> Any:
    if not isinstance(kinds[0], FloatType):
        raise Unsupported(f"sign of {kinds[0]}")
    value = values[0]
    return value if value == 0 or math.isnan(value) else math.copysign(1.0, value)


def _datediff(node: Call, values: Sequence[Any], kinds: Sequence[Type]) -> int:
    if not all(isinstance(kind, DateType) for kind in kinds):
        raise Unsupported("datediff of anything but dates")
    return values[0] - values[1]


def _pmod(node: Call, values: Sequence[Any], kinds: Sequence[Type]) -> int:
    a, b = values
    if not isinstance(a, int) or not isinstance(b, int):
        raise Unsupported("pmod of fractions")
    if b == 0:
        raise SqlError("pmod by zero")
    r = int(math.fmod(a, b)) if abs(a) < 1 << 52 else a - b * int(Decimal(a) / Decimal(b))
    return int(math.fmod(r + b, b)) if r < 0 else r


OF_NUMBERS: dict[str, Callable[..., Any]] = {
    "abs": _abs,
    "negative": _negative,
    "positive": _positive,
    "floor": _whole(ROUND_FLOOR, math.floor),
    "ceil": _whole(ROUND_CEILING, math.ceil),
    "ceiling": _whole(ROUND_CEILING, math.ceil),
    "round": _round,
    "sign": _sign,
    "signum": _sign,
    "datediff": _datediff,
    "date_diff": _datediff,
    "pmod": _pmod,
}
