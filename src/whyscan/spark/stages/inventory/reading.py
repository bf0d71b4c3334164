"""Read the parts of snapshots on executors: one row per container."""

from __future__ import annotations

import pickle
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from whyscan.errors import UsageError, WhyscanError
from whyscan.spark.errors import carried, to_text
from whyscan.spark.stages.inventory.rows import (
    FILE,
    MANIFEST,
    ROW_GROUP,
    ContainerRows,
    failed,
    leaves,
    partition_values,
)
from whyscan.tree import zones

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from whyscan.tables.snapshot import Files, Snapshot
    from whyscan.tree.nodes import Column

    Work = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

PARTS = pa.schema(
    [
        ("table", pa.string()),
        ("uri", pa.string()),
        ("format", pa.string()),
        ("snapshot", pa.string()),
        ("part", pa.binary()),
    ]
)
"""The input rows of a task: a pickled part, and the names of its table."""

BATCH = 10_000
"""The most containers in one batch to the JVM."""
_UTC = zones.zone("UTC")


class InventoryDepth(StrEnum):
    """The lowest level that is listed; row groups need the footers of the data files."""

    FILES = "files"
    ROW_GROUPS = "row-groups"

    @property
    def files_each(self) -> int:
        """The most files of a part: reading a footer takes longer than an entry of a log."""
        return 100_000 if self is InventoryDepth.FILES else 5_000


def depth_named(name: str) -> InventoryDepth:
    """The depth of a name; UsageError for an unknown name."""
    try:
        return InventoryDepth(name)
    except ValueError:
        raise UsageError(f"there is no depth {name!r}", hint="files or row-groups") from None


def reading(depth: InventoryDepth) -> Work:
    """The function for `mapInArrow`: read parts; an unreadable part is an error."""

    @carried
    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for about, part in parts_of_task(batches):
            yield from in_batches(rows(about, part, depth))

    return read


def reading_what_can_be_read(depth: InventoryDepth) -> Work:
    """The function for `mapInArrow`: read parts; an unreadable part gives a row with the error."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for about, part in parts_of_task(batches):
            try:
                yield from in_batches(rows(about, part, depth))
            except WhyscanError as error:
                yield failed(about, to_text(error))
            # A damaged table must not stop the other tables, whatever it raises.
            except Exception as error:  # noqa: BLE001
                unreadable = WhyscanError(f"it cannot be read: {type(error).__name__}: {error}")
                yield failed(about, to_text(unreadable))

    return read


def parts_of_task(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[dict[str, str], Snapshot]]:
    """The unpickled parts of a task, each with the names of its table."""
    for batch in batches:
        for row in batch.to_pylist():
            part = row.pop("part")
            yield row, pickle.loads(part)  # noqa: S301 - written by the driver


def rows(
    about: Mapping[str, str], part: Snapshot, depth: InventoryDepth
) -> Iterator[pa.RecordBatch]:
    """The containers of a part, one batch per level."""
    columns = list(leaves(part.schema().fields))
    for level in _levels(part, columns, depth):
        yield level.batch(about, columns)


def in_batches(levels: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows in batches that are small enough for the JVM."""
    for level in levels:
        for start in range(0, level.num_rows, BATCH):
            yield level.slice(start, BATCH)


def _levels(
    part: Snapshot, columns: Sequence[Column], depth: InventoryDepth
) -> Iterator[ContainerRows]:
    manifests = part.manifests()
    if manifests is not None:
        yield ContainerRows(
            MANIFEST,
            manifests.paths,
            manifests.containers,
            rows=manifests.rows,
            files=manifests.files,
        )
    files = part.files(columns, _UTC)
    partition = partition_values(files, part.numbered_specs)
    yield ContainerRows(
        FILE,
        files.paths,
        files.containers,
        partition=partition,
        bytes=files.bytes,
        rows=files.rows,
        deleted=files.deleted,
    )
    if depth is InventoryDepth.ROW_GROUPS:
        yield _row_groups(part, files, partition, columns)


def _row_groups(
    part: Snapshot, files: Files, partition: pa.Array, columns: Sequence[Column]
) -> ContainerRows:
    everything = pa.array(np.arange(files.count))
    groups = part.row_groups(files, everything, columns, ())
    return ContainerRows(
        ROW_GROUP,
        files.paths.take(groups.owners),
        groups.containers,
        partition=partition.take(groups.owners),
        ordinal=groups.ordinal,
        bytes=groups.bytes,
        rows=groups.containers.rows,
    )
