"""The bounds of the predicate's columns in each file, with the values that can match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.planning.plan.judgement import flags
from whyscan.planning.why.pushdown import PSEUDO_COLUMNS
from whyscan.pruning.domains import where_true
from whyscan.reports.values import json_values
from whyscan.tree import arrow
from whyscan.tree.nodes import And
from whyscan.tree.types import StringType, TimestampType, UuidType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.pruning.domains import Domain
    from whyscan.pruning.interval import Interval
    from whyscan.pruning.mask import Vector
    from whyscan.tables.snapshot import RowGroups
    from whyscan.tree.nodes import Column
    from whyscan.tree.types import Type


class ColumnBounds(Struct, frozen=True):
    """The bounds of one column, one slot per file, null if unknown.

    `partitioned` is True if the column is the source of a partition field. `domain` has the values
    for which the predicate can be TRUE, None if they cannot be derived.
    """

    column: str
    type: Type
    lower: pa.Array
    upper: pa.Array
    partitioned: bool
    domain: Domain | None

    def typed(self) -> pa.StructArray:
        """Return both bounds as a struct, in the Arrow type that a reader of the column expects."""
        ends = (_shown(end, self.type) for end in (self.lower, self.upper))
        return pa.StructArray.from_arrays(list(ends), names=["lower", "upper"])


def file_bounds(plan: ScanPlan) -> tuple[ColumnBounds, ...]:
    """Return the predicate's columns that have a bound in some file, in the predicate's order."""
    return tuple(_column_bounds(plan))


def _column_bounds(plan: ScanPlan) -> Iterator[ColumnBounds]:
    partition_paths = {*plan.snapshot.partition_sources, *PSEUDO_COLUMNS}
    domains = where_true(And(tuple(c.expression for c in plan.predicate.conjuncts)))
    for column in plan.predicate.columns():
        partitioned = column.path in partition_paths
        bounds = ends(column, plan)
        if bounds is not None:
            name = ".".join(column.path)
            yield ColumnBounds(name, column.type, *bounds, partitioned, domains.get(column))


def ends(column: Column, plan: ScanPlan) -> tuple[pa.Array, pa.Array] | None:
    """Return the bounds of a column in each file, null if unknown; None if all are unknown."""
    evidence = plan.counted
    if column.path in {*plan.snapshot.partition_sources, *PSEUDO_COLUMNS}:
        return recorded(evidence.files.containers.interval(column), evidence.files.count)
    groups = evidence.describing_groups
    if groups is not None:
        interval = groups.containers.statistics.get(column.path)
        return hulls(interval, groups, evidence.files.count)
    interval = evidence.files.containers.statistics.get(column.path)
    return recorded(interval, evidence.files.count)


def recorded(interval: Interval | None, count: int) -> tuple[pa.Array, pa.Array] | None:
    """Return the bounds that an interval has for each container; None if it has none."""
    if interval is None or (interval.lower is None and interval.upper is None):
        return None
    arrow_type = arrow.arrow_type(interval.type)
    return _bound_array(interval.lower, arrow_type, count), _bound_array(
        interval.upper, arrow_type, count
    )


def hulls(
    interval: Interval | None, groups: RowGroups, files: int
) -> tuple[pa.Array, pa.Array] | None:
    """Return for each file the least lower and greatest upper bound of its row groups.

    A row group without values is ignored. A row group without a bound makes the bound of its file
    unknown.
    """
    bounds = recorded(interval, groups.count)
    if bounds is None or interval is None:
        return None
    table = pa.table({"file": groups.owners, "lower": bounds[0], "upper": bounds[1]})
    valued = table.filter(pa.array(flags(interval.value, groups.count)))
    keep_nulls = pc.ScalarAggregateOptions(skip_nulls=False)
    hull = valued.group_by("file").aggregate(
        [("lower", "min", keep_nulls), ("upper", "max", keep_nulls)]
    )
    at = pc.index_in(pa.array(np.arange(files)), hull.column("file"))
    lower, upper = (hull.column(name).take(at) for name in ("lower_min", "upper_max"))
    return lower.combine_chunks(), upper.combine_chunks()


def _bound_array(end: Vector | None, arrow_type: pa.DataType, count: int) -> pa.Array:
    if end is None:
        return pa.nulls(count, arrow_type)
    return end if isinstance(end, pa.Array) else pa.repeat(end, count)


def _shown(end: pa.Array, kind: Type) -> pa.Array:
    """Convert bytes of text to text, and add the time zone to instants."""
    match kind:
        case StringType() | UuidType():
            return pa.array(json_values(end, kind), pa.string())
        case TimestampType(instant=True):
            return end.cast(pa.timestamp(kind.unit.value, "UTC"))
        case _:
            return end
