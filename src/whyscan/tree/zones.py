"""Time zones by the names that Spark accepts, and the conversion of instants to wall time.

    wall time = instant + offset

When clocks are put forward, some wall times never occur (a gap). When they are put back, some
occur twice (an overlap). Before its first transition a zone has local mean time, to the second.
Instants and wall times are integers (microseconds since 1970-01-01), so every year is in range.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from functools import lru_cache

from msgspec import Struct

from whyscan.errors import UsageError
from whyscan.tree import tzfile

SECOND = 1_000_000
DAY = 86_400 * SECOND
_MAX_OFFSET = 18 * 3600

# Java's ZoneId.SHORT_IDS, which Spark passes to every lookup.
_SHORT_NAMES = {
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


class Zone(Struct, frozen=True, eq=False):
    """A time zone: `offsets[i]` is valid until `transitions[i]`, in seconds since 1970-01-01.

    From `horizon` on the offsets repeat those of 400 years before. None: the last offset stays.
    """

    name: str
    transitions: tuple[int, ...]
    offsets: tuple[int, ...]
    horizon: int | None

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return zone, (self.name,)

    def within_cycle(self, seconds: int) -> int:
        """The time before `horizon` that has the same offset as `seconds`."""
        if self.horizon is None or seconds < self.horizon:
            return seconds
        return self.horizon - tzfile.CYCLE + (seconds - self.horizon) % tzfile.CYCLE

    def wall_after(self, index: int) -> int:
        """The wall time, in seconds, from which on only the offset after a transition is valid."""
        return self.transitions[index] + max(self.offsets[index : index + 2])


def zone(name: str) -> Zone:
    """The zone of that name. An unknown name raises UsageError with a similar name as hint."""
    match = find_zone(name)
    if match is not None:
        return match
    names = {spelling.casefold(): spelling for spelling in tzfile.names()}
    near = difflib.get_close_matches(name.casefold(), names, n=1)
    hint = f"did you mean {names[near[0]]}?" if near else "write it as Europe/Paris, UTC or +02:00"
    raise UsageError(f"unknown time zone {name!r}", hint=hint)


@lru_cache(maxsize=256)
def find_zone(name: str) -> Zone | None:
    """The zone that the name means in Spark; None if Spark does not accept the name.

    `Z`, `UTC`, `+2`, `+02:00`, `+0200`, `GMT+2`, `UTC+02:00`, `Europe/Paris`, `PST`
    """
    full_name = _SHORT_NAMES.get(name, name)
    if full_name in {"Z", "UTC", "GMT", "UT"}:
        return Zone(name, (), (0,), None)
    offset = re.sub(r"^(?:UTC|GMT|UT)(?=[+-])", "", full_name)
    if offset[:1] in {"+", "-"}:
        return _fixed_offset(name, offset)
    # The name becomes a file path: only names of the database are allowed.
    if full_name not in tzfile.names():
        return None
    zone_file = tzfile.read(full_name)
    return Zone(name, zone_file.transitions, zone_file.offsets, zone_file.horizon)


def _fixed_offset(name: str, text: str) -> Zone | None:
    match = _OFFSET.fullmatch(text)
    if match is None:
        return None
    sign, hours, minutes, seconds, *compact = match.groups()
    parts = (hours, minutes, seconds) if hours is not None else tuple(compact)
    hour, minute, second = (int(part or 0) for part in parts)
    total = hour * 3600 + minute * 60 + second
    if minute > 59 or second > 59 or total > _MAX_OFFSET:  # noqa: PLR2004  the clock's own
        return None
    return Zone(name, (), (-total if sign == "-" else total,), None)


def to_instant(wall: int, zone: Zone) -> int:
    """The instant at which a clock in the zone shows `wall`.

    In a gap and in an overlap the offset before the transition is used, as in java.time: a time
    in a gap moves forward by the length of the gap, and an overlap gives the earlier instant.
    """
    seconds = zone.within_cycle(wall // SECOND)
    passed = bisect_right(range(len(zone.transitions)), seconds, key=zone.wall_after)
    return wall - SECOND * zone.offsets[passed]


def shows_twice(wall: int, zone: Zone) -> bool:
    """Whether a clock in the zone shows `wall` before and after it is set back."""
    seconds = zone.within_cycle(wall // SECOND)
    passed = bisect_right(range(len(zone.transitions)), seconds, key=zone.wall_after)
    if passed == len(zone.transitions):
        return False
    return seconds - zone.offsets[passed + 1] >= zone.transitions[passed]


def to_wall(instant: int, zone: Zone) -> int:
    """The wall time in the zone at an instant."""
    seconds = zone.within_cycle(instant // SECOND)
    return instant + SECOND * zone.offsets[bisect_right(zone.transitions, seconds)]
