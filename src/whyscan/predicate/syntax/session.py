"""In whose terms a predicate is read: its dialect, its time zone, and what time it is."""

from __future__ import annotations

import time

from msgspec import Struct, field


def _microseconds() -> int:
    return time.time_ns() // 1000


class Session(Struct, frozen=True):
    """The surroundings of one run. `now` is microseconds since 1970-01-01, taken once."""

    dialect: str = "spark"
    timezone: str = "UTC"
    now: int = field(default_factory=_microseconds)
