"""Which conjunct removed what, independent of the order in which they were written.

`alone` is what a conjunct removes by itself, `only` what no other conjunct removes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from whyscan.planning.planner import total
from whyscan.planning.pushdown import can_exclude
from whyscan.predicate.tree import columns_of

if TYPE_CHECKING:
    from whyscan.planning.judgement import Flags
    from whyscan.planning.plan import Evidence, ScanPlan
    from whyscan.predicate.tree import Conjunct


@dataclass(frozen=True, slots=True)
class Share:
    """Removed files and their bytes; `at_least` where what stayed closed could add to them."""

    files: int
    bytes: int | None
    at_least: bool

    def __add__(self, other: Share) -> Share:
        known = self.bytes is not None and other.bytes is not None
        return Share(
            self.files + other.files,
            (self.bytes or 0) + (other.bytes or 0) if known else None,
            self.at_least or other.at_least,
        )


NOTHING = Share(0, 0, at_least=False)


@dataclass(frozen=True, slots=True)
class Attribution:
    """What one conjunct did."""

    alone: Share
    only: Share


def attribute(plan: ScanPlan) -> tuple[Attribution, ...]:
    """The share of each conjunct, in their order."""
    evidence = plan.evidence
    settled = [_settled(conjunct, plan) for conjunct in plan.predicate.conjuncts]
    kept = evidence.judgement.conjunct_kept
    return tuple(
        Attribution(_alone(evidence, i, settled), _only(evidence, kept, i, settled))
        for i in range(len(kept))
    )


def _settled(conjunct: Conjunct, plan: ScanPlan) -> bool:
    """Opening a file cannot change the verdict.

    Partition values are all that the conjunct looks at, or no statistic could ever exclude it.
    """
    partition = plan.evidence.files.containers.partition.keys()
    named = {column.path for column in columns_of(conjunct.expression)}
    return named <= partition or not can_exclude(conjunct, named, plan.zone)


def _alone(evidence: Evidence, at: int, settled: list[bool]) -> Share:
    removed = ~evidence.judgement.conjunct_kept[at]
    open_question = ~evidence.opened & ~removed & (not settled[at])
    return _share(evidence, removed, bool(open_question.any())) + _closed(evidence, at)


def _only(evidence: Evidence, kept: tuple[Flags, ...], at: int, settled: list[bool]) -> Share:
    others = [(k, s) for i, (k, s) in enumerate(zip(kept, settled, strict=True)) if i != at]
    everywhere = np.ones(len(evidence.opened), np.bool_)
    spared = reduce(np.logical_and, (k for k, _ in others), everywhere)
    certain = evidence.opened | all(s for _, s in others)
    candidate = ~kept[at] & spared
    found = _share(evidence, candidate & certain, bool((candidate & ~certain).any()))
    if not others:
        return found + _closed(evidence, at)
    # A closed manifest does not say which of its files another conjunct removes as well.
    return found + Share(0, 0, _closed(evidence, at).files > 0)


def _share(evidence: Evidence, removed: Flags, at_least: bool) -> Share:  # noqa: FBT001
    files = pa.array(removed)
    return Share(files.true_count, total(evidence.files.bytes.filter(files)), at_least)


def _closed(evidence: Evidence, at: int) -> Share:
    """Files of closed manifests: those that the conjunct rules out whole, others may follow."""
    above = evidence.manifests
    if above is None or not evidence.closed_files:
        return NOTHING
    stays = above.judgement.conjunct_kept[at][~above.opened]
    files = above.manifests.files.to_numpy(zero_copy_only=False)[~above.opened]
    removed = int(files[~stays].sum())
    return Share(removed, None if removed else 0, bool(files[stays].sum()))
