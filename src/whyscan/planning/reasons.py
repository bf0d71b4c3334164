"""Why each survivor survived: one code a file, from a closed list.

Most codes are a counterfactual: what would have to be known for the file to go. A file stays for
the reason of the row group that is hardest to remove where only its row groups have statistics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from whyscan.planning.obstacles import Survivors, obstacles, unchecked
from whyscan.planning.reason_codes import Reason

if TYPE_CHECKING:
    import numpy.typing as npt

    from whyscan.planning.judgement import Flags, Judgement
    from whyscan.planning.plan import Evidence, ScanPlan
    from whyscan.planning.pushdown import Class
    from whyscan.pruning.containers import Containers
    from whyscan.tables.snapshot import RowGroups


REASONS: tuple[Reason, ...] = tuple(Reason)
REMOVED = -1
TOGETHER = -1
_ALL, _STRADDLES = REASONS.index(Reason.MATCHES_ALL), REASONS.index(Reason.STRADDLES)


class Why(Struct, frozen=True):
    """For each file a position in `REASONS`, `REMOVED` where it goes.

    `conjunct` is the one that the reason is about, `TOGETHER` for all of them. `unchecked` flags
    those that stay without a check, since there was nothing to check with.
    """

    codes: npt.NDArray[np.int8]
    conjunct: npt.NDArray[np.int16]
    unchecked: Flags

    def counts(self) -> dict[Reason, int]:
        """How many files stay for which reason."""
        found = np.bincount(self.codes[self.codes != REMOVED], minlength=len(REASONS))
        return {reason: int(n) for reason, n in zip(REASONS, found, strict=True) if n}

    def named(self, reason: Reason) -> npt.NDArray[np.bool_]:
        """The files that stay for one reason."""
        found: npt.NDArray[np.bool_] = self.codes == REASONS.index(reason)
        return found


def reasons(plan: ScanPlan, classes: tuple[Class, ...]) -> Why:
    """The reason of every file that is kept."""
    evidence = plan.evidence
    if not plan.snapshot.footers_describe_files:
        everywhere = np.arange(evidence.files.count)
        return _of(plan, classes, evidence.files.containers, evidence.judgement, everywhere)
    groups, found = evidence.groups, evidence.group_judgement
    if groups is None or found is None:
        nothing = np.full(evidence.files.count, REMOVED)
        unseen = np.zeros(evidence.files.count, np.bool_)
        return Why(nothing.astype(np.int8), nothing.astype(np.int16), unseen)
    at = groups.owners.to_numpy()
    return _rolled_up(evidence, groups, _of(plan, classes, groups.containers, found, at))


def unchecked_parts(
    plan: ScanPlan, classes: tuple[Class, ...], containers: Containers, judgement: Judgement
) -> int:
    """How many manifests or row groups stay without a check."""
    nowhere = np.zeros(containers.count, np.int64)
    here = Survivors.of(plan, containers, judgement, nowhere)
    return int(unchecked(here, classes).sum())


def _of(
    plan: ScanPlan,
    classes: tuple[Class, ...],
    containers: Containers,
    judgement: Judgement,
    files: npt.NDArray[np.int64],
) -> Why:
    """The reasons of some containers; `files` are where their files stand."""
    here = Survivors.of(plan, containers, judgement, files)
    codes = np.full(here.count, _STRADDLES, np.int8)
    about = here.first_open()
    # The last of the list first: what comes before it overwrites it.
    for reason, conjunct, mask in obstacles(here, classes):
        codes[mask] = REASONS.index(reason)
        about[mask] = conjunct
    codes[here.every] = _ALL
    about[here.every] = TOGETHER
    whole = np.full(containers.count, REMOVED, np.int8)
    conjuncts = np.full(containers.count, TOGETHER, np.int16)
    blind = np.zeros(containers.count, np.bool_)
    whole[here.at], conjuncts[here.at], blind[here.at] = codes, about, unchecked(here, classes)
    return Why(whole, conjuncts, blind)


def _rolled_up(evidence: Evidence, groups: RowGroups, inner: Why) -> Why:
    """Of files, by their row groups: the hardest to remove; a mix of all and others straddles."""
    at = groups.owners.to_numpy()
    codes = np.full(evidence.files.count, REMOVED, np.int8)
    np.maximum.at(codes, at, inner.codes)
    decisive = inner.codes == codes[at]
    conjunct = np.full(evidence.files.count, TOGETHER, np.int16)
    conjunct[at[decisive]] = inner.conjunct[decisive]
    partly = np.zeros(evidence.files.count, np.bool_)
    partly[at[inner.codes == _ALL]] = True
    partly &= ~evidence.judgement.every
    codes[partly] = _STRADDLES
    codes[~evidence.judgement.kept] = REMOVED
    looked = np.zeros(evidence.files.count, np.bool_)
    looked[at[(inner.codes != REMOVED) & ~inner.unchecked]] = True
    return Why(codes, conjunct, evidence.judgement.kept & ~looked)
