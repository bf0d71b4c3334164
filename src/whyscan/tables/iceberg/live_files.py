"""Live manifest entries as the planner's files: partition values, statistics, deleted rows."""

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
from whyscan.pruning.mask import Mask, either
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
    """What a plan needs of entries: the statistics, and the paths of the named columns."""

    statistics: StatisticsReader
    paths: Collection[Path]


class LiveFileBatch(Struct, frozen=True):
    """The live files of one batch of entries, not yet in the order of the manifest list."""

    entries: Entries
    files: Files


def batch(
    entries: Entries,
    columns: Mapping[int, IcebergColumn],
    entry_columns: EntryColumns,
    deleted: Hidden | None,
) -> LiveFileBatch:
    """The live files of one batch of entries; `deleted` are the rows that deletes hide."""
    recorded = entries.counted("record_count")
    live = recorded if deleted is None else pc.subtract(recorded, deleted.surely)
    field_values = list(partitions.by_values(entries.spec, columns, entries.partition))
    containers = partitions.containers(field_values, entries.count, live)
    statistics = entry_columns.statistics.read(entries.table, recorded)
    constants = _constants(entries, entry_columns.paths)
    return LiveFileBatch(
        entries,
        Files(
            read_paths=partial(entries.column, "file_path"),
            bytes=entries.counted("file_size_in_bytes"),
            rows=recorded,
            partition=_shown(entries, field_values),
            containers=replace(
                containers,
                partition={**containers.partition, **constants},
                statistics=statistics.intervals,
                exact=statistics.exact,
                contradicted=statistics.contradicted,
                unreadable=_by_path(
                    {p: m for p, m in containers.unreadable.items() if p in entry_columns.paths},
                    statistics.unreadable,
                ),
            ),
            deleted=None if deleted is None else deleted.surely,
            maybe_deleted=None if deleted is None else deleted.maybe,
            formats=pc.utf8_lower(entries.column("file_format")),
            manifest=pa.array(entries.manifest),
            spec=pa.repeat(pa.scalar(entries.spec.id, pa.int32()), entries.count),
        ),
    )


def _by_path(*several: Mapping[Path, Mask]) -> dict[Path, Mask]:
    """Yes where one of the masks of a path is."""
    paths = dict.fromkeys(path for masks in several for path in masks)
    return {path: either(*(masks.get(path, False) for masks in several)) for path in paths}


def _shown(entries: Entries, field_values: Sequence[partitions.PartitionFieldValues]) -> pa.Table:
    """The partition values as reports show them."""
    columns = {
        field_value.field.name: shown(
            as_type(entries.partition[field_value.field.id], field_value.values.type),
            field_value.values.type,
            field_value.field.transform,
        )
        for field_value in field_values
    }
    return pa.table(columns) if columns else entries.table.select([])


def _constants(entries: Entries, paths: Collection[Path]) -> dict[Path, Interval]:
    """Metadata columns with one value per file; `_file` is the path that the table records."""
    intervals: dict[Path, Interval] = {}
    file_paths = entries.column("file_path").cast(pa.binary())
    if metadata_columns.FILE_PATH in paths:
        intervals[metadata_columns.FILE_PATH] = between(STRING, file_paths, file_paths)
    if metadata_columns.FILE_NAME in paths:
        names = pc.replace_substring_regex(file_paths, "^.*/", "")
        intervals[metadata_columns.FILE_NAME] = between(STRING, names, names)
    if metadata_columns.FILE_SIZE in paths:
        sizes = entries.counted("file_size_in_bytes")
        intervals[metadata_columns.FILE_SIZE] = between(BIGINT, sizes, sizes)
    return intervals


def concatenate_files(batches: Sequence[LiveFileBatch]) -> Files:
    """The files of all batches in the order of the manifests."""
    if not batches:
        empty = pa.array([], pa.int64())
        return Files(
            partial(pa.array, [], pa.string()), empty, empty, pa.table({}), Containers(0, empty)
        )
    manifests = np.concatenate([b.entries.manifest for b in batches])
    order = None
    if (np.diff(manifests) < 0).any():
        order = pa.array(np.argsort(manifests, kind="stable"))

    def put(arrays: Sequence[pa.Array]) -> pa.Array:
        array = pa.concat_arrays(arrays)
        return array if order is None else array.take(order)

    files = [b.files for b in batches]
    containers = concatenate([f.containers for f in files])
    partition = _united([f.partition for f in files])
    if order is not None and partition.num_columns:
        partition = partition.take(order)
    return Files(
        read_paths=cache(partial(put, [f.paths for f in files])),
        bytes=put([f.bytes for f in files]),
        rows=put([f.rows for f in files]),
        partition=partition,
        containers=containers if order is None else containers.take(order),
        deleted=_optional([f.deleted for f in files], put),
        maybe_deleted=_optional([f.maybe_deleted for f in files], put),
        formats=_optional([f.formats for f in files], put),
        manifest=_optional([f.manifest for f in files], put),
        spec=_optional([f.spec for f in files], put),
    )


def _optional(parts: Sequence[pa.Array | None], put: Put) -> pa.Array | None:
    """The concatenated arrays; None unless every batch has one."""
    present = [part for part in parts if part is not None]
    return put(present) if len(present) == len(parts) else None


def _united(tables: Sequence[pa.Table]) -> pa.Table:
    """All partition columns; a column with different types in several specs becomes text."""
    types_by_name: dict[str, set[pa.DataType]] = {}
    for field in (field for table in tables for field in table.schema):
        types_by_name.setdefault(field.name, set()).add(field.type)
    if not types_by_name:
        return tables[0]
    columns = {}
    for name, types in types_by_name.items():
        kind = types.pop() if len(types) == 1 else pa.string()
        arrays = [
            table[name].combine_chunks().cast(kind)
            if name in table.column_names
            else pa.nulls(table.num_rows, kind)
            for table in tables
        ]
        columns[name] = pa.concat_arrays(arrays)
    return pa.table(columns)
