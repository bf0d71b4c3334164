"""Logs that unpack to gigabytes, lines without an end: read in little memory, the rest named."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import struct

import cramjam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from backports import zstd

MIB = 1 << 20
EVENT = (
    b'{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",'
    b'"executionId":%d,"description":"SELECT a FROM t WHERE x = %d","time":1700000000000,'
    b'"sparkPlanInfo":{"nodeName":"Scan","simpleString":"","children":[],"metadata":{},'
    b'"metrics":[]}}\n'
)
FORMS = {
    "app-1": (
        b'{"Event":"SparkListenerLogStart","Spark Version":"4.1.0"}\n' + EVENT % (0, 0),
        EVENT % (1, 1),
    ),
    "log.csv": (b"query,bytes\nSELECT a FROM t,1\n", b"SELECT b FROM t,2\n"),
    "log.json": (b'{"query": "SELECT a FROM t"}\n', b'{"query": "SELECT b FROM t"}\n'),
}
"""How a log of each form begins, with one query, and how it goes on with another."""


def lz4_blocks(plain):
    """As Spark writes them."""
    packed = bytearray()
    for start in range(0, len(plain), 65_536):
        block = plain[start : start + 65_536]
        content = bytes(cramjam.lz4.compress_block(block, store_size=False))
        packed += b"LZ4Block" + bytes([0x26]) + struct.pack("<III", len(content), len(block), 0)
        packed += content
    return bytes(packed)


def snappy_blocks(plain):
    packed = bytearray(b"\x82SNAPPY\x00" + struct.pack(">II", 1, 1))
    for start in range(0, len(plain), 32_768):
        content = bytes(cramjam.snappy.compress_raw(plain[start : start + 32_768]))
        packed += struct.pack(">I", len(content)) + content
    return bytes(packed)


CODECS = {
    "plain": lambda plain: plain,
    "gzip": lambda plain: gzip.compress(plain, 1),
    "zstd": zstd.compress,
    "bzip2": bz2.compress,
    "xz": lambda plain: lzma.compress(plain, preset=1),
    "lz4": lz4_blocks,
    "snappy": snappy_blocks,
}
BOMBS = {codec: CODECS[codec] for codec in ("gzip", "zstd", "bzip2", "xz")}


def repeated(codec, head, filler, count, rest):
    """A log whose middle is `filler`, `count` times, packed without ever being held."""
    middle = CODECS[codec](filler)
    return CODECS[codec](head) + middle * count + CODECS[codec](rest)


def read(commands, place):
    said = commands.workload(place)
    assert said.why is None
    return json.loads(said.word)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("form", FORMS)
def test_a_line_beyond_the_limit_is_one_skipped_entry_and_the_others_are_read(
    commands, tmp_path, form, codec
):
    head, rest = FORMS[form]
    (tmp_path / form).write_bytes(CODECS[codec](head + b"x" * (5 * MIB) + b"\n" + rest))

    summary = read(commands, tmp_path / form)

    line = head.count(b"\n") + 1
    assert (summary["taken"], summary["left"]) == (2, 1)
    [[origin, why, times]] = summary["unparsed"]
    assert (origin, times) == (f"{form}:{line}", 1)
    assert why == "the line is longer than 4 MiB, and was skipped"


@pytest.mark.parametrize("filler", [b"x", b"\n"], ids=["one line", "empty lines"])
@pytest.mark.parametrize("codec", BOMBS)
@pytest.mark.parametrize("form", FORMS)
def test_a_log_that_unpacks_to_a_gigabyte_takes_little_memory_and_names_what_it_left(
    commands, tmp_path, form, codec, filler
):
    head, rest = FORMS[form]
    place = tmp_path / form
    # Empty rows of CSV are read one by one.
    size = 4 * MIB if filler == b"x" or form != "log.csv" else MIB // 8
    place.write_bytes(repeated(codec, head, filler * size, 16, b"\n" + rest))

    summary = read(commands, place)

    assert summary["taken"] in {1, 2}
    assert summary["taken"] == 2 or summary["left"] > 0


def test_zstd_that_unpacks_to_a_thousand_times_its_size_is_left_there(commands, tmp_path):
    head, _ = FORMS["log.json"]
    place = tmp_path / "log.json"
    place.write_bytes(zstd.compress(head) + zstd.compress(b"x" * (4 * MIB)) * 8)

    summary = read(commands, place)

    assert summary["taken"] == 1
    assert "more than 1,000 times its size" in summary["unparsed"][0][1]


HOSTILE_BLOCKS = {
    "snappy that claims 4 GiB": b"\x82SNAPPY\x00"
    + struct.pack(">II", 1, 1)
    + struct.pack(">I", 6)
    + b"\xff\xff\xff\xff\x0f\x00",
    "lz4 that claims 4 GiB": b"LZ4Block\x26" + struct.pack("<III", 4, 0xFFFFFFFF, 0) + b"abcd",
    "lz4 that claims 64 MiB": b"LZ4Block\x26" + struct.pack("<III", 4, MIB << 6, 0) + b"abcd",
    "xz with a dictionary of 1.5 GiB": lzma.compress(
        b"a", filters=[{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1536 * MIB}]
    ),
}


@pytest.mark.parametrize("content", HOSTILE_BLOCKS.values(), ids=HOSTILE_BLOCKS.keys())
def test_a_block_that_claims_more_than_there_is_is_damaged(commands, tmp_path, content):
    (tmp_path / "app-1").write_bytes(content)

    summary = read(commands, tmp_path / "app-1")

    assert (summary["taken"], summary["left"]) == (0, 1)


def test_a_document_of_json_that_is_too_long_is_named(commands, tmp_path):
    (tmp_path / "log.json").write_bytes(b"[\n" + b'{"query": "SELECT 1"},\n' * 400_000)

    summary = read(commands, tmp_path / "log.json")

    assert summary["taken"] == 0
    assert "one document of JSON" in summary["unparsed"][0][1]


def test_a_sql_file_that_is_too_long_is_named(commands, tmp_path):
    (tmp_path / "log.sql.gz").write_bytes(gzip.compress(b"SELECT 1;\n" * 3_000_000, 1))

    summary = read(commands, tmp_path / "log.sql.gz")

    assert summary["taken"] == 0
    assert "inflates to more than 16 MiB" in summary["unparsed"][0][1]


def test_a_quoted_row_that_is_too_long_ends_what_can_be_read(commands, tmp_path):
    content = b'query\nSELECT 1\n"SELECT 2,\n' + b"x" * (5 * MIB) + b'"\nSELECT 3\n'
    (tmp_path / "log.csv").write_bytes(content)

    summary = read(commands, tmp_path / "log.csv")

    assert summary["taken"] == 1
    assert "the rest cannot be read: line 4: a row is longer than 4 MiB" in str(summary["unparsed"])


def test_a_billion_equal_rows_of_parquet_are_left_where_they_are_too_many(commands, tmp_path):
    rows = 200_000
    text = "SELECT a FROM t WHERE x = '" + "y" * 1_000 + "'"
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), [text])
    pq.write_table(pa.table({"query": column}), tmp_path / "log.parquet", compression="zstd")

    summary = read(commands, tmp_path / "log.parquet")

    assert summary["taken"] + summary["left"] == rows
    assert 0 < summary["left"] < rows


def test_a_row_group_beyond_the_memory_is_skipped_and_the_next_is_read(commands, tmp_path):
    schema = pa.schema({"query": pa.string()})
    with pq.ParquetWriter(tmp_path / "log.parquet", schema, use_dictionary=False) as writer:
        writer.write_table(pa.table({"query": ["SELECT '" + "x" * (2 * MIB) + "'"] * 10}, schema))
        writer.write_table(pa.table({"query": ["SELECT 1"]}, schema))

    summary = read(commands, tmp_path / "log.parquet")

    assert (summary["taken"], summary["left"]) == (1, 10)
    assert "row group 0 unpacks to" in summary["unparsed"][0][1]


def test_a_node_of_dbt_that_is_no_object_does_not_stop_the_others(commands, tmp_path):
    good = {"resource_type": "model", "compiled_code": "SELECT 1", "config": {}}
    bad = {**good, "config": {"materialized": "incremental", "unique_key": 9}}
    nodes = {"a": good, "b": 7, "c": {**good, "config": 3}, "d": bad, "e": good}
    manifest = {"metadata": {"dbt_schema_version": "v12"}, "nodes": nodes}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))

    summary = read(commands, tmp_path / "manifest.json")

    assert (summary["taken"], summary["left"]) == (2, 3)


def test_lines_that_are_no_entries_are_counted_and_not_all_listed(commands, tmp_path):
    head, _ = FORMS["log.json"]
    (tmp_path / "log.json").write_bytes(head + b"x\n" * 300_000)

    summary = read(commands, tmp_path / "log.json")

    assert (summary["taken"], summary["left"]) == (1, 300_000)
