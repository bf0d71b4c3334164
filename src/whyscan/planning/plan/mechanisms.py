"""Which mechanism removed a container: the first mechanism that is enough gets the credit.

| mechanism | what it uses |
|---|---|
| partition | partition values, and the conjuncts of the statement itself |
| statistics | bounds and counts, and the same conjuncts |
| join | all metadata, and conjuncts that came from a join |
| limit | other containers surely have the rows that a LIMIT needs |
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import Evidence, ManifestEvidence

    Credits = npt.NDArray[np.int8]


class Mechanism(IntEnum):
    """What removed a container, in the order in which credit is given."""

    NOTHING = 0
    PARTITION = 1
    STATISTICS = 2
    JOIN = 3
    LIMIT = 4

    @property
    def word(self) -> str:
        return self.name.lower()


REMOVING = tuple(Mechanism)[1:]


def of_files(evidence: Evidence) -> Credits:
    """One `Mechanism` per file or group of files."""
    before = evidence.before_limit
    return _credits(
        before.by_partition.kept_without_join,
        before.judgement.kept_without_join,
        before.judgement.kept,
        evidence.judgement.kept,
    )


def of_row_groups(evidence: Evidence) -> Credits:
    """One `Mechanism` per row group; an empty array where no footer was opened."""
    before = evidence.before_limit
    groups, judgement_before, judgement = (
        evidence.row_groups,
        before.row_group_judgement,
        evidence.row_group_judgement,
    )
    if groups is None or judgement_before is None or judgement is None:
        return np.zeros(0, np.int8)
    by_partition = before.by_partition.kept_without_join[groups.owners.to_numpy()]
    return _credits(
        by_partition, judgement_before.kept_without_join, judgement_before.kept, judgement.kept
    )


def of_manifests(manifests: ManifestEvidence) -> Credits:
    """One `Mechanism` per manifest. Summaries of manifests are about partition values."""
    static, kept = manifests.judgement.kept_without_join, manifests.judgement.kept
    return _credits(static, static, kept, kept)


def files_unlisted(evidence: Evidence) -> dict[Mechanism, int]:
    """How many files the closed manifests list, by the mechanism that left them closed."""
    manifests = evidence.manifests
    if manifests is None or manifests.opened.all():
        return {}
    files = manifests.manifests.files.to_numpy(zero_copy_only=False)
    mechanisms = of_manifests(manifests)
    return {m: int(files[~manifests.opened & (mechanisms == m)].sum()) for m in REMOVING}


def counted(mechanisms: Credits) -> dict[str, int]:
    """How many containers each mechanism removed, by its word."""
    return worded({m: int(np.count_nonzero(mechanisms == m)) for m in REMOVING})


def worded(counts: Mapping[Mechanism, int]) -> dict[str, int]:
    """Counts by word: partition and statistics always, the others if they removed something."""
    always = (Mechanism.PARTITION, Mechanism.STATISTICS)
    return {m.word: count for m, count in counts.items() if count or m in always}


def _credits(partition: Flags, statistics: Flags, join: Flags, limit: Flags) -> Credits:
    """One `Mechanism` per container, from what each mechanism keeps after those before it."""
    left = (partition, statistics, join, limit)
    # A mechanism with the same array as the one before it removed nothing.
    steps = [
        (mechanism, kept)
        for mechanism, kept, before in zip(REMOVING, left, (None, *left), strict=False)
        if kept is not before
    ]
    mechanisms: Credits = np.zeros(len(partition), np.int8)
    for mechanism, kept in reversed(steps):
        # Arithmetic on numbers is many times faster than choosing element by element.
        mechanisms *= kept.view(np.int8)
        mechanisms += (~kept).view(np.int8) * np.int8(mechanism)
    return mechanisms
