"""A batch of containers as the evaluator sees it: one interval per column and container.

The table readers fill it; this file does not depend on a table format. Partition values and
statistics stay separate, because the report counts separately what each of them pruned;
`Containers.interval` combines both.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import replace

from whyscan.pruning.exact import Exact
from whyscan.pruning.interval import Interval, anything, greater, meet
from whyscan.pruning.mask import (
    Mask,
    Vector,
    both,
    either,
    has_value,
    keep,
    may,
    opposite,
    surely,
    tally,
)
from whyscan.tree.lazy import lazy
from whyscan.tree.nodes import Column, Path
from whyscan.tree.types import FloatType, Type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whyscan.pruning.blocks import Blocks
    from whyscan.pruning.transforms.transform import Bucket, Substring
    from whyscan.pruning.value_filters import ValueFilter

Intervals = Mapping[Path, Interval]
NOTHING: Intervals = {}


class Buckets(Struct, frozen=True):
    """A partition field without a preimage: the partition values lie in [lower, upper].

    Of a hash or a part of a text no interval of the source is known, so the literal of an `=` or
    `IN` is transformed instead.
    """

    source: Path
    transform: Bucket | Substring
    lower: Vector | None
    upper: Vector | None


class Containers(Struct, frozen=True, dict=True):
    """`count` containers with their rows, partition values and statistics.

    `rows` is the number of rows of each container: a null slot, or None, where it is unknown.
    `contradicted`: a statistic of the column in this container cannot be true, and was dropped.
    `unreadable`: a statistic of the column in this container cannot be read; the path `()` stands
    for the number of rows.
    `blocks` groups the containers so that many predicates are evaluated faster; it changes no
    result. `filters` say which of some values a container may hold.
    """

    count: int
    rows: pa.Array | None = None
    partition: Intervals = field(default_factory=lambda: NOTHING)
    statistics: Intervals = field(default_factory=lambda: NOTHING)
    buckets: tuple[Buckets, ...] = ()
    exact: Mapping[Path, Exact] = field(default_factory=dict)
    contradicted: Mapping[Path, Mask] = field(default_factory=dict)
    unreadable: Mapping[Path, Mask] = field(default_factory=dict)
    blocks: Blocks | None = None
    filters: Mapping[Path, ValueFilter] = field(default_factory=dict)

    def interval(self, column: Column) -> Interval:
        """Partition value and statistics combined; anything if both are absent."""
        intervals = [
            source[column.path]
            for source in (self.partition, self.statistics)
            if column.path in source
        ]
        if not intervals:
            return anything(column.type)
        if len(intervals) == 1:
            return intervals[0]
        if column.path not in self._met:
            self._met[column.path] = meet(intervals[0], intervals[1])
        return self._met[column.path]

    @lazy
    def _met(self) -> dict[Path, Interval]:
        return {}

    def only(self, columns: Iterable[Column]) -> Containers:
        """The same containers with the partition values and statistics of these columns only."""
        paths = {column.path for column in columns}
        return replace(
            self,
            partition={path: i for path, i in self.partition.items() if path in paths},
            statistics={path: i for path, i in self.statistics.items() if path in paths},
            exact={path: exact for path, exact in self.exact.items() if path in paths},
            contradicted={path: c for path, c in self.contradicted.items() if path in paths},
            unreadable={p: u for p, u in self.unreadable.items() if p in paths or not p},
            filters={path: values for path, values in self.filters.items() if path in paths},
        )

    @property
    def contradictions(self) -> int:
        """How many statistics were dropped, because they cannot be true, over all columns."""
        return sum(tally(mask, self.count) for mask in self.contradicted.values())

    @property
    def unreadable_statistics(self) -> int:
        """How many statistics cannot be read, over all columns."""
        return sum(tally(mask, self.count) for mask in self.unreadable.values())

    def with_filters(self, more: Mapping[Path, ValueFilter]) -> Containers:
        """The same containers with more filters; where both have a column, both must agree."""
        filters = {
            path: self.filters[path].both(values) if path in self.filters else values
            for path, values in more.items()
        }
        return replace(self, filters={**self.filters, **filters})

    def by_partition(self) -> Containers:
        """The same containers with their partition values only."""
        return self._by_partition

    @lazy
    def _by_partition(self) -> Containers:
        return replace(self, statistics=NOTHING, filters={})

    def by_statistics(self) -> Containers:
        """The same containers with their statistics only."""
        return self._by_statistics

    @lazy
    def _by_statistics(self) -> Containers:
        return replace(self, partition=NOTHING, buckets=())

    def unknown_where_only_null(self) -> Containers:
        """The same containers, but columns that are only NULL may have any value there."""
        return self._unknown_where_only_null

    @lazy
    def _unknown_where_only_null(self) -> Containers:
        return replace(self, statistics=_unknown_if_only_null(self.statistics), blocks=None)

    def bounded_by_one_value(self) -> Containers:
        """The same containers, but only columns with one value have bounds there."""
        return self._bounded_by_one_value

    @lazy
    def _bounded_by_one_value(self) -> Containers:
        return replace(
            self,
            partition=_bounded_by_one_value(self.partition),
            statistics=_bounded_by_one_value(self.statistics),
            buckets=(),
            blocks=None,
        )

    def unbounded_where_null(self) -> Containers:
        """The same containers, but columns with both values and NULL have no bounds there."""
        return self._unbounded_where_null

    @lazy
    def _unbounded_where_null(self) -> Containers:
        return replace(self, statistics=_unbounded_if_null(self.statistics), blocks=None)

    def without_nan(self) -> Containers:
        """The same containers without NaN, because the user says that no value is NaN."""
        return self._without_nan

    @lazy
    def _without_nan(self) -> Containers:
        return replace(
            self,
            partition=_without_nan(self.partition),
            statistics=_without_nan(self.statistics),
        )

    @lazy
    def occupied(self) -> Mask:
        """The containers that may have rows: a container without rows matches no predicate."""
        return may(lambda rows: pc.greater(rows, 0), self.rows)

    def take(self, indices: pa.Array) -> Containers:
        """The containers at `indices`, in that order. An index may occur several times."""

        def taken(values: pa.Array) -> pa.Array:
            return values.take(indices)

        return Containers(
            count=len(indices),
            rows=None if self.rows is None else self.rows.take(indices),
            partition={path: i.map(taken) for path, i in self.partition.items()},
            statistics={path: i.map(taken) for path, i in self.statistics.items()},
            buckets=tuple(
                replace(b, lower=_at(b.lower, indices), upper=_at(b.upper, indices))
                for b in self.buckets
            ),
            exact={path: exact.take(indices) for path, exact in self.exact.items()},
            contradicted={p: _at(mask, indices) for p, mask in self.contradicted.items()},
            unreadable={p: _at(mask, indices) for p, mask in self.unreadable.items()},
            filters={path: values.take(indices) for path, values in self.filters.items()},
        )


class ColumnStatistics(Struct, frozen=True):
    """The statistics of one column as a format records them, one slot per container, unchecked.

    A null slot is unknown; None is unknown in all containers. `nan`: a row may be NaN. `nan_count`:
    how many rows are NaN, where the writer counted them. `attained`: the bounds are values of rows,
    neither truncated nor widened.
    """

    lower: pa.Array | None = None
    upper: pa.Array | None = None
    null_count: pa.Array | None = None
    nan: Mask = True
    nan_count: pa.Array | None = None
    attained: Mask = False


class CheckedStatistics(Struct, frozen=True):
    """A column's interval, and which containers lost a statistic that contradicts itself."""

    interval: Interval
    exact: Exact
    contradicted: Mask = False


def checked(kind: Type, statistics: ColumnStatistics, rows: pa.Array | None) -> CheckedStatistics:
    """Statistics of one column, checked and turned into an interval.

    Bounds that cross each other are dropped. All statistics of a container are dropped if its
    number of NULLs is below zero or above its rows, or if it has bounds although its rows are only
    NaN and NULL. A bound that is NaN says only that some row is NaN.
    """
    lower, upper, nan = _without_nan_bounds(kind, statistics)
    nulls = statistics.null_count
    only_nan = surely(_leave_none, nulls, statistics.nan_count, rows)
    crossed = surely(greater, lower, upper)
    wrong_counts = either(
        both(only_nan, either(has_value(lower), has_value(upper))),
        surely(lambda n: pc.less(n, 0), nulls),
        surely(pc.greater, nulls, rows),
        # Bounds, crossed or not, prove that some row has a value.
        both(crossed, surely(pc.equal, nulls, rows)),
    )
    wrong = either(crossed, wrong_counts)
    right = opposite(wrong)
    nulls = keep(opposite(wrong_counts), nulls)
    interval = Interval(
        kind,
        keep(right, lower),
        keep(right, upper),
        value=both(may(pc.less, nulls, rows), either(opposite(only_nan), wrong)),
        null=may(lambda n: pc.greater(n, 0), nulls),
        nan=both(either(nan, wrong), may(pc.less, nulls, rows)) if _has_nan(kind) else False,
        counted=has_value(nulls),
    )
    exact = Exact(
        nulls,
        both(statistics.attained, has_value(interval.lower)),
        both(statistics.attained, has_value(interval.upper)),
        keep(right, statistics.nan_count),
    )
    return CheckedStatistics(interval, exact, wrong)


def _leave_none(nulls: pa.Array, nans: pa.Array, rows: pa.Array) -> pa.Array:
    """Some rows are NaN, and all other rows are NULL."""
    return pc.and_(pc.greater(nans, 0), pc.equal(nans, pc.subtract(rows, nulls)))


def _without_nan_bounds(
    kind: Type, statistics: ColumnStatistics
) -> tuple[pa.Array | None, pa.Array | None, Mask]:
    if not _has_nan(kind):
        return statistics.lower, statistics.upper, False
    lower_is_nan = surely(pc.is_nan, statistics.lower)
    upper_is_nan = surely(pc.is_nan, statistics.upper)
    return (
        keep(opposite(lower_is_nan), statistics.lower),
        keep(opposite(upper_is_nan), statistics.upper),
        either(statistics.nan, lower_is_nan, upper_is_nan),
    )


def _has_nan(kind: Type) -> bool:
    return isinstance(kind, FloatType)


def _without_nan(intervals: Intervals) -> Intervals:
    return {path: replace(i, nan=False) for path, i in intervals.items()}


def _unknown_if_only_null(intervals: Intervals) -> Intervals:
    return {
        path: replace(i, value=either(i.value, opposite(i.present)))
        for path, i in intervals.items()
    }


def _bounded_by_one_value(intervals: Intervals) -> Intervals:
    return {
        path: i.map_bounds(partial(keep, both(i.point(), opposite(i.null))))
        for path, i in intervals.items()
    }


def _unbounded_if_null(intervals: Intervals) -> Intervals:
    return {path: i.map_bounds(partial(keep, opposite(i.null))) for path, i in intervals.items()}


def _at(values: Vector | None, indices: pa.Array) -> Vector | None:
    return values.take(indices) if isinstance(values, pa.Array) else values
