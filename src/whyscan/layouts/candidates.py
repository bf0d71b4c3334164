"""Which layouts are worth trying for a table, from the columns that its workload filters by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.layouts.layout import Order, OrderColumn, OrderKind, PartitionTerm
from whyscan.pruning.transforms import Bucket, Day, IdentityTransform, Month, Truncate
from whyscan.tree.types import DateType, IntegerType, StringType, TimestampType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.layouts.layout import Layout
    from whyscan.pruning.transforms import Transform
    from whyscan.tree.nodes import Column, Path

MOST_COLUMNS = 6
"""The columns that are tried, the costliest of the workload."""
MOST_TOGETHER = 4
_MOST_SORTED = 3
_BUCKETS = 16


def single_orders(base: Layout, columns: Sequence[Column]) -> Iterator[Layout]:
    """The base layout sorted by one column, for each of the columns."""
    for column in columns[:MOST_COLUMNS]:
        yield _ordered(base, OrderKind.SORT, (column.path,))


def longer_orders(
    layouts: Sequence[Layout], columns: Sequence[Column], kinds: Sequence[OrderKind]
) -> Iterator[Layout]:
    """Each layout with one more column: sorted last, or along curves of these kinds."""
    for layout in layouts:
        order = layout.order
        paths = tuple(column.path for column in order.columns) if order else ()
        more = [c.path for c in columns[:MOST_COLUMNS] if c.path not in paths]
        for path in more if len(paths) < MOST_TOGETHER else ():
            if order is not None and order.kind is OrderKind.SORT and len(paths) < _MOST_SORTED:
                yield _ordered(layout, OrderKind.SORT, (*paths, path))
            for kind in kinds:
                yield _ordered(layout, kind, sorted((*paths, path)))


def curves(table_format: str, *, partitioned: bool) -> tuple[OrderKind, ...]:
    """The curves that engines write for a format; Hive and plain Parquet tables have none.

    Delta clusters tables without partitions alone.
    """
    match table_format:
        case "delta" if not partitioned:
            return OrderKind.CLUSTER, OrderKind.ZORDER
        case "delta" | "iceberg":
            return (OrderKind.ZORDER,)
        case _:
            return ()


def partitionings(
    base: Layout,
    columns: Sequence[Column],
    distinct: Mapping[Path, int],
    table_format: str,
    files: int,
) -> Iterator[Layout]:
    """Partitions by columns with few values, and by Iceberg's transforms.

    A column with more values than the table has files makes small files. `distinct` counts the
    values in the sample.
    """
    for column in columns[:MOST_COLUMNS]:
        if 1 < distinct[column.path] <= max(2, files):
            yield _partitioned(base, column, IdentityTransform())
        if table_format == "iceberg":
            for transform in _transforms(column):
                yield _partitioned(base, column, transform)


def with_order(partitioning: Layout, order: Layout, kinds: Sequence[OrderKind]) -> Layout | None:
    """A layout with the partitions of the first and the order of the second.

    `kinds` are the curves that partitions can have. None if all columns of the order have one value
    in each partition.
    """
    single = {
        term.path
        for term in partitioning.partitions or ()
        if isinstance(term.transform, IdentityTransform)
    }
    inner = tuple(c for c in order.order.columns if c.path not in single) if order.order else ()
    if not inner or order.order is None:
        return None
    is_curve = order.order.kind is not OrderKind.SORT and len(inner) > 1
    kind = order.order.kind if is_curve else OrderKind.SORT
    if kind not in (OrderKind.SORT, *kinds):
        return None
    return replace(partitioning, order=Order(kind, inner))


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


def _ordered(base: Layout, kind: OrderKind, paths: Sequence[Path]) -> Layout:
    return replace(base, order=Order(kind, tuple(map(OrderColumn, paths))))


def _partitioned(base: Layout, column: Column, transform: Transform) -> Layout:
    return replace(base, partitions=(PartitionTerm(column.path, transform),))
