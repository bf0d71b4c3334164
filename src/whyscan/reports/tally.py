"""What is counted of a plan: of the parts of a table each by itself, of the table their sum.

Whatever a report says in numbers is made from these, so that a table may be planned in parts that
nobody ever has together.
"""

from __future__ import annotations

from collections import Counter
from operator import add, or_
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct

from whyscan.planning.plan.file_scans import Residuals
from whyscan.planning.plan.judgement import flags
from whyscan.planning.plan.planner import plus, total
from whyscan.planning.why.attribution import MechanismOverlap, overlap
from whyscan.planning.why.pushdown import interpreted
from whyscan.planning.why.reason_codes import Reason
from whyscan.planning.why.reasons import Stays, Why, reasons
from whyscan.reports.conjuncts import ConjunctCount, count_conjuncts
from whyscan.reports.coverage import Coverage, Lacking, coverage, lacking
from whyscan.reports.levels import (
    Level,
    Removed,
    RowsMatched,
    levels,
    levels_together,
    removed,
    rows_matched,
    selected_bytes,
)
from whyscan.tree.types import FloatType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.planning.plan.scan_plan import Evidence, ScanPlan


class Common(Struct, frozen=True):
    """What must be known of all parts before one of them is counted.

    Of each conjunct whether it is interpreted, and whether partition values remove no file at all.
    """

    interpreted: tuple[bool, ...]
    partitions_stay: bool

    @classmethod
    def of(cls, plan: ScanPlan) -> Common:
        """That of a table in one piece."""
        evidence = plan.counted
        ran = interpreted(plan, evidence.decided.keys())
        return cls(ran, bool(evidence.by_partition.kept.all()))


class PlanOutcome(Struct, frozen=True):
    """What stays and what goes.

    `left` says of each conjunct whether a file that stays must still check it, `selected` are the
    bytes of the selected columns, None where they are not known.
    """

    levels: tuple[Level, ...]
    removed: tuple[Removed, ...]
    stays: Stays
    rows_matched: RowsMatched
    overlap: MechanismOverlap
    left: tuple[bool, ...]
    selected: int | None

    @classmethod
    def of(cls, plan: ScanPlan, common: Common, why: Why) -> PlanOutcome:
        evidence, gone = plan.counted, removed(plan)
        return cls(
            levels=levels(plan, common.interpreted, why, gone),
            removed=gone,
            stays=Stays.of(why, len(plan.predicate.conjuncts)),
            rows_matched=rows_matched(evidence),
            overlap=overlap(plan, partitions_stay=common.partitions_stay),
            left=Residuals(plan.predicate, evidence).left(),
            selected=None if plan.options.projection is None else selected_bytes(evidence),
        )

    def __add__(self, other: PlanOutcome) -> PlanOutcome:
        return PlanOutcome(
            levels=levels_together(self.levels, other.levels),
            removed=tuple(map(add, self.removed, other.removed)),
            stays=self.stays + other.stays,
            rows_matched=self.rows_matched + other.rows_matched,
            overlap=self.overlap + other.overlap,
            left=tuple(map(or_, self.left, other.left)),
            selected=plus(self.selected, other.selected),
        )


class Workings(Struct, frozen=True):
    """How it came about.

    Of the `listed` files, those of manifests that were opened, partition values leave `wanted`;
    `closed` are in the other manifests, of which `manifests_opened` are none. `footers`: some were
    to be opened, and `unreached` says of how many files they could not be. Of the float columns in
    `maybe_nan` NaN alone keeps a container. `old_bytes` lie under an old spec. Footers were opened
    of `blind` files that have no statistics of their own, and leave `blind_kept` of them. `lacking`
    are the files without statistics that must have them, None where nobody asserts that.
    """

    conjuncts: tuple[ConjunctCount, ...]
    coverage: tuple[Coverage, ...]
    contradictions: int
    listed: int
    wanted: int
    closed: int
    manifests_opened: int
    footers: bool
    unreached: tuple[tuple[str, int], ...]
    maybe_nan: frozenset[str]
    old_bytes: int | None
    blind: int
    blind_kept: int
    lacking: Lacking | None = None

    @classmethod
    def of(cls, plan: ScanPlan, why: Why) -> Workings:
        evidence, groups = plan.counted, plan.counted.groups
        above = evidence.manifests
        blind, blind_kept = _by_footers(plan, why)
        return cls(
            conjuncts=count_conjuncts(plan),
            coverage=coverage(plan),
            contradictions=_contradictions(evidence),
            listed=evidence.files.count,
            wanted=evidence.number(evidence.by_partition.kept),
            closed=evidence.closed_files,
            manifests_opened=0 if above is None else int(above.opened.sum()),
            footers=groups is not None,
            unreached=() if groups is None else tuple((u.why, u.files) for u in groups.unchecked),
            maybe_nan=frozenset(_nan_columns(plan)),
            old_bytes=total(evidence.bytes.take(pa.array(why.named(Reason.OLD_SPEC)))),
            blind=blind,
            blind_kept=blind_kept,
            lacking=lacking(plan),
        )

    def __add__(self, other: Workings) -> Workings:
        unreached = Counter(dict(self.unreached))
        unreached.update(dict(other.unreached))
        return Workings(
            conjuncts=tuple(map(add, self.conjuncts, other.conjuncts)),
            coverage=tuple(map(add, self.coverage, other.coverage)),
            contradictions=self.contradictions + other.contradictions,
            listed=self.listed + other.listed,
            wanted=self.wanted + other.wanted,
            closed=self.closed + other.closed,
            manifests_opened=self.manifests_opened + other.manifests_opened,
            footers=self.footers or other.footers,
            unreached=tuple(unreached.items()),
            maybe_nan=self.maybe_nan | other.maybe_nan,
            old_bytes=plus(self.old_bytes, other.old_bytes),
            blind=self.blind + other.blind,
            blind_kept=self.blind_kept + other.blind_kept,
            lacking=None
            if self.lacking is None or other.lacking is None
            else self.lacking + other.lacking,
        )


class Tally(Struct, frozen=True):
    """Everything that a report adds up."""

    outcome: PlanOutcome
    workings: Workings

    @classmethod
    def of(cls, plan: ScanPlan, common: Common) -> Tally:
        why = reasons(plan, common.interpreted)
        return cls(PlanOutcome.of(plan, common, why), Workings.of(plan, why))

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.outcome + other.outcome, self.workings + other.workings)


def _contradictions(evidence: Evidence) -> int:
    """Statistics of files and of row groups that were dropped because they cannot be true."""
    below = 0 if evidence.groups is None else evidence.groups.contradictions
    return evidence.files.contradictions + below


def _nan_columns(plan: ScanPlan) -> Iterator[str]:
    """The float columns for which some container that NaN keeps has no evidence."""
    floats = [c for c in plan.predicate.columns() if isinstance(c.type, FloatType)]
    if not floats:
        return
    evidence = plan.evidence
    containers, judgement = evidence.files.containers, evidence.judgement
    if evidence.groups is not None and evidence.group_judgement is not None:
        containers, judgement = evidence.groups.containers, evidence.group_judgement
    spared = judgement.kept & ~judgement.kept_without_nan
    for column in floats:
        possible = flags(containers.interval(column).nan, containers.count)
        if bool(np.any(possible & spared)):
            yield ".".join(column.path)


def _by_footers(plan: ScanPlan, why: Why) -> tuple[int, int]:
    """The opened files without statistics, and those of them that their own footers leave."""
    evidence = plan.counted
    groups, found = evidence.groups, evidence.group_judgement
    if plan.snapshot.footers_describe_files or groups is None or found is None:
        return 0, 0
    blind = why.named(Reason.NO_STATISTICS)
    opened = np.zeros(evidence.count, np.bool_)
    opened[groups.opened.to_numpy()] = True
    inhabited = np.zeros(evidence.count, np.bool_)
    inhabited[groups.owners.to_numpy()[found.kept]] = True
    return int(opened[blind].sum()), int((opened & inhabited)[blind].sum())
