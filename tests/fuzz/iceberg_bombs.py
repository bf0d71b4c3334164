"""Iceberg tables: manifests that inflate, claim and repeat, metadata without end, deletes."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import struct
import zlib
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import cramjam
import pyarrow as pa
import pyarrow.parquet as pq
from backports import zstd

from fuzz.bombs import SCAN, STATS, Bomb
from tables.iceberg.by_hand import Lake, list_schema
from whyscan.tables.avro import containers as avro

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MB = 1_000_000
TOO_LARGE = "and the memory limit is 128 MiB"


def _deflate(size: int) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(bytes(size)) + stream.flush()


def _zstandard(size: int) -> bytes:
    stream = zstd.ZstdCompressor()
    return stream.compress(bytes(size)) + stream.flush()


def _snappy(size: int) -> bytes:
    zeros = bytes(size)
    return bytes(cramjam.snappy.compress_raw(zeros)) + zlib.crc32(zeros).to_bytes(4, "big")


def _snappy_claim(size: int) -> bytes:
    """A block that claims `size` bytes and holds four."""
    whole = bytes(cramjam.snappy.compress_raw(b"abcd"))
    claim = bytearray()
    while size > 0x7F:
        claim.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*claim, size]) + whole[1:] + bytes(4)


PACKED: dict[str, Callable[[int], bytes]] = {
    "deflate": _deflate,
    "zstandard": _zstandard,
    "bzip2": lambda size: bz2.compress(bytes(size)),
    "xz": lambda size: lzma.compress(bytes(size)),
    "snappy": _snappy,
    "null": bytes,
}


@cache
def packed(codec: str, size: int) -> bytes:
    return PACKED[codec](size)


def container(schema: Any, codec: str, count: int, block: bytes) -> bytes:
    """An Avro file of one block, whatever it counts and holds."""
    number = avro.encoded_number
    header = {b"avro.schema": json.dumps(schema).encode(), b"avro.codec": codec.encode()}
    parts = [avro.MAGIC, number(len(header))]
    for key, value in header.items():
        parts += [number(len(key)), key, number(len(value)), value]
    sync = bytes(16)
    return b"".join([*parts, number(0), sync, number(count), number(len(block)), block, sync])


def table(folder: Path, columns: dict[str, Any] | None = None, **more: Any) -> Lake:
    return Lake(folder, columns or {"a": "int"}, **more)


def one_file(folder: Path, **more: Any) -> Lake:
    lake = table(folder, **more)
    lake.manifest([lake.file("f.parquet", {"a": (0, 9)})])
    return lake


def manifest(
    folder: Path, codec: str, block: Callable[[], bytes], count: int, schema: Any = None
) -> None:
    """A table whose one manifest has one block."""
    lake = one_file(folder)
    data = container(schema or lake.entry_schema(0), codec, count, block())
    (folder / "metadata" / "m0.avro").write_bytes(data)
    lake.manifests[0]["manifest_length"] = len(data)
    lake.commit()


def listing(folder: Path, codec: str, block: Callable[[], bytes], count: int) -> None:
    """A table whose manifest list has one block."""
    one_file(folder).commit()
    data = container(list_schema(), codec, count, block())
    (folder / "metadata" / "snap-1.avro").write_bytes(data)


def header(folder: Path, data: bytes) -> None:
    """A table whose one manifest begins with `data`."""
    lake = one_file(folder)
    (folder / "metadata" / "m0.avro").write_bytes(data)
    lake.manifests[0]["manifest_length"] = len(data)
    lake.commit()


def repeated(folder: Path, times: int, entries: int) -> None:
    """A manifest list that names one manifest again and again."""
    lake = table(folder)
    lake.manifest([lake.file(f"f{n}.parquet", {"a": (n, n)}) for n in range(entries)])
    lake.manifests *= times
    lake.commit()


def document(folder: Path, text: Callable[[], bytes], *, gz: bool = False) -> None:
    """Metadata with a member `comment`, whose text is JSON as it stands."""
    one_file(folder).commit()
    place = folder / "metadata" / "v1.metadata.json"
    plain = json.dumps({**json.loads(place.read_bytes()), "comment": "HERE"}).encode()
    before, after = plain.split(b'"HERE"')
    data = before + text() + after
    if not gz:
        place.write_bytes(data)
        return
    place.unlink()
    (folder / "metadata" / "v1.gz.metadata.json").write_bytes(gzip.compress(data, 6, mtime=0))


def members(folder: Path, key: str, value: Callable[[], Any]) -> None:
    """Metadata with one member replaced."""
    one_file(folder, more={key: value()}).commit()


def wide(folder: Path, columns: int) -> None:
    """A table of many columns, each with bounds."""
    names = {f"column_{n}": "int" for n in range(columns)}
    lake = table(folder, names)
    schema = lake.schemas[-1]["fields"]
    numbers = {field["name"]: field["id"] for field in schema}
    lake.id = numbers.__getitem__  # type: ignore[method-assign]
    lake.type = lambda _: "int"  # type: ignore[method-assign]
    bounds = dict.fromkeys(names, (0, 9))
    lake.manifest([lake.file(f"f{n}.parquet", bounds, dict.fromkeys(names, 0)) for n in range(2)])
    lake.commit()


MAGIC = 1_681_511_377


def runs(containers: int) -> bytes:
    """A deletion vector of which each container says that all of its rows are deleted."""
    count = min(containers, 1 << 16)
    flags = b"\xff" * ((count + 7) // 8)
    heads = b"".join(struct.pack("<HH", key, 0xFFFF) for key in range(count))
    offsets = bytes(4 * count)
    bodies = struct.pack("<HHH", 1, 0, 0xFFFF) * count
    cookie = struct.pack("<I", 12_347 | (count - 1) << 16)
    bitmap = cookie + flags + heads + offsets + bodies
    return struct.pack("<IQI", MAGIC, 1, 0) + bitmap


def claimed_bitmaps(count: int) -> bytes:
    """A deletion vector that claims bitmaps, or containers, which are not there."""
    return struct.pack("<IQ", MAGIC, count)


def claimed_containers(count: int) -> bytes:
    return struct.pack("<IQIII", MAGIC, 1, 0, 12_346, count)


def framed(vector: bytes) -> bytes:
    return struct.pack(">I", len(vector)) + vector + struct.pack(">I", zlib.crc32(vector))


def with_vector(folder: Path, vector: bytes, size: int | None = None) -> None:
    """A table of one data file, and a deletion vector for it in a Puffin file."""
    lake = table(folder, {"a": "long"}, version=3)
    data(folder)
    lake.manifest([lake.file("a.parquet", rows=200)])
    blob = framed(vector)
    described = lake.file(
        "a.puffin",
        rows=4,
        content=1,
        file_format="PUFFIN",
        referenced_data_file=f"{folder}/data/a.parquet",
        content_offset=1,
        content_size_in_bytes=len(blob) if size is None else size,
    )
    lake.manifest([described], content=1, sequence=2)
    lake.commit()
    (folder / "data" / "a.puffin").write_bytes(b"\x01" + blob)


def data(folder: Path) -> None:
    (folder / "data").mkdir()
    numbered = pa.field("a", pa.int64(), metadata={"PARQUET:field_id": "1"})
    pq.write_table(
        pa.table({"a": range(200)}, pa.schema([numbered])), folder / "data" / "a.parquet"
    )


def with_deletes(folder: Path, deletes: pa.Table, times: int, **entry: Any) -> None:
    """A table of one data file, and a delete file of the same rows `times` times."""
    lake = table(folder, {"a": "long"})
    data(folder)
    lake.manifest([lake.file("a.parquet", rows=200)])
    place = folder / "data" / "d.parquet"
    with pq.ParquetWriter(place, deletes.schema, compression="zstd") as writer:
        for _ in range(times):
            writer.write_table(deletes)
    described = lake.file("d.parquet", rows=deletes.num_rows * times, **entry)
    lake.manifest([described], content=1, sequence=2)
    lake.commit()


def position_deletes(folder: Path) -> None:
    """Millions of deleted positions in a small file: all of them are row 0."""
    count = 5 * MB // 2
    fields = [
        pa.field("file_path", pa.string(), metadata={"PARQUET:field_id": "2147483546"}),
        pa.field("pos", pa.int64(), metadata={"PARQUET:field_id": "2147483545"}),
    ]
    paths = pa.repeat(pa.scalar(f"{folder}/data/a.parquet"), count)
    positions = pa.repeat(pa.scalar(0, pa.int64()), count)
    with_deletes(folder, pa.table([paths, positions], pa.schema(fields)), 10, content=1)


def equality_deletes(folder: Path) -> None:
    """Millions of values that are the same."""
    count = 5 * MB // 2
    fields = [pa.field("a", pa.int64(), metadata={"PARQUET:field_id": "1"})]
    values = pa.repeat(pa.scalar(1, pa.int64()), count)
    deletes = pa.table([values], pa.schema(fields))
    with_deletes(folder, deletes, 10, content=2, equality_ids=[1])


def fixed(size: int) -> dict[str, Any]:
    kind = {"type": "fixed", "name": "big", "size": size}
    fields = [{"name": "status", "type": "int"}, {"name": "x", "type": kind}]
    return {"type": "record", "name": "r", "fields": fields}


def deep_schema(folder: Path, depth: int) -> None:
    one_file(folder, columns=None).commit()
    place = folder / "metadata" / "v1.metadata.json"
    text = place.read_text()
    inner = '{"type":"list","element-id":2,"element-required":false,"element":'
    deep = inner * depth + '"int"' + "}" * depth
    place.write_text(text.replace('"type": "int"', f'"type": {deep}'))


RECORD_BYTES = 19
"""A manifest entry of zeros: texts and lists without members, nothing where it may be null."""

EMPTY = 375_000


def specs(transform: str) -> list[dict[str, Any]]:
    fields = [
        {"source-id": 1, "field-id": 1000 + n, "name": f"p{n}", "transform": transform}
        for n in range(100_000)
    ]
    return [{"spec-id": 0, "fields": fields}]


BIG, LARGE = 60 * MB, 20 * MB
SIZES = {"bzip2": LARGE, "xz": LARGE}
NESTED = 100_000
BOMBS = {
    **{
        f"a manifest of {codec} that inflates to {SIZES.get(codec, BIG) // MB} MB": Bomb(
            partial(
                manifest,
                codec=codec,
                block=partial(packed, codec, SIZES.get(codec, BIG)),
                count=1000,
            ),
            "m0.avro: it inflates to more than",
        )
        for codec in PACKED
        if codec != "null"
    },
    **{
        f"a manifest list of {codec} that inflates to {SIZES.get(codec, BIG) // MB} MB": Bomb(
            partial(
                listing,
                codec=codec,
                block=partial(packed, codec, SIZES.get(codec, BIG)),
                count=1000,
            ),
            "snap-1.avro: it inflates to more than",
            proof=codec not in {"deflate", "snappy"},
        )
        for codec in PACKED
        if codec != "null"
    },
    "a manifest that claims 60 million records": Bomb(
        partial(manifest, codec="deflate", block=partial(packed, "deflate", BIG), count=60 * MB),
        "m0.avro: it inflates to more than",
    ),
    "a manifest that is stored as zeros and claims as many records": Bomb(
        partial(manifest, codec="null", block=partial(packed, "null", BIG), count=60 * MB),
        "m0.avro: it has 57.2 MiB",
    ),
    "a manifest that is stored as zeros, which are records": Bomb(
        partial(manifest, codec="null", block=partial(packed, "null", BIG), count=3 * MB),
        TOO_LARGE,
    ),
    "a manifest list that is stored as zeros, which are records": Bomb(
        partial(listing, codec="null", block=partial(packed, "null", BIG), count=4 * MB),
        TOO_LARGE,
    ),
    "a manifest of 7 MB that claims a record a byte": Bomb(
        partial(manifest, codec="deflate", block=partial(packed, "deflate", 7 * MB), count=7 * MB),
        "m0.avro: a block of 7000000 bytes counts 7000000 records",
    ),
    "a manifest of zeros that inflate to empty records": Bomb(
        partial(
            manifest,
            codec="deflate",
            block=partial(packed, "deflate", RECORD_BYTES * EMPTY),
            count=EMPTY,
        ),
        None,
    ),
    **{
        f"a block of snappy that claims {size} bytes": Bomb(
            partial(manifest, codec="snappy", block=partial(_snappy_claim, size), count=1),
            "m0.avro: it",
        )
        for size in (500 * MB, 1 << 31, (1 << 32) - 1, 1 << 34, (1 << 63) - 1)
    },
    "a header that claims a map without end": Bomb(
        partial(header, data=avro.MAGIC + avro.encoded_number(1 << 62)),
        "m0.avro: its header claims",
    ),
    "a header of a million keys": Bomb(
        partial(header, data=avro.MAGIC + avro.encoded_number(MB) + bytes(2 * MB)),
        "m0.avro: its header",
    ),
    "a header whose schema is nested": Bomb(
        partial(manifest, codec="null", block=lambda: b"", count=0, schema="SCHEMA"),
        "m0.avro: its schema",
    ),
    "a record with a fixed field of a terabyte": Bomb(
        partial(manifest, codec="null", block=lambda: b"\0\0", count=1, schema=fixed(1 << 40)),
        "m0.avro: its schema",
    ),
    "a record with a fixed field of a gigabyte": Bomb(
        partial(manifest, codec="null", block=lambda: b"\0\0", count=1, schema=fixed(1 << 30)),
        "m0.avro: its schema",
    ),
    "a manifest list that names a small manifest 10000 times": Bomb(
        partial(repeated, times=10_000, entries=1), None
    ),
    "a manifest list that names a manifest 10000 times": Bomb(
        partial(repeated, times=10_000, entries=1000), TOO_LARGE
    ),
    "metadata in gzip that inflates to spaces": Bomb(
        partial(document, text=lambda: b'"' + b" " * BIG + b'"', gz=True),
        "v1.gz.metadata.json: it inflates to more than",
    ),
    "metadata of five million lists": Bomb(
        partial(document, text=lambda: b"[" + b"[]," * (5 * MB) + b"[]]"), TOO_LARGE
    ),
    "metadata of a million objects": Bomb(
        partial(document, text=lambda: b"[" + b'{"":{}},' * MB + b"[]]"), TOO_LARGE
    ),
    "metadata nested 100000 deep": Bomb(
        partial(document, text=lambda: b"[" * NESTED + b"]" * NESTED),
        "v1.metadata.json: it is not JSON",
    ),
    "metadata nested 100000 objects deep": Bomb(
        partial(document, text=lambda: b'{"a":' * NESTED + b"1" + b"}" * NESTED),
        "v1.metadata.json: it is not JSON",
    ),
    "a number of a million digits": Bomb(
        partial(document, text=lambda: b"1" * MB), "v1.metadata.json: it is not JSON"
    ),
    "a schema nested 900 deep": Bomb(partial(deep_schema, depth=900), None),
    "a schema nested 100000 deep": Bomb(partial(deep_schema, depth=NESTED), "v1.metadata.json"),
    **{
        f"a partition spec of 100000 fields, each {transform}": Bomb(
            partial(members, key="partition-specs", value=partial(specs, transform)),
            "a partition spec of 100000 fields",
        )
        for transform in ("void", "identity")
    },
    "20000 columns": Bomb(partial(wide, columns=20_000), None, ("explain", "-w", "column_7 = 1")),
    "the statistics of 20000 columns": Bomb(
        partial(wide, columns=20_000), "has 20,000 columns", STATS
    ),
    "the statistics of two of 20000 columns": Bomb(
        partial(wide, columns=20_000), None, (*STATS, "column_7", "column_19999")
    ),
    "a deletion vector of full containers": Bomb(
        partial(with_vector, vector=runs(1 << 16)), None, SCAN
    ),
    "a deletion vector of 16 kB": Bomb(partial(with_vector, vector=runs(1100)), None, SCAN),
    "a deletion vector that claims bitmaps": Bomb(
        partial(with_vector, vector=claimed_bitmaps(1 << 62)), "it is no deletion vector", SCAN
    ),
    "a deletion vector that claims containers": Bomb(
        partial(with_vector, vector=claimed_containers((1 << 32) - 1)),
        "it is no deletion vector",
        SCAN,
    ),
    "a deletion vector whose table claims a terabyte": Bomb(
        partial(with_vector, vector=runs(1), size=1 << 40), "a.puffin", SCAN
    ),
    "a deletion vector whose table claims less than nothing": Bomb(
        partial(with_vector, vector=runs(1), size=-(1 << 40)), "a.puffin", SCAN
    ),
    "25 million deleted positions": Bomb(position_deletes, TOO_LARGE, SCAN),
    "25 million equal rows": Bomb(equality_deletes, TOO_LARGE, SCAN),
}
