"""Iceberg's Avro files: the schemas of a manifest list and of a manifest, and how both are written.

https://iceberg.apache.org/spec/#manifests
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# The same on every machine; Avro's is random so that it is not found among the records.
_SYNC = b"whyscan's demo.\n"


def write_avro(
    path: Path,
    schema: dict[str, Any],
    records: Sequence[Mapping[str, Any]],
    header: dict[str, str] | None = None,
) -> int:
    """Write a container; its bytes."""
    import fastavro

    parsed = fastavro.parse_schema(schema)
    with path.open("wb") as file:
        fastavro.writer(file, parsed, records, "deflate", metadata=header, sync_marker=_SYNC)
    return path.stat().st_size


def field(name: str, number: int, kind: Any) -> dict[str, Any]:
    """A field that must have a value."""
    return {"name": name, "type": kind, "field-id": number}


def optional(name: str, number: int, kind: Any) -> dict[str, Any]:
    """A field that may be null."""
    return field(name, number, ["null", kind]) | {"default": None}


def _by_column(name: str, number: int, key: int, kind: str) -> dict[str, Any]:
    """A map from field ids: an array of pairs, as Avro's own maps have only strings for keys."""
    members = [field("key", key, "int"), field("value", key + 1, kind)]
    pair = {"type": "record", "name": f"k{key}_v{key + 1}", "fields": members}
    return optional(name, number, {"type": "array", "items": pair, "logicalType": "map"})


def pairs(values: Mapping[int, Any]) -> list[dict[str, Any]]:
    """A map from field ids as its records."""
    return [{"key": key, "value": value} for key, value in values.items()]


def manifest_schema(partition: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The schema of a manifest's entries; `partition` are the fields of its partition tuple."""
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
    """The schema of a manifest list."""
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
