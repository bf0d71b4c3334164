"""What one scan tells about the values of its columns, for those that they are joined with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.planning.judgement import flags
from whyscan.planning.matching import of_files, of_row_groups
from whyscan.predicate import arrow
from whyscan.predicate.render import to_sql
from whyscan.predicate.rewrite import substituted
from whyscan.predicate.tree import (
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
from whyscan.predicate.types import FloatType, IntegerType, OtherType, StructType
from whyscan.pruning.mask import written_out
from whyscan.statements.facts import Fact, fact, shared
from whyscan.statements.links import Origins, conditions
from whyscan.statements.report import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.planning.judgement import Flags
    from whyscan.planning.matching import Population
    from whyscan.planning.plan import ScanPlan
    from whyscan.predicate.tree import Expression
    from whyscan.predicate.types import Type
    from whyscan.pruning.interval import Interval
    from whyscan.statements.relations import Query

LISTED_AT_MOST = 10_000
"""Distinct values that a filter lists; of more it has the least and the greatest."""


class Bounds(Struct, frozen=True):
    """Between which values a column lies; None is not known. `empty`: it has none at all."""

    low: Literal | None = None
    high: Literal | None = None
    empty: bool = False


class Supplies(Struct, frozen=True):
    """What is known of the values of scans' columns, by the column, and asked for by any equal."""

    origins: Origins
    known: Mapping[Column, Expression]

    def __call__(self, column: Column) -> Sequence[Fact]:
        base = self.origins.base(column)
        expression = None if base is None else self.known.get(base)
        if base is None or expression is None:
            return ()
        told = substituted(expression, lambda _: column)
        return () if told is None else (Fact(told, _name(base), None, Origin.JOIN),)


def _name(column: Column) -> str:
    return ".".join(column.path)


def joined_columns(query: Query, origins: Origins) -> Iterator[Column]:
    """The scans' columns that a condition makes equal to another source's."""
    for _, condition in conditions(query):
        known = fact(condition)
        for said in () if known is None else (known, *shared(known)):
            e = said.expression
            equal = isinstance(e, Comparison) and e.operator is Comparator.EQUAL
            if not equal or len(said.keys) < 2:  # noqa: PLR2004
                continue
            for column in columns_of(e):
                base = origins.base(column)
                if base is not None and not isinstance(base.type, StructType | OtherType):
                    yield base


def present(column: Expression) -> Expression:
    """All that an equality says by itself: its sides are not NULL."""
    return Not(IsNull(column))


def bounds(plan: ScanPlan, expression: Expression) -> Bounds:
    """What the plan's containers guarantee of an expression's values, by row groups if it can."""
    groups = of_row_groups(plan.evidence)
    best = Bounds()
    for level in [of_files(plan.evidence), *([] if groups is None else [groups])]:
        if level is groups and not _all_opened(plan):
            continue
        if plan.snapshot.footers_describe_files and level is not groups:
            continue
        best = _narrower(best, _of_level(level, expression, plan))
    return best


def _all_opened(plan: ScanPlan) -> bool:
    opened = np.zeros(plan.evidence.files.count, np.bool_)
    if plan.evidence.groups is not None:
        opened[plan.evidence.groups.opened.to_numpy()] = True
    return bool(opened[plan.evidence.judgement.kept].all())


def _of_level(level: Population, expression: Expression, plan: ScanPlan) -> Bounds:
    interval = level.interval(expression, plan)
    filled = level.kept & flags(interval.present, level.containers.count)
    return outermost(interval, filled)


def outermost(interval: Interval, filled: Flags) -> Bounds:
    """From the least to the greatest of the containers that have a value."""
    if not filled.any():
        return Bounds(empty=True)
    count, kind = len(filled), arrow.arrow_type(interval.type)
    nan = (flags(interval.nan, count) & filled).any()
    lower, upper = (written_out(end, count, kind) for end in (interval.lower, interval.upper))
    chosen = pa.array(filled)
    low = extreme(lower.filter(chosen), interval.type, least=True)
    high = None if nan else extreme(upper.filter(chosen), interval.type, least=False)
    return Bounds(low, high)


def extreme(ends: pa.Array, kind: Type, *, least: bool) -> Literal | None:
    """The least or greatest end; None where one of them is not known, or it is no text."""
    if ends.null_count or not len(ends):
        return None
    try:
        found = pc.min_max(ends)["min" if least else "max"]
    except pa.ArrowNotImplementedError:  # Arrow has no least of fixed-size bytes.
        found = ends.sort("ascending" if least else "descending")[0]
    try:
        return Literal(arrow.value(found, kind), kind)
    except UnicodeDecodeError:  # A bound that was cut off ends where it ends.
        return None


def _narrower(one: Bounds, other: Bounds) -> Bounds:
    """Both hold; the second is of smaller containers."""
    if one.empty or other.empty:
        return Bounds(empty=True)
    return Bounds(other.low or one.low, other.high or one.high)


def within(column: Expression, found: Bounds) -> Expression | None:
    """The bounds as a condition; None where there are none."""
    if found.empty:
        return In(column, pa.array([], arrow.arrow_type(type_of(column))), null=False, nan=False)
    low, high = found.low, found.high
    if low is not None and high is not None:
        return (
            Comparison(Comparator.EQUAL, column, low) if low == high else Between(column, low, high)
        )
    if low is not None:
        return Comparison(Comparator.GREATER_EQUAL, column, low)
    return None if high is None else Comparison(Comparator.LESS_EQUAL, column, high)


def among(column: Column, values: pa.Array) -> Expression | None:
    """Distinct values that were read as a condition: a list, or its ends where it is long."""
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
    return within(column, Bounds(low, high))


def shown(literal: Literal) -> str:
    """A value for people: integers without the letter of their width."""
    if isinstance(literal.type, IntegerType) and literal.value is not None:
        return str(literal.value)
    return to_sql(literal)
