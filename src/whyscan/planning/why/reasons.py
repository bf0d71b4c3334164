"""Why each survivor survived: one code a file, from a closed list.

Most codes are a counterfactual: what would have to be known for the file to go. A file stays for
the reason of the row group that is hardest to remove where only its row groups have statistics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.why.obstacles import Survivors, obstacles, unchecked
from whyscan.planning.why.reason_codes import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from whyscan.planning.plan.judgement import Flags, Judgement
    from whyscan.planning.plan.scan_plan import Evidence, ScanPlan
    from whyscan.pruning.containers import Containers
    from whyscan.tables.snapshot import RowGroups


REASONS: tuple[Reason, ...] = tuple(Reason)
REMOVED = -1
TOGETHER = -1
_ALL, _STRADDLES = REASONS.index(Reason.MATCHES_ALL), REASONS.index(Reason.STRADDLES)


class Why(Struct, frozen=True):
    """For each of the files at `at`, which stay, a position in `REASONS`.

    It is `REMOVED` where none of its row groups stays.
    `conjunct` is the one that the reason is about, `TOGETHER` for all of them. `unchecked` flags
    those that stay without a check, since there was nothing to check with. Each is of so many
    `files`, which stay for one reason.
    """

    at: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int8]
    conjunct: npt.NDArray[np.int16]
    unchecked: Flags
    files: npt.NDArray[np.int64]

    def named(self, reason: Reason) -> npt.NDArray[np.int64]:
        """Where those are that stay for one reason."""
        found: npt.NDArray[np.int64] = self.at[self.codes == REASONS.index(reason)]
        return found


class Stays(Struct, frozen=True):
    """How many files stay for which reason: a row a reason, in the order of `REASONS`.

    Of the columns the first is for all conjuncts together, the others for each.
    """

    files: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, why: Why, conjuncts: int) -> Stays:
        """Those of a plan."""
        here, width = why.codes != REMOVED, conjuncts + 1
        places = why.codes[here].astype(np.int64) * width + why.conjunct[here] + 1
        found = np.zeros(len(REASONS) * width, np.int64)
        np.add.at(found, places, why.files[here])
        return cls(tuple(tuple(row) for row in found.reshape(len(REASONS), width).tolist()))

    def __add__(self, other: Stays) -> Stays:
        rows = zip(self.files, other.files, strict=True)
        return Stays(tuple(tuple(a + b for a, b in zip(*row, strict=True)) for row in rows))

    def counts(self) -> dict[Reason, int]:
        """How many files stay for which reason."""
        found = zip(REASONS, map(sum, self.files), strict=True)
        return {reason: files for reason, files in found if files}

    def named(self, reason: Reason, about: Sequence[int] | None = None) -> int:
        """The files that stay for one reason, for some conjuncts by position; None for any."""
        row = self.files[REASONS.index(reason)]
        return sum(row) if about is None else sum(row[position + 1] for position in about)


def reasons(plan: ScanPlan, interpreted: Sequence[bool]) -> Why:
    """The reason of every file that is kept."""
    evidence = plan.counted
    if not plan.snapshot.footers_describe_files:
        containers, at = evidence.files.containers, evidence.examples
        if at is not None:
            stay = pa.array(at[np.flatnonzero(evidence.judgement.kept)])
            told = containers.of(plan.predicate.columns())
            containers = replace(told, exact={}).take(stay)
        why = _of(plan, interpreted, containers, evidence.judgement, at)
        return replace(why, files=evidence.sizes[why.at])
    groups, found = evidence.groups, evidence.group_judgement
    if groups is None or found is None:
        nothing = np.zeros(0, np.int64)
        none = nothing.astype(np.int8), nothing.astype(np.int16), nothing != 0
        return Why(nothing, *none, nothing)
    at = groups.owners.to_numpy()
    return _rolled_up(evidence, groups, _of(plan, interpreted, groups.containers, found, at))


def unchecked_parts(
    plan: ScanPlan, interpreted: Sequence[bool], containers: Containers, judgement: Judgement
) -> int:
    """How many manifests or row groups stay without a check."""
    here = Survivors.of(plan, containers, judgement)
    return int(unchecked(here, interpreted).sum())


def _of(
    plan: ScanPlan,
    interpreted: Sequence[bool],
    containers: Containers,
    judgement: Judgement,
    files: npt.NDArray[np.int64] | None = None,
) -> Why:
    """The reasons of some containers; `files` are where their files stand, None for there."""
    here = Survivors.of(plan, containers, judgement, files)
    codes = np.full(here.count, _STRADDLES, np.int8)
    about = here.first_open()
    # The last of the list first: what comes before it overwrites it.
    for reason, conjunct, mask in obstacles(here, interpreted):
        codes[mask] = REASONS.index(reason)
        about[mask] = conjunct
    codes[here.every] = _ALL
    about[here.every] = TOGETHER
    ones = np.ones(here.count, np.int64)
    return Why(here.at, codes, about, unchecked(here, interpreted), ones)


def _rolled_up(evidence: Evidence, groups: RowGroups, inner: Why) -> Why:
    """Of files, by their row groups: the hardest to remove; a mix of all and others straddles."""
    at = groups.owners.to_numpy()[inner.at]
    codes = np.full(evidence.files.count, REMOVED, np.int8)
    np.maximum.at(codes, at, inner.codes)
    decisive = inner.codes == codes[at]
    conjunct = np.full(evidence.files.count, TOGETHER, np.int16)
    conjunct[at[decisive]] = inner.conjunct[decisive]
    partly = np.zeros(evidence.files.count, np.bool_)
    partly[at[inner.codes == _ALL]] = True
    partly &= ~evidence.judgement.every
    codes[partly] = _STRADDLES
    looked = np.zeros(evidence.files.count, np.bool_)
    looked[at[~inner.unchecked]] = True
    stays = np.flatnonzero(evidence.judgement.kept)
    ones = np.ones(len(stays), np.int64)
    return Why(stays, codes[stays], conjunct[stays], ~looked[stays], ones)
