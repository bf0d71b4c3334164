"""The columns of an Iceberg table as a scan returns them, and data files with their deletes."""

from __future__ import annotations

from collections import defaultdict
from datetime import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct, field

from whyscan.errors import TableError
from whyscan.pruning.transforms import IdentityTransform
from whyscan.tables.file_columns import (
    DataFile,
    EqualityDeletes,
    PositionDeletes,
    ReadColumn,
    VectorInFile,
    list_of,
    map_of,
    result_type,
    struct_of,
)
from whyscan.tables.iceberg.defaults import default_value
from whyscan.tables.iceberg.partition_values import as_type
from whyscan.tables.iceberg.schemas import type_of_field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from whyscan.tables.file_columns import Deletes
    from whyscan.tables.iceberg.deletes import DeleteFiles, SequencedEntries
    from whyscan.tables.iceberg.metadata import Spec, TableMetadata
    from whyscan.tables.iceberg.metadata_location import Places
    from whyscan.tables.iceberg.schemas import IcebergColumn
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Path
    from whyscan.tree.types import Type

    Chain = tuple[ReadColumn, ...]

_AROUND = 8
"""Bytes of a Puffin blob around its vector: its size before it, its checksum after it."""


def columns(document: Any) -> tuple[ReadColumn, ...]:
    """The columns of a schema."""
    return tuple(map(_column, document["fields"]))


def _column(member: Mapping[str, Any]) -> ReadColumn:
    default = member.get("initial-default")
    return _typed(member["name"], member["type"], member["id"], default)


def _typed(name: str, kind: Any, number: int | None, default: Any = None) -> ReadColumn:
    match kind:
        case {"type": "struct", "fields": fields}:
            return struct_of(name, tuple(map(_column, fields)), id=number)
        case {"type": "list"}:
            element = _typed("element", kind["element"], kind.get("element-id"))
            return list_of(name, element, id=number)
        case {"type": "map"}:
            key = _typed("key", kind["key"], kind.get("key-id"))
            value = _typed("value", kind["value"], kind.get("value-id"))
            return map_of(name, key, value, id=number)
        case "variant":
            parts = tuple(ReadColumn(part, pa.binary()) for part in ("metadata", "value"))
            return struct_of(name, parts, id=number)
        case _:
            return _leaf(name, kind, number, default)


def _leaf(name: str, kind: Any, number: int | None, default: Any) -> ReadColumn:
    column_type = type_of_field(kind, 0)
    arrow_type = result_type(column_type)
    if isinstance(kind, str) and kind.startswith("fixed["):
        arrow_type = pa.binary(int(kind[len("fixed[") : -1]))
    if arrow_type is None:
        raise TableError(f"the column {name} is of type {kind}, which cannot be read")
    value = None
    if default is not None:
        value = _default(default, column_type, arrow_type)
        if value is None:
            raise TableError(f"the default of the column {name} cannot be read: {default!r}")
    return ReadColumn(name, arrow_type, number, default=value)


def _default(document: Any, column_type: Type, kind: pa.DataType) -> pa.Scalar | None:
    """An initial default as a scan returns it; None for one that cannot be read."""
    if pa.types.is_time(kind) and isinstance(document, str):
        try:
            return pa.scalar(time.fromisoformat(document), kind)
        except ValueError:
            return None
    value = default_value(document, column_type)
    return None if value is None else to_read_type(pa.repeat(value, 1), kind)[0]


def to_read_type(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast values of the evaluator's Arrow type to the type that a scan returns."""
    if isinstance(kind, pa.UuidType):
        return pa.ExtensionArray.from_storage(kind, values.cast(kind.storage_type))
    if pa.types.is_timestamp(kind):
        return values.cast(pa.timestamp(kind.unit)).cast(kind)
    return values.cast(kind)


class _Origin(Struct, frozen=True):
    """The manifest entry of one data file: its sequence number, spec and partition values."""

    sequence: int
    spec: Spec
    partition: Mapping[int, Any]


class Manifested(Struct, frozen=True):
    """The data files of some manifests, by recorded path."""

    leaves: Mapping[int, IcebergColumn]
    origins: dict[str, _Origin] = field(default_factory=dict)

    def add(self, sequenced: SequencedEntries) -> None:
        entries = sequenced.entries
        values = {number: array.to_pylist() for number, array in entries.partition.items()}
        paths = entries.column("file_path").to_pylist()
        for at, (path, sequence) in enumerate(zip(paths, sequenced.sequence.tolist(), strict=True)):
            partition = {number: listed[at] for number, listed in values.items()}
            self.origins[path] = _Origin(sequence, entries.spec, partition)

    def constants(self, path: str) -> dict[Path, pa.Scalar]:
        """The values of identity partition columns, for a file that does not contain them."""
        origin = self.origins[path]
        constants = {}
        for partition_field in origin.spec.fields:
            source = self.leaves.get(partition_field.source)
            if (
                isinstance(partition_field.transform, IdentityTransform)
                and source
                and partition_field.id in origin.partition
            ):
                kind = result_type(source.type)
                if kind is not None:
                    recorded = _recorded(origin.partition[partition_field.id])
                    constants[source.path] = to_read_type(as_type(recorded, source.type), kind)[0]
        return constants


def _recorded(value: Any) -> pa.Array:
    """One partition value in the Arrow type of its Avro type."""
    match value:
        case bool():
            return pa.array([value], pa.bool_())
        case int():
            return pa.array([value], pa.int64())
        case _:
            return pa.array([value])


class DeleteIndex(Struct, frozen=True):
    """Delete files by the data files they apply to; tables/iceberg/deletes.py has the rules.

    Each entry has the sequence number of its delete file.
    """

    vectors: dict[str, list[tuple[int, Deletes]]]
    of_one_file: dict[str, list[tuple[int, Callable[[str], Deletes]]]]
    positions: dict[tuple[int, str], list[tuple[int, Callable[[str], Deletes]]]]
    equality: dict[tuple[int, str], list[tuple[int, Deletes]]]
    everywhere: list[tuple[int, Deletes]]

    def of(self, path: str, origin: _Origin) -> Iterator[Deletes]:
        """The deletes of a data file. A vector replaces position deletes."""
        sequence = origin.sequence
        vectors = [deletes for number, deletes in self.vectors.get(path, ()) if number >= sequence]
        if len(vectors) > 1:
            raise TableError(f"{path} has {len(vectors)} deletion vectors: one is allowed")
        yield from vectors
        key = (origin.spec.id, key_of(origin.spec, origin.partition))
        if not vectors:
            for number, deletes_for in (
                *self.of_one_file.get(path, ()),
                *self.positions.get(key, ()),
            ):
                if number >= sequence:
                    yield deletes_for(path)
        for number, deletes in (*self.everywhere, *self.equality.get(key, ())):
            if number > sequence:
                yield deletes


def key_of(spec: Spec, values: Mapping[int, Any]) -> str:
    """The key of a partition as text, so that NaN is equal to NaN."""
    return repr([values.get(partition_field.id) for partition_field in spec.fields])


class Indexer(Struct, frozen=True):
    """Builds the index of a snapshot's delete files."""

    store: Store
    places: Places
    chains: Mapping[int, Chain]

    def index(self, deletes: Sequence[DeleteFiles]) -> DeleteIndex:
        index = DeleteIndex(
            defaultdict(list), defaultdict(list), defaultdict(list), defaultdict(list), []
        )
        for delete_files in deletes:
            for row, target in _targeted(delete_files.vectors):
                index.vectors[target].append((row.sequence, self._vector(row)))
            for row, target in _targeted(delete_files.of_one_file):
                index.of_one_file[target].append((row.sequence, self._positions(row)))
            for row in _rows(delete_files.positions):
                index.positions[row.key].append((row.sequence, self._positions(row)))
            is_partitioned = delete_files.equality.entries.spec.is_partitioned
            for row in _rows(delete_files.equality):
                entries = index.equality[row.key] if is_partitioned else index.everywhere
                entries.append((row.sequence, self._equality(row)))
        return index

    def file(self, recorded: str, kind: str) -> DataFile:
        place = self.places.below(recorded)
        if place is None:
            raise TableError(
                f"a file lies outside of the table's folder: {recorded}",
                hint="whyscan follows no path that leads out of the table",
            )
        return DataFile(self.store, place, kind.lower())

    def _vector(self, row: _Row) -> Deletes:
        start, size = row.entry["content_offset"], row.entry["content_size_in_bytes"]
        if start is None or size is None:
            raise TableError(f"the deletion vector in {row.path} has no place in its file")
        place = self.file(row.path, "puffin").path
        return VectorInFile(self.store, place, start, size - _AROUND)

    def _positions(self, row: _Row) -> Callable[[str], Deletes]:
        file = self.file(row.path, row.entry["file_format"])
        return lambda target: PositionDeletes(file, target)

    def _equality(self, row: _Row) -> Deletes:
        numbers = row.entry["equality_ids"] or ()
        missing = [number for number in numbers if number not in self.chains]
        if missing or not numbers:
            raise TableError(
                f"the equality deletes in {row.path} compare columns that no schema has: {numbers}"
            )
        file = self.file(row.path, row.entry["file_format"])
        return EqualityDeletes(file, tuple(self.chains[number] for number in numbers))


class _Row(Struct, frozen=True):
    """The entry of one delete file."""

    path: str
    sequence: int
    key: tuple[int, str]
    entry: Mapping[str, Any]


_NAMES = ("file_path", "file_format", "content_offset", "content_size_in_bytes", "equality_ids")


def _rows(sequenced: SequencedEntries) -> Iterator[_Row]:
    entries = sequenced.entries
    values = {number: array.to_pylist() for number, array in entries.partition.items()}
    listed = entries.table.select(_NAMES).to_pylist()
    for at, (entry, sequence) in enumerate(zip(listed, sequenced.sequence.tolist(), strict=True)):
        partition = {number: column[at] for number, column in values.items()}
        key = (entries.spec.id, key_of(entries.spec, partition))
        yield _Row(entry["file_path"], sequence, key, entry)


def _targeted(targeted: Any) -> Iterator[tuple[_Row, str]]:
    targets = (target.decode() for target in targeted.target.to_pylist())
    return zip(_rows(targeted.deletes), targets, strict=True)


def chains(metadata: TableMetadata, newest: Any) -> dict[int, Chain]:
    """For each field id the columns from the top level down to it; with dropped columns."""
    chains: dict[int, Chain] = {}

    def walk(column: ReadColumn, above: Chain) -> None:
        chain = (*above, column)
        if column.id is not None and column.id not in chains:
            chains[column.id] = chain
        if pa.types.is_struct(column.type):
            for member in column.members:
                walk(member, chain)

    for document in (newest, *metadata.schema_documents.values()):
        for column in columns(document):
            walk(column, ())
    return chains
