"""LIMIT without an order: any rows will do, so the fewest files that surely have enough rows."""

from __future__ import annotations

from functools import partial, reduce
from operator import add, attrgetter
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.evidence import FILES, ROW_GROUPS, Limit
from whyscan.planning.plan.judgement import EVERY, KEPT
from whyscan.planning.plan.matching_rows import counts, perhaps_gone, surely_matching
from whyscan.planning.plan.planner import summarise
from whyscan.planning.plan.scan_plan import ScanPlan, looked_at
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from whyscan.planning.plan.evidence import LevelEvidence, Listed
    from whyscan.planning.plan.file_scans import FileScan
    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.matching_rows import Counts
    from whyscan.planning.plan.scan_plan import Options, PlannedSnapshot, ScanPlanSummary
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.nodes import Predicate
    from whyscan.tree.zones import Zone

T = TypeVar("T")
G = TypeVar("G")


class Unproven(Struct, frozen=True):
    """Metadata alone does not answer; `why` says in words what is missing."""

    why: str


class LimitedPart(Struct, frozen=True):
    """The files and row groups of one part that a query with this many `rows` needs.

    `groups` None means all row groups of these files.
    """

    rows: int
    ordered: bool
    files: Flags
    groups: Flags | None


class CutParts(Struct, frozen=True, eq=False, dict=True):
    """A plan in parts, of which each is cut to what is needed. Iterate over it for the files."""

    plan: PlannedSnapshot
    cuts: tuple[LimitedPart, ...]

    @property
    def snapshot(self) -> Snapshot:
        return self.plan.snapshot

    @property
    def predicate(self) -> Predicate:
        return self.plan.predicate

    @property
    def zone(self) -> Zone:
        return self.plan.zone

    @property
    def options(self) -> Options:
        return self.plan.options

    def each(self, question: Callable[[ScanPlan], T]) -> Sequence[T]:
        return self.plan.each_with(partial(_question_cut, question=question), self.cuts)

    def each_with(
        self, question: Callable[[ScanPlan, G], T], arguments: Sequence[G]
    ) -> Sequence[T]:
        pairs = list(zip(self.cuts, arguments, strict=True))
        return self.plan.each_with(partial(_question_cut_with, question=question), pairs)

    @lazy
    def summary(self) -> ScanPlanSummary:
        summaries: Sequence[ScanPlanSummary] = self.each(attrgetter("summary"))
        return reduce(add, summaries)

    def __iter__(self) -> Iterator[FileScan]:
        for some in self.each(attrgetter("files")):
            yield from some


def _question_cut(plan: ScanPlan, part: LimitedPart, question: Callable[[ScanPlan], T]) -> T:
    return question(_cut(plan, part))


def _question_cut_with(
    plan: ScanPlan, pair: tuple[LimitedPart, G], question: Callable[[ScanPlan, G], T]
) -> T:
    return question(_cut(plan, pair[0]), pair[1])


def limited(plan: PlannedSnapshot, rows: int, offset: int = 0) -> PlannedSnapshot | Unproven:
    """What `LIMIT rows OFFSET offset` needs of a plan; `Unproven` if too few rows surely match."""
    needed = rows + offset if rows else 0
    parts = plan.each(_Sure.of)
    sure = np.concatenate([part.files for part in parts])
    if sure.sum() < needed:
        return Unproven(too_few(int(sure.sum()), needed))
    files = _fewest(sure, needed)
    chosen = _groups(parts, files, sure, needed)
    pieces = zip(divided(files, [len(part.files) for part in parts]), chosen, strict=True)
    return cut(plan, [LimitedPart(needed, ordered=False, files=f, groups=g) for f, g in pieces])


def cut_to_limit(plan: ScanPlan, rows: int) -> ScanPlan:
    """The plan with the fewest files that surely have so many rows; the plan itself without them.

    The files in which every row matches come first, so that a reader opens few others.
    """
    cut_plan = limited(plan, rows)
    return cut_plan if isinstance(cut_plan, ScanPlan) else plan


def before_limit(plan: ScanPlan) -> ScanPlan:
    """The same plan without the limit."""
    if plan.counted.limit is None:
        return plan
    evidence = plan.counted.before_limit
    return replace(plan, look=looked_at(evidence), summary=summarise(evidence))


def cut(plan: PlannedSnapshot, cuts: Sequence[LimitedPart]) -> PlannedSnapshot:
    """The plan with only these files and row groups; `cuts` has one entry per part."""
    if isinstance(plan, ScanPlan):
        return _cut(plan, cuts[0])
    return CutParts(plan.plan if isinstance(plan, CutParts) else plan, tuple(cuts))


def divided(flags: Flags, sizes: Sequence[int]) -> list[Flags]:
    """Flags of all parts, divided into those of each part."""
    return np.split(flags, np.cumsum(sizes)[:-1])


def _cut(plan: ScanPlan, part: LimitedPart) -> ScanPlan:
    plan = before_limit(plan)
    evidence, flagged, levels = plan.evidence, part.files, []
    for level in evidence.levels_from_files:
        if level.name != FILES:
            flagged = flagged[level.listed.owners.to_numpy()]
        if level.name == ROW_GROUPS and part.groups is not None:
            flagged = flagged & part.groups
        levels.append(_only(level, flagged))
    above = evidence.levels[: -len(levels)]
    limit = Limit(part.rows, ordered=part.ordered)
    left = replace(evidence, levels=(*above, *levels), limit=limit)
    return replace(plan, look=looked_at(left), summary=summarise(left))


def too_few(sure: int, needed: int) -> str:
    """Why no file can be left out."""
    return f"{sure:,} rows are sure to match, {needed:,} are asked for"


def _only(level: LevelEvidence[Listed], flags: Flags) -> LevelEvidence[Listed]:
    """The level with only flagged containers kept; the verdicts of conjuncts do not change."""
    verdicts = level.verdicts
    matrix = verdicts.matrix.copy()
    matrix[[KEPT, EVERY]] &= flags
    if verdicts.nan_row != KEPT:
        matrix[verdicts.nan_row] &= flags
    return replace(level, verdicts=replace(verdicts, matrix=matrix), unlimited=verdicts)


def _fewest(sure: Counts, needed: int) -> Flags:
    """The fewest containers whose rows are enough: the largest, and of equal ones the first."""
    chosen = np.zeros(len(sure), np.bool_)
    if needed:
        greatest = np.argsort(-sure, kind="stable")
        enough = int(np.searchsorted(sure[greatest].cumsum(), needed))
        chosen[greatest[: enough + 1]] = True
    return chosen


class _Sure(Struct, frozen=True):
    """How many rows surely match in each file of a part, and in its row groups.

    Of a `divisible` file some row groups are enough. A file with deletes is not divisible: it is
    unknown in which row group a deleted row was. `owners` are the files of row groups, and `inside`
    the number of rows of each row group in which every row matches, else 0.
    """

    files: Counts
    divisible: Flags
    owners: Counts
    inside: Counts
    opened: bool

    @classmethod
    def of(cls, plan: ScanPlan) -> _Sure:
        evidence = before_limit(plan).evidence
        level, files = evidence.row_group_level, counts(surely_matching(evidence))
        has_footer = evidence.file_level.opened
        if level is None:
            nothing = np.zeros(0, np.int64)
            return cls(files, has_footer, nothing, nothing, opened=False)
        divisible = has_footer & (counts(perhaps_gone(evidence.files), 1) == 0)
        inside = np.where(level.verdicts.every, counts(level.rows), 0)
        return cls(files, divisible, level.listed.owners.to_numpy(), inside, opened=True)


def _groups(
    parts: Sequence[_Sure], files: Flags, sure: Counts, needed: int
) -> list[Flags] | list[None]:
    """The fewest row groups of the chosen files, part by part; None for all of them."""
    if not any(part.opened for part in parts):
        return [None for _ in parts]
    before = np.cumsum([0, *(len(part.files) for part in parts)])
    owners = np.concatenate([p.owners + start for p, start in zip(parts, before, strict=False)])
    divisible = np.concatenate([part.divisible for part in parts])
    rows = np.concatenate([part.inside for part in parts])
    inside = np.where((files & divisible)[owners], rows, 0)
    rest = max(needed - int(sure[files & ~divisible].sum()), 0)
    chosen: Flags = ~divisible[owners] | _fewest(inside, rest)
    return divided(chosen, [len(part.owners) for part in parts])
