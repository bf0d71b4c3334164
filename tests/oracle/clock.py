"""Days, wall clocks and instants as integers: no year is too early or too late for them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from oracle.errors import SqlError, Unsupported

DAY = 86_400
MICROS = 1_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAIVE_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock's reading has no zone
ZONED_YEARS = (-62_000_000_000, 253_000_000_000)  # what Python's datetime can hold, in seconds


def days_of(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01, proleptic Gregorian, any year."""
    y = year - (month <= 2)
    era, year_of_era = divmod(y, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * 146_097 + day_of_era - 719_468


def civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day since 1970-01-01."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return era * 400 + year_of_era + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def month_length(year: int, month: int) -> int:
    following = (year + month // 12, month % 12 + 1)
    return days_of(*following, 1) - days_of(year, month, 1)


@cache
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def to_wall(micros: int, zone: str) -> int:
    """An instant as the reading of a wall clock in `zone`, both in microseconds."""
    if zone == "UTC":
        return micros
    seconds = micros // MICROS
    if not ZONED_YEARS[0] < seconds < ZONED_YEARS[1]:
        raise Unsupported(f"instant {micros} in {zone}")
    offset = (EPOCH + timedelta(seconds=seconds)).astimezone(_zone(zone)).utcoffset()
    assert offset is not None
    return micros + int(offset.total_seconds()) * MICROS


def from_wall(micros: int, zone: str) -> int:
    """A wall clock's reading as an instant: the earlier one where it is read twice, later by
    the gap where it is never read."""
    if zone == "UTC":
        return micros
    seconds = micros // MICROS
    if not ZONED_YEARS[0] < seconds < ZONED_YEARS[1]:
        raise Unsupported(f"wall clock {micros} in {zone}")
    wall = NAIVE_EPOCH + timedelta(seconds=seconds)
    offset = wall.replace(tzinfo=_zone(zone), fold=0).utcoffset()
    assert offset is not None
    return micros - int(offset.total_seconds()) * MICROS


def date_text(days: int) -> str:
    year, month, day = civil(days)
    shown = f"{year:04d}" if 0 <= year <= 9999 else f"{year:+05d}"
    return f"{shown}-{month:02d}-{day:02d}"


def wall_text(micros: int) -> str:
    """`2020-01-01 00:00:00.5`: trailing zeros of the fraction are not shown."""
    days, rest = divmod(micros, DAY * MICROS)
    seconds, fraction = divmod(rest, MICROS)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    behind = f".{fraction:06d}".rstrip("0") if fraction else ""
    return f"{date_text(days)} {clock}{behind}"


_DATE = re.compile(r"(\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_TIMESTAMP = re.compile(
    r"(\d{4,6})-(\d{1,2})-(\d{1,2})"
    r"(?:[ T](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{0,9}))?(Z|\+00:00)?)?"
)


def parse_date(text: str) -> int:
    """Spark's cast of a string to a date; what this does not know it does not guess."""
    match = _DATE.fullmatch(text)
    if match is None:
        if any(c.isdigit() for c in text):
            raise Unsupported(f"date {text!r}")
        raise SqlError(f"date {text!r}")
    year, month, day = (int(part) if part else 1 for part in match.groups())
    return _valid_day(year, month, day)


def parse_timestamp(text: str, zone: str) -> int:
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        if any(c.isdigit() for c in text):
            raise Unsupported(f"timestamp {text!r}")
        raise SqlError(f"timestamp {text!r}")
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    if hour > 23 or minute > 59 or second > 59:
        raise SqlError(f"timestamp {text!r}")
    fraction = int(((match[7] or "") + "000000")[:6])
    seconds = _valid_day(year, month, day) * DAY + hour * 3600 + minute * 60 + second
    wall = seconds * MICROS + fraction
    return wall if match[8] else from_wall(wall, zone)


def _valid_day(year: int, month: int, day: int) -> int:
    if not (1 <= month <= 12 and 1 <= day <= month_length(year, month)):
        raise SqlError(f"no such day: {year}-{month}-{day}")
    return days_of(year, month, day)
