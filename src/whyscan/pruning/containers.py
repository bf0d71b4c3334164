"""A batch of containers as the evaluator sees it: for each column, an interval a container.

Readers fill it; nothing here knows of a format. Partition values and statistics are kept
apart, because the report credits them apart; `interval` is what both say together.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    keep,
    known,
    may,
    opposite,
    settled,
    surely,
    tally,
)
from whyscan.tree.lazy import lazy
from whyscan.tree.nodes import Column, Path
from whyscan.tree.types import FloatType, Type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whyscan.pruning.blocks import Blocks

Intervals = Mapping[Path, Interval]
NOTHING: Intervals = {}


class Buckets(Struct, frozen=True):
    """A bucket partition field: each container's bucket numbers lie in [lower, upper].

    Hashing has no preimage interval, so the literal of an `=` or `IN` is hashed forward.
    """

    source: Path
    count: int
    lower: Vector | None
    upper: Vector | None


class Containers(Struct, frozen=True, dict=True):
    """`count` containers: their rows (unknown: a null slot, or None) and what is known of them.

    `blocks` put them together for many questions; what they say does not depend on it.
    """

    count: int
    rows: pa.Array | None = None
    partition: Intervals = field(default_factory=lambda: NOTHING)
    statistics: Intervals = field(default_factory=lambda: NOTHING)
    buckets: tuple[Buckets, ...] = ()
    exact: Mapping[Path, Exact] = field(default_factory=dict)
    blocks: Blocks | None = None

    def interval(self, column: Column) -> Interval:
        """Partition value and statistics together; anything where neither speaks."""
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

    def of(self, columns: Iterable[Column]) -> Containers:
        """The same containers with nothing but what is known of these columns."""
        paths = {column.path for column in columns}
        return replace(
            self,
            partition={path: i for path, i in self.partition.items() if path in paths},
            statistics={path: i for path, i in self.statistics.items() if path in paths},
            exact={path: exact for path, exact in self.exact.items() if path in paths},
        )

    def by_partition(self) -> Containers:
        """The same containers with nothing but their partition values."""
        return self._by_partition

    @lazy
    def _by_partition(self) -> Containers:
        return replace(self, statistics=NOTHING)

    def by_statistics(self) -> Containers:
        """The same containers with nothing but their statistics."""
        return self._by_statistics

    @lazy
    def _by_statistics(self) -> Containers:
        return replace(self, partition=NOTHING, buckets=())

    def without_nan(self) -> Containers:
        """The same containers, on the user's word that no value is NaN."""
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
        """Some row may be there: a container without rows matches no predicate."""
        return may(lambda rows: pc.greater(rows, 0), self.rows)

    def take(self, indices: pa.Array) -> Containers:
        """The containers at `indices`, in that order, repeated as often as named."""
        return Containers(
            count=len(indices),
            rows=None if self.rows is None else self.rows.take(indices),
            partition={path: _take(i, indices) for path, i in self.partition.items()},
            statistics={path: _take(i, indices) for path, i in self.statistics.items()},
            buckets=tuple(
                replace(b, lower=_at(b.lower, indices), upper=_at(b.upper, indices))
                for b in self.buckets
            ),
            exact={path: exact.take(indices) for path, exact in self.exact.items()},
        )


class ColumnStatistics(Struct, frozen=True):
    """What a format records of one column, container by container, before anybody believes it.

    Null slots are unknown; None is unknown everywhere. `nan` is the evidence: may a row be NaN?
    `nan_count` is how many are, where somebody counted. `attained`: the bounds, where there are
    some, are values of rows, neither cut nor widened.
    """

    lower: pa.Array | None = None
    upper: pa.Array | None = None
    null_count: pa.Array | None = None
    nan: Mask = True
    nan_count: pa.Array | None = None
    attained: Mask = False


class Believed(Struct, frozen=True):
    """An interval and how many containers had a statistic dropped because it cannot be true."""

    interval: Interval
    exact: Exact
    contradictions: int = field(default=0)


def believe(
    kind: Type, statistics: ColumnStatistics, rows: pa.Array | None, count: int
) -> Believed:
    """Statistics as an interval.

    Bounds that contradict each other are dropped; nulls below zero or above the rows, and bounds
    of a value where NULL and NaN leave none, take all with them. A NaN bound says only that NaN
    is there.
    """
    lower, upper, nan = _without_nan_bounds(kind, statistics)
    nulls = statistics.null_count
    only_nan = surely(_leave_none, nulls, statistics.nan_count, rows)
    crossed = surely(greater, lower, upper)
    wrong_counts = either(
        both(only_nan, either(known(lower), known(upper))),
        surely(lambda n: pc.less(n, 0), nulls),
        surely(pc.greater, nulls, rows),
        # Bounds, crossed or not, are those of a value.
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
        counted=known(nulls),
    )
    exact = Exact(
        nulls,
        both(statistics.attained, known(interval.lower)),
        both(statistics.attained, known(interval.upper)),
        keep(right, statistics.nan_count),
    )
    return Believed(interval, exact, tally(wrong, count))


def _leave_none(nulls: pa.Array, nans: pa.Array, rows: pa.Array) -> pa.Array:
    """Some rows are NaN, and all others NULL."""
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


def _take(interval: Interval, indices: pa.Array) -> Interval:
    lower = _at(interval.lower, indices)
    return replace(
        interval,
        lower=lower,
        upper=lower if interval.upper is interval.lower else _at(interval.upper, indices),
        value=_mask_at(interval.value, indices),
        null=_mask_at(interval.null, indices),
        nan=_mask_at(interval.nan, indices),
        raises=_mask_at(interval.raises, indices),
        counted=_mask_at(interval.counted, indices),
    )


def _at(values: Vector | None, indices: pa.Array) -> Vector | None:
    return values.take(indices) if isinstance(values, pa.Array) else values


def _mask_at(mask: Mask, indices: pa.Array) -> Mask:
    return mask if isinstance(mask, bool) else settled(mask.take(indices))
