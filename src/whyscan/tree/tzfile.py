"""The tz database's files (RFC 9636): when a zone's offset changes, and to what.

The database is that of the `tzdata` package: the same on every machine. All times are seconds
since 1970-01-01, UTC.
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
    """`offsets[i]` holds from `transitions[i - 1]` until `transitions[i]`, without an end.

    From `horizon` on everything is as one CYCLE before; None where the last offset stays.
    """

    transitions: tuple[int, ...]
    offsets: tuple[int, ...]
    horizon: int | None = None


class _Rule(Struct, frozen=True):
    """A footer with daylight saving: its two offsets, and the yearly changes to and from it."""

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
    """Every zone of the database, links included."""
    return frozenset((resources.files("tzdata") / "zones").read_text("ascii").split())


def read(name: str) -> Offsets:
    """The offsets of one of `names()`, the footer's rule written out for one CYCLE."""
    content = resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()
    first, changes, footer = _parse(content)
    rule = _rule(footer)
    if rule is None:
        return _offsets(first, changes, None)
    last = changes[-1][0] if changes else 0
    year = dt.date.fromordinal(last // DAY + EPOCH_ORDINAL).year
    # A year to spare at both ends: the change before and after any folded moment is listed.
    for later in range(year, year + CYCLE_YEARS + 4):
        changes += [change for change in rule.changes(later) if change[0] > last]
    return _offsets(first, changes, _days(year + CYCLE_YEARS + 2, 1, 1) * DAY)


def _offsets(first: int, changes: list[tuple[int, int]], horizon: int | None) -> Offsets:
    """Changes of the offset alone: a new name or a new law for the same offset is none."""
    states = [(0, first), *changes]
    real = [new for old, new in pairwise(states) if old[1] != new[1]]
    return Offsets(tuple(t for t, _ in real), (first, *(o for _, o in real)), horizon)


def _parse(content: bytes) -> tuple[int, list[tuple[int, int]], str]:
    """The first offset, the changes and the footer of the file's second, 64-bit part."""
    start = _HEADER.size + _size(content, 0, 4)
    *_, times, types, _ = _HEADER.unpack_from(content, start)
    body = start + _HEADER.size
    moments = struct.unpack_from(f">{times}q", content, body)
    kinds = struct.unpack_from(f">{times}B", content, body + 8 * times)
    described = struct.iter_unpack(">iBB", content[body + 9 * times : body + 9 * times + 6 * types])
    offsets = [offset for offset, _, _ in described]
    footer = content[body + _size(content, start, 8) :].decode("ascii").strip("\n")
    return offsets[0], [(t, offsets[k]) for t, k in zip(moments, kinds, strict=True)], footer


def _size(content: bytes, at: int, width: int) -> int:
    """How long a part's body is, with times of `width` bytes."""
    _, _, utc, standard, leaps, times, types, letters = _HEADER.unpack_from(content, at)
    return int(times * (width + 1) + types * 6 + letters + leaps * (width + 4) + standard + utc)


def _rule(footer: str) -> _Rule | None:
    """`NST3:30NDT,M3.2.0,M11.1.0` as a rule; None without daylight saving."""
    found = _FOOTER.fullmatch(footer)
    if found is None or found[3] is None:
        return None
    # POSIX counts offsets westwards; an absent one is an hour ahead.
    standard = -_clock(found[1])
    daylight = -_clock(found[2]) if found[2] else standard + 3600
    return _Rule(standard, daylight, found[3], found[4])


def _clock(text: str) -> int:
    """`-3:30` as seconds."""
    sign = -1 if text.startswith("-") else 1
    hours, minutes, seconds = ([int(part) for part in text.lstrip("+-").split(":")] + [0, 0])[:3]
    return sign * (hours * 3600 + minutes * 60 + seconds)


def _moment(rule: str, year: int) -> int:
    """When `M3.2.0/2` (month, week, weekday, hour) comes, by the clock that it ends."""
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
