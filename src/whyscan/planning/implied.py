"""Conditions on partition columns that hold of every file that can match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.predicate import arrow
from whyscan.predicate.names import Columns
from whyscan.predicate.tree import Between, Column, Comparator, Comparison, In, Literal
from whyscan.predicate.types import DateType, IntegerType, StringType
from whyscan.pruning.transforms import Identity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.planning.judgement import Flags
    from whyscan.planning.plan import ScanPlan
    from whyscan.predicate.tree import Expression

LISTED_AT_MOST = 8


class Implied(Struct, frozen=True):
    """A condition on a partition column: `outside` files lie outside it, and none can match."""

    column: str
    expression: Expression
    values: int
    of_values: int
    outside: int


def implied(plan: ScanPlan) -> Implied | None:
    """The condition that leaves the most files outside; None where no column has one."""
    if plan.evidence.closed_files or not plan.evidence.judgement.kept.any():
        return None
    found = [f for column in _identities(plan) if (f := _of_column(plan, column)) is not None]
    return max(found, key=lambda f: f.outside, default=None)


def listed(plan: ScanPlan, column: Column, chosen: Flags) -> Expression | None:
    """`column IN (…)` for the partition values of the chosen files; None where that is not all."""
    values = _values(plan, column)
    if values is None or not chosen.any():
        return None
    here = values.filter(pa.array(chosen))
    if here.null_count or len(distinct := pc.unique(here)) > LISTED_AT_MOST:
        return None
    # The same value must not be on both sides.
    if pc.any(pc.is_in(values.filter(pa.array(~chosen)), distinct)).as_py():
        return None
    return _in(column, distinct)


def _of_column(plan: ScanPlan, column: Column) -> Implied | None:
    values = _values(plan, column)
    kept = plan.evidence.judgement.kept
    if values is None or (here := values.filter(pa.array(kept))).null_count:
        return None
    distinct, every = pc.unique(here), pc.count_distinct(values).as_py()
    if len(distinct) == every:
        return None
    if len(distinct) <= LISTED_AT_MOST:
        expression: Expression = _in(column, distinct)
        inside = pc.is_in(values, distinct)
    else:
        low, high = pc.min_max(here).values()
        expression = _between(column, low, high)
        inside = pc.and_(pc.greater_equal(values, low), pc.less_equal(values, high))
    outside = len(values) - (pc.sum(inside, min_count=0).as_py() or 0)
    return (
        Implied(".".join(column.path), expression, len(distinct), every, outside)
        if outside
        else None
    )


def _identities(plan: ScanPlan) -> Iterator[Column]:
    """The partition columns whose values are their own, in every live spec."""
    known = Columns(plan.snapshot.schema())
    for path in plan.snapshot.partition_sources:
        plain = all(spec.get(path) == (Identity(),) for spec in plan.snapshot.specs)
        if plain and len(path) == 1 and len(found := known.named(path[0])) == 1:
            yield Column(path, found[0].type)


def _values(plan: ScanPlan, column: Column) -> pa.Array | None:
    """The partition value of each file, of a type that has one spelling."""
    table, name = plan.evidence.files.partition, ".".join(column.path)
    if not isinstance(column.type, StringType | IntegerType | DateType):
        return None
    if name not in table.column_names:
        return None
    stored = table[name].combine_chunks()
    wanted = pa.string() if isinstance(column.type, StringType) else arrow.arrow_type(column.type)
    try:
        return stored.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _in(column: Column, distinct: pa.Array) -> Expression:
    ordered = distinct.take(pc.sort_indices(distinct)).cast(arrow.arrow_type(column.type))
    if len(ordered) == 1:
        point = Literal(arrow.value(ordered[0], column.type), column.type)
        return Comparison(Comparator.EQUAL, column, point)
    return In(column, ordered, null=False, nan=False)


def _between(column: Column, low: pa.Scalar, high: pa.Scalar) -> Expression:
    stored = arrow.arrow_type(column.type)
    ends = (Literal(arrow.value(e.cast(stored), column.type), column.type) for e in (low, high))
    return Between(column, *ends)
