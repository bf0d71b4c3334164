"""The values that one scan supplies to the columns that it is joined with."""

from __future__ import annotations

from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.planning.plan.judgement import flags
from whyscan.planning.plan.matching_rows import of_files, of_row_groups
from whyscan.pruning.mask import as_array
from whyscan.statements.joins.edges import Origins, conditions
from whyscan.statements.placement.facts import Fact, common_parts, fact_of
from whyscan.statements.roles import Origin
from whyscan.tree import arrow
from whyscan.tree.nodes import (
    Between,
    Column,
    Comparator,
    Comparison,
    In,
    IsNull,
    Literal,
    Not,
    columns_of,
    type_of,
)
from whyscan.tree.rendering import to_sql
from whyscan.tree.rewrite import substituted
from whyscan.tree.types import FloatType, IntegerType, OtherType, StructType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.planning.plan.judgement import Flags
    from whyscan.planning.plan.matching_rows import Population
    from whyscan.planning.plan.scan_plan import PlannedSnapshot, ScanPlan
    from whyscan.pruning.interval import Interval
    from whyscan.statements.sql.relations import Query
    from whyscan.tree.nodes import Expression
    from whyscan.tree.types import Type

LISTED_AT_MOST = 10_000
"""A filter lists at most so many distinct values; with more it has the least and the greatest."""


class ColumnRange(Struct, frozen=True):
    """The least and greatest value of a column; None means unknown. `empty`: it has no value."""

    low: Literal | None = None
    high: Literal | None = None
    empty: bool = False


class Supplies(Struct, frozen=True):
    """Gives facts about a column, from the conditions on the scan's column that it comes from."""

    origins: Origins
    conditions: Mapping[Column, Expression]

    def __call__(self, column: Column) -> Sequence[Fact]:
        base = self.origins.base(column)
        expression = None if base is None else self.conditions.get(base)
        if base is None or expression is None:
            return ()
        condition = substituted(expression, lambda _: column)
        name = ".".join(base.path)
        return () if condition is None else (Fact(condition, name, None, Origin.JOIN),)


def joined_columns(query: Query, origins: Origins) -> Iterator[Column]:
    """The columns of scans that a condition equates with a column of another source."""
    for _, condition in conditions(query):
        condition_fact = fact_of(condition)
        for fact in (
            () if condition_fact is None else (condition_fact, *common_parts(condition_fact))
        ):
            e = fact.expression
            equal = isinstance(e, Comparison) and e.operator is Comparator.EQUAL
            if not equal or len(fact.keys) < 2:  # noqa: PLR2004
                continue
            for column in columns_of(e):
                base = origins.base(column)
                if base is not None and not isinstance(base.type, StructType | OtherType):
                    yield base


def is_not_null(column: Expression) -> Expression:
    """What an equality alone says of its sides: the expression is not NULL."""
    return Not(IsNull(column))


class Extent(Struct, frozen=True):
    """The least and the greatest value over the containers that have a value, per part.

    If one end of a part is unknown, its array has a null.
    """

    type: Type
    filled: bool
    nan: bool
    lower: pa.Array
    upper: pa.Array

    def __add__(self, other: Extent) -> Extent:
        return Extent(
            self.type,
            self.filled or other.filled,
            self.nan or other.nan,
            pa.concat_arrays([self.lower, other.lower]),
            pa.concat_arrays([self.upper, other.upper]),
        )

    def bounds(self) -> ColumnRange:
        """The range from the least to the greatest value."""
        if not self.filled:
            return ColumnRange(empty=True)
        low = extreme(self.lower, self.type, least=True)
        return ColumnRange(low, None if self.nan else extreme(self.upper, self.type, least=False))


class _PartExtents(Struct, frozen=True):
    """Between which values the join keys lie, in the files and in the row groups of one part.

    `groups` is None if no footer was opened. `all_opened` is true if the footers of all kept files
    were opened.
    """

    files: Extent
    groups: Extent | None
    all_opened: bool

    def __add__(self, other: _PartExtents) -> _PartExtents:
        inside = [part for part in (self.groups, other.groups) if part is not None]
        groups = reduce(add, inside) if inside else None
        return _PartExtents(self.files + other.files, groups, self.all_opened and other.all_opened)


def bounds(plan: PlannedSnapshot, expression: Expression) -> ColumnRange:
    """The range that a plan guarantees for an expression, by row groups where all were opened."""
    extents = reduce(add, plan.each(partial(_levels, expression=expression)))
    file_range = extents.files.bounds()
    if extents.groups is None or not extents.all_opened:
        return file_range
    return _narrower(file_range, extents.groups.bounds())


def _levels(plan: ScanPlan, expression: Expression) -> _PartExtents:
    evidence, groups = plan.evidence, of_row_groups(plan.evidence)
    return _PartExtents(
        _of_level(of_files(evidence), expression, plan),
        None if groups is None else _of_level(groups, expression, plan),
        all_opened=bool(evidence.file_level.opened[evidence.judgement.kept].all()),
    )


def _of_level(level: Population, expression: Expression, plan: ScanPlan) -> Extent:
    interval = level.interval(expression, plan)
    filled = level.kept & flags(interval.present, level.containers.count)
    return extent(interval, filled)


def extent(interval: Interval, filled: Flags) -> Extent:
    """The extent of the containers that have a value."""
    count, kind = len(filled), arrow.arrow_type(interval.type)
    lower, upper = (as_array(end, count, kind) for end in (interval.lower, interval.upper))
    chosen = pa.array(filled)
    return Extent(
        interval.type,
        bool(filled.any()),
        bool((flags(interval.nan, count) & filled).any()),
        _outermost(lower.filter(chosen), least=True),
        _outermost(upper.filter(chosen), least=False),
    )


def _outermost(ends: pa.Array, *, least: bool) -> pa.Array:
    """The least or greatest end as an array of one value: null where one end is unknown.

    The array is empty where there are no ends.
    """
    if ends.null_count or not len(ends):
        return pa.nulls(min(len(ends), 1), ends.type)
    try:
        outermost = pc.min_max(ends)["min" if least else "max"]
    except pa.ArrowNotImplementedError:  # Arrow has no min_max of fixed-size bytes.
        outermost = ends.sort("ascending" if least else "descending")[0]
    return pa.array([outermost], ends.type)


def extreme(ends: pa.Array, kind: Type, *, least: bool) -> Literal | None:
    """The least or greatest end; None where one end is unknown or the bytes are not valid text."""
    outermost = _outermost(ends, least=least)
    if not len(outermost) or outermost.null_count:
        return None
    try:
        return Literal(arrow.value(outermost[0], kind), kind)
    except UnicodeDecodeError:  # A truncated bound may end inside a character.
        return None


def _narrower(files: ColumnRange, groups: ColumnRange) -> ColumnRange:
    """Both ranges hold; the range of the row groups is the narrower one."""
    if files.empty or groups.empty:
        return ColumnRange(empty=True)
    return ColumnRange(groups.low or files.low, groups.high or files.high)


def in_range(column: Expression, value_range: ColumnRange) -> Expression | None:
    """The range as a condition; None where both ends are unknown."""
    if value_range.empty:
        return In(column, pa.array([], arrow.arrow_type(type_of(column))), null=False, nan=False)
    low, high = value_range.low, value_range.high
    if low is not None and high is not None:
        return (
            Comparison(Comparator.EQUAL, column, low) if low == high else Between(column, low, high)
        )
    if low is not None:
        return Comparison(Comparator.GREATER_EQUAL, column, low)
    return None if high is None else Comparison(Comparator.LESS_EQUAL, column, high)


def in_values(column: Column, values: pa.Array) -> Expression | None:
    """Distinct values as a condition: IN with the values, or the range where there are too many."""
    kind = arrow.arrow_type(column.type)
    distinct = values.drop_null().unique()
    nan = isinstance(column.type, FloatType) and bool(pc.any(pc.is_nan(distinct)).as_py())
    if nan:
        distinct = distinct.filter(pc.invert(pc.is_nan(distinct)))
    ordered = distinct.cast(kind).sort() if len(distinct) else pa.array([], kind)
    if len(ordered) <= LISTED_AT_MOST:
        return In(column, ordered, null=False, nan=nan)
    if nan:
        return None
    low, high = (Literal(arrow.value(ordered[i], column.type), column.type) for i in (0, -1))
    return in_range(column, ColumnRange(low, high))


def literal_text(literal: Literal) -> str:
    """A literal as text for people: integers without the letter of their width."""
    if isinstance(literal.type, IntegerType) and literal.value is not None:
        return str(literal.value)
    return to_sql(literal)
