"""Comparisons with a subquery of one value: bounds of the value, and so of the other side.

| comparison     | value in [low, high] |
|----------------|----------------------|
| `x = value`    | low <= x <= high     |
| `x > value`    | x > low              |
| `x < value`    | x < high             |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.planning.plan.judgement import flags
from whyscan.pruning.containers import Containers
from whyscan.pruning.evaluate import ContainerBatch, interval_of
from whyscan.pruning.interval import between
from whyscan.pruning.mask import as_array, either
from whyscan.statements.joins.edges import one_scan, selects
from whyscan.statements.joins.supply import ColumnRange, extent, extreme, in_range
from whyscan.statements.placement.facts import Fact
from whyscan.statements.roles import Origin
from whyscan.statements.sql.relations import Select
from whyscan.tree import arrow
from whyscan.tree.nodes import Column, Comparator, Comparison, Literal, columns_of, type_of
from whyscan.tree.types import FloatType, IntegerType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.statements.sql.relations import Condition, Query
    from whyscan.tree.nodes import Expression
    from whyscan.tree.types import Type
    from whyscan.tree.zones import Zone

_BELOW = {Comparator.LESS, Comparator.LESS_EQUAL}
_ABOVE = {Comparator.GREATER, Comparator.GREATER_EQUAL}
_EXTREMES = {"min", "max"}


class Scalar(Struct, frozen=True, eq=False):
    """The subquery of a condition over one scan.

    Its value is `expression` of one row, or the least or greatest where `function` is min or max.
    """

    condition: Condition
    key: str
    expression: Expression
    function: str | None

    @property
    def column(self) -> Column | None:
        """The only column of the expression; None where there are several."""
        columns = columns_of(self.expression)
        return columns[0] if len(columns) == 1 else None


def scalars(query: Query) -> Iterator[Scalar]:
    """The comparisons with subqueries whose value can be bounded."""
    for outer in selects(query):
        for nested in outer.nested:
            inner, condition = nested.query, nested.within
            if condition is not None and condition.compares is not None:
                scalar = _scalar(inner, condition)
                if scalar is not None:
                    yield scalar


def _scalar(query: Query, condition: Condition) -> Scalar | None:
    """The subquery over one scan; None where its value is not a column, expression, min or max."""
    if not isinstance(query, Select) or len(query.outputs) != 1 or query.qualify:
        return None
    scan = one_scan(query)
    if scan is None:
        return None
    source, in_table_terms = scan
    expression, function = query.outputs[0].expression, None
    if query.groups is not None:
        if query.groups or len(query.aggregates) != 1 or query.having:
            return None
        expression, function = query.aggregates[0].argument, query.aggregates[0].function
        if function not in _EXTREMES:
            return None
    value = None if expression is None else in_table_terms(expression)
    return None if value is None else Scalar(condition, source.key, value, function)


def of_values(scalar: Scalar, values: pa.Array, zone: Zone) -> ColumnRange:
    """The range of the subquery's value, from the distinct values of its column.

    Each value is evaluated as a container. NaN is greater than all other values, so with NaN only
    the lower end is certain; if NaN is the only value, no end is.
    """
    column = scalar.column
    if column is None or not len(values):
        return ColumnRange(empty=not len(values))
    points = values.cast(arrow.arrow_type(column.type))
    if isinstance(column.type, FloatType):
        points = points.filter(pc.invert(pc.is_nan(points)))
    if not len(points):
        return ColumnRange()
    value_range = _of_points(scalar, column, points, zone)
    without_nan = len(points) == len(values) or scalar.function == "min"
    return value_range if without_nan else ColumnRange(value_range.low)


def _of_points(scalar: Scalar, column: Column, points: pa.Array, zone: Zone) -> ColumnRange:
    """The range of the subquery's value, with each value of the column as one container."""
    row_counts = pa.repeat(pa.scalar(1, pa.int64()), len(points))
    rows = Containers(len(points), row_counts, {column.path: between(column.type, points, points)})
    interval = interval_of(scalar.expression, ContainerBatch(rows, zone))
    value_range = extent(interval, np.ones(len(points), np.bool_)).bounds()
    kind = arrow.arrow_type(interval.type)
    if scalar.function is None or flags(either(interval.null, interval.nan), len(points)).any():
        return value_range  # min and max ignore a NULL.
    if scalar.function == "max":
        lowers = as_array(interval.lower, len(points), kind)
        return ColumnRange(extreme(lowers, interval.type, least=False), value_range.high)
    uppers = as_array(interval.upper, len(points), kind)
    return ColumnRange(value_range.low, extreme(uppers, interval.type, least=True))


def implied_fact(condition: Condition, value_range: ColumnRange) -> Fact | None:
    """The fact about the other side of the comparison; None where nothing follows."""
    if condition.compares is None:
        return None
    operator, expression = condition.compares
    low, high = (_in_type(end, type_of(expression)) for end in (value_range.low, value_range.high))
    implied: Expression | None = None
    if value_range.empty or operator is Comparator.EQUAL:
        implied = in_range(expression, ColumnRange(low, high, value_range.empty))
    elif operator in _ABOVE and low is not None:
        implied = Comparison(operator, expression, low)
    elif operator in _BELOW and high is not None:
        implied = Comparison(operator, expression, high)
    return None if implied is None else Fact(implied, condition.sql, None, Origin.JOIN)


def _in_type(end: Literal | None, kind: Type) -> Literal | None:
    """The value in the other side's type; None where it is of another kind or does not fit."""
    if end is None or end.type == kind:
        return end
    if not (isinstance(kind, IntegerType) and isinstance(end.type, IntegerType)):
        return None
    fits = isinstance(end.value, int) and kind.least <= end.value <= kind.greatest
    return Literal(end.value, kind) if fits else None
