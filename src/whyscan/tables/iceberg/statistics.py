"""Column statistics of manifest entries: maps from field id to counts and bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from whyscan.pruning.containers import ColumnStatistics, checked
from whyscan.pruning.interval import only_null
from whyscan.pruning.mask import Mask, surely, unknown_as
from whyscan.tables.iceberg.bounds import decode_both, in_either_order
from whyscan.tables.iceberg.decoding import one_array
from whyscan.tables.iceberg.manifests import OF_MEMBERS, STATISTICS, SortedMaps, lookup
from whyscan.tables.truncated_times import with_cut_microseconds
from whyscan.tree.arrow import arrow_type
from whyscan.tree.types import BinaryType, FloatType, NullType, StringType, TimestampType, UuidType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.pruning.exact import Exact
    from whyscan.pruning.interval import Interval
    from whyscan.tables.iceberg.schemas import IcebergColumn
    from whyscan.tree.nodes import Path


class Statistics(Struct, frozen=True):
    """The intervals of some columns; which statistics are contradictory, which are unreadable."""

    intervals: dict[Path, Interval]
    exact: dict[Path, Exact]
    contradicted: dict[Path, Mask]
    unreadable: dict[Path, Mask]


class StatisticsReader(Struct, frozen=True):
    """Reads the statistics of some columns.

    `from_delta`: Delta wrote this metadata. Delta records milliseconds, so that the greatest
    timestamp may be up to 999 µs above the upper bound.
    """

    columns: Sequence[IcebergColumn]
    from_delta: bool = False

    @property
    def fields(self) -> dict[str, pa.DataType]:
        """The fields of entries that have the statistics."""
        if not self.columns:
            return {}
        return STATISTICS | (OF_MEMBERS if any(map(_in_a_struct, self.columns)) else {})

    def read(self, entries: pa.Table, rows: pa.Array) -> Statistics:
        """The interval of every column whose type has an order."""
        intervals: dict[Path, Interval] = {}
        exact: dict[Path, Exact] = {}
        contradicted: dict[Path, Mask] = {}
        unreadable: dict[Path, Mask] = {}
        lookups = _Lookups(entries, many=len(self.columns) > _FEW)
        for leaf in self.columns:
            if isinstance(leaf.type, NullType):
                intervals[leaf.path] = only_null(leaf.type)
            if pa.types.is_null(arrow_type(leaf.type)):
                continue
            statistics, unreadable[leaf.path] = self._statistics(entries, leaf, rows, lookups)
            believed = checked(leaf.type, statistics, rows)
            intervals[leaf.path], exact[leaf.path] = believed.interval, believed.exact
            contradicted[leaf.path] = believed.contradicted
        return Statistics(intervals, exact, contradicted, unreadable)

    def _statistics(
        self, entries: pa.Table, leaf: IcebergColumn, rows: pa.Array, lookups: _Lookups
    ) -> tuple[ColumnStatistics, Mask]:
        def values(name: str) -> pa.Array:
            return lookups.values(name, leaf.id)

        bounds = values("lower_bounds"), values("upper_bounds")
        lower, upper, lost = decode_both(bounds, leaf.type)
        match leaf.type:
            case UuidType():
                lower, upper = in_either_order(lower, upper)
            case TimestampType() if self.from_delta:
                upper = with_cut_microseconds(upper)
            case _:
                pass
        nan: Mask = False
        nans = None
        if isinstance(leaf.type, FloatType):
            nans = values("nan_value_counts")
            nan = unknown_as(pc.not_equal(nans, 0), verdict=True)
        nulls = values("null_value_counts")
        if nans is not None:
            no_null = pc.if_else(pc.equal(nans, rows), pa.scalar(0, pa.int64()), None)
            nulls = pc.coalesce(nulls, no_null)
        if leaf.required:
            nulls = pc.fill_null(nulls, 0)
        elif _in_a_struct(leaf):
            nulls = _with_null_structs(nulls, values("value_counts"), rows)
        attained = self._attained(entries, leaf)
        return ColumnStatistics(lower, upper, nulls, nan, nans, attained), lost

    def _attained(self, entries: pa.Table, leaf: IcebergColumn) -> Mask:
        """Whether a bound is a value. Text bounds are truncated, ORC's timestamps rounded."""
        if self.from_delta or isinstance(leaf.type, StringType | BinaryType | UuidType):
            return False
        return surely(pc.equal, pc.utf8_lower(one_array(entries["file_format"])), "parquet")


_FEW = 16
"""For at most this many columns the maps are searched; for more they are sorted first."""


class _Lookups(Struct):
    """Looks up the values of a column in the maps of entries."""

    entries: pa.Table
    many: bool
    by_name: dict[str, SortedMaps] = field(default_factory=dict)

    def values(self, name: str, number: int) -> pa.Array:
        if not self.many:
            return lookup(one_array(self.entries[name]), number)
        if name not in self.by_name:
            self.by_name[name] = SortedMaps.of(one_array(self.entries[name]))
        return self.by_name[name].lookup(number)


def _in_a_struct(leaf: IcebergColumn) -> bool:
    return len(leaf.path) > 1


def _with_null_structs(nulls: pa.Array, values: pa.Array, rows: pa.Array) -> pa.Array:
    """The NULLs of a struct's member, with the rows whose struct is NULL; null if unknown.

    For ORC files Iceberg's library counts the values and NULLs of a member only in rows whose
    struct is not NULL, for Parquet files in all rows.
    """
    null_structs = pc.subtract(rows, values)
    counted = pc.if_else(pc.greater_equal(null_structs, 0), pc.add(nulls, null_structs), None)
    return pc.if_else(pc.less(nulls, 0), nulls, counted)
