"""The session settings that decide what a predicate means: dialect, time zone, current time."""

from __future__ import annotations

import time

from msgspec import Struct, field


def _microseconds() -> int:
    return time.time_ns() // 1000


class Session(Struct, frozen=True):
    """The settings of one run. `now` is the current time in microseconds since 1970-01-01."""

    dialect: str = "spark"
    timezone: str = "UTC"
    now: int = field(default_factory=_microseconds)
