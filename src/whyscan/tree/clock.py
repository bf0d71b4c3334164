"""The time of a run: one moment, whoever asks, and a note of whether anybody did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.tree import zones

if TYPE_CHECKING:
    from whyscan.tree.zones import Zone


class Clock(Struct):
    """A stopped clock in the session's zone. `asked` turns true at the first reading."""

    zone: Zone
    stopped_at: int
    asked: bool = False

    def instant(self) -> int:
        """Microseconds since 1970-01-01 in UTC."""
        self.asked = True
        return self.stopped_at

    def wall(self) -> int:
        """What a wall clock shows, in microseconds."""
        return zones.to_wall(self.instant(), self.zone)

    def today(self) -> int:
        """Days since 1970-01-01."""
        return self.wall() // zones.DAY
