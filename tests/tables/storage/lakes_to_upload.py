"""A small table of each format, with a question that takes something away at every level."""

from __future__ import annotations

import json
import uuid
import warnings
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from tables.iceberg import pyiceberg_lakes
from whyscan.demo.lake import write_lake

if TYPE_CHECKING:
    from pathlib import Path

QUESTIONS = {
    "hive": "country = 'DE' AND age > 40",
    "delta": "k = 'b' AND x > 150",
    "iceberg": "i < 0",
}
COMMITS = 12


def write(folder: Path) -> None:
    """Every table below one folder, each by the name of its format."""
    write_lake(folder / "demo", force=False)
    (folder / "demo" / "users").rename(folder / "hive")
    write_delta(folder / "delta")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = pyiceberg_lakes.create(folder / "iceberg", {"yes": "identity"})
        for seed in range(3):
            table.append(pyiceberg_lakes.rows(seed))


def write_delta(folder: Path) -> None:
    """A commit a file, and a checkpoint in the middle."""
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    first = [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": about()}]
    adds = [{"add": add(folder, number)} for number in range(COMMITS)]
    for version in range(COMMITS):
        actions = [*(first if version == 0 else []), adds[version]]
        lines = "".join(json.dumps(action) + "\n" for action in actions)
        (log / f"{version:020}.json").write_text(lines)
    half = COMMITS // 2
    kept = pa.Table.from_pylist([*first, *adds[: half + 1]], CHECKPOINT)
    pq.write_table(kept, log / f"{half:020}.checkpoint.parquet")
    hint = {"version": half, "size": kept.num_rows}
    (log / "_last_checkpoint").write_text(json.dumps(hint))


CHECKPOINT = pa.schema(
    {
        "protocol": pa.struct({"minReaderVersion": pa.int32(), "minWriterVersion": pa.int32()}),
        "metaData": pa.struct(
            {
                "id": pa.string(),
                "format": pa.struct({"provider": pa.string()}),
                "schemaString": pa.string(),
                "partitionColumns": pa.list_(pa.string()),
                "configuration": pa.map_(pa.string(), pa.string()),
            }
        ),
        "add": pa.struct(
            {
                "path": pa.string(),
                "partitionValues": pa.map_(pa.string(), pa.string()),
                "size": pa.int64(),
                "modificationTime": pa.int64(),
                "dataChange": pa.bool_(),
                "stats": pa.string(),
            }
        ),
    }
)


def about():
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in (("k", "string"), ("x", "long"))
    ]
    return {
        "id": "t",
        "format": {"provider": "parquet"},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": ["k"],
        "configuration": {},
    }


def add(folder: Path, number: int):
    """One data file, and what the log says of it."""
    key = "ab"[number % 2]
    path = f"k={key}/part-{number:05}-{uuid.uuid4()}.parquet"
    file = folder / path
    file.parent.mkdir(exist_ok=True)
    values = list(range(number * 20, number * 20 + 20))
    pq.write_table(pa.table({"x": pa.array(values, pa.int64())}), file, row_group_size=5)
    stats = {"numRecords": 20, "minValues": {"x": values[0]}, "maxValues": {"x": values[-1]}}
    return {
        "path": path,
        "partitionValues": {"k": key},
        "size": file.stat().st_size,
        "modificationTime": 1_700_000_000_000,
        "dataChange": True,
        "stats": json.dumps(stats | {"nullCount": {"x": 0}}),
    }
