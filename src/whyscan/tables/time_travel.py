"""Which version of a table is meant: at most one of four ways to say it."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct

from whyscan.errors import UsageError
from whyscan.tree.time_text import read_timestamp
from whyscan.tree.zones import to_instant, zone


class Travel(Struct, frozen=True):
    """A version, a snapshot's id, a moment (µs since 1970), or a branch or tag; none is today."""

    version: int | None = None
    snapshot: int | None = None
    as_of: int | None = None
    ref: str | None = None

    def __post_init__(self) -> None:
        if len(self.given()) > 1:
            raise UsageError(
                f"{' and '.join(self.given())} name different versions", hint="give one of them"
            )

    def given(self) -> tuple[str, ...]:
        """The ways that were used."""
        return tuple(f for f in self.__struct_fields__ if getattr(self, f) is not None)

    def only(self, *known: str, format_name: str) -> None:
        """Refuse a way of naming versions that the format does not have."""
        for way in self.given():
            if way not in known:
                hint = f"they take {', '.join(known)}" if known else "they have one version: now"
                raise UsageError(f"{format_name} tables have no {way}", hint=hint)


def moment(given: str | datetime | None) -> int | None:
    """A point in time as microseconds since 1970; text without a zone is in UTC."""
    if given is None:
        return None
    if isinstance(given, datetime):
        aware = given if given.tzinfo is not None else given.replace(tzinfo=UTC)
        elapsed = aware - datetime(1970, 1, 1, tzinfo=UTC)
        return (elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds
    read = read_timestamp(given)
    if read is None or read.day is None:
        raise UsageError(
            f"not a timestamp: {given!r}", hint="write 2024-03-01T12:00:00, in UTC or with a zone"
        )
    wall = read.day * 86_400_000_000 + read.nanoseconds // 1_000
    return to_instant(wall, read.zone or zone("UTC"))
