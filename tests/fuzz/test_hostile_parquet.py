"""Parquet files made to harm: sizes that are not there, schemas without end, names that bite."""

from __future__ import annotations

import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from support.formats import text
from tables.by_hand import varint
from whyscan.errors import CorruptFile, StorageError
from whyscan.reports.document import to_json
from whyscan.tables.parquet import thrift

STRUCTS = 12
SCHEMA = b"\x15\x02\x19"  # version 1; a list as field 2


def with_footer(path, footer: bytes):
    path.write_bytes(b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1")


def list_of(count: int, kind: int) -> bytes:
    return bytes([0xF0 | kind]) + varint(count)


MANY = 1_000_000
FOOTERS = {
    "a million fields declared": SCHEMA + list_of(MANY, STRUCTS),
    "a million empty fields": SCHEMA + list_of(MANY, STRUCTS) + bytes(MANY),
    "twenty million empty fields": SCHEMA + list_of(20 * MANY, STRUCTS) + bytes(20 * MANY),
    "a million numbered fields": SCHEMA + list_of(1, STRUCTS) + b"\x15\x02" * MANY,
    "twenty million values in lists": b"\x15\x02" + (b"\x19" + list_of(MANY, 3) + bytes(MANY)) * 20,
    "a text of a gigabyte": b"\x15\x02\x18" + varint(1 << 30),
    "structs in structs": b"\x1c" * 100_000,
    "lists in lists": b"\x19\x19" + b"\x19" * 100_000,
}


@pytest.mark.parametrize("what", FOOTERS)
def test_a_footer_that_declares_more_than_can_be_is_refused(tmp_path, watch, what):
    with_footer(tmp_path / "f.parquet", FOOTERS[what])
    outcome = watch.ask(tmp_path, "a = 1")
    assert outcome.word.startswith("CorruptFile"), outcome


@pytest.mark.parametrize("length", [1 << 28, 1 << 30, (1 << 32) - 1])
def test_a_footer_of_a_gigabyte_that_is_not_there_is_refused(tmp_path, length):
    (tmp_path / "f.parquet").write_bytes(b"PAR1" + bytes(90) + struct.pack("<I", length) + b"PAR1")
    with pytest.raises(CorruptFile, match=f"declares a footer of {length} bytes"):
        _ = whyscan.open(tmp_path).schema


def test_a_sparse_file_of_four_gigabytes_is_not_read(tmp_path, watch):
    with (tmp_path / "f.parquet").open("wb") as file:
        file.truncate(1 << 32)
        file.seek((1 << 32) - 8)
        file.write(struct.pack("<I", (1 << 32) - 100) + b"PAR1")
    assert "declares a footer" in watch.ask(tmp_path, "a = 1").word


def test_a_schema_of_ten_thousand_columns_is_read(tmp_path, watch):
    names = [f"column_{n}" for n in range(10_000)]
    pq.write_table(pa.table({name: [n] for n, name in enumerate(names)}), tmp_path / "f.parquet")
    assert watch.ask(tmp_path, "column_9999 = 9999 AND column_0 > 5").word == "answer"
    table = whyscan.open(tmp_path)
    assert [len(list(table.plan(f"column_9999 = {n}"))) for n in (9998, 9999)] == [0, 1]


@pytest.mark.parametrize("name", ["\u202e\u2028", "\x9b31m", "'; DROP", "`", "a" * 200])
def test_a_partition_of_any_name_is_inert(tmp_path, name):
    folder = tmp_path / f"k={name}"
    folder.mkdir()
    pq.write_table(pa.table({"a": [1]}), folder / "f.parquet")
    report = whyscan.open(tmp_path).explain("a = 1", verbose=True)
    shown = text(report) + to_json(report)
    assert not {"\x9b", "\u202e"} & set(shown)


@pytest.mark.parametrize("name", ["a\x1b[31mb", "a\nb", "\x7f"])
def test_a_name_that_no_store_takes_is_refused(tmp_path, name):
    folder = tmp_path / f"k={name}"
    folder.mkdir()
    pq.write_table(pa.table({"a": [1]}), folder / "f.parquet")
    with pytest.raises(StorageError):
        whyscan.open(tmp_path).explain("a = 1")


def test_a_number_of_more_than_sixteen_bits_is_no_field():
    with pytest.raises(thrift.MalformedThrift, match="field 32768"):
        thrift.ThriftReader(b"\x05" + varint(1 << 16) + b"\x02\x00").struct()
