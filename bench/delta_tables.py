"""Delta tables of metadata alone: one checkpoint that lists as many files as wanted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

HINT = "_last_checkpoint"
MAP = pa.map_(pa.string(), pa.string())
PROTOCOL = pa.struct([("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())])
METADATA = pa.struct(
    [
        ("id", pa.string()),
        ("format", pa.struct([("provider", pa.string()), ("options", MAP)])),
        ("schemaString", pa.string()),
        ("partitionColumns", pa.list_(pa.string())),
        ("configuration", MAP),
    ]
)
FIELDS = {"id": "long", "country": "string", "age": "integer"}


def checkpointed(folder: Path, count: int) -> Path:
    """The table of so many files below a folder, made on first use."""
    table = folder / f"delta-{count}"
    log = table / "_delta_log"
    if not (log / HINT).exists():
        write(log, FIELDS, ["country"], _users(count))
    return table


def write(
    log: Path, fields: Mapping[str, str], partitioned_by: Sequence[str], files: pa.StructArray
) -> None:
    """Version 0 as JSON, version 1 as a checkpoint with the files. The hint comes last."""
    log.mkdir(parents=True, exist_ok=True)
    protocol, metadata = _actions(fields, partitioned_by)
    text = "".join(
        json.dumps(action) + "\n" for action in ({"protocol": protocol}, {"metaData": metadata})
    )
    (log / f"{0:020}.json").write_text(text)
    (log / f"{1:020}.json").write_text('{"commitInfo": {"operation": "WRITE"}}\n')
    nothing = [None] * len(files)
    whole = pa.table(
        {
            "protocol": pa.array([protocol, None, *nothing], PROTOCOL),
            "metaData": pa.array([None, metadata, *nothing], METADATA),
            "add": pa.concat_arrays([pa.nulls(2, files.type), files]),
        }
    )
    pq.write_table(whole, log / f"{1:020}.checkpoint.parquet", row_group_size=100_000)
    (log / HINT).write_text(json.dumps({"version": 1, "size": len(files) + 2}))


def adds(
    paths: Sequence[str],
    partitions: Sequence[Sequence[tuple[str, str]]],
    sizes: np.ndarray,
    stats: Sequence[str],
) -> pa.StructArray:
    """The actions that add files."""
    count = len(paths)
    return pa.StructArray.from_arrays(
        [
            pa.array(paths),
            pa.array(partitions, MAP),
            pa.array(sizes),
            pa.array(np.full(count, 1_700_000_000_000)),
            pa.array(np.full(count, True)),  # noqa: FBT003 - dataChange
            pa.array(stats),
        ],
        names=["path", "partitionValues", "size", "modificationTime", "dataChange", "stats"],
    )


def _actions(
    fields: Mapping[str, str], partitioned_by: Sequence[str]
) -> tuple[dict[str, object], dict[str, object]]:
    schema = {
        "type": "struct",
        "fields": [
            {"name": name, "type": kind, "nullable": True, "metadata": {}}
            for name, kind in fields.items()
        ],
    }
    metadata = {
        "id": "00000000-0000-0000-0000-000000000000",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps(schema),
        "partitionColumns": list(partitioned_by),
        "configuration": {},
    }
    return {"minReaderVersion": 1, "minWriterVersion": 2}, metadata


def _users(count: int) -> pa.StructArray:
    """Files with a country and bounds of their own."""
    random = np.random.default_rng(3)
    countries = np.array(["AT", "CH", "DE", "FR", "IT", "PL", "UK", "US"])
    country = countries[random.integers(0, len(countries), count)]
    age = random.integers(0, 90, count)
    return adds(
        [f"country={c}/part-{i:07}.parquet" for i, c in enumerate(country)],
        [[("country", c)] for c in country],
        random.integers(1_000, 100_000, count),
        [_stats(i, int(a)) for i, a in enumerate(age)],
    )


def _stats(number: int, age: int) -> str:
    least = {"id": number * 1_000, "age": age}
    most = {"id": number * 1_000 + 999, "age": age + 10}
    nulls = {"id": 0, "age": 0}
    return json.dumps(
        {"numRecords": 1_000, "minValues": least, "maxValues": most, "nullCount": nulls}
    )
