"""The columns of a Delta table as a scan returns them, and the data files that it reads."""

from __future__ import annotations

import base64
import uuid
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whyscan.errors import TableError
from whyscan.tables.delta import replay
from whyscan.tables.delta.partitions import is_instant
from whyscan.tables.delta.row_groups import below
from whyscan.tables.delta.schema import FIELD_ID, PHYSICAL_NAME, type_of_field
from whyscan.tables.file_columns import (
    DataFile,
    FileReading,
    InlineVector,
    ReadColumn,
    VectorInFile,
    list_of,
    map_of,
    result_type,
    struct_of,
)
from whyscan.tree.zones import to_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from whyscan.tables.delta.partitions import PartitionColumn
    from whyscan.tables.delta.state import TableState
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Path
    from whyscan.tree.zones import Zone

_UUID = 20

# Z85 and Python's base85 differ only in their alphabets.
_Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_B85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_TO_B85 = bytes.maketrans(_Z85, _B85)


def reading(state: TableState, files: Iterable[DataFile]) -> FileReading:
    """The columns of the table with the files to read."""
    columns = tuple(_column(f, mapped=state.schema.mapped) for f in state.schema.document["fields"])
    return FileReading(columns, tuple(files), state.naming)


def data_files(
    store: Store, batch: pa.RecordBatch, partitions: Sequence[PartitionColumn], zone: Zone
) -> Iterator[DataFile]:
    """One data file per row of the batch; `zone` applies to timestamps that name no zone."""
    constants = [_constants(partition, batch, zone) for partition in partitions]
    vectors = batch.column(replay.VECTOR).to_pylist()
    for at, path in enumerate(batch.column(replay.PATH).to_pylist()):
        vector = vectors[at]
        yield DataFile(
            store,
            _below(store, "data file", path),
            constants={path: values[at] for path, values in constants},
            deletes=()
            if vector is None or vector["kind"] is None
            else (_vector(store, vector["kind"], vector["text"], vector["start"], vector["size"]),),
        )


def _below(store: Store, what: str, path: str) -> str:
    place = below(store, path)
    if place is None:
        raise TableError(
            f"a {what} lies outside of the table's folder: {path}",
            hint="whyscan follows no path that leads out of the table",
        )
    return place


def _vector(
    store: Store, kind: str, text: str, offset: int | None, size: int
) -> InlineVector | VectorInFile:
    """The deletion vector that an `add` describes (PROTOCOL.md, Deletion Vector Format)."""
    match kind:
        case "i":
            return InlineVector(_decoded(text)[:size])
        case "u":
            # `<prefix><uuid in base 85>` is the name of a file in the table.
            prefix, name = text[:-_UUID], f"{uuid.UUID(bytes=_decoded(text[-_UUID:]))}.bin"
            folder = f"{prefix}/" if prefix else ""
            return VectorInFile(store, f"{folder}deletion_vector_{name}", offset or 0, size)
        case "p":
            return VectorInFile(store, _below(store, "deletion vector", text), offset or 0, size)
        case _:
            raise TableError(f"a deletion vector is stored in an unknown way: {kind!r}")


def _decoded(text: str) -> bytes:
    try:
        return base64.b85decode(text.encode("ascii").translate(_TO_B85))
    except ValueError:
        raise TableError(f"a deletion vector has no base85 text: {text[:40]!r}") from None


def _constants(
    partition: PartitionColumn, batch: pa.RecordBatch, zone: Zone
) -> tuple[Path, Sequence[pa.Scalar]]:
    """The path of a partition column, and its value in each file."""
    unreadable = partition.unreadable(batch).true_count
    if unreadable:
        raise TableError(
            f"{unreadable} files have no readable value of the partition column "
            f"{'.'.join(partition.column.path)}"
        )
    kind = result_type(partition.column.type)
    values = partition.values(batch)
    if kind is None:
        raise TableError(f"a partition column of type {partition.column.type} cannot be read")
    if pa.types.is_null(values.type):
        values = batch.column(partition.value_name)
    if is_instant(partition.column.type):
        values = _moments(values, batch.column(f"zoned{partition.at}"), zone)
    return partition.column.path, values.cast(kind)


def _moments(values: pa.Array, zoned: pa.Array, zone: Zone) -> pa.Array:
    """Timestamps in UTC: those without a zone (`zoned` is false) are in the session's zone."""
    pairs = zip(values.cast(pa.int64()).to_pylist(), zoned.to_pylist(), strict=True)
    steps = [s if is_zoned or s is None else to_instant(s, zone) for s, is_zoned in pairs]
    return pa.array(steps, pa.int64()).cast(pa.timestamp("us", "UTC"))


def _column(field: Mapping[str, Any], *, mapped: bool) -> ReadColumn:
    metadata = field.get("metadata") or {}
    column = _typed(field["name"], field["type"], metadata, mapped=mapped)
    if not mapped:
        return column
    field_id, physical_name = metadata.get(FIELD_ID), metadata.get(PHYSICAL_NAME, "")
    return ReadColumn(column.name, column.type, field_id, physical_name, members=column.members)


def _typed(name: str, kind: Any, metadata: Mapping[str, Any], *, mapped: bool) -> ReadColumn:
    def inner(name: str, kind: Any) -> ReadColumn:
        return _typed(name, kind, {}, mapped=mapped)

    match kind:
        case {"type": "struct", "fields": fields}:
            return struct_of(name, tuple(_column(f, mapped=mapped) for f in fields))
        case {"type": "array", "elementType": element}:
            return list_of(name, inner("element", element))
        case {"type": "map", "keyType": key, "valueType": value}:
            return map_of(name, inner("key", key), inner("value", value))
        case "variant":
            members = tuple(ReadColumn(part, pa.binary()) for part in ("metadata", "value"))
            return struct_of(name, members)
        case _:
            arrow_type = result_type(type_of_field(kind, metadata))
            if arrow_type is None:
                raise TableError(f"the column {name} is of type {kind}, which cannot be read")
            return ReadColumn(name, arrow_type)
