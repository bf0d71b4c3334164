"""A Delta checkpoint of many files, whole cold processes, against delta-explain."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measure import Ratio, compare

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PREDICATE = "country = 'DE' AND age > 85"
PEER = "delta-explain==0.8.0"

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


def measurements(folder: Path) -> Iterator[Ratio]:
    """A million files in a tenth of the peer's time, a hundred thousand in half of it."""
    peer = _peer(folder)
    for count, budget in ((100_000, 0.5), (1_000_000, 0.1)):
        table = folder / f"delta-{count}"
        if not table.exists():
            _write(table, count)
        yield compare(
            f"Delta, {count:,} files, cold process",
            PEER,
            budget,
            lambda table=table: _run([_beside_python("whyscan"), *_explain(table)]),
            lambda table=table: _run([str(peer), str(table), "-w", PREDICATE]),
        )


def _explain(table: Path) -> list[str]:
    return ["explain", str(table), "-w", PREDICATE, "--depth", "files"]


def _peer(folder: Path) -> Path:
    home = folder / "delta-explain"
    if not (home / "bin" / "delta-explain").exists():
        _run([sys.executable, "-m", "venv", str(home)])
        _run([str(home / "bin" / "pip"), "install", "--quiet", PEER])
    return home / "bin" / "delta-explain"


def _beside_python(name: str) -> str:
    from pathlib import Path

    return str(Path(sys.executable).parent / name)


def _write(table: Path, count: int) -> None:
    """Version 0 as JSON, version 1 as a checkpoint with `count` files."""
    log = table / "_delta_log"
    log.mkdir(parents=True)
    text = "".join(json.dumps(action) + "\n" for action in ACTIONS)
    (log / f"{0:020}.json").write_text(text)
    (log / f"{1:020}.json").write_text('{"commitInfo": {"operation": "WRITE"}}\n')
    _checkpoint(log, count)
    (log / "_last_checkpoint").write_text(json.dumps({"version": 1, "size": count + 2}))


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


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
