"""Which layouts are worth trying for a table, from the columns that its workload filters by."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import TYPE_CHECKING

from whyscan.layouts.layout import Layout, Order, OrderColumn, OrderKind, PartitionTerm
from whyscan.pruning.transforms import Bucket, Day, IdentityTransform, Month, Truncate
from whyscan.tree.types import DateType, IntegerType, StringType, TimestampType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.pruning.transforms import Transform
    from whyscan.tree.nodes import Column, Path

MOST_COLUMNS = 6
"""The columns that are tried alone; the first `COMBINED` of them are tried together, too."""
COMBINED = 4
_BUCKETS = 16
_MOST_TOGETHER = 4


def single_orders(columns: Sequence[Column]) -> Iterator[Layout]:
    """One layout for each column, sorted by it."""
    for column in columns[:MOST_COLUMNS]:
        yield _ordered(OrderKind.SORT, (column.path,))


def orders_together(columns: Sequence[Column], table_format: str) -> Iterator[Layout]:
    """Two to four columns: sorted one after the other, or along the curve of the format."""
    paths = [column.path for column in columns[:COMBINED]]
    for pair in permutations(paths, 2):
        yield _ordered(OrderKind.SORT, pair)
    for count in range(2, min(_MOST_TOGETHER, len(paths)) + 1):
        for together in combinations(paths, count):
            for kind in curves(table_format):
                yield _ordered(kind, together)


def curves(table_format: str) -> tuple[OrderKind, ...]:
    """The curves that engines write for a format; Hive and plain Parquet tables have none."""
    by_format = {
        "delta": (OrderKind.CLUSTER, OrderKind.ZORDER),
        "iceberg": (OrderKind.ZORDER,),
    }
    return by_format.get(table_format, ())


def partitionings(
    columns: Sequence[Column], distinct: Mapping[Path, int], table_format: str, files: int
) -> Iterator[Layout]:
    """Partitions by columns with few values, and by Iceberg's transforms.

    A column with more values than the table has files makes small files. `distinct` counts the
    values in the sample.
    """
    for column in columns[:MOST_COLUMNS]:
        if 1 < distinct[column.path] <= max(2, files):
            yield _partitioned(column, IdentityTransform())
        if table_format == "iceberg":
            for transform in _transforms(column):
                yield _partitioned(column, transform)


def with_order(partitioning: Layout, order: Layout) -> Layout:
    """A layout with the partitions of the first and the order of the second."""
    return Layout(partitions=partitioning.partitions, order=order.order)


def _transforms(column: Column) -> tuple[Transform, ...]:
    match column.type:
        case DateType():
            return (Month(),)
        case TimestampType():
            return Day(), Month()
        case IntegerType():
            return (Bucket(_BUCKETS),)
        case StringType():
            return Bucket(_BUCKETS), Truncate(1)
        case _:
            return ()


def _ordered(kind: OrderKind, paths: Sequence[Path]) -> Layout:
    return Layout(order=Order(kind, tuple(map(OrderColumn, paths))))


def _partitioned(column: Column, transform: Transform) -> Layout:
    return Layout(partitions=(PartitionTerm(column.path, transform),))
