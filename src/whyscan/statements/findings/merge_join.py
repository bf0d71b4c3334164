"""The join that a MERGE is, and what its source's files say of the rows that can match."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan.judgement import flags
from whyscan.planning.plan.matching_rows import of_files
from whyscan.planning.plan.scan_plan import Depth
from whyscan.pruning.mask import written_out
from whyscan.reports.findings import Effect
from whyscan.statements.findings.equalities import links
from whyscan.statements.findings.images import bare
from whyscan.statements.findings.rebuild import on, where
from whyscan.statements.joins.supply import bounds, within
from whyscan.statements.scans import leaves_of
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
"""Values of the source that a condition lists; of more it has the least and the greatest."""


class Merge(Struct, frozen=True):
    """The join that a MERGE is. `target` is the scan that it changes."""

    ground: FindingContext
    select: Select
    join: Join
    target: Source

    @property
    def key(self) -> str:
        return self.target.key

    @property
    def title(self) -> str:
        return self.ground.titles[self.key]

    @property
    def files(self) -> int:
        """Those that are read without values from the source."""
        return self.ground.static[self.key].plan.summary.files_kept

    @property
    def partitioned_by(self) -> frozenset[Path]:
        return frozenset(self.ground.static[self.key].plan.snapshot.partition_sources)

    def read_with(self, added: Sequence[Condition], *, orphans: Condition | None = None) -> int:
        """The target's files with more conditions in ON, and one for rows without a source."""
        asked = self.ground.asked
        query = on(self.select, self.join, (*self.join.on, *added))
        besides = asked.besides
        if orphans is not None and isinstance(besides, Select):
            besides = where(besides, orphans)
        leaves = leaves_of(replace(asked, query=query, besides=besides))
        return self.ground.kept(next(leaf for leaf in leaves if leaf.source.key == self.key))

    def condition(self, expression: Expression) -> Condition:
        return Condition(expression, self.ground.sql(expression), None)


def merge_of(ground: FindingContext) -> Merge | None:
    """None where what is merged is not one join of a source and the target."""
    query = ground.query
    if not isinstance(query, Select) or not isinstance(query.tree, Join):
        return None
    target = query.tree.right
    if not isinstance(target, Source) or target.key not in ground.static:
        return None
    return Merge(ground, query, query.tree, target)


def equalities(merge: Merge) -> Iterator[tuple[Side, Column, str]]:
    """The target's side of each equality of ON with a bare column of the source, and its text."""
    for link in links(merge.ground):
        for side, other in link.sides:
            ours = link.join is not None and side.key == merge.key and other.key != merge.key
            if ours and isinstance(other.expression, Column):
                yield side, other.expression, link.condition.sql


def known(merge: Merge, subject: Expression, other: Column) -> Expression | None:
    """What the source's files say of an expression that equals one of its columns."""
    ground = merge.ground
    base = ground.origins.base(other)
    if base is None or base.path[0] not in ground.static or type_of(subject) != base.type:
        return None
    own = Column(base.path[1:], base.type)
    plan = ground.static[base.path[0]].plan
    if own not in (*plan.predicate.columns(), *plan.options.measured):
        options = replace(plan.options, measured=(*plan.options.measured, own), depth=Depth.FILES)
        plan = ground.asked.planner.plan(plan.snapshot, plan.predicate, options)
    found = bounds(plan, own)
    if found.empty:
        return None
    listed = _listed(plan, own, subject)
    return within(subject, found) if listed is None else listed


def _listed(plan: PlannedSnapshot, own: Column, subject: Expression) -> Expression | None:
    """The values of a column that has one in each file; None where it has more, or too many."""
    if plan.snapshot.footers_describe_files:
        return None
    found = plan.each(partial(_points, own=own))
    parts = [values for values in found if values is not None]
    if len(parts) < len(found):
        return None
    values = pa.concat_arrays(parts).unique().sort()
    if len(values) > LISTED_AT_MOST:
        return None
    if len(values) == 1:
        only = Literal(arrow.value(values[0], own.type), own.type)
        return Comparison(Comparator.EQUAL, subject, only)
    return In(subject, values, null=False, nan=False)


def _points(plan: ScanPlan, own: Column) -> pa.Array | None:
    """The values of a column that has one in each file of a part; None likewise."""
    files = of_files(plan.evidence)
    interval = files.interval(own, plan)
    count, kind = files.containers.count, arrow.arrow_type(own.type)
    filled = files.kept & flags(interval.present, count)
    point = flags(interval.point(), count) & ~flags(interval.nan, count)
    if not point[filled].all():
        return None
    values = written_out(interval.lower, count, kind).filter(pa.array(filled)).unique()
    return values if len(values) <= LISTED_AT_MOST else None


def bare_of(told: Expression, zone: Zone) -> Expression | None:
    """The same of the bare column; of a list, value by value."""
    if not isinstance(told, In):
        found = bare(told, zone)
        return None if found is None else found[0]
    kind = type_of(told.operand)
    values = [Literal(arrow.value(value, kind), kind) for value in told.values]
    each = [bare(Comparison(Comparator.EQUAL, told.operand, value), zone) for value in values]
    points = [found[0] for found in each if found is not None]
    plain = [p for p in points if isinstance(p, Comparison) and isinstance(p.left, Column)]
    literals = [p.right for p in plain if isinstance(p.right, Literal)]
    if len(literals) < len(values):
        return None
    listed = pa.array([one.value for one in literals], arrow.arrow_type(type_of(plain[0].left)))
    return In(plain[0].left, listed, null=False, nan=False)


def effect_of(merge: Merge, after: int, before: int | None = None) -> Effect | None:
    """From what is read without values from the source; None where it is no less."""
    before = merge.files if before is None else before
    return Effect(f"files of {merge.title}", before, after) if after < before else None
