"""Time zones by the names that Spark takes, and the way between instants and wall clocks.

    wall clock = instant + offset

Where clocks are put forward some readings never occur (a gap), where they are put back some
occur twice (an overlap). Before its first law a zone keeps local mean time, to the second.
Instants and wall clocks are integers (microseconds since 1970-01-01): no year is out of range.
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


class Zone(Struct, frozen=True, eq=False):
    """A zone: `offsets[i]` holds until `transitions[i]`, all in seconds since 1970-01-01.

    From `horizon` on everything is as 400 years before; None where the last offset stays.
    """

    name: str
    transitions: tuple[int, ...]
    offsets: tuple[int, ...]
    horizon: int | None

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return zone, (self.name,)

    def folded(self, seconds: int) -> int:
        if self.horizon is None or seconds < self.horizon:
            return seconds
        return self.horizon - tzfile.CYCLE + (seconds - self.horizon) % tzfile.CYCLE

    def settled(self, index: int) -> int:
        """What the clock shows when it has passed both readings of a change."""
        return self.transitions[index] + max(self.offsets[index : index + 2])


def zone(name: str) -> Zone:
    """The zone of that name; UsageError with a near name where there is none."""
    found = find_zone(name)
    if found is not None:
        return found
    known = {spelling.casefold(): spelling for spelling in tzfile.names()}
    near = difflib.get_close_matches(name.casefold(), known, n=1)
    hint = f"did you mean {known[near[0]]}?" if near else "write it as Europe/Paris, UTC or +02:00"
    raise UsageError(f"unknown time zone {name!r}", hint=hint)


@lru_cache(maxsize=256)
def find_zone(name: str) -> Zone | None:
    """The zone that Spark understands by the name, None if it does not.

    `Z`, `UTC`, `+2`, `+02:00`, `+0200`, `GMT+2`, `UTC+02:00`, `Europe/Paris`, `PST`
    """
    known = _SHORT.get(name, name)
    if known in {"Z", "UTC", "GMT", "UT"}:
        return Zone(name, (), (0,), None)
    offset = re.sub(r"^(?:UTC|GMT|UT)(?=[+-])", "", known)
    if offset[:1] in {"+", "-"}:
        return _fixed(name, offset)
    # A name becomes a path: only those of the database may.
    if known not in tzfile.names():
        return None
    found = tzfile.read(known)
    return Zone(name, found.transitions, found.offsets, found.horizon)


def _fixed(name: str, text: str) -> Zone | None:
    match = _OFFSET.fullmatch(text)
    if match is None:
        return None
    sign, hours, minutes, seconds, *compact = match.groups()
    parts = (hours, minutes, seconds) if hours is not None else tuple(compact)
    hour, minute, second = (int(part or 0) for part in parts)
    total = hour * 3600 + minute * 60 + second
    if minute > 59 or second > 59 or total > _FARTHEST:  # noqa: PLR2004  the clock's own
        return None
    return Zone(name, (), (-total if sign == "-" else total,), None)


def to_instant(wall: int, where: Zone) -> int:
    """The instant at which a wall clock shows `wall`.

    In a gap the time moves on by the gap's length, in an overlap it is the earlier one: both
    are the offset before the transition, as in java.time.
    """
    seconds = where.folded(wall // SECOND)
    passed = bisect_right(range(len(where.transitions)), seconds, key=where.settled)
    return wall - SECOND * where.offsets[passed]


def to_wall(instant: int, where: Zone) -> int:
    """What a wall clock in the zone shows at an instant."""
    seconds = where.folded(instant // SECOND)
    return instant + SECOND * where.offsets[bisect_right(where.transitions, seconds)]
