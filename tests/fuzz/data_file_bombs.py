"""Data files and delete files that claim, or inflate to, more than the memory limit allows."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from fuzz.bombs import SCAN, Bomb
from fuzz.iceberg_bombs import MB, TOO_LARGE, container, packed, table
from tables.by_hand import varint
from whyscan.tables.avro.containers import encoded_number
from whyscan.tables.parquet.thrift import ThriftReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LONG = {"name": "a", "type": "long", "field-id": 1}


def data_file(folder: Path, kind: str, content: Callable[[], bytes]) -> None:
    """An Iceberg table of one data file."""
    lake = table(folder, {"a": "long"})
    (folder / "data").mkdir()
    name = f"a.{kind}"
    data = content()
    (folder / "data" / name).write_bytes(data)
    size = {"file_format": kind.upper(), "file_size_in_bytes": len(data)}
    lake.manifest([lake.file(name, rows=200, **size)])
    lake.commit()


def avro(codec: str, count: int, block: Callable[[], bytes], *fields: dict[str, Any]) -> bytes:
    """An Avro file of one block, which claims `count` records."""
    schema = {"type": "record", "name": "r", "fields": [LONG, *fields]}
    return container(schema, codec, count, block())


def rows_of_orc(count: int, stripe: int) -> bytes:
    """Equal rows, which take hardly a byte."""
    sink = io.BytesIO()
    rows = pa.table({"a": pa.repeat(pa.scalar(1, pa.int64()), count)})
    orc.write_table(rows, sink, compression="zstd", stripe_size=stripe)
    return sink.getvalue()


def claimed_block_of_orc(size: int) -> bytes:
    """A postscript that claims blocks of `size` bytes."""
    whole = rows_of_orc(200, 1 << 20)
    end = whole[-1]
    script = whole[-1 - end : -1]
    at = script.index(b"\x18", 2) + 1  # Field 3: compressionBlockSize.
    stop = at
    while script[stop] >= 0x80:
        stop += 1
    changed = script[:at] + varint(size) + script[stop + 1 :]
    return whole[: -1 - end] + changed + bytes([len(changed)])


def deletes_with_claimed_pages(folder: Path, size: int, codec: str) -> None:
    """A file of deleted positions whose pages claim to inflate to `size` bytes."""
    lake = table(folder, {"a": "long"})
    (folder / "data").mkdir()
    numbered = pa.field("a", pa.int64(), metadata={"PARQUET:field_id": "1"})
    rows = pa.table({"a": range(200)}, pa.schema([numbered]))
    pq.write_table(rows, folder / "data" / "a.parquet")
    fields = [
        pa.field("file_path", pa.string(), metadata={"PARQUET:field_id": "2147483546"}),
        pa.field("pos", pa.int64(), metadata={"PARQUET:field_id": "2147483545"}),
    ]
    positions = pa.table([[f"{folder}/data/a.parquet"] * 9, list(range(9))], pa.schema(fields))
    place = folder / "data" / "d.parquet"
    pq.write_table(positions, place, compression=codec, use_dictionary=False)
    chunk = pq.ParquetFile(place).metadata.row_group(0).column(1)
    start, end = chunk.data_page_offset, chunk.data_page_offset + chunk.total_compressed_size
    whole = place.read_bytes()
    place.write_bytes(whole[:start] + claimed_page(whole[start:end], size) + whole[end:])
    lake.manifest([lake.file("a.parquet", rows=200)])
    lake.manifest([lake.file("d.parquet", rows=9, content=1)], content=1, sequence=2)
    lake.commit()


def claimed_page(page: bytes, size: int) -> bytes:
    """The page, whose header claims `size` bytes; its end is cut off by as many as that takes."""
    reader = ThriftReader(page, 3)
    before = reader.at
    reader.varint()
    # Field 1 is the type of the page, field 2 its inflated size, field 3 its size.
    assert (page[2], page[reader.at]) == (0x15, 0x15), page[:8]
    claim = varint(2 * size)
    grown = len(claim) - (reader.at - before)
    reader.byte()
    compressed = varint(reader.varint() - 2 * grown)
    return (page[:3] + claim + b"\x15" + compressed + page[reader.at :])[: len(page)]


BOMBS = {
    **{
        f"an Avro data file of {codec} that inflates to 60 MB": Bomb(
            partial(
                data_file,
                kind="avro",
                content=partial(avro, codec, 60 * MB, partial(packed, codec, 60 * MB)),
            ),
            TOO_LARGE,
            SCAN,
            proof=codec not in {"deflate", "snappy"},
        )
        for codec in ("deflate", "zstandard", "snappy", "bzip2", "xz")
    },
    "an Avro data file that claims a billion records": Bomb(
        partial(data_file, kind="avro", content=partial(avro, "null", 10**9, lambda: bytes(9))),
        "a.avro: a block of 9 bytes counts 1000000000 records",
        SCAN,
    ),
    "an Avro data file with a text of a terabyte": Bomb(
        partial(
            data_file,
            kind="avro",
            content=partial(
                avro,
                "null",
                1,
                lambda: b"\0" + encoded_number(1 << 40),
                {"name": "s", "type": "string", "field-id": 2},
            ),
        ),
        "a.avro",
        SCAN,
    ),
    "an Avro data file with a list of a trillion nothings": Bomb(
        partial(
            data_file,
            kind="avro",
            content=partial(
                avro,
                "null",
                1,
                lambda: b"\0" + encoded_number(1 << 40) + b"\0",
                {"name": "s", "type": {"type": "array", "items": "null"}, "field-id": 2},
            ),
        ),
        "a.avro: it has lists whose elements take no bytes",
        SCAN,
    ),
    "an ORC data file of 50 million equal rows": Bomb(
        partial(data_file, kind="orc", content=partial(rows_of_orc, 50 * MB, 1 << 30)),
        None,
        SCAN,
    ),
    "an ORC data file that claims blocks of a gigabyte": Bomb(
        partial(data_file, kind="orc", content=partial(claimed_block_of_orc, 1 << 30)),
        None,
        SCAN,
    ),
    **{
        f"deleted positions of {codec} in pages that claim {size} bytes": Bomb(
            partial(deletes_with_claimed_pages, size=size, codec=codec),
            TOO_LARGE,
            SCAN,
            proof=(codec, size) not in {("snappy", (1 << 31) - 1), ("none", 1 << 29)},
        )
        for codec in ("snappy", "zstd", "none")
        for size in (1 << 29, (1 << 31) - 1)
    },
}
