"""A level as one bar: the kept containers, and the removed ones by mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.reports.levels import Level

LENGTH = 1000
SHORTEST = 4


class Segment(Struct, frozen=True):
    """A segment of a bar of `LENGTH`. `fate` is `all`, `some`, or the mechanism that removed it."""

    fate: str
    start: int
    length: int


def segments(level: Level) -> tuple[Segment, ...]:
    """Return one segment per fate with a container; each is long enough to be visible."""
    return _segments_of({"all": level.every, "some": level.kept - level.every, **level.pruned_by})


def part_of(kept: int | None, total: int | None) -> tuple[Segment, ...]:
    """Return the bar of kept bytes or rows; empty if they are unknown."""
    if kept is None or total is None:
        return ()
    return _segments_of({"kept": kept, "gone": total - kept})


def _segments_of(counts: Mapping[str, int]) -> tuple[Segment, ...]:
    present = {fate: count for fate, count in counts.items() if count > 0}
    room = LENGTH - SHORTEST * len(present)
    total = sum(present.values())
    placed, start = [], 0
    for fate, count in present.items():
        length = SHORTEST + round(room * count / total)
        placed.append(Segment(fate, start, length))
        start += length
    return tuple(placed)
