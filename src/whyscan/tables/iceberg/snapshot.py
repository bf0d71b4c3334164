"""One snapshot of an Iceberg table: manifests first, then the entries of those that survive."""

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
from whyscan.tables.cached_files import CachedFiles
from whyscan.tables.counts import plausible
from whyscan.tables.file_columns import FileReading, Naming
from whyscan.tables.iceberg import live_files as live
from whyscan.tables.iceberg import partitions
from whyscan.tables.iceberg.deletes import DeleteFiles, Hidden, SequencedEntries, hidden, told_apart
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
from whyscan.tables.snapshot import Files, Manifests, RowGroups, SpecLine, Traffic
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from whyscan.tables.iceberg.entries import Entries
    from whyscan.tables.iceberg.file_columns import Manifested
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
"""A guess at what a file takes in a manifest, for lists that do not count."""

_NEWEST = (1 << 63) - 1
"""The sequence number of a delete file that has none: it may apply to every file."""


class Listed(Struct, frozen=True):
    """Some of a snapshot's manifests; `specs` are the numbers of those that all were written under.

    What deletes rows applies to files of any manifest: every part has all of its manifests.
    """

    manifests: pa.Table
    specs: tuple[int, ...]


class IcebergSnapshot(Struct, frozen=True, eq=False, dict=True):
    """A snapshot's manifests under their own specs, its columns by field id.

    `listed` are the manifests of a part, None for all of the snapshot's.
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
        """The specs that live manifests were written under; the current one of an empty table."""
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
        """The specs of live files, and the one that new files are written under."""
        live = {spec.id: spec for spec in self._live_specs}
        current = self._reader.spec(self.metadata.default_spec)
        specs = {**live, current.id: current}
        return tuple(self._spec_line(specs[number]) for number in sorted(specs))

    def _spec_line(self, spec: Spec) -> SpecLine:
        made = {
            path: [t for t in transforms if not isinstance(t, Void)]
            for path, transforms in partitions.by_source(spec, self._leaves).items()
        }
        return SpecLine(
            spec.id,
            tuple(f"{t}({'.'.join(path)})" for path, found in made.items() for t in found),
            frozenset(path for path, found in made.items() if found),
            spec.id == self.metadata.default_spec,
            partitions.names(spec, self._leaves),
        )

    def schema(self, named: Sequence[str] = ()) -> Schema:  # noqa: ARG002 - the schema is whole
        return self.at.schema.schema

    @property
    def _leaves(self) -> Mapping[int, IcebergColumn]:
        return self.at.schema.leaves

    @lazy
    def _remembered(self) -> CachedFiles:
        return CachedFiles()

    @lazy
    def _reader(self) -> EntryReader:
        return EntryReader(self.opened, self.metadata.specs)

    @lazy
    def _list(self) -> pa.Table:
        """Every manifest, of data and of deletes, in the order of the list."""
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
            # Cut behind its header, a list is whole and empty.
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
        """The delete files, read once and only for a table that has some."""
        listed = self._list.filter(pc.invert(self._lists_data)).combine_chunks()
        numbers = listed["sequence_number"].combine_chunks()
        found = self._reader.read(listed, {**ENTRY, **DELETING})
        return tuple(
            told_apart(SequencedEntries(some, sequence_numbers(some, numbers, _NEWEST)))
            for some in found
        )

    def manifests(self) -> Manifests:
        """What the manifest list says of each manifest, before any of them is opened."""
        return self._manifests

    @lazy
    def _manifests(self) -> Manifests:
        parts: list[Containers] = []
        order: list[npt.NDArray[np.int64]] = []
        files = _sum(self._data, "added_files_count", "existing_files_count")
        for number, at in self._by_spec():
            summaries = self._data["partitions"].combine_chunks().take(at)
            told = list(partitions.by_summaries(self._reader.spec(number), self._leaves, summaries))
            # One that lists no live file holds no rows; how many the others hold is not needed.
            parts.append(partitions.containers(told, len(at), files.take(at)))
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
        """The live files of the manifests at `manifests`, None being all of them."""
        named = frozenset(column.path for column in columns)
        opened = None if manifests is None else tuple(manifests.to_pylist())
        return self._remembered.files((named, opened), lambda: self._read_files(named, manifests))

    def _read_files(self, paths: frozenset[Path], manifests: pa.Array | None) -> Files:
        listed = self._data if manifests is None else self._data.take(manifests)
        leaves = [leaf for leaf in self._leaves.values() if leaf.path in paths]
        asked = live.EntryColumns(StatisticsReader(leaves, self.metadata.is_from_delta), paths)
        wanted = ENTRY | asked.statistics.wanted | (SEQUENCED if self._deletes else {})
        numbers = listed["sequence_number"].combine_chunks()
        batches = []
        for some in self._reader.read(listed, wanted):
            if pc.any(pc.not_equal(some.column("content"), DATA)).as_py():
                raise CorruptFile(self.metadata.path, "a manifest of data files lists delete files")
            batches.append(live.batch(some, self._leaves, asked, self._hidden(some, numbers)))
        found = live.gathered(batches)
        if manifests is None or found.manifest is None:
            return found
        return replace(found, manifest=manifests.take(found.manifest))

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
    ) -> RowGroups:
        """The row groups of the files at `opened`; `projection` None is every column."""
        from whyscan.tables.iceberg.row_groups import IcebergFooters

        footers = IcebergFooters(self.store, self.opened.places, self._stored_columns)
        return footers.row_groups(files, opened, columns, projection)

    @lazy
    def _stored_columns(self) -> IcebergFileColumns:
        specs = self.metadata.specs.values()
        mapping = self.metadata.properties.get(NAME_MAPPING)
        return IcebergFileColumns(
            {leaf.path: leaf for leaf in self._leaves.values()},
            frozenset().union(*(partitions.identities(spec) for spec in specs)),
            None if mapping is None else read_mapping(mapping),
        )

    def reading(self, files: Files, at: pa.Array, zone: Zone) -> FileReading:  # noqa: ARG002 - no text
        """How the rows of the files at those positions are read."""
        from whyscan.tables.iceberg import file_columns

        newest = self.at.schema.document
        naming = Naming(
            by_id=True, mapping=self._stored_columns.mapping, counted=True, constants_win=False
        )
        if not len(at):
            return FileReading(file_columns.columns(newest), (), naming)
        chains = file_columns.chains(self.metadata, newest)
        indexer = file_columns.Indexer(self.store, self.opened.places, chains)
        index = indexer.index(self._deletes)
        known = self._manifested(files, at)
        formats = ["parquet"] * len(at) if files.formats is None else files.formats.take(at)
        paths = files.paths.take(at).to_pylist()
        found = (
            replace(
                indexer.file(path, str(kind)),
                constants=known.constants(path),
                deletes=tuple(index.of(path, known.origins[path])),
            )
            for path, kind in zip(paths, formats, strict=True)
        )
        return FileReading(file_columns.columns(newest), tuple(found), naming)

    def _manifested(self, files: Files, at: pa.Array) -> Manifested:
        """The manifests of those files, read once more for what a plan has no use for."""
        from whyscan.tables.iceberg.file_columns import Manifested

        manifests = pc.unique(files.manifest.take(at)) if files.manifest is not None else None
        listed = self._data if manifests is None else self._data.take(manifests)
        numbers = listed["sequence_number"].combine_chunks()
        known = Manifested(self._leaves)
        for some in self._reader.read(listed, ENTRY | SEQUENCED):
            known.add(SequencedEntries(some, sequence_numbers(some, numbers, 0)))
        return known

    def recording(self, column: Column) -> Recording:
        """What the table's properties have writers record of a column."""
        from whyscan.tables.iceberg.metrics_modes import recording

        return recording(column, self.metadata.properties, self._numbers)

    @lazy
    def _numbers(self) -> dict[Path, int]:
        from whyscan.tables.iceberg.metrics_modes import numbered

        return numbered(self._leaves.values())

    def expect(self, columns: Sequence[Column]) -> None:
        """Nothing: which manifests are read is known once their list is judged."""

    def traffic(self) -> Traffic:
        return self.store.meter.traffic()

    def parts(self, files_each: int) -> tuple[IcebergSnapshot, ...]:
        """Snapshots of whole manifests with about so many files each, in the order of the list."""
        of_deletes = self._list.filter(pc.invert(self._lists_data))
        return tuple(self._part(some, of_deletes) for some in self._groups(files_each))

    def _groups(self, files_each: int) -> Iterator[pa.Table]:
        estimated = pc.divide(self._data["manifest_length"], _BYTES_AN_ENTRY)
        files = _sum(self._data, "added_files_count", "existing_files_count")
        first = count = 0
        for at, more in enumerate(pc.coalesce(files, estimated.combine_chunks()).to_pylist()):
            if at > first and count + more > files_each:
                yield self._data.slice(first, at - first)
                first, count = at, 0
            count += more
        yield self._data.slice(first)

    def _part(self, manifests: pa.Table, of_deletes: pa.Table) -> IcebergSnapshot:
        store = self.store.afresh()
        # A slice would be pickled with the buffers of the whole.
        alone = pa.concat_tables(
            [manifests.take(pa.array(range(len(manifests)), pa.int64())), of_deletes]
        )
        return replace(
            self,
            store=store,
            metadata=replace(self.metadata, snapshots={}, refs={}, history=()),
            opened=MetadataFiles(store, self.opened.places),
            listed=Listed(alone.combine_chunks(), self._spec_numbers),
        )


EMPTY_LIST = pa.schema(LIST_FIELDS).empty_table()


def encrypted(uri: str) -> TableError:
    """A table whose metadata only its owner's keys open."""
    return TableError(
        f"{uri} is encrypted",
        hint="whyscan reads no keys: plan an unencrypted copy of the metadata",
    )


def _sum(listed: pa.Table, *names: str) -> pa.Array:
    """Counts of the list added up; null where one is missing or cannot be true."""
    total = pa.array(np.zeros(len(listed), np.int64))
    for name in names:
        counts = listed[name].combine_chunks().cast(pa.int64())
        total = pc.add(total, plausible(counts))
    return total


def _in_order(parts: Sequence[Containers], order: Sequence[npt.NDArray[np.int64]]) -> Containers:
    if not parts:
        return Containers(0)
    return concatenate(parts).take(pa.array(np.argsort(np.concatenate(order))))
