"""Iceberg tables with many files and with many manifests, against PyIceberg."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyiceberg_peer
from iceberg_tables import artemis, wide
from measure import Ratio, compare
from processes import WHYSCAN, run

import whyscan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PEER = "PyIceberg"


@dataclass(frozen=True, slots=True)
class Question:
    """One predicate in our words and in PyIceberg's."""

    ours: str
    theirs: str


BOUND = Question("c3 > 998000", "c3 > 998000")
MISSION_WEEK = Question(
    "mission = 7 AND at >= '2022-03-01' AND at < '2022-03-08'",
    "mission = 7 and at >= '2022-03-01T00:00:00' and at < '2022-03-08T00:00:00'",
)


def measurements(folder: Path) -> Iterator[Ratio]:
    """Cold processes first, then tables that are opened and planned in this one."""
    many_files, many_manifests = wide(folder / "wide").folder, artemis(folder / "artemis").folder
    yield _cold("Iceberg, 100,000 files, cold", 1 / 5, many_files, BOUND)
    yield _cold("Artemis, 4,000 manifests, cold", 1 / 6, many_manifests, BOUND)
    yield _cold("Artemis, one mission and week, cold", 1, many_manifests, MISSION_WEEK)
    yield _inside("Iceberg, 100,000 files", 1 / 10, many_files, BOUND)
    yield _inside("Artemis, 4,000 manifests", 1 / 10, many_manifests, BOUND)
    yield _inside("Artemis, one mission and week", 1 / 5, many_manifests, MISSION_WEEK)


def _cold(work: str, budget: float, table: Path, question: Question) -> Ratio:
    return compare(
        work,
        PEER,
        budget,
        lambda: run([WHYSCAN, "explain", str(table), "-w", question.ours, "--depth", "files"]),
        lambda: run(pyiceberg_peer.cold(str(table), question.theirs)),
    )


def _inside(work: str, budget: float, table: Path, question: Question) -> Ratio:
    """Each round opens the table anew: ours keeps what it read for the next question."""

    def ours() -> int:
        return whyscan.open(table).plan(question.ours, depth="files").summary.files_kept

    def theirs() -> int:
        return pyiceberg_peer.kept(str(table), question.theirs)

    assert ours() == theirs()
    return compare(f"{work}, one process", PEER, budget, ours, theirs)
