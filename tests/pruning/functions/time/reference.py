"""What Spark makes of one value, written with Python's datetime: slow, plain, and independent.

Timestamps are microseconds and dates are days since 1970-01-01, in the years that datetime has.
"""

from __future__ import annotations

import calendar
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  a wall clock has no zone
EPOCH_DATE = date(1970, 1, 1)
MICRO = timedelta(microseconds=1)
SECOND = 1_000_000
DAY = 86_400 * SECOND
LAST_SECOND = 252_000_000_000


@cache
def tz(name: str) -> tzinfo:
    """The zone from the tzdata package, whatever the machine has."""
    if name[0] in "+-":
        hours, minutes = name[1:].split(":")
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-offset if name[0] == "-" else offset)
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def micros(wall: datetime) -> int:
    return (wall.replace(tzinfo=None) - EPOCH) // MICRO


def reading(instant: int, zone: str) -> datetime:
    """The wall clock at an instant."""
    utc = (EPOCH + timedelta(microseconds=instant)).replace(tzinfo=UTC)
    return utc.astimezone(tz(zone)).replace(tzinfo=None, fold=0)


def offset_at(instant: int, zone: str) -> int:
    return micros(reading(instant, zone)) - instant


def instant_of(wall: datetime, zone: str) -> int:
    """java.time's ofLocal: the first of two, in a gap later by its length."""
    return micros(wall) - wall.replace(tzinfo=tz(zone), fold=0).utcoffset() // MICRO


def instant_near(wall: datetime, zone: str, offset: int) -> int:
    """java.time's ofLocal with a preferred offset."""
    kept = micros(wall) - offset
    return kept if offset_at(kept, zone) == offset else instant_of(wall, zone)


def is_shown_twice(answer: object, zone: str) -> bool:
    """Whether a clock shows the time of an instant, in ticks or seconds, again after it is set
    back."""
    if not isinstance(answer, int):
        return False
    instants = [answer] if abs(answer) > LAST_SECOND else [answer, answer * SECOND]
    walls = [reading(instant, zone).replace(tzinfo=tz(zone)) for instant in instants]
    return any(w.utcoffset() > w.replace(fold=1).utcoffset() for w in walls)


def start_of_day(day: date, zone: str) -> int:
    """java.time's atStartOfDay: midnight, or the end of the gap that it lies in."""
    midnight = datetime(day.year, day.month, day.day)  # noqa: DTZ001
    instant = instant_of(midnight, zone)
    if reading(instant, zone) == midnight:
        return instant
    before, after = instant - DAY, instant
    old = offset_at(before, zone)
    while after - before > 1:
        middle = (before + after) // 2
        before, after = (middle, after) if offset_at(middle, zone) == old else (before, middle)
    return after


def day_of(instant: int, zone: str) -> int:
    return (reading(instant, zone).date() - EPOCH_DATE).days


def date_of(days: int) -> date:
    return EPOCH_DATE + timedelta(days=days)


def wall_of(ticks: int) -> datetime:
    return EPOCH + timedelta(microseconds=ticks)


def first_day(day: date, unit: str) -> date:
    match unit:
        case "year":
            return day.replace(month=1, day=1)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "month":
            return day.replace(day=1)
        case "week":
            return day - timedelta(days=day.weekday())
    raise ValueError(unit)


def truncated(wall: datetime, unit: str) -> datetime:
    match unit:
        case "day":
            return wall.replace(hour=0, minute=0, second=0, microsecond=0)
        case "hour":
            return wall.replace(minute=0, second=0, microsecond=0)
        case "minute":
            return wall.replace(second=0, microsecond=0)
        case "second":
            return wall.replace(microsecond=0)
        case "millisecond":
            return wall.replace(microsecond=wall.microsecond // 1000 * 1000)
    raise ValueError(unit)


def date_trunc(instant: int, zone: str, unit: str) -> int:
    if unit in {"second", "millisecond"}:
        return micros(truncated(wall_of(instant), unit))
    if unit in {"day", "hour", "minute"}:
        wall = truncated(reading(instant, zone), unit)
        return instant_near(wall, zone, offset_at(instant, zone))
    return start_of_day(first_day(date_of(day_of(instant, zone)), unit), zone)


def plus_months(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 + months
    year, month = index // 12, index % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def timestamp_plus_months(instant: int, zone: str, months: int) -> int:
    wall = reading(instant, zone)
    moved = datetime.combine(plus_months(wall.date(), months), wall.time())
    return instant_near(moved, zone, offset_at(instant, zone))


def timestamp_plus_micros(instant: int, zone: str, span: int) -> int:
    days = int(span / DAY)
    wall = reading(instant, zone) + timedelta(days=days)
    moved = instant_near(wall, zone, offset_at(instant, zone))
    return moved + span - days * DAY


def last_day(day: date) -> date:
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def text_of(wall: datetime) -> str:
    """CAST(timestamp AS STRING)."""
    fraction = f".{wall.microsecond:06}".rstrip("0") if wall.microsecond else ""
    return f"{wall.year:04}-{wall:%m-%d %H:%M:%S}{fraction}"


def formatted(wall: datetime, pattern: str) -> str:
    """`pattern` in Python's letters, with a year of four digits."""
    return wall.strftime(pattern.replace("%Y", f"{wall.year:04}"))
