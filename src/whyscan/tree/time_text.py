"""Dates and timestamps to and from text, in the formats of Spark.

Dates are integers (days since 1970-01-01), and so are timestamps (units since 1970-01-01). The
calendar is the proleptic Gregorian one, without a first or last year.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.tree import zones

if TYPE_CHECKING:
    from whyscan.tree.zones import Zone

_ERA = 146_097
_EPOCH_DAY = 719_468
_FEBRUARY = 2
"""The calculations below count years from 1 March, so a leap day is the last day of a year."""
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SPACE = "".join(map(chr, range(0x21))) + "\x7f"
_INT32 = 1 << 31
_INT64 = 1 << 63
_LAST_OF_FOUR_DIGITS = 9999

# After a full date, any text after a space or a T is ignored.
_DATE = re.compile(
    r"([+-]?)(\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.ASCII | re.DOTALL
)
# A zone is allowed only after seconds.
_TIME = r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?([^\d.].*)?)?)?"
_TIMESTAMP = re.compile(
    rf"([+-]?)(\d{{4,6}})(?:-(\d{{1,2}})(?:-(\d{{1,2}})(?:[ T]{_TIME})?)?)?", re.ASCII | re.DOTALL
)
_JUST_TIME = re.compile(rf"(?:T{_TIME}|(?=\d+:){_TIME})", re.ASCII | re.DOTALL)


class WrittenTimestamp(Struct, frozen=True):
    """A parsed timestamp: `day` is None for a time of day, `zone` is None without a zone."""

    day: int | None
    nanoseconds: int
    zone: Zone | None


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 of a valid date."""
    year -= month <= _FEBRUARY
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return (
        era * _ERA
        + year_of_era * 365
        + year_of_era // 4
        - year_of_era // 100
        + (day_of_year - _EPOCH_DAY)
    )


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Year, month and day of a number of days since 1970-01-01."""
    era, day_of_era = divmod(days + _EPOCH_DAY, _ERA)
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = (shifted + 2) % 12 + 1
    return (
        year_of_era + era * 400 + (month <= _FEBRUARY),
        month,
        day_of_year - (153 * shifted + 2) // 5 + 1,
    )


def days_in_month(year: int, month: int) -> int:
    leap = month == _FEBRUARY and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if leap else _MONTH_DAYS[month - 1]


def parse_date(text: str) -> int | None:
    """Days of `2024`, `2024-3`, `2024-03-01` or `2024-03-01T…`; None if Spark reads no date."""
    match = _DATE.fullmatch(text.strip(_SPACE))
    return None if match is None else _day(*match.groups())


def _day(sign: str, year: str, month: str | None, day: str | None) -> int | None:
    years, months = int(sign + year), int(month or 1)
    if not 1 <= months <= len(_MONTH_DAYS):
        return None
    date = int(day or 1)
    if not 1 <= date <= days_in_month(years, months):
        return None
    days = days_from_civil(years, months, date)
    return days if fits_date(days) else None


def read_timestamp(text: str) -> WrittenTimestamp | None:
    """Parse the text of a timestamp; None if Spark reads no timestamp."""
    text = text.strip(_SPACE)
    match = _TIMESTAMP.fullmatch(text)
    if match is not None:
        day = _day(*match.groups()[:4])
        return None if day is None else _with_time(day, match.groups()[4:])
    match = _JUST_TIME.fullmatch(text)
    if match is None:
        return None
    return _with_time(None, match.groups()[:5] if text[0] == "T" else match.groups()[5:])


def _with_time(day: int | None, time: tuple[str | None, ...]) -> WrittenTimestamp | None:
    hour, minute, second = (int(part or 0) for part in time[:3])
    if hour >= 24 or minute >= 60 or second >= 60:  # noqa: PLR2004  the clock's own
        return None
    nanoseconds = int(((time[3] or "") + "000000000")[:9])
    zone = None
    if time[4] is not None:
        zone = zones.find_zone(time[4].strip(_SPACE))
        if zone is None:
            return None
    total = (hour * 3600 + minute * 60 + second) * 1_000_000_000 + nanoseconds
    return WrittenTimestamp(day, total, zone)


def format_date(days: int) -> str:
    """A date as `2024-03-01`. A year of more than four digits has a sign."""
    year, month, day = civil_from_days(days)
    return f"{_year(year)}-{month:02}-{day:02}"


def _year(year: int) -> str:
    if year > _LAST_OF_FOUR_DIGITS:
        return f"+{year}"
    return f"-{-year:04}" if year < 0 else f"{year:04}"


def format_wall(wall: int, per_second: int) -> str:
    """A timestamp as `2024-03-01 12:00:00.5`, without trailing zeros in the fraction."""
    days, rest = divmod(wall, 86_400 * per_second)
    seconds, fraction = divmod(rest, per_second)
    digits = f"{fraction:0{len(str(per_second)) - 1}}".rstrip("0")
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{format_date(days)} {clock}" + (f".{digits}" if digits else "")


def fits_int64(value: int) -> bool:
    """Whether a value fits in a 64-bit integer."""
    return -_INT64 <= value < _INT64


def fits_date(days: int) -> bool:
    """Whether a number of days fits in a date: 32 bits, in Spark and in Arrow."""
    return -_INT32 <= days < _INT32
