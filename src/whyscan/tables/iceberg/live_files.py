"""Live entries as the planner's files: partition values, statistics and deletes put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.pruning.concatenation import concatenate
from whyscan.pruning.containers import Containers
from whyscan.pruning.interval import Interval, between
from whyscan.tables.iceberg import partitions
from whyscan.tables.iceberg.partition_values import as_type, shown
from whyscan.tables.parquet import metadata_columns
from whyscan.tables.snapshot import Files
from whyscan.tree.types import BIGINT, STRING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from whyscan.tables.iceberg.deletes import Hidden
    from whyscan.tables.iceberg.entries import Entries
    from whyscan.tables.iceberg.schemas import IcebergColumn
    from whyscan.tables.iceberg.statistics import StatisticsReader
    from whyscan.tree.nodes import Path


Put: TypeAlias = Callable[[Sequence[pa.Array]], pa.Array]


class EntryColumns(Struct, frozen=True):
    """What a plan asks of entries: statistics of some columns, constants of the file by path."""

    statistics: StatisticsReader
    constants: Collection[Path]


class LiveFileBatch(Struct, frozen=True):
    """Some live files, not yet in the table's order, and what deletes hide in them."""

    entries: Entries
    files: Files


def batch(
    entries: Entries,
    columns: Mapping[int, IcebergColumn],
    asked: EntryColumns,
    deleted: Hidden | None,
) -> LiveFileBatch:
    """The files of one batch of entries."""
    recorded = entries.counted("record_count")
    live = recorded if deleted is None else pc.subtract(recorded, deleted.surely)
    told = list(partitions.by_values(entries.spec, columns, entries.partition))
    placed = partitions.containers(told, entries.count, live)
    found = asked.statistics.read(entries.table, recorded)
    constant = _constants(entries, asked.constants)
    return LiveFileBatch(
        entries,
        Files(
            read_paths=partial(entries.column, "file_path"),
            bytes=entries.counted("file_size_in_bytes"),
            rows=recorded,
            partition=_shown(entries, told),
            containers=replace(
                placed,
                partition={**placed.partition, **constant},
                statistics=found.intervals,
                exact=found.exact,
            ),
            deleted=None if deleted is None else deleted.surely,
            maybe_deleted=None if deleted is None else deleted.maybe,
            formats=pc.utf8_lower(entries.column("file_format")),
            manifest=pa.array(entries.manifest),
            spec=pa.repeat(pa.scalar(entries.spec.id, pa.int32()), entries.count),
            contradictions=found.contradictions,
            unreadable=found.unreadable + sum(one.unreadable for one in told),
        ),
    )


def _shown(entries: Entries, told: Sequence[partitions.PartitionFieldValues]) -> pa.Table:
    """The partition values that people are shown."""
    columns = {
        one.field.name: shown(
            as_type(entries.partition[one.field.id], one.values.type),
            one.values.type,
            one.field.transform,
        )
        for one in told
    }
    return pa.table(columns) if columns else entries.table.select([])


def _constants(entries: Entries, asked: Collection[Path]) -> dict[Path, Interval]:
    """Pseudo-columns: `_file` is the path as the table records it."""
    found: dict[Path, Interval] = {}
    paths = entries.column("file_path").cast(pa.binary())
    if metadata_columns.FILE_PATH in asked:
        found[metadata_columns.FILE_PATH] = between(STRING, paths, paths)
    if metadata_columns.FILE_NAME in asked:
        names = pc.replace_substring_regex(paths, "^.*/", "")
        found[metadata_columns.FILE_NAME] = between(STRING, names, names)
    if metadata_columns.FILE_SIZE in asked:
        sizes = entries.counted("file_size_in_bytes")
        found[metadata_columns.FILE_SIZE] = between(BIGINT, sizes, sizes)
    return found


def gathered(batches: Sequence[LiveFileBatch]) -> Files:
    """All batches in the order of the manifests."""
    if not batches:
        none = pa.array([], pa.int64())
        return Files(
            partial(pa.array, [], pa.string()), none, none, pa.table({}), Containers(0, none)
        )
    manifests = np.concatenate([b.entries.manifest for b in batches])
    order = None
    if (np.diff(manifests) < 0).any():
        order = pa.array(np.argsort(manifests, kind="stable"))

    def put(arrays: Sequence[pa.Array]) -> pa.Array:
        whole = pa.concat_arrays(arrays)
        return whole if order is None else whole.take(order)

    files = [b.files for b in batches]
    whole = concatenate([f.containers for f in files])
    partition = _united([f.partition for f in files])
    if order is not None and partition.num_columns:
        partition = partition.take(order)
    return Files(
        read_paths=cache(partial(put, [f.paths for f in files])),
        bytes=put([f.bytes for f in files]),
        rows=put([f.rows for f in files]),
        partition=partition,
        containers=whole if order is None else whole.take(order),
        deleted=_optional([f.deleted for f in files], put),
        maybe_deleted=_optional([f.maybe_deleted for f in files], put),
        formats=_optional([f.formats for f in files], put),
        manifest=_optional([f.manifest for f in files], put),
        spec=_optional([f.spec for f in files], put),
        contradictions=sum(f.contradictions for f in files),
        unreadable=sum(f.unreadable for f in files),
    )


def _optional(parts: Sequence[pa.Array | None], put: Put) -> pa.Array | None:
    """All batches have it, or none has."""
    known = [part for part in parts if part is not None]
    return put(known) if len(known) == len(parts) else None


def _united(tables: Sequence[pa.Table]) -> pa.Table:
    """All columns; one that specs have in several types becomes text."""
    kinds: dict[str, set[pa.DataType]] = {}
    for field in (field for table in tables for field in table.schema):
        kinds.setdefault(field.name, set()).add(field.type)
    if not kinds:
        return tables[0]
    columns = {}
    for name, found in kinds.items():
        kind = found.pop() if len(found) == 1 else pa.string()
        parts = [
            table[name].combine_chunks().cast(kind)
            if name in table.column_names
            else pa.nulls(table.num_rows, kind)
            for table in tables
        ]
        columns[name] = pa.concat_arrays(parts)
    return pa.table(columns)
