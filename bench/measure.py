"""Ratios: two ways of doing the same work, interleaved in one run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Cost = TypeVar("Cost")

ROUNDS = 7
ENOUGH_SECONDS = 30.0
"""Work that takes long is repeated less often, but at least once."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Ours against the peer's, in one unit; `budget` is the most that ours may be of it."""

    work: str
    peer: str
    ours: float
    theirs: float
    budget: float
    unit: str = "s"

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def within(self) -> bool:
        return self.ratio <= self.budget


def compare(
    work: str, peer: str, budget: float, ours: Callable[[], object], theirs: Callable[[], object]
) -> Ratio:
    """The best round of each, in seconds."""
    our_rounds, their_rounds = alternate(lambda: seconds(ours), lambda: seconds(theirs))
    return Ratio(work, peer, min(our_rounds), min(their_rounds), budget)


def alternate(
    ours: Callable[[], Cost], theirs: Callable[[], Cost]
) -> tuple[list[Cost], list[Cost]]:
    """What each round of either costs. They take turns, so that a busy moment hits both."""
    our_rounds: list[Cost] = []
    their_rounds: list[Cost] = []
    until = time.perf_counter() + ENOUGH_SECONDS
    while not our_rounds or (len(our_rounds) < ROUNDS and time.perf_counter() < until):
        our_rounds.append(ours())
        their_rounds.append(theirs())
    return our_rounds, their_rounds


def seconds(work: Callable[[], object]) -> float:
    """How long some work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
