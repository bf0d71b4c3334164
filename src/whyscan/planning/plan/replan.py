"""Which files another predicate would keep of the same snapshot, from metadata already read."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.planning.plan.judgement import Evaluation, Flags
from whyscan.planning.plan.partition_values import decide, spread, truths_of_points
from whyscan.tree.nodes import Conjunct
from whyscan.tree.rendering import to_sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.planning.plan.judgement import Decided
    from whyscan.planning.plan.scan_plan import PlanRequest, ScanPlan
    from whyscan.pruning.containers import Containers
    from whyscan.tree.nodes import Expression


class Metadata(Enum):
    """The metadata of a container that a verdict may use."""

    ALL = "all"
    PARTITION = "partition"
    STATISTICS = "statistics"
    NOT_ONLY_NULL = "not of columns that are only NULL"
    ONE_VALUE_OR_NULL = "of columns with one value, or only NULL"
    ONE_VALUE = "of columns with one value"
    ONE_VALUE_IN_FILE = "of columns with one value in the whole file"
    WITHOUT_NULL = "not of columns with some NULL"

    def only_in(self, containers: Containers) -> Containers:
        """The containers with no other metadata than this."""
        match self:
            case Metadata.ALL:
                return containers
            case Metadata.PARTITION:
                return containers.by_partition()
            case Metadata.STATISTICS:
                return containers.by_statistics()
            case Metadata.NOT_ONLY_NULL:
                return containers.unknown_where_only_null()
            case Metadata.ONE_VALUE_OR_NULL:
                return containers.bounded_by_one_value()
            case Metadata.ONE_VALUE | Metadata.ONE_VALUE_IN_FILE:
                return containers.bounded_by_one_value().unknown_where_only_null()
            case Metadata.WITHOUT_NULL:
                return containers.unbounded_where_null()


def conjunct(expression: Expression, sql: str | None = None) -> Conjunct:
    """A conjunct of an expression that whyscan wrote; `sql` None is computed."""
    return Conjunct(expression, to_sql(expression) if sql is None else sql)


def without(request: PlanRequest, position: int) -> tuple[Conjunct, ...]:
    """The conjuncts without the one at `position`."""
    conjuncts = request.predicate.conjuncts
    return (*conjuncts[:position], *conjuncts[position + 1 :])


def with_other(request: PlanRequest, position: int, other: Expression) -> tuple[Conjunct, ...]:
    """The conjuncts with `other` in the place of the one at `position`."""
    conjuncts = request.predicate.conjuncts
    return (*conjuncts[:position], conjunct(other), *conjuncts[position + 1 :])


def kept(
    plan: ScanPlan,
    conjuncts: Sequence[Conjunct],
    by: Metadata = Metadata.ALL,
    decided: Decided | None = None,
) -> Flags:
    """One flag per file: the conjuncts would keep it. Their columns must be among the plan's.

    A file that was not opened is kept. `decided` None: DuckDB decides what it can decide.
    """
    evidence, containers = plan.evidence, plan.evidence.files.containers
    predicate = replace(plan.predicate, conjuncts=tuple(conjuncts))
    if decided is None:
        partition = containers.by_partition()
        points = truths_of_points(predicate, partition, plan.zone)
        decided = decide(predicate, points, partition, plan.zone)
    flagged = Evaluation.of(predicate, by.only_in(containers), plan.zone, decided).kept
    groups = evidence.describing_groups
    if groups is None:
        return flagged
    inside = by.only_in(groups.containers)
    inside_kept = Evaluation.of(predicate, inside, plan.zone, spread(decided, groups.owners)).kept
    return flagged & (evidence.with_row_group(inside_kept) | ~evidence.file_level.opened)
