"""Which mechanism removed a container: the first mechanism that is enough gets the credit.

| mechanism | what it uses |
|---|---|
| partition | partition values, and the conjuncts of the statement itself |
| statistics | bounds and counts, and the same conjuncts |
| bloom | bloom filters, too |
| dictionary | dictionaries of all values, too |
| join | all metadata, and conjuncts that came from a join |
| limit | other containers surely have the rows that a LIMIT needs |
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from whyscan.planning.plan.evidence import Evidence, LevelEvidence
    from whyscan.planning.plan.judgement import Flags

    Credits = npt.NDArray[np.int8]


class Mechanism(IntEnum):
    """What removed a container, in the order in which credit is given."""

    NOTHING = 0
    PARTITION = 1
    STATISTICS = 2
    BLOOM = 3
    DICTIONARY = 4
    JOIN = 5
    LIMIT = 6

    @property
    def word(self) -> str:
        return self.name.lower()


REMOVING = tuple(Mechanism)[1:]


def credit(level: LevelEvidence[Any]) -> Credits:
    """One `Mechanism` per group of containers."""
    unlimited = level.verdicts_before_limit
    by_bloom = unlimited if level.by_bloom is None else level.by_bloom
    unfiltered = by_bloom if level.unfiltered is None else level.unfiltered
    return _credits(
        level.by_partition.kept_without_join,
        unfiltered.kept_without_join,
        by_bloom.kept_without_join,
        unlimited.kept_without_join,
        unlimited.kept,
        level.verdicts.kept,
    )


def files_unlisted(evidence: Evidence) -> dict[Mechanism, int]:
    """How many files the closed manifests list, by the mechanism that left them closed."""
    level = evidence.manifest_level
    if level is None or level.opened.all():
        return {}
    files, mechanisms = level.listed.files.to_numpy(zero_copy_only=False), credit(level)
    return {m: int(files[~level.opened & (mechanisms == m)].sum()) for m in REMOVING}


def counted(level: LevelEvidence[Any]) -> dict[Mechanism, int]:
    """How many containers each mechanism removed."""
    mechanisms = credit(level)
    return {m: level.container_count(mechanisms == m) for m in REMOVING}


def worded(counts: Mapping[Mechanism, int]) -> dict[str, int]:
    """Counts by word: partition and statistics always, the others if they removed something."""
    always = (Mechanism.PARTITION, Mechanism.STATISTICS)
    return {m.word: count for m, count in counts.items() if count or m in always}


def _credits(*left: Flags) -> Credits:
    """One `Mechanism` per container, from what each mechanism keeps after those before it."""
    # A mechanism with the same array as the one before it removed nothing.
    steps = [
        (mechanism, kept)
        for mechanism, kept, before in zip(REMOVING, left, (None, *left), strict=False)
        if kept is not before
    ]
    mechanisms: Credits = np.zeros(len(left[0]), np.int8)
    for mechanism, kept in reversed(steps):
        # Arithmetic on numbers is many times faster than choosing element by element.
        mechanisms *= kept.view(np.int8)
        mechanisms += (~kept).view(np.int8) * np.int8(mechanism)
    return mechanisms
