"""Where the columns of the predicate lie in each file, next to the values that it asks for."""

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
    """The bounds of one column in each file, null where they are unknown.

    `partitioned` where partition values tell them, or help to. `asked` are the values for which
    the predicate can be TRUE, None where it cannot be read as such.
    """

    column: str
    type: Type
    lower: pa.Array
    upper: pa.Array
    partitioned: bool
    asked: Domain | None

    def typed(self) -> pa.StructArray:
        """Both ends as a struct, in the Arrow type that a reader of the column expects."""
        ends = (_shown(end, self.type) for end in (self.lower, self.upper))
        return pa.StructArray.from_arrays(list(ends), names=["lower", "upper"])


def file_bounds(plan: ScanPlan) -> tuple[ColumnBounds, ...]:
    """The columns of which something is known in some file, in order of appearance."""
    return tuple(_found(plan))


def _found(plan: ScanPlan) -> Iterator[ColumnBounds]:
    told = {*plan.snapshot.partition_sources, *PSEUDO_COLUMNS}
    asked = where_true(And(tuple(c.expression for c in plan.predicate.conjuncts)))
    for column in plan.predicate.columns():
        partitioned = column.path in told
        known = ends(column, plan)
        if known is not None:
            name = ".".join(column.path)
            yield ColumnBounds(name, column.type, *known, partitioned, asked.get(column))


def ends(column: Column, plan: ScanPlan) -> tuple[pa.Array, pa.Array] | None:
    """The bounds of a column in each file, null where unknown; None where they all are."""
    evidence = plan.counted
    if column.path in {*plan.snapshot.partition_sources, *PSEUDO_COLUMNS}:
        return recorded(evidence.files.containers.interval(column), evidence.files.count)
    if plan.snapshot.footers_describe_files and evidence.groups is not None:
        found = evidence.groups.containers.statistics.get(column.path)
        return hulls(found, evidence.groups, evidence.files.count)
    interval = evidence.files.containers.statistics.get(column.path)
    return recorded(interval, evidence.files.count)


def recorded(interval: Interval | None, count: int) -> tuple[pa.Array, pa.Array] | None:
    """Bounds that are recorded for the files themselves."""
    if interval is None or (interval.lower is None and interval.upper is None):
        return None
    stored = arrow.arrow_type(interval.type)
    return _whole(interval.lower, stored, count), _whole(interval.upper, stored, count)


def hulls(
    interval: Interval | None, groups: RowGroups, files: int
) -> tuple[pa.Array, pa.Array] | None:
    """From the least to the greatest bound of each file's row groups.

    A row group without values adds nothing; one without a bound leaves the file without it.
    """
    known = recorded(interval, groups.count)
    if known is None or interval is None:
        return None
    table = pa.table({"file": groups.owners, "lower": known[0], "upper": known[1]})
    valued = table.filter(pa.array(flags(interval.value, groups.count)))
    whole = pc.ScalarAggregateOptions(skip_nulls=False)
    found = valued.group_by("file").aggregate([("lower", "min", whole), ("upper", "max", whole)])
    at = pc.index_in(pa.array(np.arange(files)), found.column("file"))
    lower, upper = (found.column(name).take(at) for name in ("lower_min", "upper_max"))
    return lower.combine_chunks(), upper.combine_chunks()


def _whole(end: Vector | None, stored: pa.DataType, count: int) -> pa.Array:
    if end is None:
        return pa.nulls(count, stored)
    return end if isinstance(end, pa.Array) else pa.repeat(end, count)


def _shown(end: pa.Array, kind: Type) -> pa.Array:
    """Text as text, and instants with their zone."""
    match kind:
        case StringType() | UuidType():
            return pa.array(json_values(end, kind), pa.string())
        case TimestampType(instant=True):
            return end.cast(pa.timestamp(kind.unit.value, "UTC"))
        case _:
            return end
