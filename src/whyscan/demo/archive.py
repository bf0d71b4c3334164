"""The archive of the demo: telemetry of four missions, as an Iceberg table.

Each commit has one manifest. Every five days a mission commits ten files, two per day. At night the
voltage of the panels falls, on some days more than on others.
"""

from __future__ import annotations

import json
import math
import os
import struct
from datetime import UTC, date, datetime, time, timedelta
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whyscan.demo.iceberg_avro import list_schema, manifest_schema, optional, pairs, write_avro

if TYPE_CHECKING:
    import pyarrow as pa

MISSIONS = ("artemis-1", "artemis-2", "artemis-3", "artemis-4")
COMMITS = 10
DAYS_A_COMMIT = 5
FIRST_DAY = date(2024, 2, 15)
WRITTEN = int(datetime(2024, 4, 6, tzinfo=UTC).timestamp() * 1000)

HALVES = (0, 12)
SAMPLES = 24
SAMPLES_A_GROUP = 6

SNAPSHOT = 1
MISSION, AT, VOLTAGE = 1, 2, 3
COLUMNS = {"mission": "string", "at": "timestamp", "panel_voltage": "double"}
SCHEMA = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": number, "name": name, "required": False, "type": kind}
        for number, (name, kind) in enumerate(COLUMNS.items(), start=MISSION)
    ],
}
SPEC = [
    {"source-id": MISSION, "field-id": 1000, "name": "mission", "transform": "identity"},
    {"source-id": AT, "field-id": 1001, "name": "at_day", "transform": "day"},
]
PARTITION = (
    optional("mission", 1000, "string"),
    optional("at_day", 1001, {"type": "int", "logicalType": "date"}),
)


class MissionCommit(Struct, frozen=True):
    """One commit of a mission; `number` is its sequence number in the table."""

    number: int
    mission: str
    days: tuple[date, ...]


def write_file(path: Path, *groups: pa.Table) -> int:
    """Write a file with one row group per table, and return its size in bytes."""
    from pyarrow import parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    with parquet.ParquetWriter(path, groups[0].schema, store_schema=False) as writer:
        for group in groups:
            writer.write_table(group)
    return path.stat().st_size


def write_archive(table: Path) -> None:
    """Write the data files, the manifests, the manifest list and the metadata file."""
    # Iceberg records absolute paths. Not Path.resolve: the table is opened by its name.
    root = Path(os.path.abspath(table))  # noqa: PTH100
    metadata = root / "metadata"
    metadata.mkdir(parents=True)
    listed = [_write_commit(root, commit) for commit in _commits()]
    write_avro(metadata / f"snap-{SNAPSHOT}.avro", list_schema(), listed)
    (metadata / "v1.metadata.json").write_text(json.dumps(_metadata(root)), "utf-8")
    (metadata / "version-hint.text").write_text("1", "utf-8")


def _commits() -> list[MissionCommit]:
    return [
        MissionCommit(
            number, mission, tuple(_day(turn * DAYS_A_COMMIT + d) for d in range(DAYS_A_COMMIT))
        )
        for number, (mission, turn) in enumerate(product(MISSIONS, range(COMMITS)), start=1)
    ]


def _day(after: int) -> date:
    return FIRST_DAY + timedelta(days=after)


def _write_commit(root: Path, commit: MissionCommit) -> dict[str, Any]:
    """Write the data files and the manifest of a commit; return its entry in the manifest list."""
    entries = [_write_half(root, commit, day, hour) for day, hour in product(commit.days, HALVES)]
    path = root / "metadata" / f"m{commit.number:02}.avro"
    header = {"schema": json.dumps(SCHEMA), "schema-id": "0", "partition-spec": json.dumps(SPEC)}
    header |= {"partition-spec-id": "0", "format-version": "2", "content": "data"}
    name = commit.mission.encode()
    first, last = (struct.pack("<i", _ordinal(commit.days[at])) for at in (0, -1))
    return {
        "manifest_path": str(path),
        "manifest_length": write_avro(path, manifest_schema(PARTITION), entries, header),
        "partition_spec_id": 0,
        "content": 0,
        "sequence_number": commit.number,
        "min_sequence_number": commit.number,
        "added_snapshot_id": SNAPSHOT,
        "added_files_count": len(entries),
        "existing_files_count": 0,
        "deleted_files_count": 0,
        "added_rows_count": sum(e["data_file"]["record_count"] for e in entries),
        "existing_rows_count": 0,
        "deleted_rows_count": 0,
        "partitions": [_summary(name, name), _summary(first, last)],
    }


def _summary(lower: bytes, upper: bytes) -> dict[str, Any]:
    ends = {"lower_bound": lower, "upper_bound": upper}
    return {"contains_null": False, "contains_nan": False, **ends}


def _ordinal(day: date) -> int:
    """Return the days since 1970-01-01, as the day transform does."""
    return (day - date(1970, 1, 1)).days


def _write_half(root: Path, commit: MissionCommit, day: date, hour: int) -> dict[str, Any]:
    """Write the data file of half a day; return its entry in the manifest."""
    rows = _samples(commit.mission, datetime.combine(day, time(hour)))
    path = root / "data" / f"mission={commit.mission}" / f"at_day={day}" / f"{hour:02}.parquet"
    groups = [rows[at : at + SAMPLES_A_GROUP] for at in range(0, SAMPLES, SAMPLES_A_GROUP)]
    size = write_file(path, *groups)
    lower, upper = (_ends(rows, which) for which in ("min", "max"))
    return {
        "status": 1,
        "snapshot_id": SNAPSHOT,
        "sequence_number": commit.number,
        "file_sequence_number": commit.number,
        "data_file": {
            "content": 0,
            "file_path": str(path),
            "file_format": "PARQUET",
            "partition": {"mission": commit.mission, "at_day": _ordinal(day)},
            "record_count": SAMPLES,
            "file_size_in_bytes": size,
            "value_counts": pairs(dict.fromkeys(lower, SAMPLES)),
            "null_value_counts": pairs(dict.fromkeys(lower, 0)),
            "nan_value_counts": pairs({VOLTAGE: 0}),
            "lower_bounds": pairs(lower),
            "upper_bounds": pairs(upper),
        },
    }


def _samples(mission: str, start: datetime) -> pa.Table:
    """Return half a day of samples, one every thirty minutes."""
    import pyarrow as pa

    kinds = (pa.string(), pa.timestamp("us"), pa.float64())
    schema = pa.schema(
        pa.field(name, kind, metadata={"PARQUET:field_id": str(number)})
        for number, (name, kind) in enumerate(zip(COLUMNS, kinds, strict=True), start=MISSION)
    )
    moments = [start + timedelta(minutes=30 * turn) for turn in range(SAMPLES)]
    depth = 2 + (_ordinal(start.date()) + MISSIONS.index(mission)) % 4
    voltages = [round(28 - depth * _night(moment), 2) for moment in moments]
    return pa.table([[mission] * SAMPLES, moments, voltages], schema=schema)


def _night(moment: datetime) -> float:
    """Return 0 at noon, 1 at midnight, and values between them at other times."""
    return (1 + math.cos(math.tau * (moment.hour + moment.minute / 60) / 24)) / 2


def _ends(rows: pa.Table, which: str) -> dict[int, bytes]:
    """Return the `min` or `max` of every column, encoded as the specification demands."""
    import pyarrow.compute as pc

    mission, at, voltage = (pc.min_max(rows[name])[which] for name in COLUMNS)
    return {
        MISSION: mission.as_py().encode(),
        AT: struct.pack("<q", at.value),
        VOLTAGE: struct.pack("<d", voltage.as_py()),
    }


def _metadata(root: Path) -> dict[str, Any]:
    snapshot = {
        "snapshot-id": SNAPSHOT,
        "sequence-number": len(MISSIONS) * COMMITS,
        "timestamp-ms": WRITTEN,
        "manifest-list": str(root / "metadata" / f"snap-{SNAPSHOT}.avro"),
        "summary": {"operation": "append"},
        "schema-id": 0,
    }
    return {
        "format-version": 2,
        "table-uuid": "6f2f5c1e-5a34-4c0b-9d4e-3b1f0a7c2d85",
        "location": str(root),
        "last-sequence-number": snapshot["sequence-number"],
        "last-updated-ms": WRITTEN,
        "last-column-id": len(COLUMNS),
        "schemas": [SCHEMA],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": SPEC}],
        "default-spec-id": 0,
        "last-partition-id": 1001,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "current-snapshot-id": SNAPSHOT,
        "snapshots": [snapshot],
        "refs": {"main": {"snapshot-id": SNAPSHOT, "type": "branch"}},
    }
