"""Delta tables: commits, a compacted file, checkpoints of every kind, deletion vectors, data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.damage import Kind
from fuzz.victims import Target, Victim
from tables.delta.conftest import Lake

if TYPE_CHECKING:
    from pathlib import Path

UUID = "3a0d65cd-4056-49b8-937b-95f9e3ee90e5"
COLUMNS = {
    "a": "long",
    "s": "string",
    "x": "double",
    "t": "timestamp",
    "m": "decimal(20,2)",
    "o": {
        "type": "struct",
        "fields": [{"name": "y", "type": "date", "nullable": True, "metadata": {}}],
    },
    "k": "integer",
    "day": "date",
}
PREDICATE = (
    "a > 5 AND s < 'q' AND x >= 0.5 AND t < TIMESTAMP '2030-01-01 00:00:00' AND m <> 3 "
    "AND o.y IS NOT NULL AND k IN (0, 1)"
)
SHORT = "a > 5 AND s < 'q' AND k IN (0, 1)"
PROTOCOL = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["deletionVectors", "v2Checkpoint"],
    "writerFeatures": ["deletionVectors", "v2Checkpoint", "domainMetadata", "clustering"],
}
GENERATED = {"day": {"delta.generationExpression": "CAST(t AS DATE)"}}


def stats(n: int) -> dict[str, Any]:
    lower = {
        "a": n,
        "s": "a",
        "x": 0.25,
        "t": "2024-01-01T00:00:00.000Z",
        "m": -1.5,
        "o": {"y": "2024-01-01"},
    }
    upper = {
        "a": n + 9,
        "s": "z" * 32,
        "x": 9.5,
        "t": f"2024-01-0{n + 1}T01:02:03.456Z",
        "m": 12345678901234567.25,
        "o": {"y": "2024-02-01"},
    }
    nulls = {"a": 0, "s": 1, "x": 0, "t": 0, "m": 0, "o": {"y": 2}}
    return {"numRecords": 10, "minValues": lower, "maxValues": upper, "nullCount": nulls}


def vector(cardinality: int = 2) -> dict[str, Any]:
    return {
        "storageType": "u",
        "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
        "offset": 4,
        "sizeInBytes": 40,
        "cardinality": cardinality,
    }


def add(lake: Lake, n: int, **more: Any) -> dict[str, Any]:
    partition = {"k": str(n), "day": f"2024-01-0{n + 1}"}
    return lake.add(f"k={n}/f{n}.parquet", stats(n), partition=partition, **more)


def _begin(folder: Path) -> Lake:
    """Version 0: a table that uses what readers must know."""
    return Lake(folder).create(COLUMNS, ("k", "day"), about=GENERATED, protocol=PROTOCOL)


def _data(lake: Lake, n: int) -> None:
    place = lake.folder / f"k={n}" / f"f{n}.parquet"
    place.parent.mkdir(exist_ok=True)
    values = pa.array(range(n, n + 10))
    pq.write_table(pa.table({"a": values, "s": values.cast(pa.string())}), place, row_group_size=5)


def _log(folder: Path) -> None:
    lake = _begin(folder)
    lake.commit({"commitInfo": {"engineInfo": "Apache-Spark/4.1.0", "operation": "WRITE"}})
    lake.commit(add(lake, 0), add(lake, 1))
    lake.commit(lake.remove("k=1/f1.parquet"), add(lake, 1, deletionVector=vector()), add(lake, 2))
    clustering = json.dumps({"clusteringColumns": [["a"]]})
    domain = {"domain": "delta.clustering", "configuration": clustering, "removed": False}
    lake.commit({"domainMetadata": domain}, add(lake, 3))
    compacted = [
        add(lake, 0),
        lake.remove("k=1/f1.parquet"),
        add(lake, 1, deletionVector=vector()),
        add(lake, 2),
    ]
    name = f"{1:020}.{3:020}.compacted.json"
    (lake.log / name).write_text("".join(json.dumps(line) + "\n" for line in compacted))
    (lake.log / "_last_checkpoint").write_text(json.dumps({"version": 1, "size": 3}))
    (folder / "deletion_vector_x.bin").write_bytes(bytes(range(60)))
    _data(lake, 0)


STATS = pa.struct(
    {
        "numRecords": pa.int64(),
        "minValues": pa.struct({"a": pa.int64(), "s": pa.string()}),
        "maxValues": pa.struct({"a": pa.int64(), "s": pa.string()}),
        "nullCount": pa.struct({"a": pa.int64(), "s": pa.int64()}),
    }
)
ADD = {
    "path": pa.string(),
    "partitionValues": pa.map_(pa.string(), pa.string()),
    "size": pa.int64(),
    "modificationTime": pa.int64(),
    "dataChange": pa.bool_(),
    "stats": pa.string(),
    "deletionVector": pa.struct(
        {
            "storageType": pa.string(),
            "pathOrInlineDv": pa.string(),
            "offset": pa.int32(),
            "sizeInBytes": pa.int32(),
            "cardinality": pa.int64(),
        }
    ),
}
CHECKPOINT = {
    "protocol": pa.struct(
        {
            "minReaderVersion": pa.int32(),
            "minWriterVersion": pa.int32(),
            "readerFeatures": pa.list_(pa.string()),
            "writerFeatures": pa.list_(pa.string()),
        }
    ),
    "metaData": pa.struct(
        {
            "id": pa.string(),
            "format": pa.struct({"provider": pa.string()}),
            "schemaString": pa.string(),
            "partitionColumns": pa.list_(pa.string()),
            "configuration": pa.map_(pa.string(), pa.string()),
        }
    ),
    "add": pa.struct(ADD),
    "remove": pa.struct({"path": pa.string(), "deletionTimestamp": pa.int64()}),
    "domainMetadata": pa.struct({"domain": pa.string(), "configuration": pa.string()}),
}
TYPED = {**CHECKPOINT, "add": pa.struct({**ADD, "stats_parsed": STATS})}
SIDECAR = {"path": pa.string(), "sizeInBytes": pa.int64(), "modificationTime": pa.int64()}
V2 = {
    **CHECKPOINT,
    "sidecar": pa.struct(SIDECAR),
    "checkpointMetadata": pa.struct({"version": pa.int64()}),
}


def _described(lake: Lake) -> list[dict[str, Any]]:
    """The actions of version 0."""
    lines = (lake.log / f"{0:020}.json").read_text().splitlines()
    return [json.loads(line) for line in lines]


def _whole(folder: Path) -> None:
    """One checkpoint in Parquet, and a commit behind it."""
    lake = _begin(folder)
    files = [*(add(lake, n) for n in range(3)), add(lake, 3, deletionVector=vector())]
    lake.commit(*files)
    lake.checkpoint([*_described(lake), *files, lake.remove("old")], pa.schema(CHECKPOINT))
    lake.commit(lake.remove("k=0/f0.parquet"), add(lake, 4))


def _typed(folder: Path) -> None:
    """A checkpoint of two parts with typed statistics."""
    lake = _begin(folder)
    lake.commit(*(add(lake, n) for n in range(4)))
    files = []
    for n in range(4):
        row = add(lake, n)
        statistics = json.loads(row["add"].pop("stats"))
        row["add"]["stats_parsed"] = {
            k: statistics[k] if k == "numRecords" else {c: statistics[k][c] for c in "as"}
            for k in statistics
        }
        files.append(row)
    parts = ([*_described(lake), *files[:2]], files[2:])
    for at, rows in enumerate(parts, start=1):
        lake.checkpoint(
            rows, pa.schema(TYPED), f"{1:020}.checkpoint.{at:010}.{len(parts):010}.parquet"
        )


def _sidecars(lake: Lake) -> list[dict[str, Any]]:
    folder = lake.log / "_sidecars"
    folder.mkdir()
    rows = [add(lake, n) for n in range(4)]
    lake.commit(*rows)
    place = folder / "s.parquet"
    pq.write_table(pa.Table.from_pylist(rows, pa.schema({"add": CHECKPOINT["add"]})), place)
    named = {"path": "s.parquet", "sizeInBytes": place.stat().st_size, "modificationTime": 1}
    return [{"checkpointMetadata": {"version": 1}}, *_described(lake), {"sidecar": named}]


def _v2_json(folder: Path) -> None:
    lake = _begin(folder)
    lines = "".join(json.dumps(row) + "\n" for row in _sidecars(lake))
    (lake.log / f"{1:020}.checkpoint.{UUID}.json").write_text(lines)


def _v2_parquet(folder: Path) -> None:
    lake = _begin(folder)
    lake.checkpoint(_sidecars(lake), pa.schema(V2), f"{1:020}.checkpoint.{UUID}.parquet")


def listing(name: str, kind: Kind) -> Target:
    return Target(f"_delta_log/{name}", kind, lists_files=True)


def unread(path: str, kind: Kind) -> Target:
    return Target(path, kind, unread=True)


VICTIMS = (
    Victim(
        "delta-log",
        _log,
        PREDICATE,
        (
            listing(f"{0:020}.json", Kind.LINES),
            listing(f"{4:020}.json", Kind.LINES),
            listing(f"{1:020}.{3:020}.compacted.json", Kind.LINES),
            Target("k=0/f0.parquet", Kind.PARQUET),
            unread(f"_delta_log/{3:020}.json", Kind.LINES),
            unread("_delta_log/_last_checkpoint", Kind.DOCUMENT),
            unread("deletion_vector_x.bin", Kind.BINARY),
        ),
    ),
    Victim(
        "delta-checkpoint",
        _whole,
        SHORT,
        (
            listing(f"{1:020}.checkpoint.parquet", Kind.PARQUET),
            listing(f"{2:020}.json", Kind.LINES),
        ),
    ),
    Victim(
        "delta-parts",
        _typed,
        "a > 5 AND s < 'q' AND k IN (0, 1) AND t < TIMESTAMP '2024-01-02 00:00:00'",
        (
            listing(f"{1:020}.checkpoint.{1:010}.{2:010}.parquet", Kind.PARQUET),
            listing(f"{1:020}.checkpoint.{2:010}.{2:010}.parquet", Kind.PARQUET),
        ),
    ),
    Victim(
        "delta-v2-json",
        _v2_json,
        SHORT,
        (
            listing(f"{1:020}.checkpoint.{UUID}.json", Kind.LINES),
            listing("_sidecars/s.parquet", Kind.PARQUET),
        ),
    ),
    Victim(
        "delta-v2-parquet",
        _v2_parquet,
        SHORT,
        (listing(f"{1:020}.checkpoint.{UUID}.parquet", Kind.PARQUET),),
    ),
)
