"""A Delta checkpoint of many files: time and memory of cold processes, against delta-explain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from delta_tables import checkpointed
from measure import Ratio, alternate
from processes import WHYSCAN, Cost, beside_python, cost

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

PREDICATE = "country = 'DE' AND age > 85"
PEER = "delta-explain"
MEGABYTE = 1_000_000
MOST_MEGABYTES = 600


@dataclass(frozen=True, slots=True)
class _Rounds:
    """The rounds of one table: the best time, and the most memory of any round."""

    costs: Sequence[Cost]

    @property
    def seconds(self) -> float:
        return min(cost.seconds for cost in self.costs)

    @property
    def megabytes(self) -> float:
        return max(cost.bytes for cost in self.costs) / MEGABYTE


def measurements(folder: Path) -> Iterator[Ratio]:
    """A hundred thousand files, a million, and how ours grows from the one to the other."""
    less, peer_less = _rounds(checkpointed(folder, 100_000))
    yield Ratio("Delta, 100,000 files, cold", PEER, less.seconds, peer_less.seconds, 1 / 2)
    more, peer = _rounds(checkpointed(folder, 1_000_000))
    yield Ratio("Delta, 1,000,000 files, cold", PEER, more.seconds, peer.seconds, 1 / 10)
    memory = "Delta, 1,000,000 files, memory"
    yield Ratio(memory, PEER, more.megabytes, peer.megabytes, 1 / 4, "MB")
    yield Ratio(memory, "a fixed limit", more.megabytes, MOST_MEGABYTES, 1, "MB")
    yield Ratio("Delta, ten times the files", "100,000 files", more.seconds, less.seconds, 8)


def _rounds(table: Path) -> tuple[_Rounds, _Rounds]:
    question = [str(table), "-w", PREDICATE]
    ours, theirs = alternate(
        lambda: cost([WHYSCAN, "explain", *question, "--depth", "files"]),
        lambda: cost([beside_python(PEER), *question]),
    )
    return _Rounds(ours), _Rounds(theirs)
