"""The Avro files of Iceberg: the schemas of manifest lists and manifests, and their writer.

https://iceberg.apache.org/spec/#manifests
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# A constant marker makes the files equal on every machine; Avro's default is random.
_SYNC = b"whyscan's demo.\n"


def write_avro(
    path: Path,
    schema: dict[str, Any],
    records: Sequence[Mapping[str, Any]],
    header: dict[str, str] | None = None,
) -> int:
    """Write an Avro file and return its size in bytes."""
    import fastavro

    parsed = fastavro.parse_schema(schema)
    with path.open("wb") as file:
        fastavro.writer(file, parsed, records, "deflate", metadata=header, sync_marker=_SYNC)
    return path.stat().st_size


def field(name: str, number: int, kind: Any) -> dict[str, Any]:
    """Return a required field."""
    return {"name": name, "type": kind, "field-id": number}


def optional(name: str, number: int, kind: Any) -> dict[str, Any]:
    """Return a field that may be null."""
    return field(name, number, ["null", kind]) | {"default": None}


def _by_column(name: str, number: int, key: int, kind: str) -> dict[str, Any]:
    """Return a map from field ids, as an array of pairs: Avro's own maps need string keys."""
    members = [field("key", key, "int"), field("value", key + 1, kind)]
    pair = {"type": "record", "name": f"k{key}_v{key + 1}", "fields": members}
    return optional(name, number, {"type": "array", "items": pair, "logicalType": "map"})


def pairs(values: Mapping[int, Any]) -> list[dict[str, Any]]:
    """Return the records of a map from field ids."""
    return [{"key": key, "value": value} for key, value in values.items()]


def manifest_schema(partition: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of manifest entries; `partition` has the fields of the partition tuple."""
    file = [
        field("content", 134, "int"),
        field("file_path", 100, "string"),
        field("file_format", 101, "string"),
        field("partition", 102, {"type": "record", "name": "r102", "fields": list(partition)}),
        field("record_count", 103, "long"),
        field("file_size_in_bytes", 104, "long"),
        _by_column("value_counts", 109, 119, "long"),
        _by_column("null_value_counts", 110, 121, "long"),
        _by_column("nan_value_counts", 137, 138, "long"),
        _by_column("lower_bounds", 125, 126, "bytes"),
        _by_column("upper_bounds", 128, 129, "bytes"),
    ]
    entry = [
        field("status", 0, "int"),
        optional("snapshot_id", 1, "long"),
        optional("sequence_number", 3, "long"),
        optional("file_sequence_number", 4, "long"),
        field("data_file", 2, {"type": "record", "name": "r2", "fields": file}),
    ]
    return {"type": "record", "name": "manifest_entry", "fields": entry}


def list_schema() -> dict[str, Any]:
    """Return the schema of a manifest list."""
    summary = [
        field("contains_null", 509, "boolean"),
        optional("contains_nan", 518, "boolean"),
        optional("lower_bound", 510, "bytes"),
        optional("upper_bound", 511, "bytes"),
    ]
    items = {"type": "record", "name": "r508", "fields": summary}
    fields = [
        field("manifest_path", 500, "string"),
        field("manifest_length", 501, "long"),
        field("partition_spec_id", 502, "int"),
        field("content", 517, "int"),
        field("sequence_number", 515, "long"),
        field("min_sequence_number", 516, "long"),
        field("added_snapshot_id", 503, "long"),
        field("added_files_count", 504, "int"),
        field("existing_files_count", 505, "int"),
        field("deleted_files_count", 506, "int"),
        field("added_rows_count", 512, "long"),
        field("existing_rows_count", 513, "long"),
        field("deleted_rows_count", 514, "long"),
        optional("partitions", 507, {"type": "array", "items": items, "element-id": 508}),
    ]
    return {"type": "record", "name": "manifest_file", "fields": fields}
