"""Deletion vectors: every form of a bitmap, and nothing of one that was damaged."""

from __future__ import annotations

import base64
import json
import struct
import uuid
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

import whyscan
from tables.iceberg.by_hand import Lake
from whyscan.errors import CorruptFile
from whyscan.scan import bitmaps

Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
B85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
ROWS, GONE = 200, [0, 3, 77, 199]


def z85(content):
    return base64.b85encode(content).translate(bytes.maketrans(B85, Z85)).decode()


def vector(positions, *, runs=False):
    """The bytes that both formats have, by the Roaring library."""
    upper: dict[int, BitMap] = {}
    for position in positions:
        upper.setdefault(position >> 32, BitMap()).add(position & 0xFFFF_FFFF)
    serialized = struct.pack("<IQ", 1_681_511_377, len(upper))
    for key, lower in sorted(upper.items()):
        if runs:
            lower.run_optimize()
        serialized += struct.pack("<I", key) + lower.serialize()
    return serialized


def framed(content):
    return struct.pack(">I", len(content)) + content + struct.pack(">I", zlib.crc32(content))


spans = st.tuples(
    st.sampled_from([0, 5, 65_530, 70_000, 131_072, (1 << 32) - 3, 1 << 32, (7 << 32) + 9]),
    st.integers(0, 6_000),
    st.sampled_from([1, 1, 2, 7]),
)


@settings(max_examples=60)
@given(st.lists(spans, max_size=6), st.booleans())
def test_positions_are_those_that_the_library_wrote(listed, runs):
    positions = {p for start, count, step in listed for p in range(start, start + count, step)}

    assert rows_of(bitmaps.read_vector(vector(positions, runs=runs))) == sorted(positions)


@settings(max_examples=60)
@given(st.lists(spans, max_size=6), st.booleans(), spans)
def test_the_flags_of_some_rows_are_those_of_their_positions(listed_spans, runs, window):
    start, count, _ = window
    deleted = {p for first, n, step in listed_spans for p in range(first, first + n, step)}

    flags = bitmaps.read_vector(vector(deleted, runs=runs)).flags(start, count + 1)
    expected = [row in deleted for row in range(start, start + count + 1)]
    assert (expected if flags is None else flags.tolist()) == expected
    assert flags is not None or not any(expected)


def rows_of(deleted):
    """Every deleted row, container by container."""
    rows = []
    for key in deleted.keys.tolist():
        start = key * bitmaps.CONTAINER
        rows += (start + np.flatnonzero(deleted.flags(start, bitmaps.CONTAINER))).tolist()
    return rows


CLAIMS = {
    "bitmaps that are not there": struct.pack("<IQ", 1_681_511_377, 1 << 62),
    "containers that are not there": struct.pack("<IQIII", 1_681_511_377, 1, 0, 12_346, 1 << 31),
    "more containers than a bitmap has": struct.pack("<IQIII", 1_681_511_377, 1, 0, 12_346, 65_537)
    + bytes(1 << 20),
    "runs that are not there": struct.pack(
        "<IQIIBHHH", 1_681_511_377, 1, 0, 12_347, 1, 0, 9, 0xFFFF
    ),
    "a run beyond its container": struct.pack(
        "<IQIIBHHHHH", 1_681_511_377, 1, 0, 12_347, 1, 0, 9, 1, 9, 0xFFFF
    ),
    "a container twice": struct.pack(
        "<IQIIIHHHHIIHH", 1_681_511_377, 1, 0, 12_346, 2, 3, 0, 3, 0, 0, 0, 7, 7
    ),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_vector_that_claims_what_it_does_not_hold_is_malformed(claim):
    with pytest.raises(bitmaps.MalformedBitmap):
        bitmaps.read_vector(CLAIMS[claim])


def delta(folder, deleted, *, inline=False):
    """A table of one file with a vector of its own; the file that holds it."""
    write_deltalake(folder, pa.table({"x": list(range(ROWS))}))
    log = folder / "_delta_log"
    actions = map(json.loads, (log / f"{0:020}.json").read_text().splitlines())
    add = next(action["add"] for action in actions if "add" in action)
    name = uuid.UUID(int=7)
    place = {"storageType": "u", "pathOrInlineDv": z85(name.bytes), "offset": 1}
    if inline:
        padded = deleted + bytes(-len(deleted) % 4)
        place = {"storageType": "i", "pathOrInlineDv": z85(padded)}
    described = place | {"sizeInBytes": len(deleted), "cardinality": len(GONE)}
    features = ["deletionVectors"]
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7}
    commit = [
        {"protocol": protocol | {"readerFeatures": features, "writerFeatures": features}},
        {"remove": {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}},
        {"add": add | {"deletionVector": described}},
    ]
    (log / f"{1:020}.json").write_text("\n".join(map(json.dumps, commit)))
    file = folder / f"deletion_vector_{name}.bin"
    file.write_bytes(b"\x01" + framed(deleted))
    return file


def iceberg(folder, deleted):
    lake = Lake(folder, {"x": "long"}, version=3)
    (folder / "data").mkdir()
    numbered = pa.field("x", pa.int64(), metadata={"PARQUET:field_id": "1"})
    pq.write_table(
        pa.table({"x": range(ROWS)}, pa.schema([numbered])), folder / "data" / "a.parquet"
    )
    lake.manifest([lake.file("a.parquet", rows=ROWS)])
    blob = framed(deleted)
    described = lake.file(
        "a.puffin",
        rows=len(GONE),
        content=1,
        file_format="PUFFIN",
        referenced_data_file=f"{folder}/data/a.parquet",
        content_offset=1,
        content_size_in_bytes=len(blob),
    )
    lake.manifest([described], content=1, sequence=2)
    lake.commit()
    file = folder / "data" / "a.puffin"
    file.write_bytes(b"\x01" + blob)
    return file


def left(folder):
    return whyscan.open(str(folder)).plan("true").to_arrow().column("x").to_pylist()


@pytest.mark.parametrize("write", [delta, iceberg])
def test_the_rows_that_a_vector_names_are_gone(tmp_path, write):
    write(tmp_path / "t", vector(GONE))

    assert left(tmp_path / "t") == [x for x in range(ROWS) if x not in GONE]


def test_a_vector_may_stand_in_the_log(tmp_path):
    delta(tmp_path / "t", vector(GONE), inline=True).unlink()

    assert left(tmp_path / "t") == [x for x in range(ROWS) if x not in GONE]


@pytest.mark.parametrize("write", [delta, iceberg])
def test_a_vector_with_any_byte_changed_is_an_error_that_names_its_file(tmp_path, write):
    file = write(tmp_path / "t", vector(GONE))
    content = file.read_bytes()

    for at in range(1, len(content), 5):
        file.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        with pytest.raises(CorruptFile, match=file.name):
            left(tmp_path / "t")
    file.write_bytes(content[:-1])
    with pytest.raises(CorruptFile, match=f"{file.name}.*shorter"):
        left(tmp_path / "t")


@pytest.mark.parametrize("write", [delta, iceberg])
def test_bytes_that_are_no_vector_are_an_error_though_their_checksum_is_right(tmp_path, write):
    file = write(tmp_path / "t", b"no bitmap at all")

    with pytest.raises(CorruptFile, match=f"{file.name}.*no deletion vector"):
        left(tmp_path / "t")
