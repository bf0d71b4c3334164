"""One snapshot of an Iceberg table: its manifests, then the entries of the kept manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import CorruptFile, TableError
from whyscan.pruning.concatenation import concatenate
from whyscan.pruning.containers import Containers
from whyscan.pruning.transforms import Void
from whyscan.tables.bounded_cache import BoundedCache
from whyscan.tables.column_finder import Naming
from whyscan.tables.counts import plausible
from whyscan.tables.file_columns import FileReading
from whyscan.tables.iceberg import live_files, partitions
from whyscan.tables.iceberg.deletes import (
    DeleteFiles,
    Hidden,
    SequencedEntries,
    delete_files,
    hidden,
)
from whyscan.tables.iceberg.entries import DATA, EntryReader, sequence_numbers
from whyscan.tables.iceberg.field_columns import IcebergFileColumns, read_mapping
from whyscan.tables.iceberg.manifests import (
    DELETING,
    ENTRY,
    LIST_FIELDS,
    SEQUENCED,
    list_of_paths,
    read_list,
)
from whyscan.tables.iceberg.metadata import NAME_MAPPING
from whyscan.tables.iceberg.metadata_files import MetadataFiles
from whyscan.tables.iceberg.statistics import StatisticsReader
from whyscan.tables.parquet.levels_below import BelowParquetFooters
from whyscan.tables.snapshot import Files, Manifests, RowGroups, SpecLine, Traffic
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from whyscan.tables.history import History
    from whyscan.tables.iceberg.entries import Entries
    from whyscan.tables.iceberg.history import ChosenSnapshot
    from whyscan.tables.iceberg.metadata import SnapshotRecord, Spec, TableMetadata
    from whyscan.tables.iceberg.schemas import IcebergColumn
    from whyscan.tables.snapshot import Recording
    from whyscan.tables.snapshot import Spec as PartitionSpec
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Column, Path
    from whyscan.tree.types import Schema
    from whyscan.tree.zones import Zone

_BYTES_AN_ENTRY = 128
"""Estimated bytes per file in a manifest, for manifest lists without file counts."""

_NEWEST = (1 << 63) - 1
"""The sequence number assumed for a delete file without one: it may apply to every file."""


class Listed(Struct, frozen=True):
    """The manifests of one part; `specs` are the numbers of all specs in the snapshot.

    A delete file may apply to files of any manifest, so that every part has all delete manifests.
    """

    manifests: pa.Table
    specs: tuple[int, ...]


class IcebergSnapshot(Struct, frozen=True, eq=False, dict=True):
    """One snapshot of an Iceberg table, or one part of it.

    Each manifest is read with its own spec. Columns are identified by field id. `listed` are the
    manifests of a part, None for all manifests of the snapshot.
    """

    store: Store
    metadata: TableMetadata
    at: ChosenSnapshot
    opened: MetadataFiles
    notes: tuple[str, ...] = ()
    listed: Listed | None = None

    format: ClassVar[str] = "iceberg"
    footers_describe_files: ClassVar[bool] = False

    @property
    def below(self) -> BelowParquetFooters:
        """Reads the indexes and filters of the data files."""
        return BelowParquetFooters(self.store)

    @property
    def uri(self) -> str:
        return self.store.uri

    @property
    def version(self) -> int | None:
        return None if self.at.record is None else self.at.record.id

    @property
    def partition_sources(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(path for spec in self.specs for path in spec))

    @property
    def specs(self) -> tuple[PartitionSpec, ...]:
        """The specs of the live manifests; for an empty table the current spec."""
        return tuple(partitions.by_source(spec, self._leaves) for spec in self._live_specs)

    @lazy
    def _live_specs(self) -> tuple[Spec, ...]:
        return tuple(map(self._reader.spec, self._spec_numbers or [self.metadata.default_spec]))

    @property
    def _spec_numbers(self) -> tuple[int, ...]:
        if self.listed is not None:
            return self.listed.specs
        return tuple(self._data["partition_spec_id"].unique().to_pylist())

    @property
    def numbered_specs(self) -> tuple[SpecLine, ...]:
        """The specs of live files, and the spec of new files."""
        live_specs = {spec.id: spec for spec in self._live_specs}
        current = self._reader.spec(self.metadata.default_spec)
        specs = {**live_specs, current.id: current}
        return tuple(self._spec_line(specs[number]) for number in sorted(specs))

    def _spec_line(self, spec: Spec) -> SpecLine:
        by_source = {
            path: [t for t in transforms if not isinstance(t, Void)]
            for path, transforms in partitions.by_source(spec, self._leaves).items()
        }
        return SpecLine(
            spec.id,
            tuple(f"{t}({'.'.join(path)})" for path, kept in by_source.items() for t in kept),
            frozenset(path for path, kept in by_source.items() if kept),
            spec.id == self.metadata.default_spec,
            partitions.names(spec, self._leaves),
        )

    def schema(self, named: Sequence[str] = ()) -> Schema:  # noqa: ARG002 - the schema is whole
        return self.at.schema.schema

    @property
    def _leaves(self) -> Mapping[int, IcebergColumn]:
        return self.at.schema.leaves

    @lazy
    def _cached_files(self) -> BoundedCache[Files]:
        return BoundedCache()

    @lazy
    def _reader(self) -> EntryReader:
        return EntryReader(self.opened, self.metadata.specs)

    @lazy
    def _list(self) -> pa.Table:
        """The manifest list: one row per manifest of data files or of delete files."""
        if self.listed is not None:
            return self.listed.manifests
        record = self.at.record
        listed = EMPTY_LIST if record is None else self._read_list(record)
        for name in ("manifest_path", "manifest_length", "partition_spec_id"):
            if listed[name].null_count:
                raise CorruptFile(self.metadata.path, f"its manifest list has no {name}")
        if pc.any(pc.greater(pc.binary_length(listed["key_metadata"]), 0)).as_py():
            raise encrypted(self.uri)
        return listed

    def _read_list(self, record: SnapshotRecord) -> pa.Table:
        if record.encrypted:
            raise encrypted(self.uri)
        if record.manifest_list is not None:
            listed = read_list(self.opened.open(record.manifest_list))
            # A file that is truncated after its header reads as an empty list.
            if not len(listed) and record.files:
                why = f"it lists no manifests, and its snapshot counts {record.files} data files"
                raise CorruptFile(record.manifest_list, why)
            return listed
        paths = record.manifests
        return list_of_paths(paths, [self.opened.open(path) for path in paths])

    @lazy
    def _data(self) -> pa.Table:
        return self._list.filter(self._lists_data).combine_chunks()

    @property
    def _lists_data(self) -> pa.ChunkedArray:
        return pc.equal(pc.fill_null(self._list["content"], DATA), DATA)

    @lazy
    def _deletes(self) -> tuple[DeleteFiles, ...]:
        """The delete files. They are read once."""
        delete_manifests = self._list.filter(pc.invert(self._lists_data)).combine_chunks()
        sequences = delete_manifests["sequence_number"].combine_chunks()
        batches = self._reader.read(delete_manifests, {**ENTRY, **DELETING})
        return tuple(
            delete_files(SequencedEntries(entries, sequence_numbers(entries, sequences, _NEWEST)))
            for entries in batches
        )

    def manifests(self) -> Manifests:
        """The manifests with their partition summaries. No manifest is opened."""
        return self._manifests

    @lazy
    def _manifests(self) -> Manifests:
        parts: list[Containers] = []
        order: list[npt.NDArray[np.int64]] = []
        files = _sum(self._data, "added_files_count", "existing_files_count")
        for number, at in self._by_spec():
            summaries = self._data["partitions"].combine_chunks().take(at)
            field_values = list(
                partitions.by_summaries(self._reader.spec(number), self._leaves, summaries)
            )
            # A manifest without live files has no rows; the row count of others is not needed.
            parts.append(partitions.containers(field_values, len(at), files.take(at)))
            order.append(at.to_numpy())
        return Manifests(
            paths=self._data["manifest_path"].combine_chunks(),
            files=files,
            rows=_sum(self._data, "added_rows_count", "existing_rows_count"),
            containers=_in_order(parts, order),
        )

    def _by_spec(self) -> Iterator[tuple[int, pa.Array]]:
        numbers = self._data["partition_spec_id"].combine_chunks()
        for number in pc.unique(numbers).to_pylist():
            yield number, pc.indices_nonzero(pc.equal(numbers, number)).cast(pa.int64())

    def files(
        self,
        columns: Sequence[Column],
        zone: Zone | None = None,  # noqa: ARG002 - partition values are not text
        manifests: pa.Array | None = None,
    ) -> Files:
        """The live files of the manifests at the positions `manifests`; None stands for all."""
        named = frozenset(column.path for column in columns)
        opened = None if manifests is None else tuple(manifests.to_pylist())
        return self._cached_files.get((named, opened), lambda: self._read_files(named, manifests))

    def _read_files(self, paths: frozenset[Path], manifests: pa.Array | None) -> Files:
        manifest_list = self._data if manifests is None else self._data.take(manifests)
        leaves = [leaf for leaf in self._leaves.values() if leaf.path in paths]
        entry_columns = live_files.EntryColumns(
            StatisticsReader(leaves, self.metadata.is_from_delta), paths
        )
        fields = ENTRY | entry_columns.statistics.fields | (SEQUENCED if self._deletes else {})
        sequences = manifest_list["sequence_number"].combine_chunks()
        batches = []
        for entries in self._reader.read(manifest_list, fields):
            if pc.any(pc.not_equal(entries.column("content"), DATA)).as_py():
                raise CorruptFile(self.metadata.path, "a manifest of data files lists delete files")
            batches.append(
                live_files.batch(
                    entries, self._leaves, entry_columns, self._hidden(entries, sequences)
                )
            )
        files = live_files.concatenate_files(batches)
        if manifests is None or files.manifest is None:
            return files
        return replace(files, manifest=manifests.take(files.manifest))

    def _hidden(self, entries: Entries, of_manifests: pa.Array) -> Hidden | None:
        if not self._deletes:
            return None
        return hidden(
            SequencedEntries(entries, sequence_numbers(entries, of_manifests, 0)), self._deletes
        )

    def row_groups(
        self,
        files: Files,
        opened: pa.Array,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
        *,
        keep_footers: bool = False,
    ) -> RowGroups:
        """The row groups of the files at the positions `opened`.

        `projection` None stands for all columns.
        """
        from whyscan.tables.iceberg.row_groups import IcebergFooters

        footers = IcebergFooters(self.store, self.opened.places, self._file_columns)
        return footers.row_groups(files, opened, columns, projection, keep_footers=keep_footers)

    @lazy
    def _file_columns(self) -> IcebergFileColumns:
        specs = self.metadata.specs.values()
        mapping = self.metadata.properties.get(NAME_MAPPING)
        return IcebergFileColumns(
            {leaf.path: leaf for leaf in self._leaves.values()},
            frozenset().union(*(partitions.identities(spec) for spec in specs)),
            Naming(
                by_id=True,
                mapping=None if mapping is None else read_mapping(mapping),
                counted=True,
                constants_win=False,
            ),
        )

    def reading(self, files: Files, at: pa.Array, zone: Zone) -> FileReading:  # noqa: ARG002 - no text
        """How the rows of the files at the positions `at` are read."""
        from whyscan.tables.iceberg import file_columns

        newest = self.at.schema.document
        naming = self._file_columns.naming
        if not len(at):
            return FileReading(file_columns.columns(newest), (), naming)
        entries = file_columns.DataEntries(
            self.store,
            self.opened.places,
            self._leaves,
            file_columns.chains(self.metadata, newest),
            self._deletes,
        )
        # The manifests of these files are read again, for fields that a plan does not need.
        manifests = pc.unique(files.manifest.take(at)) if files.manifest is not None else None
        listed = self._data if manifests is None else self._data.take(manifests)
        sequences = listed["sequence_number"].combine_chunks()
        for batch in self._reader.read(listed, ENTRY | SEQUENCED):
            entries.add(SequencedEntries(batch, sequence_numbers(batch, sequences, 0)))
        formats = ["parquet"] * len(at) if files.formats is None else files.formats.take(at)
        paths = files.paths.take(at).to_pylist()
        data_files = (
            entries.file(path, str(kind)) for path, kind in zip(paths, formats, strict=True)
        )
        return FileReading(file_columns.columns(newest), tuple(data_files), naming)

    def recording(self, column: Column) -> Recording:
        """The statistics of a column that the table's properties tell writers to record."""
        from whyscan.tables.iceberg.metrics_modes import recording

        return recording(column, self.metadata.properties, self._numbers)

    @lazy
    def _numbers(self) -> dict[Path, int]:
        from whyscan.tables.iceberg.metrics_modes import numbered

        return numbered(self._leaves.values())

    def history(self, newest: int) -> History:
        """The newest snapshots with the branches, tags and settings of the table."""
        from whyscan.tables.iceberg.versions import history

        return history(self, newest)

    def traffic(self) -> Traffic:
        return self.store.meter.traffic()

    def parts(self, files_each: int) -> tuple[IcebergSnapshot, ...]:
        """Parts of complete manifests with about `files_each` files, in the order of the list."""
        of_deletes = self._list.filter(pc.invert(self._lists_data))
        return tuple(self._part(manifests, of_deletes) for manifests in self._groups(files_each))

    def _groups(self, files_each: int) -> Iterator[pa.Table]:
        estimated = pc.divide(self._data["manifest_length"], _BYTES_AN_ENTRY)
        files = _sum(self._data, "added_files_count", "existing_files_count")
        first = group_files = 0
        for at, file_count in enumerate(pc.coalesce(files, estimated.combine_chunks()).to_pylist()):
            if at > first and group_files + file_count > files_each:
                yield self._data.slice(first, at - first)
                first, group_files = at, 0
            group_files += file_count
        yield self._data.slice(first)

    def _part(self, manifests: pa.Table, of_deletes: pa.Table) -> IcebergSnapshot:
        store = self.store.unread_copy()
        # Arrow pickles a slice with the buffers of the complete table.
        listed = pa.concat_tables(
            [manifests.take(pa.array(range(len(manifests)), pa.int64())), of_deletes]
        )
        return replace(
            self,
            store=store,
            metadata=replace(self.metadata, snapshots={}, refs={}, history=()),
            opened=MetadataFiles(store, self.opened.places),
            listed=Listed(listed.combine_chunks(), self._spec_numbers),
        )


EMPTY_LIST = pa.schema(LIST_FIELDS).empty_table()


def encrypted(uri: str) -> TableError:
    """The error for a table whose metadata is encrypted."""
    return TableError(
        f"{uri} is encrypted",
        hint="whyscan reads no keys: plan an unencrypted copy of the metadata",
    )


def _sum(listed: pa.Table, *names: str) -> pa.Array:
    """The sum of the named counts per manifest; null if one is missing or impossible."""
    total = pa.array(np.zeros(len(listed), np.int64))
    for name in names:
        counts = listed[name].combine_chunks().cast(pa.int64())
        total = pc.add(total, plausible(counts))
    return total


def _in_order(parts: Sequence[Containers], order: Sequence[npt.NDArray[np.int64]]) -> Containers:
    if not parts:
        return Containers(0)
    return concatenate(parts).take(pa.array(np.argsort(np.concatenate(order))))
