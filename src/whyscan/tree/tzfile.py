"""The files of the tz database (RFC 9636): when the offset of a zone changes, and to what.

The files are from the `tzdata` package, so they are the same on every machine. All times are
seconds since 1970-01-01 in UTC.
"""

from __future__ import annotations

import datetime as dt
import re
import struct
from functools import cache
from importlib import resources
from itertools import pairwise

from msgspec import Struct

DAY = 86_400
CYCLE = 146_097 * DAY
"""400 Gregorian years: a whole number of weeks, so that every yearly rule repeats with them."""

CYCLE_YEARS = 400
EPOCH_ORDINAL = 719_163

_HEADER = struct.Struct(">4sc15x6I")
_NAME = r"(?:<[^>]+>|[A-Za-z]+)"
_FOOTER = re.compile(rf"{_NAME}([-+:\d]+)(?:{_NAME}([-+:\d]*),([^,]+),([^,]+))?")


class Offsets(Struct, frozen=True):
    """The offsets of a zone: `offsets[i]` is valid from `transitions[i - 1]` to `transitions[i]`.

    The end is exclusive. From `horizon` on the offsets repeat those of one CYCLE before.
    None: the last offset stays.
    """

    transitions: tuple[int, ...]
    offsets: tuple[int, ...]
    horizon: int | None = None


class _Rule(Struct, frozen=True):
    """The footer of a zone with daylight saving: two offsets and two yearly changes."""

    standard: int
    daylight: int
    start: str
    end: str

    def changes(self, year: int) -> list[tuple[int, int]]:
        return sorted(
            [
                (_moment(self.start, year) - self.standard, self.daylight),
                (_moment(self.end, year) - self.daylight, self.standard),
            ]
        )


@cache
def names() -> frozenset[str]:
    """The names of all zones of the database, with aliases."""
    return frozenset((resources.files("tzdata") / "zones").read_text("ascii").split())


def read(name: str) -> Offsets:
    """The offsets of one of `names()`. The yearly rule is expanded for one CYCLE."""
    content = resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()
    first, changes, footer = _parse(content)
    rule = _rule(footer)
    if rule is None:
        return _offsets(first, changes, None)
    last = changes[-1][0] if changes else 0
    year = dt.date.fromordinal(last // DAY + EPOCH_ORDINAL).year
    # One more year at both ends: every time before the horizon has a change before and after it.
    for later in range(year, year + CYCLE_YEARS + 4):
        changes += [change for change in rule.changes(later) if change[0] > last]
    return _offsets(first, changes, _days(year + CYCLE_YEARS + 2, 1, 1) * DAY)


def _offsets(first: int, changes: list[tuple[int, int]], horizon: int | None) -> Offsets:
    """The offsets without changes that keep the offset (a new abbreviation or a new law)."""
    states = [(0, first), *changes]
    offset_changes = [new for old, new in pairwise(states) if old[1] != new[1]]
    return Offsets(
        tuple(t for t, _ in offset_changes), (first, *(o for _, o in offset_changes)), horizon
    )


def _parse(content: bytes) -> tuple[int, list[tuple[int, int]], str]:
    """The first offset, the changes and the footer of the second, 64-bit block of a file."""
    start = _HEADER.size + _size(content, 0, 4)
    *_, times, types, _ = _HEADER.unpack_from(content, start)
    body = start + _HEADER.size
    moments = struct.unpack_from(f">{times}q", content, body)
    kinds = struct.unpack_from(f">{times}B", content, body + 8 * times)
    type_records = struct.iter_unpack(
        ">iBB", content[body + 9 * times : body + 9 * times + 6 * types]
    )
    offsets = [offset for offset, _, _ in type_records]
    footer = content[body + _size(content, start, 8) :].decode("ascii").strip("\n")
    return offsets[0], [(t, offsets[k]) for t, k in zip(moments, kinds, strict=True)], footer


def _size(content: bytes, at: int, width: int) -> int:
    """The length of a data block in bytes. Its times have `width` bytes each."""
    _, _, utc, standard, leaps, times, types, letters = _HEADER.unpack_from(content, at)
    return int(times * (width + 1) + types * 6 + letters + leaps * (width + 4) + standard + utc)


def _rule(footer: str) -> _Rule | None:
    """The rule of a footer such as `NST3:30NDT,M3.2.0,M11.1.0`; None without daylight saving."""
    fields = _FOOTER.fullmatch(footer)
    if fields is None or fields[3] is None:
        return None
    # POSIX offsets are positive to the west. Without one, daylight time is one hour ahead.
    standard = -_clock(fields[1])
    daylight = -_clock(fields[2]) if fields[2] else standard + 3600
    return _Rule(standard, daylight, fields[3], fields[4])


def _clock(text: str) -> int:
    """`-3:30` as seconds."""
    sign = -1 if text.startswith("-") else 1
    hours, minutes, seconds = ([int(part) for part in text.lstrip("+-").split(":")] + [0, 0])[:3]
    return sign * (hours * 3600 + minutes * 60 + seconds)


def _moment(rule: str, year: int) -> int:
    """The local time, in seconds, of `M3.2.0/2` (month, week, weekday, hour) in a year.

    It is the local time before the change.
    """
    day, _, time = rule.partition("/")
    return _day(day, year) * DAY + _clock(time or "2")


def _day(rule: str, year: int) -> int:
    """The day of `M10.5.0` (the last Sunday of October), `J60` (no leap days) or `59`."""
    if rule.startswith("J"):
        return _days(year, 1, 1) + int(rule[1:]) - 1 + (_leap(year) and int(rule[1:]) > 59)  # noqa: PLR2004
    if not rule.startswith("M"):
        return _days(year, 1, 1) + int(rule)
    month, week, weekday = (int(part) for part in rule[1:].split("."))
    first = _days(year, month, 1)
    day = first + (weekday - first - 4) % 7 + 7 * (week - 1)
    return day if day < _days(year + month // 12, month % 12 + 1, 1) else day - 7


def _leap(year: int) -> bool:
    return _days(year + 1, 1, 1) - _days(year, 1, 1) > 365  # noqa: PLR2004


def _days(year: int, month: int, day: int) -> int:
    return dt.date(year, month, day).toordinal() - EPOCH_ORDINAL
