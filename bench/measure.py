"""Timing as ratios: two ways of doing the same work, interleaved in one run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 7
ENOUGH_SECONDS = 30.0
"""Work that takes long is repeated less often, but at least once."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Our best round against the peer's; `budget` is the most that ours may take of it."""

    work: str
    peer: str
    ours_seconds: float
    peer_seconds: float
    budget: float

    @property
    def ratio(self) -> float:
        return self.ours_seconds / self.peer_seconds

    @property
    def within(self) -> bool:
        return self.ratio <= self.budget


def compare(
    work: str, peer: str, budget: float, ours: Callable[[], object], theirs: Callable[[], object]
) -> Ratio:
    """Alternate the two, so that a busy moment hits both, and take the best round of each."""
    ours_seconds: list[float] = []
    peer_seconds: list[float] = []
    while len(ours_seconds) < ROUNDS and sum(ours_seconds + peer_seconds) < ENOUGH_SECONDS:
        ours_seconds.append(_seconds(ours))
        peer_seconds.append(_seconds(theirs))
    return Ratio(work, peer, min(ours_seconds), min(peer_seconds), budget)


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
