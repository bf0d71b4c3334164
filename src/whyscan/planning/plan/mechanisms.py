"""What removed a container: each is credited once, to the first mechanism that is enough.

| mechanism | what it goes by |
|---|---|
| partition | partition values, and the conjuncts of the statement itself |
| statistics | bounds and counts, and the same conjuncts |
| join | whatever is known, and conjuncts that came from a join |
| limit | nothing against it: others are sure to have the rows that a LIMIT asks for |
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
    """What removed a container, in the order of credit."""

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
    """A `Mechanism` a file."""
    before = evidence.before_limit
    return _credits(
        before.by_partition.kept_without_join,
        before.judgement.kept_without_join,
        before.judgement.kept,
        evidence.judgement.kept,
    )


def of_row_groups(evidence: Evidence) -> Credits:
    """A `Mechanism` a row group; none where no footer was opened."""
    before = evidence.before_limit
    groups, asked, found = evidence.groups, before.group_judgement, evidence.group_judgement
    if groups is None or asked is None or found is None:
        return np.zeros(0, np.int8)
    by_partition = before.by_partition.kept_without_join[groups.owners.to_numpy()]
    return _credits(by_partition, asked.kept_without_join, asked.kept, found.kept)


def of_manifests(above: ManifestEvidence) -> Credits:
    """A `Mechanism` a manifest: a summary is one of partition values."""
    static, kept = above.judgement.kept_without_join, above.judgement.kept
    return _credits(static, static, kept, kept)


def files_unlisted(evidence: Evidence) -> dict[Mechanism, int]:
    """The files of the manifests that each mechanism left closed."""
    above = evidence.manifests
    if above is None or above.opened.all():
        return {}
    files = above.manifests.files.to_numpy(zero_copy_only=False)
    by = of_manifests(above)
    return {m: int(files[~above.opened & (by == m)].sum()) for m in REMOVING}


def counted(found: Credits) -> dict[str, int]:
    """How many each removed, by its word."""
    return worded({m: int(np.count_nonzero(found == m)) for m in REMOVING})


def worded(counts: Mapping[Mechanism, int]) -> dict[str, int]:
    """Those of partition and statistics always, those of the others where they removed some."""
    always = (Mechanism.PARTITION, Mechanism.STATISTICS)
    return {m.word: count for m, count in counts.items() if count or m in always}


def _credits(partition: Flags, statistics: Flags, join: Flags, limit: Flags) -> Credits:
    """Who removed what, by what each of them left with those before it."""
    left = (partition, statistics, join, limit)
    # One that leaves what the one before it left removed nothing.
    steps = [
        (mechanism, kept)
        for mechanism, kept, before in zip(REMOVING, left, (None, *left), strict=False)
        if kept is not before
    ]
    found: Credits = np.zeros(len(partition), np.int8)
    for mechanism, kept in reversed(steps):
        # As numbers: choosing element by element takes many times as long.
        found *= kept.view(np.int8)
        found += (~kept).view(np.int8) * np.int8(mechanism)
    return found
