"""Delta logs: checkpoints that claim and inflate, sidecars without end, lines and schemas."""

from __future__ import annotations

import json
import struct
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.bombs import STATS, Bomb
from fuzz.delta_victims import CHECKPOINT, SIDECAR, UUID
from fuzz.iceberg_bombs import MB, TOO_LARGE, claimed_containers, runs
from scan.test_deletion_vectors import delta as with_vector
from tables.delta.conftest import Lake, bounds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COLUMNS = {"a": "long"}
NESTED = 100_000


def table(folder: Path, columns: dict[str, Any] | None = None) -> Lake:
    return Lake(folder).create(columns or COLUMNS)


def described(lake: Lake) -> list[dict[str, Any]]:
    lines = (lake.log / f"{0:020}.json").read_text().splitlines()
    return [json.loads(line) for line in lines]


def checkpoint(folder: Path, stats: Callable[[], str], files: int, **options: Any) -> None:
    """A checkpoint whose files have the same statistics, so that they are stored once."""
    lake = table(folder)
    text = stats()
    schema = pa.schema(CHECKPOINT)
    place = lake.log / f"{0:020}.checkpoint.parquet"
    with pq.ParquetWriter(place, schema, compression="zstd", **options) as writer:
        writer.write_table(pa.Table.from_pylist(described(lake), schema))
        some = pa.Table.from_pylist([lake.add("f", text)] * min(files, 1000), schema)
        for _ in range(max(files // 1000, 1)):
            writer.write_table(some)


def line(folder: Path, text: Callable[[], bytes]) -> None:
    lake = table(folder)
    (lake.log / f"{1:020}.json").write_bytes(text() + b"\n")


def sidecars(folder: Path, names: Callable[[int], str], count: int, size: int) -> None:
    """A checkpoint that names sidecars without end."""
    lake = table(folder)
    lake.commit(lake.add("f", bounds("a", 1, 2)))
    rows = [
        *described(lake),
        *(
            {"sidecar": {"path": names(n), "sizeInBytes": size, "modificationTime": 1}}
            for n in range(count)
        ),
    ]
    schema = pa.schema({**dict(CHECKPOINT), "sidecar": pa.struct(SIDECAR)})
    place = lake.log / f"{1:020}.checkpoint.{UUID}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema), place, compression="zstd")
    (lake.log / "_sidecars").mkdir()
    adds = pa.Table.from_pylist([lake.add("g", bounds("a", 1, 2))], pa.schema(CHECKPOINT))
    pq.write_table(adds, lake.log / "_sidecars" / "s.parquet")


def hint(folder: Path, text: str) -> None:
    lake = table(folder)
    lake.commit(lake.add("f", bounds("a", 1, 2)))
    (lake.log / "_last_checkpoint").write_text(text)


def wide(folder: Path, columns: int) -> None:
    names = [f"column_{n}" for n in range(columns)]
    lake = Lake(folder).create(dict.fromkeys(names, "long"))
    ends = dict.fromkeys(names, 3)
    counts = dict.fromkeys(names, 0)
    stats = {"numRecords": 1, "minValues": ends, "maxValues": ends, "nullCount": counts}
    lake.commit(lake.add("f", stats), lake.add("g", stats))


def partitioned(folder: Path, columns: int) -> None:
    names = {f"p{n}": "string" for n in range(columns)}
    lake = Lake(folder).create({"a": "long", **names}, tuple(names))
    lake.commit(lake.add("f", bounds("a", 1, 2)))


def vector(folder: Path, content: bytes) -> None:
    folder.parent.mkdir(exist_ok=True)
    with_vector(folder, content)


def vector_of(folder: Path, **about: Any) -> None:
    """A deletion vector of which the log says something else than its file."""
    with_vector(folder, runs(1))
    place = folder / "_delta_log" / f"{1:020}.json"
    actions = [json.loads(line) for line in place.read_text().splitlines()]
    actions[-1]["add"]["deletionVector"] |= about
    place.write_text("\n".join(map(json.dumps, actions)))


def patched(folder: Path, change: Callable[[bytes], bytes]) -> None:
    """A checkpoint whose bytes are changed."""
    lake = table(folder)
    schema = pa.schema(CHECKPOINT)
    rows = [*described(lake), lake.add("f", bounds("a", 1, 2))]
    place = lake.log / f"{0:020}.checkpoint.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema), place)
    place.write_bytes(change(place.read_bytes()))


def long_footer(whole: bytes) -> bytes:
    return whole[:-8] + struct.pack("<I", (1 << 32) - 1) + b"PAR1"


NO_ACTIONS = "it does not hold the actions of a Delta log"
ENDS = '{"numRecords":1,"minValues":{"a":1},"maxValues":{"a":2},"nullCount":{"a":0}'
SCAN_X = ("scan", "-w", "x = 1")
BOMBS = {
    "a checkpoint with statistics of 25 MB": Bomb(
        partial(checkpoint, stats=lambda: ENDS + " " * (25 * MB) + "}", files=1), TOO_LARGE
    ),
    "a checkpoint with statistics of 200 kB a thousand times": Bomb(
        partial(checkpoint, stats=lambda: ENDS + " " * (MB // 5) + "}", files=1000), TOO_LARGE
    ),
    "a checkpoint with statistics of 200 kB 100000 times": Bomb(
        partial(checkpoint, stats=lambda: ENDS + " " * (MB // 5) + "}", files=100_000), TOO_LARGE
    ),
    "a checkpoint of half a million equal files": Bomb(
        partial(checkpoint, stats=lambda: ENDS + "}", files=MB // 2), None
    ),
    "a checkpoint whose footer claims four gigabytes": Bomb(
        partial(patched, change=long_footer), "checkpoint.parquet"
    ),
    "a line of 60 MB": Bomb(
        partial(line, text=lambda: b'{"commitInfo":{"x":"' + b"x" * (60 * MB) + b'"}}'), NO_ACTIONS
    ),
    "a line of 60 MB of lists": Bomb(
        partial(line, text=lambda: b'{"commitInfo":[' + b"[]," * (20 * MB) + b"[]]}"), NO_ACTIONS
    ),
    "a million empty lines": Bomb(partial(line, text=lambda: b"{}\n" * MB), None),
    "a schema of 2 MB of fields": Bomb(
        partial(
            line,
            text=lambda: json.dumps(
                {
                    "metaData": {
                        "id": "t",
                        "schemaString": '{"type":"struct","fields":['
                        + "{}," * (2 * MB // 3)
                        + "{}]}",
                        "partitionColumns": [],
                    }
                }
            ).encode(),
        ),
        TOO_LARGE,
    ),
    "a checkpoint that names one sidecar 100000 times": Bomb(
        partial(sidecars, names=lambda _: "s.parquet", count=100_000, size=1000), None
    ),
    "a checkpoint that names 10000 sidecars": Bomb(
        partial(sidecars, names=lambda n: f"s{n}.parquet", count=10_000, size=1000), "s0.parquet"
    ),
    "a sidecar that claims an exabyte": Bomb(
        partial(sidecars, names=lambda _: "s.parquet", count=1, size=1 << 60), None
    ),
    "a hint of absurd numbers": Bomb(
        partial(hint, text='{"version":99999999999999999999,"size":1e300,"parts":4294967295}'), None
    ),
    "a hint nested 100000 deep": Bomb(partial(hint, text="[" * NESTED), None),
    "a Delta table of 20000 columns": Bomb(
        partial(wide, columns=20_000), None, ("explain", "-w", "column_7 = 1")
    ),
    "the statistics of 20000 columns of Delta": Bomb(
        partial(wide, columns=20_000), "has 20,000 columns", STATS
    ),
    "a Delta table with 100000 partition columns": Bomb(
        partial(partitioned, columns=100_000), "partitioned by 100000 columns"
    ),
    "a deletion vector of Delta of full containers": Bomb(
        partial(vector, content=runs(1 << 16)), None, SCAN_X
    ),
    "a deletion vector of Delta of 16 kB": Bomb(partial(vector, content=runs(1100)), None, SCAN_X),
    "a deletion vector of Delta that claims containers": Bomb(
        partial(vector, content=claimed_containers((1 << 32) - 1)),
        "it is no deletion vector",
        SCAN_X,
    ),
    **{
        f"a deletion vector of Delta with {about}": Bomb(
            partial(vector_of, **about), "deletion_vector_", SCAN_X
        )
        for about in (
            {"sizeInBytes": 1 << 40},
            {"sizeInBytes": -1},
            {"offset": 1 << 40},
            {"offset": -5},
            {"offset": (1 << 63) - 1, "sizeInBytes": (1 << 63) - 1},
        )
    },
}
