"""Why each survivor survived: one code a file, from a closed list."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from whyscan.planning.judgement import Flags, flags
from whyscan.predicate.tree import columns_of
from whyscan.pruning.mask import Mask, any_of, either, known, opposite

if TYPE_CHECKING:
    import numpy.typing as npt

    from whyscan.planning.judgement import Judgement
    from whyscan.planning.plan import Evidence, ScanPlan
    from whyscan.planning.pushdown import Class
    from whyscan.predicate.tree import Column, Conjunct
    from whyscan.pruning.containers import Containers


class Reason(StrEnum):
    """What kept a container; where several did, the first of this list is named."""

    MATCHES_ALL = "MATCHES_ALL"
    NAN_POSSIBLE = "NAN_POSSIBLE"
    NO_STATISTICS = "NO_STATISTICS"
    UNINTERPRETED = "UNINTERPRETED"
    STRADDLES = "STRADDLES"


def reasons(plan: ScanPlan, classes: tuple[Class, ...]) -> npt.NDArray[np.object_]:
    """A `Reason` for every file that is kept, None for the others."""
    judgement = plan.evidence.judgement
    kept = judgement.kept
    unread = _left_open(plan, [not c.interpreted for c in classes])
    found = np.full(int(kept.sum()), Reason.STRADDLES, dtype=np.object_)
    found[unread[kept]] = Reason.UNINTERPRETED
    found[_without_statistics(plan)[kept]] = Reason.NO_STATISTICS
    found[~judgement.kept_without_nan[kept]] = Reason.NAN_POSSIBLE
    found[judgement.every[kept]] = Reason.MATCHES_ALL
    everywhere = np.full(judgement.count, None, dtype=np.object_)
    everywhere[kept] = found
    return everywhere


def _left_open(plan: ScanPlan, chosen: list[bool]) -> Flags:
    """Files where one of the chosen conjuncts is neither `none` nor `all`."""
    judgement = plan.evidence.judgement
    found: Flags = np.zeros(judgement.count, np.bool_)
    for every, take in zip(judgement.conjunct_every, chosen, strict=True):
        if take:
            found |= ~every
    return found


def _without_statistics(plan: ScanPlan) -> Flags:
    """Files where a conjunct is left open and one of its columns has no bound at all."""
    evidence = plan.evidence
    if not plan.snapshot.footers_describe_files:
        containers = evidence.files.containers
        return _blind(plan.predicate.conjuncts, containers, evidence.judgement)
    return _rolled_up(plan, evidence)


def _rolled_up(plan: ScanPlan, evidence: Evidence) -> Flags:
    groups, found = evidence.groups, evidence.group_judgement
    files: Flags = np.zeros(evidence.files.count, np.bool_)
    if groups is None or found is None:
        return files
    blind = _blind(plan.predicate.conjuncts, groups.containers, found) & found.kept
    files[groups.opened.to_numpy()[groups.file.to_numpy()[blind]]] = True
    return files


def _blind(conjuncts: tuple[Conjunct, ...], containers: Containers, judgement: Judgement) -> Flags:
    found: Flags = np.zeros(containers.count, np.bool_)
    for conjunct, every in zip(conjuncts, judgement.conjunct_every, strict=True):
        unbounded = any_of(
            opposite(bounded(column, containers)) for column in columns_of(conjunct.expression)
        )
        found |= ~every & flags(unbounded, containers.count)
    return found


def bounded(column: Column, containers: Containers) -> Mask:
    """Something is known of the column's values: a bound, or that there are none."""
    interval = containers.interval(column)
    return either(known(interval.lower), known(interval.upper), opposite(interval.value))
