"""Why each kept file is kept: one code per file, from a closed list.

Most codes say which missing metadata would have pruned the file. If only row groups have
statistics, a file has the reason of the row group that is hardest to prune.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.why.obstacles import Survivors, obstacles, unchecked
from whyscan.planning.why.reason_codes import Reason
from whyscan.tree.arrow import of_integers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from whyscan.planning.plan.evidence import Evidence, LevelEvidence
    from whyscan.planning.plan.judgement import Flags, Judgement
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.pruning.containers import Containers
    from whyscan.tables.snapshot import RowGroups


REASONS: tuple[Reason, ...] = tuple(Reason)
REMOVED = -1
TOGETHER = -1
_ALL, _STRADDLES = REASONS.index(Reason.MATCHES_ALL), REASONS.index(Reason.STRADDLES)


class Why(Struct, frozen=True):
    """The reason of each kept file, or of each group of files that are kept for one reason.

    `at` are positions, `codes` positions in `REASONS`, or `REMOVED` where no row group is kept.
    `conjunct` is the position of the conjunct that the reason is about, `TOGETHER` for all of them.
    `unchecked` flags what is kept without a check, because there is no metadata to check. `files`
    is how many files each entry stands for.
    """

    at: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int8]
    conjunct: npt.NDArray[np.int16]
    unchecked: Flags
    files: npt.NDArray[np.int64]

    def named(self, reason: Reason) -> npt.NDArray[np.int64]:
        """The positions that are kept for this reason."""
        positions: npt.NDArray[np.int64] = self.at[self.codes == REASONS.index(reason)]
        return positions


class Stays(Struct, frozen=True):
    """How many files are kept for which reason: one row per reason, in the order of `REASONS`.

    The first column is for all conjuncts together, the others are for each conjunct.
    """

    files: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, why: Why, conjuncts: int) -> Stays:
        """The counts of the files of a plan."""
        is_kept, width = why.codes != REMOVED, conjuncts + 1
        places = why.codes[is_kept].astype(np.int64) * width + why.conjunct[is_kept] + 1
        files = np.zeros(len(REASONS) * width, np.int64)
        np.add.at(files, places, why.files[is_kept])
        return cls(tuple(tuple(row) for row in files.reshape(len(REASONS), width).tolist()))

    def __add__(self, other: Stays) -> Stays:
        rows = zip(self.files, other.files, strict=True)
        return Stays(tuple(tuple(a + b for a, b in zip(*row, strict=True)) for row in rows))

    def counts(self) -> dict[Reason, int]:
        """How many files are kept for each reason that occurs."""
        totals = zip(REASONS, map(sum, self.files), strict=True)
        return {reason: files for reason, files in totals if files}

    def named(self, reason: Reason, about: Sequence[int] | None = None) -> int:
        """How many files are kept for a reason, about these conjuncts by position; None for any."""
        row = self.files[REASONS.index(reason)]
        return sum(row) if about is None else sum(row[position + 1] for position in about)


def reasons(plan: ScanPlan, interpreted: Sequence[bool]) -> Why:
    """The reason of every kept file."""
    evidence = plan.counted
    groups, level = evidence.describing_groups, evidence.row_group_level
    if groups is None or level is None:
        at = evidence.examples
        stay = of_integers(at[np.flatnonzero(evidence.judgement.kept)])
        described = evidence.files.containers.only(plan.predicate.columns())
        containers = replace(described, exact={}).take(stay)
        why = _why_kept(plan, interpreted, containers, evidence.judgement, at)
        return replace(why, files=evidence.sizes[why.at])
    at = groups.owners.to_numpy()
    return _rolled_up(
        evidence, groups, _why_kept(plan, interpreted, groups.containers, level.verdicts, at)
    )


def unchecked_parts(plan: ScanPlan, interpreted: Sequence[bool], level: LevelEvidence[Any]) -> int:
    """How many containers of a level are kept without a check."""
    survivors = Survivors.of(plan, level.listed.containers, level.verdicts)
    return int(unchecked(survivors, interpreted).sum())


def _why_kept(
    plan: ScanPlan,
    interpreted: Sequence[bool],
    containers: Containers,
    judgement: Judgement,
    files: npt.NDArray[np.int64] | None = None,
) -> Why:
    """Why some containers are kept; `files` are the positions of their files, if different."""
    survivors = Survivors.of(plan, containers, judgement, files)
    codes = np.full(survivors.count, _STRADDLES, np.int8)
    about = survivors.first_open()
    # The obstacles come weakest first: a later one overwrites an earlier one.
    for reason, conjunct, mask in obstacles(survivors, interpreted):
        codes[mask] = REASONS.index(reason)
        about[mask] = conjunct
    codes[survivors.every] = _ALL
    about[survivors.every] = TOGETHER
    ones = np.ones(survivors.count, np.int64)
    return Why(survivors.at, codes, about, unchecked(survivors, interpreted), ones)


def _rolled_up(evidence: Evidence, groups: RowGroups, inner: Why) -> Why:
    """The reasons of files: that of the row group that is hardest to prune.

    A file of which only some row groups match in every row straddles.
    """
    at = groups.owners.to_numpy()[inner.at]
    codes = np.full(evidence.files.count, REMOVED, np.int8)
    np.maximum.at(codes, at, inner.codes)
    decisive = inner.codes == codes[at]
    conjunct = np.full(evidence.files.count, TOGETHER, np.int16)
    conjunct[at[decisive]] = inner.conjunct[decisive]
    matches_in_part = np.zeros(evidence.files.count, np.bool_)
    matches_in_part[at[inner.codes == _ALL]] = True
    matches_in_part &= ~evidence.judgement.every
    codes[matches_in_part] = _STRADDLES
    is_checked = np.zeros(evidence.files.count, np.bool_)
    is_checked[at[~inner.unchecked]] = True
    stays = np.flatnonzero(evidence.judgement.kept)
    ones = np.ones(len(stays), np.int64)
    return Why(stays, codes[stays], conjunct[stays], ~is_checked[stays], ones)
