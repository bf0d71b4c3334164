"""Which conjunct removed what, independent of the order in which they were written.

`alone` is what a conjunct removes by itself, `only` what no other conjunct removes. The same of
partition values and statistics, whose overlap is what each of them removes alone.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct

from whyscan.planning.plan.judgement import UNDECIDED, flags, truths
from whyscan.planning.plan.planner import plus, total, totals_of
from whyscan.planning.why.pushdown import can_exclude
from whyscan.tree.nodes import columns_of

if TYPE_CHECKING:
    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.scan_plan import Evidence, ScanPlan
    from whyscan.pruning.containers import Containers
    from whyscan.tree.nodes import Conjunct


class Share(Struct, frozen=True):
    """Removed files, their bytes and rows; `at_least` where what stayed closed could add to them.

    Bytes and rows are None where they are not known.
    """

    files: int
    bytes: int | None
    rows: int | None
    at_least: bool

    def __add__(self, other: Share) -> Share:
        return Share(
            self.files + other.files,
            plus(self.bytes, other.bytes),
            plus(self.rows, other.rows),
            self.at_least or other.at_least,
        )


NOTHING = Share(0, 0, 0, at_least=False)


class Attribution(Struct, frozen=True):
    """What one conjunct did."""

    alone: Share
    only: Share

    def __add__(self, other: Attribution) -> Attribution:
        return Attribution(self.alone + other.alone, self.only + other.only)


def attribute(plan: ScanPlan) -> tuple[Attribution, ...]:
    """The share of each conjunct, in their order."""
    evidence = plan.counted
    # Of files that were all opened nothing can change.
    whole = bool(evidence.opened.all())
    settled = [whole or _settled(conjunct, plan) for conjunct in plan.predicate.conjuncts]
    kept = evidence.judgement.conjunct_kept
    if len(kept) == 1 and whole:
        alone = _alone(evidence, 0, settled)
        return (Attribution(alone, alone),)
    return tuple(
        Attribution(_alone(evidence, i, settled), _only(evidence, kept, i, settled))
        for i in range(len(kept))
    )


def _settled(conjunct: Conjunct, plan: ScanPlan) -> bool:
    """Opening a file cannot change the verdict.

    Partition values are all that the conjunct looks at, or no statistic could ever exclude it.
    """
    partition = plan.counted.files.containers.partition.keys()
    named = {column.path for column in columns_of(conjunct.expression)}
    return named <= partition or not can_exclude(conjunct.expression, named, plan.zone)


def _alone(evidence: Evidence, at: int, settled: list[bool]) -> Share:
    removed = ~evidence.judgement.conjunct_kept[at]
    more = not settled[at] and bool((~evidence.opened & ~removed).any())
    return share(evidence, removed, at_least=more) + _closed(evidence, at)


def _only(evidence: Evidence, kept: tuple[Flags, ...], at: int, settled: list[bool]) -> Share:
    others = [(k, s) for i, (k, s) in enumerate(zip(kept, settled, strict=True)) if i != at]
    candidate = reduce(np.logical_and, (k for k, _ in others), ~kept[at])
    if all(s for _, s in others):
        found = share(evidence, candidate, at_least=False)
    else:
        unread = candidate & ~evidence.opened
        found = share(evidence, candidate & evidence.opened, at_least=bool(unread.any()))
    if not others:
        return found + _closed(evidence, at)
    # A closed manifest does not say which of its files another conjunct removes as well.
    return found + Share(0, 0, 0, _closed(evidence, at).files > 0)


def share(evidence: Evidence, removed: Flags, *, at_least: bool) -> Share:
    """The flagged files."""
    size, rows = totals_of((evidence.bytes, evidence.rows), removed)
    return Share(evidence.number(removed), size, rows, at_least)


def _closed(evidence: Evidence, at: int) -> Share:
    """Files of closed manifests: those that the conjunct rules out whole, others may follow."""
    above = evidence.manifests
    if above is None or not evidence.closed_files:
        return NOTHING
    stays = above.judgement.conjunct_kept[at][~above.opened]
    files = above.manifests.files.to_numpy(zero_copy_only=False)[~above.opened]
    removed = int(files[~stays].sum())
    rows = total(above.manifests.rows.filter(pa.array(~above.opened)).filter(pa.array(~stays)))
    return Share(removed, None if removed else 0, rows, bool(files[stays].sum()))


class MechanismOverlap(Struct, frozen=True):
    """What partition values and statistics each remove without the other, and both of them."""

    partition: Share
    statistics: Share
    both: Share

    def __add__(self, other: MechanismOverlap) -> MechanismOverlap:
        return MechanismOverlap(
            self.partition + other.partition,
            self.statistics + other.statistics,
            self.both + other.both,
        )


def overlap(plan: ScanPlan, *, partitions_stay: bool) -> MechanismOverlap:
    """Who could have removed what; `partitions_stay`: partition values remove no file anywhere."""
    evidence = plan.counted
    by_partition = ~evidence.by_partition.kept
    kept = evidence.before_limit.judgement.kept if partitions_stay else _kept_by_statistics(plan)
    by_statistics = ~kept
    closed = _closed_by_partition(evidence)
    unread = closed.files > 0 or not evidence.opened.all()
    return MechanismOverlap(
        share(evidence, by_partition, at_least=False) + closed,
        share(evidence, by_statistics, at_least=unread),
        share(evidence, by_partition & by_statistics, at_least=unread),
    )


def _closed_by_partition(evidence: Evidence) -> Share:
    above = evidence.manifests
    if above is None or not evidence.closed_files:
        return NOTHING
    return Share(above.closed_files, None, above.closed_rows, at_least=False)


def _kept_by_statistics(plan: ScanPlan) -> Flags:
    """The files that statistics alone leave; those that were not looked at among them."""
    evidence, groups = plan.counted, plan.counted.groups
    if evidence.by_statistics is not None:
        return evidence.by_statistics
    if not plan.snapshot.footers_describe_files:
        return _kept(plan, evidence.files.containers)
    kept = np.ones(evidence.files.count, np.bool_)
    if groups is not None:
        kept[groups.opened.to_numpy()] = False
        kept[groups.owners.to_numpy()[_kept(plan, groups.containers)]] = True
    return kept


def _kept(plan: ScanPlan, containers: Containers) -> Flags:
    measured = {column.path for column in plan.predicate.columns()} & containers.statistics.keys()
    if not measured:
        return np.ones(containers.count, np.bool_)
    told = containers.by_statistics()
    if plan.options.assume_no_nan:
        told = told.without_nan()
    _, together = truths(plan.predicate, told, plan.zone, UNDECIDED)
    return flags(together.true, containers.count)
