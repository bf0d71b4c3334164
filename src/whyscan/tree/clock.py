"""The current time of a run, which is the same for every expression of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.tree import zones

if TYPE_CHECKING:
    from whyscan.tree.zones import Zone


class Clock(Struct):
    """A clock that always shows the same time, in the time zone of the session.

    `microseconds` counts from 1970-01-01 in UTC. `was_read` becomes true when a predicate reads
    the clock. Where clocks are set back, a local time is shown twice. It is the first of the two
    instants, as in java.time, if `first_of_two`; else it depends on the engine.
    """

    zone: Zone
    microseconds: int
    first_of_two: bool = True
    was_read: bool = False

    def instant(self) -> int:
        """The current time in microseconds since 1970-01-01 in UTC."""
        self.was_read = True
        return self.microseconds

    def wall(self) -> int:
        """The local time in the zone, in microseconds since 1970-01-01 00:00 local time."""
        return zones.to_wall(self.instant(), self.zone)

    def today(self) -> int:
        """The current date in the zone, in days since 1970-01-01."""
        return self.wall() // zones.DAY
