"""A layout for one table: its columns found, and refused where the table's format cannot do it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import UsageError
from whyscan.layouts.layout import Layout, Order, OrderKind, PartitionTerm
from whyscan.planning.plan.request import leaf_columns, projection_of
from whyscan.pruning.transforms import Bucket, IdentityTransform, Unknown, Void, supports
from whyscan.tree.arrow import arrow_type
from whyscan.tree.types import BooleanType, FloatType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whyscan.tables.snapshot import Files, Snapshot
    from whyscan.tree.nodes import Column, Path


class AppliedLayout(Struct, frozen=True):
    """A layout of one table. What the layout leaves open is filled in from the table.

    `columns` are the columns that partitions and the order are made from; `statistics` are the
    columns with statistics, None for those that the table's settings name. `today` are the
    partition fields of the table.
    """

    layout: Layout
    partitions: tuple[PartitionTerm, ...]
    order: Order | None
    columns: tuple[Column, ...]
    statistics: frozenset[Path] | None
    today: tuple[PartitionTerm, ...] = ()
    bloom: tuple[Path, ...] = ()
    manifests: tuple[Path, ...] = ()


def apply(layout: Layout, snapshot: Snapshot) -> AppliedLayout:
    """Find the columns of a layout in a table, and check that its format can do it."""
    columns = {column.path: column for column in leaf_columns(snapshot)}

    def column_path(path: Path) -> Path:
        (name,) = projection_of([".".join(path)], snapshot)
        if name not in columns:
            raise UsageError(
                f"a layout cannot use {'.'.join(name)}, which is a struct", hint="name a member"
            )
        return name

    today = partitions_today(snapshot)
    if layout.partitions is None:
        partitions = today
    else:
        partitions = tuple(replace(t, path=column_path(t.path)) for t in layout.partitions)
    order = layout.order and replace(
        layout.order,
        columns=tuple(replace(c, path=column_path(c.path)) for c in layout.order.columns),
    )
    for term in partitions:
        _check_partition(term, columns[term.path], snapshot.format)
    for ordered in order.columns if order else ():
        if pa.types.is_null(arrow_type(columns[ordered.path].type)):
            kind = columns[ordered.path].type
            raise UsageError(f"rows have no order by {'.'.join(ordered.path)}, of type {kind}")
    if snapshot.format == "delta" and partitions and order and order.kind is OrderKind.CLUSTER:
        raise UsageError(
            "a Delta table with partitions cannot be clustered",
            hint="write partition by none, or zorder by",
        )
    bloom = tuple(map(column_path, layout.bloom or ()))
    for path in bloom:
        if isinstance(columns[path].type, BooleanType):
            raise UsageError(f"{'.'.join(path)} has two values: Parquet has no bloom filter of it")
    statistics = layout.statistics
    sources = (*(t.path for t in partitions), *(c.path for c in (order.columns if order else ())))
    return AppliedLayout(
        layout,
        partitions,
        order,
        tuple(columns[path] for path in dict.fromkeys(sources)),
        None if statistics is None else frozenset(map(column_path, statistics)),
        today,
        bloom,
        _manifest_order(layout, partitions, snapshot.format, column_path),
    )


def _manifest_order(
    layout: Layout,
    partitions: Sequence[PartitionTerm],
    table_format: str,
    column_path: Callable[[Path], Path],
) -> tuple[Path, ...]:
    """The partition columns that manifests are ordered by, as the table spells them."""
    if layout.manifests is not None and table_format != "iceberg":
        raise UsageError(f"{table_format} tables have no manifests to order")
    paths = tuple(map(column_path, layout.manifests or ()))
    sources = {term.path for term in partitions}
    for path in paths:
        if path not in sources:
            fields = ", ".join(".".join(source) for source in sorted(sources)) or "none"
            raise UsageError(
                f"manifests have bounds of partition columns alone, and not of {'.'.join(path)}",
                hint=f"the partition columns are {fields}",
            )
    return paths


def partitions_today(snapshot: Snapshot) -> tuple[PartitionTerm, ...]:
    """The partition fields that new files of the table have."""
    specs = snapshot.specs
    current = next((at for at, line in enumerate(snapshot.numbered_specs) if line.current), 0)
    spec = specs[current] if current < len(specs) else specs[-1]
    return tuple(
        PartitionTerm(path, transform)
        for path, transforms in spec.items()
        for transform in transforms
        if not isinstance(transform, Void)
    )


def _check_partition(term: PartitionTerm, column: Column, table_format: str) -> None:
    """Raise an error for a partition field that the format or the type of the column has not."""
    is_identity = isinstance(term.transform, IdentityTransform)
    if table_format != "iceberg" and not is_identity:
        raise UsageError(
            f"{table_format} tables have no partition transforms: {term}",
            hint="partition by a column that holds the value, such as a generated column",
        )
    hashes_a_float = isinstance(term.transform, Bucket) and isinstance(column.type, FloatType)
    if (
        hashes_a_float
        or isinstance(term.transform, Unknown)
        or not supports(term.transform, column.type)
    ):
        raise UsageError(
            f"{term} is not defined for {'.'.join(column.path)}, of type {column.type}"
        )


def rows_a_file(layout: Layout, files: Files, table_rows: int) -> float:
    """How many rows a file of the layout has: by its file size, else by the median file of today.

    The bytes of a row are those of the table on average.
    """
    size = layout.file_size or median_size(files)
    return max(1.0, round(size / max(bytes_a_row(files, table_rows), 1e-9)))


def bytes_a_row(files: Files, table_rows: int) -> float:
    return (pc.sum(files.bytes).as_py() or 0) / max(1, table_rows)


def median_size(files: Files) -> int:
    """The size of the median file; half of the files are smaller."""
    sizes: Sequence[int] = sorted(files.bytes.drop_null().to_pylist())
    return max(1, sizes[len(sizes) // 2]) if sizes else 1
