"""Iceberg tables of metadata alone: 100,000 files in 100 manifests, and the Artemis archive.

No data file is ever opened, so that none is written.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = 12
DAY = 86_400_000_000
EPOCH_DAY = 19_000
ARTEMIS_DAYS = 400
HINT = "version-hint.text"
SCHEMA = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "mission", "required": False, "type": "int"},
        {"id": 2, "name": "at", "required": False, "type": "timestamp"},
        *(
            {"id": 3 + i, "name": f"c{i}", "required": False, "type": "long"}
            for i in range(COLUMNS)
        ),
    ],
}


@dataclass(frozen=True, slots=True)
class Made:
    """A table: the folder where it was written, and the location that it records as its own."""

    folder: Path
    location: str


def wide(folder: Path, location: str | None = None) -> Made:
    """100,000 files in 100 manifests, not partitioned."""
    manifests = [Manifest(None, None, number, 1_000) for number in range(100)]
    return _made(folder, location, manifests, [])


def artemis(folder: Path, location: str | None = None) -> Made:
    """40,000 files in 4,000 manifests: ten missions, a manifest for each day of each."""
    return _made(folder, location, _artemis(), ["mission", "at"])


def _made(
    folder: Path, location: str | None, manifests: list[Manifest], partitioned: list[str]
) -> Made:
    made = Made(folder, str(folder) if location is None else location)
    if not (folder / "metadata" / HINT).exists():
        write(made, manifests, partitioned)
    return made


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest to write: its partition, where its values begin, how many files it lists."""

    mission: int | None
    day: int | None
    number: int
    files: int


def _artemis() -> list[Manifest]:
    return [
        Manifest(mission, EPOCH_DAY + day, mission * ARTEMIS_DAYS + day, 10)
        for mission in range(10)
        for day in range(ARTEMIS_DAYS)
    ]


def write(table: Made, manifests: list[Manifest], partitioned: list[str]) -> None:
    """The hint last: with it the table is there."""
    import fastavro

    folder = table.folder / "metadata"
    folder.mkdir(parents=True, exist_ok=True)
    entry_schema = fastavro.parse_schema(_entry_schema(partitioned))
    header = {"schema": json.dumps(SCHEMA), "partition-spec-id": "0", "content": "data"}
    listed = []
    for manifest in manifests:
        path = folder / f"m{manifest.number}.avro"
        entries = [_entry(table, manifest, at, partitioned) for at in range(manifest.files)]
        with path.open("wb") as file:
            fastavro.writer(file, entry_schema, entries, codec="deflate", metadata=header)
        listed.append(_listed(table, path, manifest, partitioned))
    with (folder / "list.avro").open("wb") as file:
        fastavro.writer(file, fastavro.parse_schema(_list_schema()), listed, codec="deflate")
    (folder / "v1.metadata.json").write_text(json.dumps(_metadata(table, partitioned)))
    (folder / HINT).write_text("1")


def _entry(table: Made, manifest: Manifest, at: int, partitioned: list[str]) -> dict[str, Any]:
    number = manifest.number * manifest.files + at
    day = EPOCH_DAY if manifest.day is None else manifest.day
    moment = day * DAY + at * 3_600_000_000
    lower = {1: struct.pack("<i", manifest.mission or 0), 2: struct.pack("<q", moment)}
    upper = {1: lower[1], 2: struct.pack("<q", moment + 3_599_000_000)}
    for column in range(COLUMNS):
        least = (number * 7_919 + column * 104_729) % 1_000_000
        lower[3 + column] = struct.pack("<q", least)
        upper[3 + column] = struct.pack("<q", least + 500)
    counts = [{"key": key, "value": 1_000} for key in lower]
    nothing = [{"key": key, "value": 0} for key in lower]
    return {
        "status": 1,
        "snapshot_id": 1,
        "sequence_number": 1,
        "file_sequence_number": 1,
        "data_file": {
            "content": 0,
            "file_path": f"{table.location}/data/{manifest.number:05}/"
            f"{at:05}-{_scattered(number)}.parquet",
            "file_format": "PARQUET",
            "partition": {"mission": manifest.mission, "at_day": manifest.day}
            if partitioned
            else {},
            "record_count": 1_000,
            "file_size_in_bytes": 100_000 + number,
            "column_sizes": counts,
            "value_counts": counts,
            "null_value_counts": nothing,
            "nan_value_counts": None,
            "lower_bounds": [{"key": key, "value": value} for key, value in lower.items()],
            "upper_bounds": [{"key": key, "value": value} for key, value in upper.items()],
            "split_offsets": [4],
            "sort_order_id": 0,
        },
    }


def _scattered(number: int) -> str:
    """Digits that do not compress: real paths have random ones."""
    return f"{number * 2_654_435_761 % 2**32:08x}"


def _listed(table: Made, path: Path, manifest: Manifest, partitioned: list[str]) -> dict[str, Any]:
    ends = [
        struct.pack("<i", value) for value in (manifest.mission, manifest.day) if value is not None
    ]
    return {
        "manifest_path": f"{table.location}/metadata/{path.name}",
        "manifest_length": path.stat().st_size,
        "partition_spec_id": 0,
        "content": 0,
        "sequence_number": 1,
        "min_sequence_number": 1,
        "added_snapshot_id": 1,
        "added_files_count": manifest.files,
        "existing_files_count": 0,
        "deleted_files_count": 0,
        "added_rows_count": manifest.files * 1_000,
        "existing_rows_count": 0,
        "deleted_rows_count": 0,
        "partitions": [
            {"contains_null": False, "contains_nan": False, "lower_bound": end, "upper_bound": end}
            for end in ends
        ]
        if partitioned
        else [],
    }


def _metadata(table: Made, partitioned: list[str]) -> dict[str, Any]:
    fields = [
        {"source-id": 1, "field-id": 1000, "name": "mission", "transform": "identity"},
        {"source-id": 2, "field-id": 1001, "name": "at_day", "transform": "day"},
    ]
    return {
        "format-version": 2,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": table.location,
        "last-sequence-number": 1,
        "last-updated-ms": 1_700_000_000_000,
        "last-column-id": 2 + COLUMNS,
        "schemas": [SCHEMA],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": fields if partitioned else []}],
        "default-spec-id": 0,
        "last-partition-id": 1001,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "current-snapshot-id": 1,
        "snapshots": [
            {
                "snapshot-id": 1,
                "sequence-number": 1,
                "timestamp-ms": 1_700_000_000_000,
                "manifest-list": f"{table.location}/metadata/list.avro",
                "summary": {"operation": "append"},
                "schema-id": 0,
            }
        ],
        "refs": {"main": {"snapshot-id": 1, "type": "branch"}},
    }


def _field(name: str, number: int, kind: Any, *, optional: bool = False) -> dict[str, Any]:
    field: dict[str, Any] = {"name": name, "type": ["null", kind] if optional else kind}
    return {**field, "field-id": number, **({"default": None} if optional else {})}


def _map(name: str, number: int, key: int, kind: str) -> dict[str, Any]:
    """A map with integer keys: an array of pairs, as the specification has it."""
    pair = {
        "type": "record",
        "name": f"k{key}_v{key + 1}",
        "fields": [_field("key", key, "int"), _field("value", key + 1, kind)],
    }
    return _field(
        name, number, {"type": "array", "items": pair, "logicalType": "map"}, optional=True
    )


def _entry_schema(partitioned: list[str]) -> dict[str, Any]:
    partition = [
        _field("mission", 1000, "int", optional=True),
        _field("at_day", 1001, {"type": "int", "logicalType": "date"}, optional=True),
    ]
    file = [
        _field("content", 134, "int"),
        _field("file_path", 100, "string"),
        _field("file_format", 101, "string"),
        _field(
            "partition",
            102,
            {"type": "record", "name": "r102", "fields": partition if partitioned else []},
        ),
        _field("record_count", 103, "long"),
        _field("file_size_in_bytes", 104, "long"),
        _map("column_sizes", 108, 117, "long"),
        _map("value_counts", 109, 119, "long"),
        _map("null_value_counts", 110, 121, "long"),
        _map("nan_value_counts", 137, 138, "long"),
        _map("lower_bounds", 125, 126, "bytes"),
        _map("upper_bounds", 128, 129, "bytes"),
        _field(
            "split_offsets",
            132,
            {"type": "array", "items": "long", "element-id": 133},
            optional=True,
        ),
        _field("sort_order_id", 140, "int", optional=True),
    ]
    entry = [
        _field("status", 0, "int"),
        _field("snapshot_id", 1, "long", optional=True),
        _field("sequence_number", 3, "long", optional=True),
        _field("file_sequence_number", 4, "long", optional=True),
        _field("data_file", 2, {"type": "record", "name": "r2", "fields": file}),
    ]
    return {"type": "record", "name": "manifest_entry", "fields": entry}


def _list_schema() -> dict[str, Any]:
    summary = [
        _field("contains_null", 509, "boolean"),
        _field("contains_nan", 518, "boolean", optional=True),
        _field("lower_bound", 510, "bytes", optional=True),
        _field("upper_bound", 511, "bytes", optional=True),
    ]
    summaries = {
        "type": "array",
        "items": {"type": "record", "name": "r508", "fields": summary},
        "element-id": 508,
    }
    fields = [
        _field("manifest_path", 500, "string"),
        _field("manifest_length", 501, "long"),
        _field("partition_spec_id", 502, "int"),
        _field("content", 517, "int"),
        _field("sequence_number", 515, "long"),
        _field("min_sequence_number", 516, "long"),
        _field("added_snapshot_id", 503, "long"),
        _field("added_files_count", 504, "int"),
        _field("existing_files_count", 505, "int"),
        _field("deleted_files_count", 506, "int"),
        _field("added_rows_count", 512, "long"),
        _field("existing_rows_count", 513, "long"),
        _field("deleted_rows_count", 514, "long"),
        _field("partitions", 507, summaries, optional=True),
    ]
    return {"type": "record", "name": "manifest_file", "fields": fields}
