"""Iceberg tables: metadata plain and compressed, lists and manifests in every codec, deletes."""

from __future__ import annotations

import gzip
import io
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.damage import Kind
from fuzz.victims import Target, Victim
from tables.iceberg.by_hand import Lake, summary

COLUMNS = {"n": "int", "s": "string", "t": "timestamptz", "x": "double", "m": "decimal(9, 2)"}
FIELDS = [
    {"source-id": 1, "field-id": 1000, "name": "n", "transform": "identity"},
    {"source-id": 3, "field-id": 1001, "name": "t_day", "transform": "day"},
    {"source-id": 2, "field-id": 1002, "name": "s_bucket", "transform": "bucket[4]"},
]
PREDICATE = (
    "n < 2 AND s > 'b' AND t < TIMESTAMP '2020-01-01 00:00:00' AND x <> 1.5 AND m IN (1, 2.5)"
)
FILES = 4


def _entries(table: Lake) -> list[dict[str, Any]]:
    return [
        table.file(
            f"f{n}.parquet",
            {"s": ("a", "z"), "t": (0, n * 86_400_000_000), "x": (0.5, 9.5), "m": (b"\0", b"\x7f")},
            {"s": 1, "x": 0},
            partition={"n": n, "t_day": n, "s_bucket": n % 4},
            nan_value_counts=[{"key": 4, "value": 0}],
        )
        for n in range(FILES)
    ]


def _in_small_blocks(path: Path, codec: str) -> int:
    """A block a record, as in a file of thousands; its bytes."""
    reader = fastavro.reader(io.BytesIO(path.read_bytes()))
    header = {k: v for k, v in reader.metadata.items() if not k.startswith("avro.")}
    with path.open("wb") as file:
        fastavro.writer(
            file,
            reader.writer_schema,
            list(reader),
            codec=codec,
            sync_interval=1,
            metadata=header,
            sync_marker=bytes(range(16)),
        )
    return path.stat().st_size


def _write(folder: Path, codec: str = "null", version: int = 2, *, packed: bool = False) -> None:
    """A table whose recorded place is the folder's bare name: the same bytes wherever it is."""
    with chdir(folder.parent):
        table = Lake(Path(folder.name), COLUMNS, FIELDS, version=version, codec=codec)
        summaries = [
            summary(bytes(4), b"\x03\0\0\0"),
            summary(bytes(4), b"\x03\0\0\0"),
            summary(bytes(4), b"\x03\0\0\0", null=True),
        ]
        small = table.manifest(_entries(table), summaries=summaries)
        table.manifests[-1]["manifest_length"] = _in_small_blocks(small, codec)
        partition = {"n": 1, "t_day": 1, "s_bucket": 1}
        table.manifest(
            [
                table.file("d.parquet", rows=1, content=1, partition=partition),
                table.file(
                    "v.puffin",
                    rows=2,
                    content=1,
                    file_format="PUFFIN",
                    referenced_data_file=f"{table.folder}/data/f0.parquet",
                    partition={**partition, "n": 0},
                ),
            ],
            content=1,
            sequence=2,
        )
        total = {"operation": "append", "total-data-files": str(FILES)}
        table.commit(summary=total)
        _data(table)
    if packed:
        plain = folder / "metadata" / "v1.metadata.json"
        packed_path = folder / "metadata" / "v1.gz.metadata.json"
        packed_path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
        plain.unlink()


def _data(table: Lake) -> None:
    (table.folder / "data").mkdir()
    ids = {b"PARQUET:field_id": b"2"}
    schema = pa.schema([pa.field("s", pa.string(), metadata=ids)])
    rows = pa.table([["a", "c", "z"]], schema)
    pq.write_table(rows, table.folder / "data" / "f0.parquet", row_group_size=1)
    (table.folder / "data" / "v.puffin").write_bytes(b"PFA1" + bytes(40) + b"PFA1")


def avro(name: str) -> Target:
    return Target(f"metadata/{name}.avro", Kind.BINARY, lists_files=True)


def document(name: str, kind: Kind = Kind.DOCUMENT) -> Target:
    return Target(f"metadata/{name}", kind, lists_files=True)


LISTS = (avro("snap-1"), avro("m0"), avro("m1"))
VICTIMS = (
    Victim(
        "iceberg",
        _write,
        PREDICATE,
        (
            document("v1.metadata.json"),
            *LISTS,
            Target("data/f0.parquet", Kind.PARQUET),
            Target("metadata/version-hint.text", Kind.BINARY, lists_files=True),
            Target("data/v.puffin", Kind.BINARY, unread=True),
        ),
    ),
    Victim("iceberg-fast", _write, PREDICATE, LISTS, fast=True),
    Victim("iceberg-v1", partial(_write, version=1), PREDICATE, LISTS[:2]),
    Victim("iceberg-v3", partial(_write, version=3), PREDICATE, (document("v1.metadata.json"),)),
    Victim(
        "iceberg-gz",
        partial(_write, packed=True),
        PREDICATE,
        (document("v1.gz.metadata.json", Kind.GZIP),),
    ),
    *(
        Victim(f"iceberg-{codec}", partial(_write, codec=codec), PREDICATE, LISTS[:2])
        for codec in ("deflate", "snappy", "zstandard")
    ),
)
