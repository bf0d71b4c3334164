"""Which version of a table is opened: at most one of four ways to name it."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct

from whyscan.errors import UsageError
from whyscan.tree.time_text import read_timestamp
from whyscan.tree.zones import to_instant, zone


class Travel(Struct, frozen=True):
    """A version, a snapshot id, a time (µs since 1970), or a branch or tag; none is the newest."""

    version: int | None = None
    snapshot: int | None = None
    as_of: int | None = None
    ref: str | None = None

    def __post_init__(self) -> None:
        if len(self.ways()) > 1:
            raise UsageError(
                f"{' and '.join(self.ways())} name different versions", hint="give one of them"
            )

    def ways(self) -> tuple[str, ...]:
        """The names of the fields that are set."""
        return tuple(f for f in self.__struct_fields__ if getattr(self, f) is not None)

    def require_only(self, *allowed: str, format_name: str) -> None:
        """Refuse a way to name a version that the format does not have."""
        for way in self.ways():
            if way not in allowed:
                hint = (
                    f"name it by {' or '.join(allowed)}"
                    if allowed
                    else "they keep only their newest state"
                )
                raise UsageError(f"{format_name} tables have no {way}", hint=hint)


def moment(time: str | datetime | None) -> int | None:
    """A point in time as microseconds since 1970; text without a zone is in UTC."""
    if time is None:
        return None
    if isinstance(time, datetime):
        aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
        elapsed = aware - datetime(1970, 1, 1, tzinfo=UTC)
        return (elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds
    read = read_timestamp(time)
    if read is None or read.day is None:
        raise UsageError(
            f"not a timestamp: {time!r}", hint="write 2024-03-01T12:00:00, in UTC or with a zone"
        )
    wall = read.day * 86_400_000_000 + read.nanoseconds // 1_000
    return to_instant(wall, read.zone or zone("UTC"))
