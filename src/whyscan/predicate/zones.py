"""Time zones by the names that Spark takes, and the way between instants and wall clocks.

Instants and wall clocks are integers (microseconds since 1970-01-01), so that no year is out of
range. The Gregorian calendar repeats after 400 years, weekdays included: years that Python's
datetime does not reach are looked up in their twin within it.
"""

from __future__ import annotations

import difflib
import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from whyscan.errors import UsageError

SECOND = 1_000_000
DAY = 86_400 * SECOND
_CYCLE = 146_097 * DAY
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  a wall clock has no zone
_LOWEST = -62_135_596_800 * SECOND + 2 * DAY
_HIGHEST = 253_402_300_800 * SECOND - 2 * DAY
_FARTHEST = 18 * 3600

# Java's ZoneId.SHORT_IDS, which Spark passes to every lookup.
_SHORT = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}
_OFFSET = re.compile(
    r"([+-])(?:(\d{1,2})(?::(\d{1,2})(?::(\d{2}))?)?|(\d{2})(\d{2})(\d{2})?)", re.ASCII
)


def zone(name: str) -> tzinfo:
    """The zone of that name; UsageError with a near name where there is none."""
    found = find_zone(name)
    if found is not None:
        return found
    near = difflib.get_close_matches(name, sorted(available_timezones()), n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}?" if near else "write it as Europe/Paris, UTC or +02:00"
    raise UsageError(f"unknown time zone {name!r}", hint=hint)


@lru_cache(maxsize=256)
def find_zone(name: str) -> tzinfo | None:
    """The zone that Spark understands by the name, None if it does not.

    `Z`, `UTC`, `+2`, `+02:00`, `+0200`, `GMT+2`, `UTC+02:00`, `Europe/Paris`, `PST`
    """
    name = _SHORT.get(name, name)
    if name in {"Z", "UTC", "GMT", "UT"}:
        return UTC
    offset = re.sub(r"^(?:UTC|GMT|UT)(?=[+-])", "", name)
    if offset[:1] in {"+", "-"}:
        return _fixed(offset)
    # ZoneInfo takes a path: only names of the database may reach it.
    return ZoneInfo(name) if name in available_timezones() else None


def _fixed(text: str) -> tzinfo | None:
    match = _OFFSET.fullmatch(text)
    if match is None:
        return None
    sign, hours, minutes, seconds, *compact = match.groups()
    parts = (hours, minutes, seconds) if hours is not None else tuple(compact)
    hour, minute, second = (int(part or 0) for part in parts)
    total = hour * 3600 + minute * 60 + second
    if minute > 59 or second > 59 or total > _FARTHEST:
        return None
    return timezone(timedelta(seconds=-total if sign == "-" else total))


def to_instant(wall: int, where: tzinfo) -> int:
    """The instant at which a wall clock shows `wall`.

    In a gap the time moves on by the gap's length, in an overlap it is the earlier one: both
    are the offset before the transition, as in java.time.
    """
    twin, moved = _within_datetime(wall)
    clock = _EPOCH + timedelta(microseconds=twin)
    offset = clock.replace(tzinfo=where, fold=0).utcoffset()
    return twin - _microseconds(offset) + moved


def to_wall(instant: int, where: tzinfo) -> int:
    """What a wall clock in the zone shows at an instant."""
    twin, moved = _within_datetime(instant)
    moment = (_EPOCH + timedelta(microseconds=twin)).replace(tzinfo=UTC).astimezone(where)
    return twin + _microseconds(moment.utcoffset()) + moved


def _within_datetime(value: int) -> tuple[int, int]:
    """The value's twin some 400-year cycles away that datetime can hold, and how far it moved."""
    cycles = 0
    if value > _HIGHEST:
        cycles = -((_HIGHEST - value) // _CYCLE)
    elif value < _LOWEST:
        cycles = (value - _LOWEST) // _CYCLE
    return value - cycles * _CYCLE, cycles * _CYCLE


def _microseconds(offset: timedelta | None) -> int:
    return (offset or timedelta()) // timedelta(microseconds=1)
