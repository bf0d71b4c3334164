"""Functions of literals are computed at binding, so that the evaluator sees a literal."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import isfinite
from typing import TYPE_CHECKING

from whyscan.tree import time_text, zones
from whyscan.tree.literals import Inconvertible, convert
from whyscan.tree.nodes import Call, Literal
from whyscan.tree.types import (
    DATE,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    BinaryType,
    DateType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
)

if TYPE_CHECKING:
    from whyscan.tree.clock import Clock
    from whyscan.tree.nodes import Value

_LAST_YEAR = 9999
_NULL_TOLERANT = {
    "concat_ws",
    "format_string",
    "greatest",
    "hash",
    "isnan",
    "least",
    "nullif",
    "xxhash64",
}


def fold(call: Call, clock: Clock) -> Literal | None:
    """The value of a call whose arguments are all literals; None if it is not computed."""
    literals = [a for a in call.arguments if isinstance(a, Literal)]
    if len(literals) < len(call.arguments):
        return None
    if any(literal.value is None for literal in literals):
        return None if call.function in _NULL_TOLERANT else Literal(None, call.type)
    compute = _FUNCTIONS.get(call.function) or _of_date(call.function) or _of_wall(call.function)
    if compute is None:
        return None
    try:
        value = compute(literals, clock)
    except (ValueError, ArithmeticError):
        # Inconvertible is a ValueError, and NaN raises one in Python: the evaluator decides.
        return None
    return None if value is None or not _in_range(value, call) else Literal(value, call.type)


def _in_range(value: Value, call: Call) -> bool:
    if isinstance(call.type, IntegerType) and isinstance(value, int):
        return call.type.least <= value <= call.type.greatest
    match call.type:
        case TimestampType():
            return isinstance(value, int) and time_text.fits_int64(value)
        case DateType():
            return isinstance(value, int) and time_text.fits_date(value)
        case _:
            return True


Compute = Callable[[list[Literal], "Clock"], "Value"]


def _integer(literal: Literal) -> int:
    if not isinstance(literal.value, int):
        raise Inconvertible("not an integer")
    return literal.value


def _text(literal: Literal) -> str:
    if not isinstance(literal.value, str):
        raise Inconvertible("not a string")
    return literal.value


def _day(literal: Literal, clock: Clock) -> int:
    """The date of a date or timestamp literal, in days since 1970-01-01."""
    converted = convert(literal, DATE, clock)
    if converted is None:
        raise Inconvertible("not a date")
    return _integer(converted)


def _wall(literal: Literal, clock: Clock) -> int:
    """The wall time of a date or timestamp literal, in microseconds."""
    converted = convert(literal, TIMESTAMP_NTZ, clock)
    if converted is None:
        raise Inconvertible("not a timestamp")
    return _integer(converted)


def _instant(literal: Literal, clock: Clock) -> int:
    converted = convert(literal, TIMESTAMP, clock)
    if converted is None:
        raise Inconvertible("not a timestamp")
    return _integer(converted)


def _of_date(function: str) -> Compute | None:
    part = _DATE_PARTS.get(function)
    return None if part is None else lambda literals, clock: part(_day(literals[0], clock))


def _of_wall(function: str) -> Compute | None:
    part = _CLOCK_PARTS.get(function)
    return None if part is None else lambda literals, clock: part(_wall(literals[0], clock))


def _day_of_year(days: int) -> int:
    return days - time_text.days_from_civil(time_text.civil_from_days(days)[0], 1, 1) + 1


def _week_of_year(days: int) -> int:
    """ISO 8601: the week belongs to the year of its Thursday."""
    thursday = days - (days + 3) % 7 + 3
    return (_day_of_year(thursday) - 1) // 7 + 1


def _last_day(days: int) -> int:
    year, month, _ = time_text.civil_from_days(days)
    return time_text.days_from_civil(year, month, time_text.days_in_month(year, month))


# 1970-01-01 was a Thursday: days + 3 counts from a Monday, days + 4 from a Sunday.
_DATE_PARTS: dict[str, Callable[[int], int]] = {
    "year": lambda days: time_text.civil_from_days(days)[0],
    "quarter": lambda days: (time_text.civil_from_days(days)[1] + 2) // 3,
    "month": lambda days: time_text.civil_from_days(days)[1],
    "day": lambda days: time_text.civil_from_days(days)[2],
    "dayofweek": lambda days: (days + 4) % 7 + 1,
    "weekday": lambda days: (days + 3) % 7,
    "dayofyear": _day_of_year,
    "weekofyear": _week_of_year,
    "unix_date": lambda days: days,
    "last_day": _last_day,
}
_CLOCK_PARTS: dict[str, Callable[[int], int]] = {
    "hour": lambda wall: wall // (3600 * zones.SECOND) % 24,
    "minute": lambda wall: wall // (60 * zones.SECOND) % 60,
    "second": lambda wall: wall // zones.SECOND % 60,
}
_CLOCK_UNITS = {
    "day": zones.DAY,
    "hour": 3600 * zones.SECOND,
    "minute": 60 * zones.SECOND,
    "second": zones.SECOND,
    "millisecond": 1000,
    "microsecond": 1,
}


def first_day(days: int, unit: str) -> int | None:
    """The first day of the week, month, quarter or year of a day; None for another unit."""
    year, month, _ = time_text.civil_from_days(days)
    match unit:
        case "year":
            return time_text.days_from_civil(year, 1, 1)
        case "quarter":
            return time_text.days_from_civil(year, (month - 1) // 3 * 3 + 1, 1)
        case "month":
            return time_text.days_from_civil(year, month, 1)
        case "week":
            return days - (days + 3) % 7
        case "day":
            return days
        case _:
            return None


def _trunc(literals: list[Literal], clock: Clock) -> Value:
    return first_day(_day(literals[0], clock), _text(literals[1]))


def _date_trunc(literals: list[Literal], clock: Clock) -> Value:
    unit, moment = _text(literals[0]), literals[1]
    kind = moment.type
    wall = _wall(moment, clock)
    day = first_day(wall // zones.DAY, unit)
    if day is not None:
        start = day * zones.DAY
    elif unit in _CLOCK_UNITS:
        start = wall - wall % _CLOCK_UNITS[unit]
    else:
        return None
    converted = convert(Literal(start, TIMESTAMP_NTZ), kind, clock)
    return None if converted is None else converted.value


def _date_add(literals: list[Literal], clock: Clock) -> Value:
    return _day(literals[0], clock) + _integer(literals[1])


def _date_sub(literals: list[Literal], clock: Clock) -> Value:
    return _day(literals[0], clock) - _integer(literals[1])


def _make_date(literals: list[Literal], _: Clock) -> Value:
    """`make_date(year, month, day)`; None for an invalid date, for which Spark raises."""
    year, month, day = map(_integer, literals)
    if not 0 <= year <= _LAST_YEAR or min(month, day) < 1:
        return None
    return time_text.parse_date(f"{year:04}-{month}-{day}")


def _add_months(literals: list[Literal], clock: Clock) -> Value:
    return time_text.add_months(_day(literals[0], clock), _integer(literals[1]))


def _datediff(literals: list[Literal], clock: Clock) -> Value:
    return _day(literals[0], clock) - _day(literals[1], clock)


_WEEKDAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
_WEEKDAY = {name[:length]: at for at, name in enumerate(_WEEKDAYS) for length in (2, 3, len(name))}


def _next_day(literals: list[Literal], clock: Clock) -> Value:
    """`next_day(date, weekday)`; None for an unknown weekday, for which Spark raises."""
    weekday = _WEEKDAY.get(_text(literals[1]).upper())
    day = _day(literals[0], clock) + 1
    return None if weekday is None else day + (weekday - (day + 3)) % 7


def _shifted(move: Callable[[int, zones.Zone], int]) -> Compute:
    """`from_utc_timestamp` or `to_utc_timestamp`: `move` shifts an instant by the zone."""

    def compute(literals: list[Literal], clock: Clock) -> Value:
        zone = zones.find_zone(_text(literals[1]))
        return None if zone is None else move(_instant(literals[0], clock), zone)

    return compute


def _unix(per: int) -> Compute:
    return lambda literals, clock: _instant(literals[0], clock) // per


def _unix_timestamp(literals: list[Literal], clock: Clock) -> Value:
    """Seconds, rounded towards zero. A timestamp_ntz counts as UTC."""
    is_wall = literals[0].type == TIMESTAMP_NTZ
    micros = _integer(literals[0]) if is_wall else _instant(literals[0], clock)
    seconds = abs(micros) // zones.SECOND
    return seconds if micros >= 0 else -seconds


def _from_unix(per: int) -> Compute:
    return lambda literals, _: _integer(literals[0]) * per


def _rounded(direction: str) -> Compute:
    def compute(literals: list[Literal], _: Clock) -> Value:
        number = literals[0]
        if isinstance(number.value, float) and not isfinite(number.value):
            raise Inconvertible("not finite")
        if isinstance(number.type, FloatType):
            return int(Decimal(str(number.value)).to_integral_value(direction))
        value = Decimal(str(number.value)).to_integral_value(direction)
        return int(value) if isinstance(number.type, IntegerType) else value

    return compute


def _concat(literals: list[Literal], _: Clock) -> Value:
    return "".join(map(_text, literals))


def _substring(literals: list[Literal], _: Clock) -> Value:
    """`substring`. Positions start at 1, 0 means 1, and negative positions count from the end."""
    if isinstance(literals[0].type, BinaryType):
        return None
    text, position, length = _text(literals[0]), _integer(literals[1]), _integer(literals[2])
    start = position - 1 if position > 0 else (len(text) + position if position < 0 else 0)
    return text[max(start, 0) : max(start + length, 0)]


def _of_text(compute: Callable[[str], str]) -> Compute:
    return lambda literals, _: compute(_text(literals[0]))


def _ascii_only(change: Callable[[str], str]) -> Callable[[str], str]:
    """Change the case of ASCII text only: for other letters Java's tables may differ."""

    def compute(text: str) -> str:
        if not text.isascii():
            raise Inconvertible("beyond ASCII")
        return change(text)

    return compute


_MAX_TEXT = 10_000
"""The longest text, in characters, that is computed at binding."""


def _padding(literals: list[Literal]) -> tuple[str, str]:
    """The text, cut to the length, and its padding. An empty pad string adds nothing."""
    text, length = _text(literals[0]), max(_integer(literals[1]), 0)
    pad = _text(literals[2]) if len(literals) > 2 else " "  # noqa: PLR2004
    missing = length - len(text)
    if length > _MAX_TEXT:
        raise Inconvertible("too long")
    if missing <= 0 or not pad:
        return text[:length], ""
    return text, (pad * -(-missing // len(pad)))[:missing]


def _repeat(literals: list[Literal], _: Clock) -> Value:
    text, times = _text(literals[0]), max(_integer(literals[1]), 0)
    return None if len(text) * times > _MAX_TEXT else text * times


def _right(literals: list[Literal], _: Clock) -> Value:
    text, count = _text(literals[0]), max(_integer(literals[1]), 0)
    return text[max(len(text) - count, 0) :]


def _replace(literals: list[Literal], _: Clock) -> Value:
    text, old, new = map(_text, literals)
    if not old:
        return text
    longer = text.count(old) * (len(new) - len(old))
    return None if len(text) + longer > _MAX_TEXT else text.replace(old, new)


def _translate(literals: list[Literal], _: Clock) -> Value:
    """`translate`, letter by letter. A letter without a partner is removed.

    If a letter is repeated in `old`, its first occurrence counts.
    """
    text, old, new = map(_text, literals)
    partner = {letter: new[at : at + 1] for at, letter in reversed(list(enumerate(old)))}
    return "".join(partner.get(letter, letter) for letter in text)


def _format_string(literals: list[Literal], _: Clock) -> Value:
    """`format_string` with `%s` of strings and integers, and `%d` or `%05d` of integers.

    For these fields Java and Python give the same text. None for any other field.
    """
    pattern, values = _text(literals[0]), [literal.value for literal in literals[1:]]
    fields = re.findall(r"%(?:0[1-9][0-9]?)?[sd]", pattern)
    if len(fields) != len(values) or "%" in re.sub(r"%(?:s|(?:0[1-9][0-9]?)?d)", "", pattern):
        return None
    for field, literal in zip(fields, literals[1:], strict=True):
        if not isinstance(literal.type, IntegerType) and (
            field != "%s" or not isinstance(literal.type, StringType)
        ):
            return None
    return pattern % tuple(values)


def _absolute(literals: list[Literal], _: Clock) -> Value:
    value = literals[0].value
    if isinstance(value, Decimal):
        return value.copy_abs()
    return abs(value) if isinstance(value, int | float) else None


_FUNCTIONS: dict[str, Compute] = {
    "trunc": _trunc,
    "date_trunc": _date_trunc,
    "date_add": _date_add,
    "date_sub": _date_sub,
    "add_months": _add_months,
    "datediff": _datediff,
    "make_date": _make_date,
    "next_day": _next_day,
    "from_utc_timestamp": _shifted(zones.to_wall),
    "to_utc_timestamp": _shifted(zones.to_instant),
    "unix_timestamp": _unix_timestamp,
    "unix_seconds": _unix(zones.SECOND),
    "unix_millis": _unix(1000),
    "unix_micros": _unix(1),
    "timestamp_seconds": _from_unix(zones.SECOND),
    "timestamp_millis": _from_unix(1000),
    "timestamp_micros": _from_unix(1),
    "date_from_unix_date": lambda literals, _: _integer(literals[0]),
    "floor": _rounded(ROUND_FLOOR),
    "ceil": _rounded(ROUND_CEILING),
    "abs": _absolute,
    "concat": _concat,
    "substring": _substring,
    "left": lambda literals, _: _text(literals[0])[: max(_integer(literals[1]), 0)],
    "right": _right,
    "lpad": lambda literals, _: "".join(reversed(_padding(literals))),
    "rpad": lambda literals, _: "".join(_padding(literals)),
    "repeat": _repeat,
    "replace": _replace,
    "translate": _translate,
    "format_string": _format_string,
    "concat_ws": lambda literals, _: _text(literals[0]).join(map(_text, literals[1:])),
    "reverse": _of_text(lambda text: text[::-1]),
    "length": lambda literals, _: len(_text(literals[0])),
    "lower": _of_text(_ascii_only(str.lower)),
    "upper": _of_text(_ascii_only(str.upper)),
    "trim": _of_text(lambda text: text.strip(" ")),
    "ltrim": _of_text(lambda text: text.lstrip(" ")),
    "rtrim": _of_text(lambda text: text.rstrip(" ")),
}
