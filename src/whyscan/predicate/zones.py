"""Time zones as java.time and Spark understand their names: what the clock on the wall says.

    local = instant + offset

Where clocks are put forward some readings never occur (a gap), where they are put back some
occur twice (an overlap). Before the first law a zone keeps its local mean time, to the second.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache

from whyscan.errors import UsageError
from whyscan.predicate import tzfile
from whyscan.predicate.tzfile import CYCLE

MICROS = 1_000_000
MAX_OFFSET = 18 * 3600

# java.time.ZoneId.SHORT_IDS, which Spark accepts.
SHORT_NAMES = {
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

_FIXED = re.compile(
    r"(?:UTC|GMT|UT)?([+-])(?:(\d{1,2})|(\d{1,2}):(\d{1,2})(?::(\d\d))?|(\d\d)(\d\d)(\d\d)?)"
)


@dataclass(frozen=True, slots=True, eq=False)
class Zone:
    """A zone: `offsets[i]` holds before `transitions[i]`, all in seconds.

    From `horizon` on everything is as 400 years before; None where the last offset stays.
    Zones are made by `zone`, once each.
    """

    name: str
    transitions: tuple[int, ...]
    offsets: tuple[int, ...]
    horizon: int | None

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return zone, (self.name,)

    def instant_to_local(self, micros: int) -> int:
        """What a clock shows at an instant."""
        seconds = self._folded(micros // MICROS)
        return micros + MICROS * self.offsets[bisect_right(self.transitions, seconds)]

    def local_to_instant(self, micros: int) -> int:
        """When a clock shows it: in an overlap the first time, in a gap later by its length."""
        # Both mean: the old offset holds until the clock has passed both readings of the change.
        seconds = self._folded(micros // MICROS)
        passed = bisect_right(range(len(self.transitions)), seconds, key=self._settled)
        return micros - MICROS * self.offsets[passed]

    def _settled(self, index: int) -> int:
        return self.transitions[index] + max(self.offsets[index : index + 2])

    def _folded(self, seconds: int) -> int:
        if self.horizon is None or seconds < self.horizon:
            return seconds
        return self.horizon - CYCLE + (seconds - self.horizon) % CYCLE


@cache
def zone(name: str) -> Zone:
    """The zone of a Spark session's `timeZone`: a region, a short name or a fixed offset."""
    known = SHORT_NAMES.get(name, name)
    fixed = _fixed_offset(known)
    if fixed is not None:
        return Zone(name, (), (fixed,), None)
    if known not in tzfile.names():
        raise UsageError(f"unknown time zone {name!r}", hint=_hint(name))
    found = tzfile.read(known)
    return Zone(name, found.transitions, found.offsets, found.horizon)


def _fixed_offset(name: str) -> int | None:
    """`Z`, `UTC`, `+02:00`, `GMT+2`, `UT-0530` and their like as seconds; None for a region."""
    if name in {"Z", "UTC", "GMT", "UT"}:
        return 0
    found = _FIXED.fullmatch(name)
    if found is None:
        return None
    sign, *parts = found.groups(default="0")
    hour, hours, minutes, seconds, two, four, six = (int(part) for part in parts)
    total = (hour + hours + two) * 3600 + (minutes + four) * 60 + seconds + six
    if total > MAX_OFFSET:
        raise UsageError(f"unknown time zone {name!r}", hint="an offset is at most 18 hours")
    return -total if sign == "-" else total


def _hint(name: str) -> str:
    folded = {known.casefold(): known for known in tzfile.names()}
    close = difflib.get_close_matches(name.casefold(), folded, n=1)
    if close:
        return f"did you mean {folded[close[0]]}?"
    return "a region as in Europe/Berlin, or an offset as in +02:00"
