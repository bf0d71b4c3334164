"""The columns of an Iceberg table as a scan returns them, and data files with their deletes."""

from __future__ import annotations

from datetime import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import replace

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
from whyscan.tables.iceberg.deletes import match
from whyscan.tables.iceberg.partition_values import as_type
from whyscan.tables.iceberg.schemas import type_of_field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.tables.file_columns import Deletes
    from whyscan.tables.iceberg.deletes import DeleteFiles, Match, Matches, SequencedEntries
    from whyscan.tables.iceberg.metadata import TableMetadata
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


class _MatchedEntries(Struct, frozen=True):
    """Entries of data files with the delete files for them."""

    data: SequencedEntries
    matches: tuple[Matches, ...]


class DataEntries(Struct, frozen=True):
    """The manifest entries of data files by recorded path: their constants and their deletes."""

    store: Store
    places: Places
    leaves: Mapping[int, IcebergColumn]
    chains: Mapping[int, Chain]
    deletes: Sequence[DeleteFiles]
    by_path: dict[str, tuple[_MatchedEntries, int]] = field(default_factory=dict)

    def add(self, data: SequencedEntries) -> None:
        batch = _MatchedEntries(data, tuple(match(data, deletes) for deletes in self.deletes))
        for at, path in enumerate(data.entries.column("file_path").to_pylist()):
            self.by_path[path] = batch, at

    def file(self, path: str, kind: str) -> DataFile:
        """How to read a data file."""
        constants, deletes = self._constants(path), tuple(self._deletes(path))
        return replace(self._file(path, kind), constants=constants, deletes=deletes)

    def _constants(self, path: str) -> dict[Path, pa.Scalar]:
        """The values of identity partition columns, for a file that does not contain them."""
        batch, at = self.by_path[path]
        entries = batch.data.entries
        constants = {}
        for partition_field in entries.spec.fields:
            source = self.leaves.get(partition_field.source)
            if (
                isinstance(partition_field.transform, IdentityTransform)
                and source
                and partition_field.id in entries.partition
            ):
                kind = result_type(source.type)
                if kind is not None:
                    recorded = entries.partition[partition_field.id].slice(at, 1)
                    constants[source.path] = to_read_type(as_type(recorded, source.type), kind)[0]
        return constants

    def _deletes(self, path: str) -> Iterator[Deletes]:
        """The deletes of a data file. A vector replaces position deletes."""
        batch, at = self.by_path[path]
        sequence = int(batch.data.sequence[at])
        matched = [(matches, matches.deletes_for(at, sequence)) for matches in batch.matches]
        vectors = [
            self._vector(entry)
            for matches, (vectors_at, _, _, _) in matched
            for entry in _entries(matches.vectors, vectors_at)
        ]
        if len(vectors) > 1:
            raise TableError(f"{path} has {len(vectors)} deletion vectors: one is allowed")
        yield from vectors
        for matches, (_, of_one_file, positions, equality) in matched:
            if not vectors:
                for entry in (
                    *_entries(matches.of_one_file, of_one_file),
                    *_entries(matches.positions, positions),
                ):
                    yield PositionDeletes(
                        self._file(entry["file_path"], entry["file_format"]), path
                    )
            for entry in _entries(matches.equality, equality):
                yield self._equality(entry)

    def _file(self, recorded: str, kind: str) -> DataFile:
        place = self.places.below(recorded)
        if place is None:
            raise TableError(
                f"a file lies outside of the table's folder: {recorded}",
                hint="whyscan follows no path that leads out of the table",
            )
        return DataFile(self.store, place, kind.lower())

    def _vector(self, entry: Mapping[str, Any]) -> Deletes:
        start, size = entry["content_offset"], entry["content_size_in_bytes"]
        if start is None or size is None:
            raise TableError(
                f"the deletion vector in {entry['file_path']} has no place in its file"
            )
        place = self._file(entry["file_path"], "puffin").path
        return VectorInFile(self.store, place, start, size - _AROUND)

    def _equality(self, entry: Mapping[str, Any]) -> Deletes:
        numbers = entry["equality_ids"] or ()
        missing = [number for number in numbers if number not in self.chains]
        if missing or not numbers:
            raise TableError(
                f"the equality deletes in {entry['file_path']} compare columns that no schema has: "
                f"{numbers}"
            )
        file = self._file(entry["file_path"], entry["file_format"])
        return EqualityDeletes(file, tuple(self.chains[number] for number in numbers))


_NAMES = ("file_path", "file_format", "content_offset", "content_size_in_bytes", "equality_ids")


def _entries(match: Match, positions: Sequence[int]) -> list[dict[str, Any]]:
    """The entries of the delete files at these positions."""
    if not positions:
        return []
    entries = match.deletes.entries.table.select(_NAMES).take(pa.array(positions, pa.int64()))
    listed: list[dict[str, Any]] = entries.to_pylist()
    return listed


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
