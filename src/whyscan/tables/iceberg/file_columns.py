"""An Iceberg table's columns as readers give them, and the data files with their deletes."""

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
    given_as,
    list_of,
    map_of,
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
"""Bytes of a Puffin blob that are not its vector: its size before, its checksum behind it."""


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
    known = type_of_field(kind, 0)
    found = given_as(known)
    if isinstance(kind, str) and kind.startswith("fixed["):
        found = pa.binary(int(kind[len("fixed[") : -1]))
    if found is None:
        raise TableError(f"the column {name} is of type {kind}, which cannot be read")
    value = None
    if default is not None:
        value = _default(default, known, found)
        if value is None:
            raise TableError(f"the default of the column {name} cannot be read: {default!r}")
    return ReadColumn(name, found, number, default=value)


def _default(document: Any, known: Type, kind: pa.DataType) -> pa.Scalar | None:
    """An initial default as readers give it; None for one that cannot be read."""
    if pa.types.is_time(kind) and isinstance(document, str):
        try:
            return pa.scalar(time.fromisoformat(document), kind)
        except ValueError:
            return None
    value = default_value(document, known)
    return None if value is None else as_given(pa.repeat(value, 1), kind)[0]


def as_given(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Values in the evaluator's representation as readers give them."""
    if isinstance(kind, pa.UuidType):
        return pa.ExtensionArray.from_storage(kind, values.cast(kind.storage_type))
    if pa.types.is_timestamp(kind):
        return values.cast(pa.timestamp(kind.unit)).cast(kind)
    return values.cast(kind)


class _Origin(Struct, frozen=True):
    """What a manifest says of one data file: when it was written, and its partition."""

    sequence: int
    spec: Spec
    partition: Mapping[int, Any]


class Manifested(Struct, frozen=True):
    """The data files of some manifests by their recorded path, with their partition constants."""

    leaves: Mapping[int, IcebergColumn]
    origins: dict[str, _Origin] = field(default_factory=dict)

    def add(self, some: SequencedEntries) -> None:
        entries = some.entries
        values = {number: array.to_pylist() for number, array in entries.partition.items()}
        paths = entries.column("file_path").to_pylist()
        for at, (path, sequence) in enumerate(zip(paths, some.sequence.tolist(), strict=True)):
            told = {number: listed[at] for number, listed in values.items()}
            self.origins[path] = _Origin(sequence, entries.spec, told)

    def constants(self, path: str) -> dict[Path, pa.Scalar]:
        """The sources of identity fields: what they are in a file that does not store them."""
        origin = self.origins[path]
        found = {}
        for part in origin.spec.fields:
            source = self.leaves.get(part.source)
            if (
                isinstance(part.transform, IdentityTransform)
                and source
                and part.id in origin.partition
            ):
                kind = given_as(source.type)
                if kind is not None:
                    stored = _stored(origin.partition[part.id])
                    found[source.path] = as_given(as_type(stored, source.type), kind)[0]
        return found


def _stored(value: Any) -> pa.Array:
    """One partition value in the Arrow type that Avro gave it."""
    match value:
        case bool():
            return pa.array([value], pa.bool_())
        case int():
            return pa.array([value], pa.int64())
        case _:
            return pa.array([value])


class DeleteIndex(Struct, frozen=True):
    """Delete files by what they apply to; see tables/iceberg/deletes.py for the rules."""

    vectors: dict[str, list[tuple[int, Deletes]]]
    of_one: dict[str, list[tuple[int, Callable[[str], Deletes]]]]
    positions: dict[tuple[int, str], list[tuple[int, Callable[[str], Deletes]]]]
    equality: dict[tuple[int, str], list[tuple[int, Deletes]]]
    everywhere: list[tuple[int, Deletes]]

    def of(self, path: str, origin: _Origin) -> Iterator[Deletes]:
        """The deletes of a data file. One with a vector has no use for position deletes."""
        born = origin.sequence
        vectors = [one for number, one in self.vectors.get(path, ()) if number >= born]
        if len(vectors) > 1:
            raise TableError(f"{path} has {len(vectors)} deletion vectors: one is allowed")
        yield from vectors
        key = (origin.spec.id, key_of(origin.spec, origin.partition))
        if not vectors:
            for number, meant_for in (*self.of_one.get(path, ()), *self.positions.get(key, ())):
                if number >= born:
                    yield meant_for(path)
        for number, one in (*self.everywhere, *self.equality.get(key, ())):
            if number > born:
                yield one


def key_of(spec: Spec, values: Mapping[int, Any]) -> str:
    """One text a partition; floats by their digits, so that NaN is equal to itself."""
    return repr([values.get(part.id) for part in spec.fields])


class Indexer(Struct, frozen=True):
    """Makes the index of a snapshot's delete files."""

    store: Store
    places: Places
    chains: Mapping[int, Chain]

    def index(self, deletes: Sequence[DeleteFiles]) -> DeleteIndex:
        found = DeleteIndex(
            defaultdict(list), defaultdict(list), defaultdict(list), defaultdict(list), []
        )
        for some in deletes:
            for row, target in _targeted(some.vectors):
                found.vectors[target].append((row.sequence, self._vector(row)))
            for row, target in _targeted(some.of_one_file):
                found.of_one[target].append((row.sequence, self._positions(row)))
            for row in _rows(some.positions):
                found.positions[row.key].append((row.sequence, self._positions(row)))
            is_partitioned = some.equality.entries.spec.is_partitioned
            for row in _rows(some.equality):
                into = found.equality[row.key] if is_partitioned else found.everywhere
                into.append((row.sequence, self._equality(row)))
        return found

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
    """One delete file's entry."""

    path: str
    sequence: int
    key: tuple[int, str]
    entry: Mapping[str, Any]


_NAMES = ("file_path", "file_format", "content_offset", "content_size_in_bytes", "equality_ids")


def _rows(some: SequencedEntries) -> Iterator[_Row]:
    entries = some.entries
    values = {number: array.to_pylist() for number, array in entries.partition.items()}
    listed = entries.table.select(_NAMES).to_pylist()
    for at, (entry, sequence) in enumerate(zip(listed, some.sequence.tolist(), strict=True)):
        told = {number: of[at] for number, of in values.items()}
        key = (entries.spec.id, key_of(entries.spec, told))
        yield _Row(entry["file_path"], sequence, key, entry)


def _targeted(some: Any) -> Iterator[tuple[_Row, str]]:
    targets = (target.decode() for target in some.target.to_pylist())
    return zip(_rows(some.deletes), targets, strict=True)


def chains(metadata: TableMetadata, newest: Any) -> dict[int, Chain]:
    """From the top down to each column, by field id; the columns that were dropped included."""
    found: dict[int, Chain] = {}

    def walk(column: ReadColumn, above: Chain) -> None:
        chain = (*above, column)
        if column.id is not None and column.id not in found:
            found[column.id] = chain
        if pa.types.is_struct(column.type):
            for member in column.members:
                walk(member, chain)

    for document in (newest, *metadata.schema_documents.values()):
        for column in columns(document):
            walk(column, ())
    return found
