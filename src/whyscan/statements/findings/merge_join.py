"""The join of a MERGE, and what the files of its source say about the rows that can match."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.judgement import flags
from whyscan.planning.plan.matching_rows import of_files
from whyscan.planning.plan.scan_plan import Depth
from whyscan.pruning.mask import as_array
from whyscan.reports.findings import Effect
from whyscan.statements.findings.equalities import links
from whyscan.statements.findings.images import bare
from whyscan.statements.findings.rebuild import with_on, with_where
from whyscan.statements.joins.supply import bounds, in_range
from whyscan.statements.scans import placed_scans
from whyscan.statements.sql.relations import Condition, Join, Select, Source
from whyscan.tree import arrow
from whyscan.tree.nodes import Column, Comparator, Comparison, In, Literal, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.planning.plan.scan_plan import PlannedSnapshot, ScanPlan
    from whyscan.statements.findings.context import FindingContext
    from whyscan.statements.findings.equalities import Side
    from whyscan.tree.nodes import Expression, Path
    from whyscan.tree.zones import Zone

LISTED_AT_MOST = 12
"""A condition lists at most so many values of the source; with more it has a range."""


class Merge(Struct, frozen=True):
    """The join of a MERGE. `target` is the scan that it changes."""

    context: FindingContext
    select: Select
    join: Join
    target: Source

    @property
    def key(self) -> str:
        return self.target.key

    @property
    def title(self) -> str:
        return self.context.titles[self.key]

    @property
    def files(self) -> int:
        """The number of target files that are read without values from the source."""
        return self.context.static[self.key].plan.summary.files_kept

    @property
    def partitioned_by(self) -> frozenset[Path]:
        return frozenset(self.context.static[self.key].plan.snapshot.partition_sources)

    def read_with(self, added: Sequence[Condition], *, orphans: Condition | None = None) -> int:
        """The number of target files with more conditions in ON.

        `orphans` is one more condition of WHEN NOT MATCHED BY SOURCE.
        """
        statement = self.context.statement
        query = with_on(self.select, self.join, (*self.join.on, *added))
        target_query = statement.target_query
        if orphans is not None and isinstance(target_query, Select):
            target_query = with_where(target_query, orphans)
        leaves = placed_scans(replace(statement, query=query, target_query=target_query))
        return self.context.kept(next(leaf for leaf in leaves if leaf.source.key == self.key))

    def condition(self, expression: Expression) -> Condition:
        return Condition(expression, self.context.sql(expression), None)


def merge_of(context: FindingContext) -> Merge | None:
    """The join of the MERGE; None where it is not one join of a source with the target."""
    query = context.query
    if not isinstance(query, Select) or not isinstance(query.tree, Join):
        return None
    target = query.tree.right
    if not isinstance(target, Source) or target.key not in context.static:
        return None
    return Merge(context, query, query.tree, target)


def equalities(merge: Merge) -> Iterator[tuple[Side, Column, str]]:
    """Each equality of ON with a bare source column: the target's side, the column, its SQL."""
    for link in links(merge.context):
        for side, other in link.sides:
            is_target_side = (
                link.join is not None and side.key == merge.key and other.key != merge.key
            )
            if is_target_side and isinstance(other.expression, Column):
                yield side, other.expression, link.condition.sql


def source_values(merge: Merge, subject: Expression, other: Column) -> Expression | None:
    """A condition on `subject` from the source's files, where it equals one of their columns."""
    context = merge.context
    base = context.origins.base(other)
    if base is None or base.path[0] not in context.static or type_of(subject) != base.type:
        return None
    source_column = Column(base.path[1:], base.type)
    plan = context.static[base.path[0]].plan
    if source_column not in (*plan.predicate.columns(), *plan.options.measured):
        options = replace(
            plan.options, measured=(*plan.options.measured, source_column), depth=Depth.FILES
        )
        plan = context.statement.planner.plan(plan.snapshot, plan.predicate, options)
    value_range = bounds(plan, source_column)
    if value_range.empty:
        return None
    listed = _listed(plan, source_column, subject)
    return in_range(subject, value_range) if listed is None else listed


def _listed(plan: PlannedSnapshot, column: Column, subject: Expression) -> Expression | None:
    """IN with the values of a column that has one value per file; None where that fails."""
    part_values = plan.each(partial(_points, column=column))
    parts = [values for values in part_values if values is not None]
    if len(parts) < len(part_values):
        return None
    values = pa.concat_arrays(parts).unique().sort()
    if len(values) > LISTED_AT_MOST:
        return None
    if len(values) == 1:
        only = Literal(arrow.value(values[0], column.type), column.type)
        return Comparison(Comparator.EQUAL, subject, only)
    return In(subject, values, null=False, nan=False)


def _points(plan: ScanPlan, column: Column) -> pa.Array | None:
    """The values of a column that has one value in each file of a part; None where it has more."""
    files = of_files(plan.evidence)
    interval = files.interval(column, plan)
    count, kind = files.containers.count, arrow.arrow_type(column.type)
    filled = files.kept & flags(interval.present, count)
    point = flags(interval.point(), count) & ~flags(interval.nan, count)
    if not point[filled].all():
        return None
    values = as_array(interval.lower, count, kind).filter(pa.array(filled)).unique()
    return values if len(values) <= LISTED_AT_MOST else None


def bare_of(condition: Expression, zone: Zone) -> Expression | None:
    """The same condition on the bare column; each value of a list is converted."""
    if not isinstance(condition, In):
        bare_condition = bare(condition, zone)
        return None if bare_condition is None else bare_condition[0]
    kind = type_of(condition.operand)
    values = [Literal(arrow.value(value, kind), kind) for value in condition.values]
    each = [bare(Comparison(Comparator.EQUAL, condition.operand, value), zone) for value in values]
    points = [bare_condition[0] for bare_condition in each if bare_condition is not None]
    plain = [p for p in points if isinstance(p, Comparison) and isinstance(p.left, Column)]
    literals = [p.right for p in plain if isinstance(p.right, Literal)]
    if len(literals) < len(values):
        return None
    listed = pa.array(
        [literal.value for literal in literals], arrow.arrow_type(type_of(plain[0].left))
    )
    return In(plain[0].left, listed, null=False, nan=False)


def effect_of(merge: Merge, after: int, before: int | None = None) -> Effect | None:
    """The effect compared to reading without source values; None where nothing is saved."""
    before = merge.files if before is None else before
    return Effect(f"files of {merge.title}", before, after) if after < before else None
