"""Manifest lists and manifests as Arrow tables, whoever decodes them.

DataFusion decodes a hundred thousand entries in a third of a second and takes as long to be
imported; fastavro is the quicker one for a few small files, and reads what DataFusion refuses.
"""

from __future__ import annotations

import io
import os
import tempfile
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.errors import CorruptFile
from whyscan.tables.iceberg.avro import Container, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

SMALL = 2 * 1024 * 1024
"""Up to so many bytes of manifests fastavro is done before DataFusion is imported."""

_COUNTS = pa.list_(pa.struct([("key", pa.int32()), ("value", pa.int64())]))
_BOUNDS = pa.list_(pa.struct([("key", pa.int32()), ("value", pa.binary())]))

LIST_FIELDS = {
    "manifest_path": pa.string(),
    "manifest_length": pa.int64(),
    "partition_spec_id": pa.int32(),
    "content": pa.int32(),
    "sequence_number": pa.int64(),
    "added_files_count": pa.int32(),
    "existing_files_count": pa.int32(),
    "added_rows_count": pa.int64(),
    "existing_rows_count": pa.int64(),
    "partitions": pa.list_(
        pa.struct(
            [
                ("contains_null", pa.bool_()),
                ("contains_nan", pa.bool_()),
                ("lower_bound", pa.binary()),
                ("upper_bound", pa.binary()),
            ]
        )
    ),
    "key_metadata": pa.binary(),
}
OLD_NAMES = {
    "added_files_count": "added_data_files_count",
    "existing_files_count": "existing_data_files_count",
}
"""What version 1 writers called them."""

ENTRY_FIELDS = {"status": pa.int32(), "sequence_number": pa.int64()}
FILE_FIELDS = {
    "content": pa.int32(),
    "file_path": pa.string(),
    "file_format": pa.string(),
    "record_count": pa.int64(),
    "file_size_in_bytes": pa.int64(),
    "value_counts": _COUNTS,
    "null_value_counts": _COUNTS,
    "nan_value_counts": _COUNTS,
    "lower_bounds": _BOUNDS,
    "upper_bounds": _BOUNDS,
    "equality_ids": pa.list_(pa.int32()),
    "referenced_data_file": pa.string(),
    "key_metadata": pa.binary(),
}


def read_list(container: Container) -> pa.Table:
    """A manifest list: one row a manifest, the columns of `LIST_FIELDS`."""
    records = _records(container)
    for record in records:
        for new, old in OLD_NAMES.items():
            if record.get(new) is None and old in record:
                record[new] = record[old]
    columns = {
        name: pa.array([record.get(name) for record in records], kind)
        for name, kind in LIST_FIELDS.items()
    }
    return pa.table(columns)


def read_entries(containers: Sequence[Container]) -> pa.Table:
    """The entries of manifests of one schema and codec, in order.

    Columns: those of `ENTRY_FIELDS` and `FILE_FIELDS`, and `partition`, a struct.
    """
    if sum(len(c.data) for c in containers) <= SMALL:
        return _with_fastavro(containers)
    try:
        return _with_datafusion(containers)
    except CorruptFile:
        return _with_fastavro(containers)


def _with_datafusion(containers: Sequence[Container]) -> pa.Table:
    import datafusion

    with tempfile.TemporaryDirectory(prefix="whyscan-") as folder:
        path = os.path.join(folder, "manifests.avro")
        with open(path, "wb") as file:
            file.write(joined(containers))
        try:
            table = datafusion.SessionContext().read_avro(path).to_arrow_table()
        except Exception as error:  # noqa: BLE001 - DataFusion raises nothing narrower
            raise CorruptFile(containers[0].path, f"{error}") from None
    return _flattened(table.combine_chunks())


def _flattened(table: pa.Table) -> pa.Table:
    file = table.column("data_file").combine_chunks()
    columns = {n: _column(table, n, kind) for n, kind in ENTRY_FIELDS.items()}
    columns |= {n: _member(file, n, kind) for n, kind in FILE_FIELDS.items()}
    index = file.type.get_field_index("partition")
    columns["partition"] = pa.nulls(len(file)) if index < 0 else file.field(index)
    return pa.table(columns)


def _column(table: pa.Table, name: str, kind: pa.DataType) -> pa.Array:
    if name not in table.column_names:
        return pa.nulls(len(table), kind)
    return table.column(name).combine_chunks().cast(kind)


def _member(file: pa.StructArray, name: str, kind: pa.DataType) -> pa.Array:
    index = file.type.get_field_index(name)
    return pa.nulls(len(file), kind) if index < 0 else file.field(index).cast(kind)


def _partitions(tuples: list[dict[str, Any]], container: Container) -> pa.Array:
    """The partition structs, each field of the type that Avro encodes it in."""
    fields = [
        pa.field(field["name"], _arrow(field["type"])) for field in partition_fields(container)
    ]
    return pa.array(tuples, pa.struct(fields))


def partition_fields(container: Container) -> list[dict[str, Any]]:
    """The fields of the partition struct as the header describes them, ids included."""
    file = next(f["type"] for f in container.schema["fields"] if f["name"] == "data_file")
    fields: list[dict[str, Any]] = next(
        f["type"]["fields"] for f in file["fields"] if f["name"] == "partition"
    )
    return fields


_ENCODED = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "bytes": pa.binary(),
    "fixed": pa.binary(),
}


def _arrow(schema: Any) -> pa.DataType:
    match schema:
        case str() as name:
            return _ENCODED.get(name, pa.null())
        case {"type": inner}:
            return _arrow(inner)
        case list() as branches:
            return next((_arrow(b) for b in branches if b != "null"), pa.null())
        case _:
            return pa.null()


def _with_fastavro(containers: Sequence[Container]) -> pa.Table:
    entries = [record for container in containers for record in _records(container)]
    files = [entry["data_file"] for entry in entries]
    columns = {n: pa.array([e.get(n) for e in entries], k) for n, k in ENTRY_FIELDS.items()}
    columns |= {n: pa.array([f.get(n) for f in files], k) for n, k in FILE_FIELDS.items()}
    columns["partition"] = _partitions([f.get("partition") or {} for f in files], containers[0])
    return pa.table(columns)


def _records(container: Container) -> list[dict[str, Any]]:
    """The records of a container with the plain values that Avro encodes: no dates, no decimals."""
    import fastavro

    bare = container.with_schema(without_logical_types(container.schema))
    try:
        return list(fastavro.reader(io.BytesIO(bare)))
    except (ValueError, EOFError, IndexError, KeyError, TypeError, StopIteration) as error:
        raise CorruptFile(container.path, f"its records cannot be read: {error!r}") from None


def without_logical_types(schema: Any) -> Any:
    """The schema with every value as it is encoded. Maps written as arrays are arrays anyway."""
    match schema:
        case dict():
            kept = {k: v for k, v in schema.items() if k not in ("logicalType", "adjust-to-utc")}
            return {
                key: without_logical_types(value) if key in ("type", "items", "fields") else value
                for key, value in kept.items()
            }
        case list():
            return [without_logical_types(part) for part in schema]
        case _:
            return schema


def lookup(map_of: pa.Array, key: int) -> pa.Array:
    """The value of one key in each map; null where the map or the key is missing."""
    parents = pc.list_parent_indices(map_of)
    entries = pc.list_flatten(map_of)
    chosen = pc.equal(entries.field("key"), key)
    at = parents.filter(chosen).cast(pa.int64())
    values = entries.field("value").filter(chosen)
    return scatter(values, at, len(map_of))


def scatter(values: pa.Array, at: pa.Array, count: int) -> pa.Array:
    """`values` at the positions `at` of an array of `count`, null elsewhere."""
    import numpy as np

    slots = np.full(count, -1, np.int64)
    slots[at.to_numpy()] = np.arange(len(values))
    return values.take(pa.array(slots, mask=slots < 0))
