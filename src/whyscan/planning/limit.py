"""LIMIT without an order: any rows will do, so the fewest files that are sure to have enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.matching import counts, group_rows, perhaps_gone, surely_matching
from whyscan.planning.plan import Limit
from whyscan.planning.planner import summarise

if TYPE_CHECKING:
    from whyscan.planning.judgement import Flags, Judgement
    from whyscan.planning.matching import Counts
    from whyscan.planning.plan import Evidence, ScanPlan


class Unproven(Struct, frozen=True):
    """Metadata alone does not tell; `why` says to people what is missing."""

    why: str


def limited(plan: ScanPlan, rows: int, offset: int = 0) -> ScanPlan | Unproven:
    """What `LIMIT rows OFFSET offset` needs of a plan; unproven where too few rows surely match."""
    plan = before_limit(plan)
    evidence = plan.evidence
    asked = rows + offset if rows else 0
    sure = counts(surely_matching(evidence))
    if sure.sum() < asked:
        return Unproven(too_few(int(sure.sum()), asked))
    files = _fewest(sure, asked)
    limit = Limit(asked, ordered=False, before=evidence)
    return cut(plan, limit, files, _groups(evidence, files, sure, asked))


def before_limit(plan: ScanPlan) -> ScanPlan:
    """The same plan for all rows."""
    if plan.counted.limit is None:
        return plan
    evidence = plan.counted.before_limit
    return replace(plan, counted=evidence, summary=summarise(evidence))


def cut(plan: ScanPlan, limit: Limit, files: Flags, groups: Flags | None) -> ScanPlan:
    """The plan with these of its files and row groups alone; `groups` None for all of theirs."""
    evidence = plan.evidence
    inside, found = evidence.groups, evidence.group_judgement
    if inside is not None and found is not None:
        here = files[inside.owners.to_numpy()]
        found = _only(found, here if groups is None else here & groups)
    left = replace(
        evidence,
        judgement=_only(evidence.judgement, files),
        group_judgement=found,
        limit=limit,
    )
    return replace(plan, counted=left, summary=summarise(left))


def too_few(sure: int, asked: int) -> str:
    """Why no file can be left out."""
    return f"{sure:,} rows are sure to match, {asked:,} are asked for"


def _only(judgement: Judgement, flags: Flags) -> Judgement:
    """What the predicate found stays found, but no other container is read."""
    return replace(
        judgement,
        kept=judgement.kept & flags,
        every=judgement.every & flags,
        kept_without_nan=judgement.kept_without_nan & flags,
    )


def _fewest(sure: Counts, asked: int) -> Flags:
    """The fewest whose numbers reach what is asked: the greatest, and of equals the first."""
    chosen = np.zeros(len(sure), np.bool_)
    if asked:
        greatest = np.argsort(-sure, kind="stable")
        enough = int(np.searchsorted(sure[greatest].cumsum(), asked))
        chosen[greatest[: enough + 1]] = True
    return chosen


def _groups(evidence: Evidence, files: Flags, sure: Counts, asked: int) -> Flags | None:
    """The fewest row groups of the chosen files; None for all of them.

    Nobody knows in which row group a deleted row was: such files are read whole.
    """
    groups, found = evidence.groups, evidence.group_judgement
    if groups is None or found is None:
        return None
    owners = groups.owners.to_numpy()
    divisible = np.zeros(evidence.files.count, np.bool_)
    divisible[groups.opened.to_numpy()] = True
    divisible &= counts(perhaps_gone(evidence.files), 1) == 0
    inside = np.where(found.every & (files & divisible)[owners], counts(group_rows(groups)), 0)
    rest = max(asked - int(sure[files & ~divisible].sum()), 0)
    chosen: Flags = ~divisible[owners] | _fewest(inside, rest)
    return chosen
