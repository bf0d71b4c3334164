"""What another predicate would read of the same snapshot, from what was already read of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from whyscan.planning.plan.judgement import Flags, flags, truths
from whyscan.planning.plan.partition_values import decide, spread, truths_of_points
from whyscan.tree.nodes import Conjunct
from whyscan.tree.rendering import to_sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.planning.plan.judgement import Decided
    from whyscan.planning.plan.scan_plan import PlanRequest, ScanPlan
    from whyscan.pruning.containers import Containers
    from whyscan.tree.nodes import Expression, Predicate


def conjunct(expression: Expression) -> Conjunct:
    """A conjunct of our own making."""
    return Conjunct(expression, to_sql(expression))


def without(asked: PlanRequest, position: int) -> tuple[Conjunct, ...]:
    """The conjuncts but one."""
    every = asked.predicate.conjuncts
    return (*every[:position], *every[position + 1 :])


def instead(asked: PlanRequest, position: int, other: Expression) -> tuple[Conjunct, ...]:
    """The conjuncts with another one in the place of one."""
    every = asked.predicate.conjuncts
    return (*every[:position], conjunct(other), *every[position + 1 :])


def kept(plan: ScanPlan, conjuncts: Sequence[Conjunct]) -> Flags:
    """The files that other conjuncts would keep, over columns that the plan already knows.

    A file that was not opened stays.
    """
    evidence = plan.evidence
    if not conjuncts:
        return np.ones(evidence.files.count, np.bool_)
    asked = replace(plan.predicate, conjuncts=tuple(conjuncts))
    partition = evidence.files.containers.by_partition()
    decided = decide(asked, truths_of_points(asked, partition, plan.zone), partition, plan.zone)
    found = _true(plan, asked, evidence.files.containers, decided)
    groups = evidence.groups
    if not plan.snapshot.footers_describe_files or groups is None:
        return found
    owners = groups.owners
    inside = np.zeros(evidence.files.count, np.bool_)
    stays = _true(plan, asked, groups.containers, spread(decided, owners))
    inside[owners.to_numpy()[stays]] = True
    opened = groups.opened.to_numpy()
    found[opened] &= inside[opened]
    return found


def _true(plan: ScanPlan, asked: Predicate, containers: Containers, decided: Decided) -> Flags:
    told = containers.without_nan() if plan.options.assume_no_nan else containers
    _, together = truths(asked, told, plan.zone, decided)
    return flags(together.true, containers.count).copy()
