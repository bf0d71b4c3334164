"""A Delta table's columns as readers give them, and what its log says of the files to read."""

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
    Naming,
    ReadColumn,
    given_as,
    list_of,
    map_of,
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
    """The columns of a version, and the files that were asked for."""
    mode = state.properties.get("delta.columnMapping.mode")
    columns = tuple(_column(f, mapped=state.schema.mapped) for f in state.schema.document["fields"])
    return FileReading(columns, tuple(files), Naming(by_id=state.schema.mapped and mode == "id"))


def data_files(
    store: Store, told: pa.RecordBatch, partitions: Sequence[PartitionColumn], zone: Zone
) -> Iterator[DataFile]:
    """The files of some rows of the log; `zone` is that of a timestamp that names none."""
    vectors = told.column(replay.VECTOR).to_pylist()
    constants = [_constants(partition, told, zone) for partition in partitions]
    for at, path in enumerate(told.column(replay.PATH).to_pylist()):
        place = below(store, path)
        if place is None:
            raise TableError(
                f"a data file lies outside of the table's folder: {path}",
                hint="whyscan follows no path that leads out of the table",
            )
        found = vectors[at]
        yield DataFile(
            store,
            place,
            constants={path: values[at] for path, values in constants},
            deletes=()
            if found is None or found["kind"] is None
            else (vector(store, found["kind"], found["text"], found["start"], found["size"]),),
        )


def _constants(
    partition: PartitionColumn, told: pa.RecordBatch, zone: Zone
) -> tuple[Path, Sequence[pa.Scalar]]:
    """One value a file, as readers give it."""
    unknown = partition.unreadable(told)
    if unknown:
        raise TableError(
            f"{unknown} files have no readable value of the partition column "
            f"{'.'.join(partition.column.path)}"
        )
    kind = given_as(partition.column.type)
    values = partition.values(told)
    if kind is None:
        raise TableError(f"a partition column of type {partition.column.type} cannot be read")
    if pa.types.is_null(values.type):
        values = told.column(partition.value_name)
    if is_instant(partition.column.type):
        values = _moments(values, told.column(f"zoned{partition.at}"), zone)
    return partition.column.path, values.cast(kind)


def _moments(values: pa.Array, zoned: pa.Array, zone: Zone) -> pa.Array:
    """Wall clocks of the session's zone as moments; those that named their zone stay."""
    pairs = zip(values.cast(pa.int64()).to_pylist(), zoned.to_pylist(), strict=True)
    steps = [s if known or s is None else to_instant(s, zone) for s, known in pairs]
    return pa.array(steps, pa.int64()).cast(pa.timestamp("us", "UTC"))


def _column(field: Mapping[str, Any], *, mapped: bool) -> ReadColumn:
    about = field.get("metadata") or {}
    stored = about.get(PHYSICAL_NAME, "") if mapped else ""
    number = about.get(FIELD_ID) if mapped else None
    return _typed(field["name"], field["type"], about, mapped=mapped, id=number, stored=stored)


def _typed(
    name: str, kind: Any, about: Mapping[str, Any], *, mapped: bool, **more: Any
) -> ReadColumn:
    def inner(name: str, kind: Any) -> ReadColumn:
        return _typed(name, kind, {}, mapped=mapped)

    match kind:
        case {"type": "struct", "fields": fields}:
            return struct_of(name, tuple(_column(f, mapped=mapped) for f in fields), **more)
        case {"type": "array", "elementType": element}:
            return list_of(name, inner("element", element), **more)
        case {"type": "map", "keyType": key, "valueType": value}:
            return map_of(name, inner("key", key), inner("value", value), **more)
        case "variant":
            parts = tuple(ReadColumn(part, pa.binary()) for part in ("metadata", "value"))
            return struct_of(name, parts, **more)
        case _:
            found = given_as(type_of_field(kind, about))
            if found is None:
                raise TableError(f"the column {name} is of type {kind}, which cannot be read")
            return ReadColumn(name, found, **more)
