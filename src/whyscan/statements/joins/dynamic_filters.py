"""Filters that joins supply: the bounds that metadata guarantees, and the values themselves.

A scan that is joined by `a = b` needs no row whose `a` is not a value of `b`. Without reading a
row, the plan of the other scan gives the least and the greatest `b`. Reading it gives all values.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import EvaluationProblem
from whyscan.planning.plan.scan_plan import Depth
from whyscan.statements.joins.edges import Origins
from whyscan.statements.joins.engine_reach import engine_reach
from whyscan.statements.joins.scalar_subqueries import implied_fact, of_values, scalars
from whyscan.statements.joins.supply import (
    ColumnRange,
    Supplies,
    bounds,
    in_range,
    in_values,
    is_not_null,
    joined_columns,
    literal_text,
)
from whyscan.statements.placement.facts import Fact
from whyscan.statements.records import Amount, Dynamic, Stayed, Supply
from whyscan.statements.roles import Origin
from whyscan.statements.scans import placed_scans, predicate_of
from whyscan.statements.sql.relations import without_key
from whyscan.statements.stay_reasons import StayReason
from whyscan.tree import arrow
from whyscan.tree.lazy import lazy
from whyscan.tree.nodes import Column, IsNull, Literal, Not, Opaque, columns_of, walk
from whyscan.tree.rendering import to_sql
from whyscan.tree.rewrite import substituted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.planning.plan.scan_plan import PlannedSnapshot as Plan
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.statements.joins.scalar_subqueries import Scalar
    from whyscan.statements.placement.placement import PlacedScan
    from whyscan.statements.records import DynamicOfEngine
    from whyscan.statements.scans import BoundStatement
    from whyscan.statements.sql.relations import Query
    from whyscan.tree.nodes import Expression

ROUNDS = 4
"""Bounds narrow other bounds; more rounds than this gain too little."""


class PlannedScan(Struct, frozen=True, eq=False):
    """A scan with its filters, and its plan."""

    leaf: PlacedScan
    plan: Plan


class JoinedColumns(Struct, frozen=True, eq=False):
    """The columns and single values that joins and subqueries of a statement compare."""

    origins: Origins
    columns: tuple[Column, ...]
    scalars: tuple[Scalar, ...]

    def of_scan(self, key: str) -> list[Column]:
        """The columns of one scan among them, with the table's column names."""
        joined = [without_key(column) for column in self.columns if column.path[0] == key]
        valued = [c for s in self.scalars if s.key == key for c in columns_of(s.expression)]
        return [*joined, *valued]


def joined_columns_of(query: Query) -> JoinedColumns:
    """The columns of a query that one scan can supply to another."""
    origins = Origins(query)
    columns = tuple(dict.fromkeys(joined_columns(query, origins)))
    return JoinedColumns(origins, columns, tuple(scalars(query)))


class Dynamics:
    """The values that the scans of a statement supply to each other.

    `static` are the scans planned without these values. `answered` are the values of subqueries
    that metadata answers, by the id of the condition.
    """

    def __init__(
        self,
        statement: BoundStatement,
        joined: JoinedColumns,
        static: Sequence[PlannedScan],
        answered: Mapping[int, Literal],
    ) -> None:
        self.statement = statement
        self.answered = answered
        self.static = {planned.leaf.source.key: planned for planned in static}
        self.origins = joined.origins
        self.columns = [column for column in joined.columns if column.path[0] in self.static]
        self.scalars = [scalar for scalar in joined.scalars if scalar.key in self.static]
        self._bounds: dict[tuple[int, Column], tuple[Plan, ColumnRange]] = {}
        self.feeds = self._feeds()

    def _bounds_of(self, column: Column, scans: Mapping[str, PlannedScan]) -> ColumnRange:
        """The range that a scan's plan guarantees for a column; computed once per plan."""
        plan = scans[column.path[0]].plan
        if (id(plan), column) not in self._bounds:
            # The plan is kept with its range, so that no new plan gets the id of an old one.
            self._bounds[id(plan), column] = (plan, bounds(plan, without_key(column)))
        return self._bounds[id(plan), column][1]

    def _feeds(self) -> dict[str, tuple[Fact, ...]]:
        """The facts that each scan would get if every supplying column had known values."""
        values = RunTimeValues({column: is_not_null(column) for column in self.columns}, {})
        for scalar in self.scalars:
            if scalar.condition.compares is not None:
                not_null = is_not_null(scalar.condition.compares[1])
                fact = Fact(not_null, scalar.condition.sql, None, Origin.JOIN)
                values.values[id(scalar.condition)] = fact
        leaves = self._placed(values)
        return {leaf.source.key: _supplied(leaf) for leaf in leaves if _supplied(leaf)}

    def _placed(self, values: RunTimeValues) -> list[PlacedScan]:
        return placed_scans(self.statement, Supplies(self.origins, values.columns), values.values)

    def suppliers(self) -> list[Column]:
        """The columns whose values would filter another scan."""
        supplied_names = {fact.written for facts in self.feeds.values() for fact in facts}
        return [column for column in self.columns if ".".join(column.path) in supplied_names]

    @lazy
    def bounded(self) -> dict[str, PlannedScan]:
        """The scans with the bounds that metadata guarantees, repeated until nothing changes."""
        current = dict(self.static)
        for _ in range(ROUNDS):
            renewed = self._planned(
                self._placed(self.run_time_values(current)), current, Depth.FILES
            )
            is_stable = all(_keep_equal_files(renewed[key], current[key]) for key in current)
            current = renewed
            if is_stable:
                break
        return current

    def run_time_values(self, scans: Mapping[str, PlannedScan]) -> RunTimeValues:
        """What these plans guarantee about columns that supply values, and about subqueries."""
        columns = {}
        for column in self.suppliers():
            condition = in_range(column, self._bounds_of(column, scans))
            if condition is not None:
                columns[column] = condition
        values = {}
        for scalar in self.scalars:
            fact = implied_fact(scalar.condition, self._value(scalar, scans))
            if fact is not None:
                values[id(scalar.condition)] = fact
        return RunTimeValues(columns, values)

    def _value(self, scalar: Scalar, scans: Mapping[str, PlannedScan]) -> ColumnRange:
        """The range of a subquery's value; one point where metadata answers the subquery."""
        answer = self.answered.get(id(scalar.condition))
        if answer is None:
            return bounds(scans[scalar.key].plan, scalar.expression)
        return ColumnRange(empty=True) if answer.value is None else ColumnRange(answer, answer)

    def _planned(
        self, leaves: Sequence[PlacedScan], before: Mapping[str, PlannedScan], depth: Depth
    ) -> dict[str, PlannedScan]:
        """The scans with their present filters; planned again where the filters changed."""
        scans = {}
        for leaf in leaves:
            key = leaf.source.key
            old = before[key]
            if filters_of(leaf) == filters_of(old.leaf):
                scans[key] = old
                continue
            options = replace(self.static[key].plan.options, depth=depth)
            scan_predicate = predicate_of(leaf.facts, self.statement)
            scans[key] = PlannedScan(
                leaf, self.statement.planner.plan(leaf.base.snapshot, scan_predicate, options)
            )
        return scans

    def actual(self, most: int) -> Resolution:
        """The scans after the values of small scans were read, the smallest scan first."""
        current = self.bounded
        run_time = self.run_time_values(current)
        value_counts: dict[Column, int] = {}
        pending = {column.path[0] for column in self.suppliers()}
        pending |= {s.key for s in self.scalars if id(s.condition) not in self.answered}
        while pending:
            key = min(pending, key=lambda k: (_rows(current[k]), k))
            pending.discard(key)
            read = None if _rows(current[key]) > most else self._values(current[key])
            if read is None:
                continue
            leaf, values = read
            value_counts.update({c: len(array) for c, array in values.items() if c is not None})
            self._learn(run_time, leaf, values)
            current = self._planned(self._placed(run_time), current, Depth.FILES)
        final = self._planned(self._placed(run_time), self.static, self.statement.options.depth)
        return Resolution(final, value_counts)

    def _learn(
        self, run_time: RunTimeValues, leaf: PlacedScan, values: Mapping[Column | None, pa.Array]
    ) -> None:
        """Add the values that were read from a scan to the run-time values."""
        for column in self.suppliers():
            listed = in_values(column, values[column]) if column in values else None
            if listed is not None:
                run_time.columns[column] = listed
        for scalar in self.scalars:
            distinct = values.get(_keyed(scalar))
            if scalar.key != leaf.source.key or distinct is None:
                continue
            exact = not leaf.above and all(f.origin is Origin.WRITTEN for f in leaf.facts)
            usable_scalar = scalar if exact else replace(scalar, function=None)
            value_range = of_values(usable_scalar, distinct, self.statement.clock.zone)
            fact = implied_fact(scalar.condition, value_range)
            if fact is not None:
                run_time.values[id(scalar.condition)] = fact

    def _values(
        self, planned: PlannedScan
    ) -> tuple[PlacedScan, dict[Column | None, pa.Array]] | None:
        """The distinct values of the columns that a scan supplies, and the scan as it was read.

        A condition that cannot be evaluated on rows is left out: more rows give more values, and
        the condition is then one that stays above the scan. None where no other way is left.
        """
        key = planned.leaf.source.key
        supplying = [*self.suppliers(), *filter(None, map(_keyed, self.scalars))]
        columns = [column for column in dict.fromkeys(supplying) if column.path[0] == key]
        for scan in (planned, self._without_opaque(planned)):
            try:
                part_values = scan.plan.each(partial(_distinct, columns=columns))
            except EvaluationProblem:
                continue
            rows = zip(columns, *part_values, strict=True)
            return scan.leaf, {column: _united(parts, column) for column, *parts in rows}
        return None

    def _without_opaque(self, planned: PlannedScan) -> PlannedScan:
        """The scan without the conditions that whyscan cannot interpret."""
        leaf = planned.leaf
        opaque = [f for f in leaf.facts if any(isinstance(e, Opaque) for e in walk(f.expression))]
        stayed = [Stayed(fact.written, StayReason.NOT_ON_ROWS) for fact in opaque]
        read = replace(
            leaf,
            facts=tuple(fact for fact in leaf.facts if fact not in opaque),
            above=(*leaf.above, *stayed),
        )
        return self._planned([read], {leaf.source.key: planned}, Depth.FILES)[leaf.source.key]

    def report(self, key: str, resolution: Resolution | None) -> Dynamic | None:
        """The three amounts of one scan; None where no join supplies anything to it."""
        facts = self.feeds.get(key)
        if facts is None:
            return None
        actual = None if resolution is None else resolution.scans[key]
        return Dynamic(
            supplies=tuple(self._supply(fact, resolution) for fact in facts),
            static=_amount(self.static[key]),
            bounded=_amount(self.bounded[key]),
            actual=None if actual is None else _amount(actual),
            engines=tuple(self._engines(key, facts, resolution)),
        )

    def _engines(
        self, key: str, facts: Sequence[Fact], resolution: Resolution | None
    ) -> Iterator[DynamicOfEngine]:
        """How far the named engines reach: what is filtered, and whether a supplier is filtered."""
        columns = [without_key(column) for fact in facts for column in fact.columns]
        supplied = [self._supply(fact, resolution) for fact in facts]
        counts = [supply.keys for supply in supplied if supply.keys is not None]
        values = max(counts) if len(counts) == len(supplied) else None
        scans = list(self.static.values())
        filtered = any(
            conjunct.columns and not conjunct.from_join
            for supply in supplied
            if supply.source is not None
            for conjunct in scans[supply.source].plan.predicate.conjuncts
        )
        plan = self.static[key].plan
        return engine_reach(plan, columns, filtered_source=filtered, values=values)

    def _supply(self, fact: Fact, resolution: Resolution | None) -> Supply:
        """The supply that a fact describes, with its range and the number of values read."""
        order = list(self.static)
        column = next((c for c in self.columns if ".".join(c.path) == fact.written), None)
        if column is None:
            scalar = next(s for s in self.scalars if s.condition.sql == fact.written)
            source, value_range = scalar.key, self._value(scalar, self.bounded)
        else:
            source, value_range = column.path[0], self._bounds_of(column, self.bounded)
        value_count = (
            None if resolution is None or column is None else resolution.value_counts.get(column)
        )
        return Supply(
            sql=fact.via or fact.written,
            column=_target(fact),
            source=order.index(source),
            low=_shown(value_range.low),
            high=_shown(value_range.high),
            keys=value_count,
        )


class RunTimeValues(Struct, frozen=True):
    """Conditions on columns of scans, and facts of conditions with subqueries, at run time."""

    columns: dict[Column, Expression]
    values: dict[int, Fact]


class Resolution(Struct, frozen=True):
    """The scans after values were read.

    `value_counts` has the number of distinct values per column that was read.
    """

    scans: Mapping[str, PlannedScan]
    value_counts: Mapping[Column, int]


def _keyed(scalar: Scalar) -> Column | None:
    """The column from which a subquery's value is made, with the key of its scan."""
    column = scalar.column
    return None if column is None else Column((scalar.key, *column.path), column.type)


def _supplied(leaf: PlacedScan) -> tuple[Fact, ...]:
    return tuple(fact for fact in leaf.facts if fact.origin is Origin.JOIN)


def filters_of(leaf: PlacedScan) -> list[Expression]:
    """The expressions that filter a scan."""
    return [fact.expression for fact in leaf.facts]


def _keep_equal_files(left: PlannedScan, right: PlannedScan) -> bool:
    return left.plan.summary.files_kept == right.plan.summary.files_kept


def _rows(planned: PlannedScan) -> float:
    rows = planned.plan.summary.rows_kept
    return float("inf") if rows is None else rows


def _member(batch: pa.RecordBatch, column: Column) -> pa.Array:
    """A column of a batch, or a member of a struct column."""
    name, *rest = column.path[1:]
    array = batch.column(name)
    return pc.struct_field(array, rest) if rest else array


def _distinct(plan: ScanPlan, columns: Sequence[Column]) -> list[pa.Array]:
    """The distinct values of each column in the rows that one part reads."""
    from whyscan.scan import read

    distinct: list[list[pa.Array]] = [[] for _ in columns]
    paths = list(dict.fromkeys(column.path[1:2] for column in columns))
    for batch in read(plan, paths):
        for column, parts in zip(columns, distinct, strict=True):
            parts.append(_member(batch, column).unique())
    return [_united(parts, column) for column, parts in zip(columns, distinct, strict=True)]


def _united(parts: Sequence[pa.Array], column: Column) -> pa.Array:
    filled = [part for part in parts if len(part)]
    if not filled:
        return pa.array([], arrow.arrow_type(column.type))
    return pa.chunked_array(filled).unique().drop_null()


def _amount(planned: PlannedScan) -> Amount:
    summary = planned.plan.summary
    return Amount(summary.files_kept, summary.bytes_kept, summary.rows_kept)


def _target(fact: Fact) -> str:
    """The filtered expression of the scan: the one that the fact says is not NULL."""
    inner = fact.expression
    if isinstance(inner, Not) and isinstance(inner.operand, IsNull):
        inner = inner.operand.operand
    unkeyed = substituted(inner, without_key)
    return to_sql(inner if unkeyed is None else unkeyed)


def _shown(literal: Literal | None) -> str | None:
    return None if literal is None else literal_text(literal)
