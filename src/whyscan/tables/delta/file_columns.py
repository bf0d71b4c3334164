"""The columns of a Delta table as a scan returns them, and the data files that it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whyscan.errors import TableError
from whyscan.tables.delta import replay
from whyscan.tables.delta.deletion_vectors import vector
from whyscan.tables.delta.partitions import is_instant
from whyscan.tables.delta.row_groups import below
from whyscan.tables.delta.schema import FIELD_ID, PHYSICAL_NAME, type_of_field
from whyscan.tables.file_columns import (
    DataFile,
    FileReading,
    ReadColumn,
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


def reading(state: TableState, files: Iterable[DataFile]) -> FileReading:
    """The columns of the table with the files to read."""
    columns = tuple(_column(f, mapped=state.schema.mapped) for f in state.schema.document["fields"])
    return FileReading(columns, tuple(files), state.naming)


def data_files(
    store: Store, batch: pa.RecordBatch, partitions: Sequence[PartitionColumn], zone: Zone
) -> Iterator[DataFile]:
    """One data file per row of the batch; `zone` applies to timestamps that name no zone."""
    vectors = batch.column(replay.VECTOR).to_pylist()
    constants = [_constants(partition, batch, zone) for partition in partitions]
    for at, path in enumerate(batch.column(replay.PATH).to_pylist()):
        place = below(store, path)
        if place is None:
            raise TableError(
                f"a data file lies outside of the table's folder: {path}",
                hint="whyscan follows no path that leads out of the table",
            )
        descriptor = vectors[at]
        yield DataFile(
            store,
            place,
            constants={path: values[at] for path, values in constants},
            deletes=()
            if descriptor is None or descriptor["kind"] is None
            else (
                vector(
                    store,
                    descriptor["kind"],
                    descriptor["text"],
                    descriptor["start"],
                    descriptor["size"],
                ),
            ),
        )


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
