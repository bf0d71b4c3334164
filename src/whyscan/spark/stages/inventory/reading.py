"""Read the parts of snapshots on executors: one row per container."""

from __future__ import annotations

import pickle
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from whyscan.errors import UsageError, WhyscanError
from whyscan.pruning.containers import NOTHING
from whyscan.pruning.mask import materialise
from whyscan.spark.errors import carried, to_text
from whyscan.spark.stages.inventory.rows import (
    ContainerRows,
    failed,
    partition_types,
    partition_values,
)
from whyscan.tables.inventory.container_schema import (
    CHUNK,
    FILE,
    FOOTER_READ,
    MANIFEST,
    OF_THE_FORMAT,
    OUT_OF_REACH,
    PARQUET,
    ROW_GROUP,
)
from whyscan.tables.snapshot import EachColumn
from whyscan.tree import zones
from whyscan.tree.nodes import leaves_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from whyscan.tables.snapshot import Files, Manifests, RowGroups, Snapshot
    from whyscan.tree.nodes import Column

    Work = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

PARTS = pa.schema(
    [
        ("table", pa.string()),
        ("uri", pa.string()),
        ("format", pa.string()),
        ("snapshot", pa.string()),
        ("part", pa.int32()),
        ("contents", pa.binary()),
    ]
)
"""The input rows of a task: a pickled part, its number, and the names of its table."""

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


def parts_of_task(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[dict[str, Any], Snapshot]]:
    """The unpickled parts of a task, each with the names of its table."""
    for batch in batches:
        for row in batch.to_pylist():
            contents = row.pop("contents")
            yield row, pickle.loads(contents)  # noqa: S301 - written by the driver


def rows(
    about: Mapping[str, Any], part: Snapshot, depth: InventoryDepth
) -> Iterator[pa.RecordBatch]:
    """The containers of a part, one batch per level."""
    columns = list(leaves_within(part.schema().fields))
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
        values = {"files": manifests.files, "rows": manifests.rows}
        yield ContainerRows(MANIFEST, manifests.paths, manifests.containers, values)
    files = part.files(columns, _UTC)
    values = _values_of_files(part, files, manifests)
    if depth is InventoryDepth.FILES:
        yield ContainerRows(FILE, files.paths, files.containers, values)
        return
    everything = pa.array(np.arange(files.count))
    each = EachColumn(column.path for column in columns)
    groups = part.row_groups(files, everything, columns, each)
    values["footer"] = _footers(groups, files)
    yield ContainerRows(FILE, files.paths, files.containers, values)
    values_of_groups = _values_of_row_groups(groups, values)
    values_of_groups["chunks"] = _chunks(groups, each)
    # Partition values are those of the file.
    own = replace(groups.containers, partition=NOTHING, buckets=())
    yield ContainerRows(ROW_GROUP, files.paths.take(groups.owners), own, values_of_groups)


def _values_of_files(
    part: Snapshot, files: Files, manifests: Manifests | None
) -> dict[str, pa.Array | None]:
    partition = partition_values(files, part.numbered_specs)
    none = pa.repeat(pa.scalar(0, pa.int64()), files.count)
    listed = None
    if manifests is not None and files.manifest is not None:
        listed = manifests.paths.take(files.manifest)
    return {
        "partition": partition,
        "partition_types": partition_types(files, partition),
        "bytes": files.bytes,
        "rows": files.rows,
        "live_rows": files.containers.rows,
        "deleted": files.deleted,
        "maybe_deleted": none if files.maybe_deleted is None else files.maybe_deleted,
        "manifest": listed,
        "spec": files.spec,
        "file_format": files.formats,
        "wrong_counts": _at_the_first(files.wrong_counts, files.count),
        "rows_unreadable": materialise(files.containers.unreadable.get((), False), files.count),
    }


def _footers(groups: RowGroups, files: Files) -> pa.Array:
    """One text per file: whether its footer was read, or why not."""
    reasons = {u.why for u in groups.unchecked if not u.why.startswith(OF_THE_FORMAT)}
    other = reasons.pop() if len(reasons) == 1 else OUT_OF_REACH
    why = pa.repeat(other, files.count)
    if files.formats is not None:
        named = pc.binary_join_element_wise(OF_THE_FORMAT, files.formats, "")
        why = pc.if_else(pc.equal(files.formats, PARQUET), why, named)
    everything = pa.array(np.arange(files.count))
    reached = pc.is_in(everything, groups.opened.cast(everything.type))
    return pc.if_else(reached, FOOTER_READ, why)


def _at_the_first(number: int, count: int) -> pa.Array:
    """A number of a whole part: its first container has the number, the others have 0."""
    numbers = np.zeros(count, np.int64)
    numbers[:1] = number
    return pa.array(numbers)


def _values_of_row_groups(
    groups: RowGroups, values_of_files: Mapping[str, pa.Array | None]
) -> dict[str, pa.Array | None]:
    partition, types = (values_of_files[name] for name in ("partition", "partition_types"))
    unreadable = groups.containers.unreadable.get((), False)
    return {
        "position": groups.owners,
        "partition": None if partition is None else partition.take(groups.owners),
        "partition_types": None if types is None else types.take(groups.owners),
        "ordinal": groups.ordinal,
        "bytes": groups.bytes,
        "rows": groups.containers.rows,
        "rows_unreadable": materialise(unreadable, groups.count),
    }


def _chunks(groups: RowGroups, each: EachColumn) -> pa.ListArray | None:
    """The byte ranges of every column in each row group."""
    if groups.chunks is None:
        return None
    flat = groups.chunks.flatten()
    names = pa.array([".".join(path) for path in each], pa.string())
    items = [
        names.take(pc.list_element(flat, 0)),
        pc.list_element(flat, 1),
        pc.list_element(flat, 2),
    ]
    chunks = pa.StructArray.from_arrays(items, fields=list(CHUNK))
    return pa.ListArray.from_arrays(groups.chunks.offsets, chunks)
