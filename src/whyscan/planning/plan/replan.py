"""Which files another predicate would keep of the same snapshot, from metadata already read."""

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
    """A conjunct of an expression that whyscan wrote."""
    return Conjunct(expression, to_sql(expression))


def without(request: PlanRequest, position: int) -> tuple[Conjunct, ...]:
    """The conjuncts without the one at `position`."""
    conjuncts = request.predicate.conjuncts
    return (*conjuncts[:position], *conjuncts[position + 1 :])


def instead(request: PlanRequest, position: int, other: Expression) -> tuple[Conjunct, ...]:
    """The conjuncts with `other` in the place of the one at `position`."""
    conjuncts = request.predicate.conjuncts
    return (*conjuncts[:position], conjunct(other), *conjuncts[position + 1 :])


def kept(plan: ScanPlan, conjuncts: Sequence[Conjunct]) -> Flags:
    """One flag per file: other conjuncts would keep it. Their columns must be among the plan's.

    A file that was not opened is kept.
    """
    evidence = plan.evidence
    if not conjuncts:
        return np.ones(evidence.files.count, np.bool_)
    predicate = replace(plan.predicate, conjuncts=tuple(conjuncts))
    partition = evidence.files.containers.by_partition()
    decided = decide(
        predicate, truths_of_points(predicate, partition, plan.zone), partition, plan.zone
    )
    kept_files = _true(plan, predicate, evidence.files.containers, decided)
    groups = evidence.row_groups
    if not plan.snapshot.footers_describe_files or groups is None:
        return kept_files
    owners = groups.owners
    kept_by_groups = np.zeros(evidence.files.count, np.bool_)
    kept_groups = _true(plan, predicate, groups.containers, spread(decided, owners))
    kept_by_groups[owners.to_numpy()[kept_groups]] = True
    opened = groups.opened.to_numpy()
    kept_files[opened] &= kept_by_groups[opened]
    return kept_files


def _true(plan: ScanPlan, predicate: Predicate, containers: Containers, decided: Decided) -> Flags:
    containers = containers.without_nan() if plan.options.assume_no_nan else containers
    _, conjunction = truths(predicate, containers, plan.zone, decided)
    return flags(conjunction.true, containers.count).copy()
