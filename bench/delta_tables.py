"""A Delta table of metadata alone: one checkpoint that lists as many files as wanted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
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
SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in (("id", "long"), ("country", "string"), ("age", "integer"))
    ],
}
ACTIONS = [
    {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
    {
        "metaData": {
            "id": "00000000-0000-0000-0000-000000000000",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps(SCHEMA),
            "partitionColumns": ["country"],
            "configuration": {},
        }
    },
]


def checkpointed(folder: Path, count: int) -> Path:
    """The table of so many files below a folder, made on first use."""
    table = folder / f"delta-{count}"
    log = table / "_delta_log"
    if not (log / HINT).exists():
        _write(log, count)
    return table


def _write(log: Path, count: int) -> None:
    """Version 0 as JSON, version 1 as a checkpoint with `count` files. The hint comes last."""
    log.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(action) + "\n" for action in ACTIONS)
    (log / f"{0:020}.json").write_text(text)
    (log / f"{1:020}.json").write_text('{"commitInfo": {"operation": "WRITE"}}\n')
    _checkpoint(log, count)
    (log / HINT).write_text(json.dumps({"version": 1, "size": count + 2}))


def _checkpoint(log: Path, count: int) -> None:
    """Two actions and then the files, each with a country and bounds of its own."""
    random = np.random.default_rng(3)
    countries = np.array(["AT", "CH", "DE", "FR", "IT", "PL", "UK", "US"])
    country = countries[random.integers(0, len(countries), count)]
    age = random.integers(0, 90, count)
    rows = [None, None]
    add = pa.StructArray.from_arrays(
        [
            pa.array([f"country={c}/part-{i:07}.parquet" for i, c in enumerate(country)]),
            pa.array([[("country", c)] for c in country], MAP),
            pa.array(random.integers(1_000, 100_000, count)),
            pa.array(np.full(count, 1_700_000_000_000)),
            pa.array(np.full(count, True)),  # noqa: FBT003 - dataChange
            pa.array([_stats(i, int(a)) for i, a in enumerate(age)]),
        ],
        names=["path", "partitionValues", "size", "modificationTime", "dataChange", "stats"],
    )
    whole = pa.table(
        {
            "protocol": pa.array([ACTIONS[0]["protocol"], None, *[None] * count], PROTOCOL),
            "metaData": pa.array([None, ACTIONS[1]["metaData"], *[None] * count], METADATA),
            "add": pa.concat_arrays([pa.array(rows, add.type), add]),
        }
    )
    pq.write_table(whole, log / f"{1:020}.checkpoint.parquet", row_group_size=100_000)


def _stats(number: int, age: int) -> str:
    least = {"id": number * 1_000, "age": age}
    most = {"id": number * 1_000 + 999, "age": age + 10}
    nulls = {"id": 0, "age": 0}
    return json.dumps(
        {"numRecords": 1_000, "minValues": least, "maxValues": most, "nullCount": nulls}
    )
