"""One snapshot of an Iceberg table: manifests first, then the entries of those that survive."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from whyscan.errors import TableError
from whyscan.pruning.containers import Containers
from whyscan.pruning.gather import concatenate
from whyscan.tables.iceberg import avro, partitions, statistics
from whyscan.tables.iceberg.locate import relative
from whyscan.tables.iceberg.manifests import (
    LIST_FIELDS,
    partition_fields,
    read_entries,
    read_list,
)
from whyscan.tables.snapshot import Files, Manifests, Traffic
from whyscan.tables.storage import Range

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.predicate.tree import Column, Path
    from whyscan.predicate.types import Schema
    from whyscan.predicate.zones import Zone
    from whyscan.tables.iceberg.avro import Container
    from whyscan.tables.iceberg.metadata import Metadata, SnapshotRecord, Spec
    from whyscan.tables.iceberg.schemas import Leaf
    from whyscan.tables.storage import Store

DATA = 0
DELETED = 2


@dataclass(frozen=True, eq=False)
class IcebergSnapshot:
    """A snapshot's manifests under their own specs, its columns by field id."""

    store: Store
    metadata: Metadata
    record: SnapshotRecord | None
    notes: tuple[str, ...] = ()
    format: str = "iceberg"
    footers_describe_files: bool = False

    @property
    def uri(self) -> str:
        return self.store.uri

    @property
    def version(self) -> int | None:
        return None if self.record is None else self.record.id

    @property
    def partition_sources(self) -> tuple[Path, ...]:
        """The sources of every spec that a live manifest was written under."""
        live = set(self._list["partition_spec_id"].to_pylist()) or set(self.metadata.specs)
        sources = {f.source for i in live if i in self.metadata.specs for f in self._spec(i).fields}
        return tuple(leaf.path for leaf in self._leaves.values() if leaf.id in sources)

    def schema(self, named: Sequence[str] = ()) -> Schema:  # noqa: ARG002 - the schema is whole
        return self.metadata.schemas[self._schema_id].schema

    @property
    def _schema_id(self) -> int:
        recorded = None if self.record is None else self.record.schema_id
        return self.metadata.current_schema if recorded is None else recorded

    @cached_property
    def _leaves(self) -> Mapping[int, Leaf]:
        return {leaf.id: leaf for leaf in self.metadata.schemas[self._schema_id].leaves}

    @cached_property
    def _list(self) -> pa.Table:
        """The manifests of data files, in the order of the list."""
        listed = EMPTY_LIST if self.record is None else self._read_list(self.record)
        if listed["key_metadata"].null_count < len(listed):
            raise TableError(
                f"{self.uri} is encrypted",
                hint="whyscan reads no keys: plan an unencrypted copy of the metadata",
            )
        data = pc.equal(pc.fill_null(listed["content"], DATA), DATA)
        return listed.filter(data).combine_chunks()

    def _read_list(self, record: SnapshotRecord) -> pa.Table:
        if record.manifest_list is not None:
            return read_list(self._container(record.manifest_list))
        return list_of_paths(record.manifests, [self._container(p) for p in record.manifests])

    def _container(self, recorded: str) -> Container:
        path = self._present(recorded)
        size = self.store.find(path)["size"].to_pylist()
        if not size:
            raise TableError(
                f"{self.store.shown(path)} is missing, and the snapshot needs it",
                hint="copy the whole metadata folder, or name another snapshot",
            )
        return avro.parse(self.store.shown(path), self.store.read(path, 0, size[0]).to_pybytes())

    def _present(self, recorded: str) -> str:
        """Where a recorded metadata file is now, relative to the table."""
        below = relative(recorded, self.metadata.location)
        return f"metadata/{posixpath.basename(recorded)}" if below is None else below

    def manifests(self) -> Manifests:
        """What the manifest list says of each manifest, before any of them is opened."""
        parts = []
        order = []
        for number, at in self._by_spec():
            listed = self._list.take(at)
            summaries = listed["partitions"].combine_chunks()
            told = list(partitions.by_summaries(self._spec(number), self._leaves, summaries))
            parts.append(partitions.containers(told, len(at), None))
            order.append(at.to_numpy())
        return Manifests(
            paths=self._list["manifest_path"].combine_chunks(),
            files=_sum(self._list, "added_files_count", "existing_files_count"),
            rows=_sum(self._list, "added_rows_count", "existing_rows_count"),
            containers=_in_order(parts, order),
        )

    def _by_spec(self) -> Iterator[tuple[int, pa.Array]]:
        numbers = self._list["partition_spec_id"].combine_chunks()
        for number in pc.unique(numbers).to_pylist():
            yield number, pc.indices_nonzero(pc.equal(numbers, number)).cast(pa.int64())

    def _spec(self, number: int) -> Spec:
        try:
            return self.metadata.specs[number]
        except KeyError:
            raise TableError(f"a manifest names partition spec {number}, which is not there") from None

    def files(
        self, columns: Sequence[Column], zone: Zone, manifests: pa.Array | None = None
    ) -> Files:
        """The live files of the manifests at `manifests`, None being all of them."""
        at = pa.array(range(len(self._list)), pa.int64()) if manifests is None else manifests
        listed = self._list.take(at)
        asked = [leaf for c in columns for leaf in self._leaves.values() if leaf.path == c.path]
        batches = [
            self._batch(group, number, asked)
            for number, group in _grouped(self._open(listed), listed["partition_spec_id"])
        ]
        return _gathered(batches)

    def _open(self, listed: pa.Table) -> Iterator[Container]:
        paths = [self._present(path) for path in listed["manifest_path"].to_pylist()]
        ranges = [
            Range(path, 0, size)
            for path, size in zip(paths, listed["manifest_length"].to_pylist(), strict=True)
        ]
        for piece, data in zip(ranges, self.store.read_many(ranges), strict=True):
            yield avro.parse(self.store.shown(piece.path), data.to_pybytes())

    def _batch(
        self, group: Sequence[tuple[int, Container]], number: int, asked: Sequence[Leaf]
    ) -> _Batch:
        containers = [container for _, container in group]
        entries = read_entries(containers)
        manifest = np.repeat([at for at, _ in group], [c.count() for c in containers])
        live = pc.not_equal(entries["status"], DELETED)
        entries = entries.filter(live).combine_chunks()
        values = _partition_values(entries, containers[0])
        told = list(partitions.by_values(self._spec(number), self._leaves, values))
        rows = entries["record_count"].combine_chunks()
        placed = partitions.containers(told, len(entries), rows)
        found, contradictions = statistics.intervals(entries, asked)
        return _Batch(
            manifest[live.to_numpy()],
            entries,
            pa.table({t.field.name: values[t.field.id] for t in told}),
            replace(placed, statistics=found),
            contradictions,
        )

    def traffic(self) -> Traffic:
        return Traffic(len(self.store.meter.paths), self.store.meter.bytes)


EMPTY_LIST = pa.schema(LIST_FIELDS).empty_table()


def list_of_paths(paths: Sequence[str], containers: Sequence[Container]) -> pa.Table:
    """Version 1 without a manifest list: the manifests' own headers say what a list would."""
    known = {
        "manifest_path": list(paths),
        "manifest_length": [len(container.data) for container in containers],
        "partition_spec_id": [
            int(container.metadata.get("partition-spec-id", b"0")) for container in containers
        ],
    }
    columns = {
        name: pa.array(known[name], kind) if name in known else pa.nulls(len(paths), kind)
        for name, kind in LIST_FIELDS.items()
    }
    return pa.table(columns)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Entries of manifests of one schema and one spec; `manifest` is the position of each one's."""

    manifest: npt.NDArray[np.int64]
    entries: pa.Table
    partition: pa.Table
    containers: Containers
    contradictions: int


def _grouped(
    containers: Iterator[Container], specs: pa.ChunkedArray
) -> Iterator[tuple[int, list[tuple[int, Container]]]]:
    """Manifests that can be joined: one schema, one codec, one spec."""
    groups: dict[tuple[bytes, str, int], list[tuple[int, Container]]] = {}
    for position, (container, number) in enumerate(zip(containers, specs.to_pylist(), strict=True)):
        key = (container.metadata["avro.schema"], container.codec, number)
        groups.setdefault(key, []).append((position, container))
    for (_, _, number), group in groups.items():
        yield number, group


def _partition_values(entries: pa.Table, container: Container) -> dict[int, pa.Array]:
    """The partition fields by their ids: names are mangled in Avro, ids are not."""
    struct = entries["partition"].combine_chunks()
    ids = [field["field-id"] for field in partition_fields(container)]
    return {number: struct.field(position) for position, number in enumerate(ids)}


def _gathered(batches: Sequence[_Batch]) -> Files:
    """All batches in the order of the manifests."""
    if not batches:
        nothing = pa.array([], pa.int64())
        return Files(nothing.cast(pa.string()), nothing, nothing, pa.table({}), Containers(0, nothing))
    order = pa.array(np.argsort(np.concatenate([b.manifest for b in batches]), kind="stable"))
    entries = pa.concat_tables([b.entries.select(_FILE) for b in batches]).take(order)
    partition = pa.concat_tables([b.partition for b in batches], promote_options="permissive")
    return Files(
        paths=entries["file_path"].combine_chunks(),
        bytes=entries["file_size_in_bytes"].combine_chunks(),
        rows=entries["record_count"].combine_chunks(),
        partition=partition.take(order) if partition.num_columns else partition,
        containers=concatenate([b.containers for b in batches]).take(order),
    )


_FILE = ["file_path", "file_size_in_bytes", "record_count"]


def _sum(listed: pa.Table, first: str, second: str) -> pa.Array:
    return pc.add(
        listed[first].combine_chunks().cast(pa.int64()),
        listed[second].combine_chunks().cast(pa.int64()),
    )


def _in_order(parts: Sequence[Containers], order: Sequence[npt.NDArray[np.int64]]) -> Containers:
    if not parts:
        return Containers(0)
    return concatenate(parts).take(pa.array(np.argsort(np.concatenate(order))))
