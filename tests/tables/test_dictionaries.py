"""Dictionaries of real files: exact where a chunk is wholly encoded by one, else not used."""

from __future__ import annotations

import random
from math import isnan

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from support.value_predicates import complaints
from tables.by_hand import patch
from tables.page_files import probed, values_of_groups
from tables.test_parquet_pages import TYPES
from whyscan.tables.parquet.chunk_patterns import is_wholly_dictionary

CODECS = ("none", "snappy", "gzip", "brotli", "zstd", "lz4")
EVEN = pa.table({"x": [2 * (n % 50) for n in range(400)], "s": [f"é{n % 9}" for n in range(400)]})


def level(folder, sql, depth="dictionary"):
    return whyscan.open(folder).explain(sql, depth=depth).to_dict()["levels"][1]


@pytest.mark.parametrize("name", sorted(set(TYPES) - {"boolean", "only null"}))
def test_dictionaries_of_every_type_are_exact(tmp_path, name):
    table = pa.table({"x": TYPES[name]})
    pq.write_table(table, tmp_path / "f.parquet", row_group_size=20)
    inside = values_of_groups(table, tmp_path)

    containers, column = probed(tmp_path, "x", inside, "dictionaries")

    [probe] = containers.filters.values()
    assert list(complaints(column, containers, inside, at_most=40)) == []
    for at, value in enumerate(probe.values.to_pylist()):
        if not (isinstance(value, float) and isnan(value)):  # no filter knows NaN
            rows = [value in values.to_pylist() for values in inside]
            assert probe.possible[:, at].tolist() == rows, value


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_dictionaries_of_every_compression(tmp_path, codec, version):
    pq.write_table(EVEN, tmp_path / "f.parquet", compression=codec, data_page_version=version)

    assert level(tmp_path, "x = 7")["pruned_by"] == {
        "partition": 0, "statistics": 0, "dictionary": 1}  # fmt: skip
    assert level(tmp_path, "s = 'é3x'")["pruned_by"]["dictionary"] == 1
    assert (level(tmp_path, "x = 8")["kept"], level(tmp_path, "s = 'é3'")["kept"]) == (1, 1)
    assert level(tmp_path, "x <> 7")["all"] == 1


def test_dictionaries_are_read_only_when_asked_for(tmp_path):
    pq.write_table(EVEN, tmp_path / "f.parquet")

    pages, words = (
        whyscan.open(tmp_path).explain("x = 7", depth=depth).to_dict()
        for depth in ("pages", "dictionary")
    )

    assert "dictionary" not in pages["levels"][1]["pruned_by"]
    assert pages["metadata"]["bytes"] < words["metadata"]["bytes"]


def test_a_chunk_with_pages_of_another_encoding_has_other_values(tmp_path):
    table = pa.table({"x": [f"{n:030}" for n in range(3000)]})
    pq.write_table(table, tmp_path / "f.parquet", dictionary_pagesize_limit=4000,
                   data_page_size=2000, write_batch_size=50)  # fmt: skip
    footer = pq.read_metadata(tmp_path / "f.parquet").row_group(0).column(0)
    assert footer.has_dictionary_page

    assert "dictionary" not in level(tmp_path, f"x = '{1:029}x'")["pruned_by"]
    assert len(whyscan.open(tmp_path).plan(f"x = '{2999:030}'", depth="dictionary").files) == 1


def test_bloom_filters_come_first(tmp_path):
    pq.write_table(EVEN, tmp_path / "f.parquet", row_group_size=100,
                   bloom_filter_options={"x": {"ndv": 50, "fpp": 0.001}})  # fmt: skip

    assert level(tmp_path, "x = 7")["pruned_by"] == {"partition": 0, "statistics": 0, "bloom": 4}
    assert level(tmp_path, "x = 7 OR s = 'é3x'")["pruned_by"] == {
        "partition": 0, "statistics": 0, "dictionary": 4}  # fmt: skip


def test_dictionaries_of_duckdb_lose_no_row(tmp_path):
    dice = random.Random(2)
    with duckdb.connect() as connection:
        connection.register("t", pa.table({"i": [dice.randrange(90) for _ in range(8192)]}))
        connection.execute(
            f"COPY (SELECT i::INT AS i, 't' || i AS s, (i / 4)::DECIMAL(9,2) AS m FROM t)"
            f" TO '{tmp_path}/f.parquet' (ROW_GROUP_SIZE 2048)"
        )
    table = pq.read_table(tmp_path / "f.parquet")
    for name in table.column_names:
        inside = values_of_groups(table, tmp_path, name)
        containers, column = probed(tmp_path, name, inside, "dictionaries")
        assert list(complaints(column, containers, inside, at_most=30)) == []


ENCODINGS = {
    "pages of the dictionary alone": ({2: [0, 3, 8], 13: [{1: 2, 2: 0}, {1: 0, 2: 8}]}, True),
    "a page of values": ({2: [0, 3, 8], 13: [{1: 0, 2: 8}, {1: 0, 2: 0}]}, False),
    "a new page of values": ({2: [0, 3, 8], 13: [{1: 3, 2: 8}, {1: 3, 2: 5}]}, False),
    "a dictionary without pages": ({2: [0, 3, 8], 13: [{1: 2, 2: 0}]}, False),
    "an old writer's dictionary": ({2: [2, 3, 4]}, True),
    "an old writer's fallback": ({2: [2, 3, 0]}, False),
    "a new writer that counts no pages": ({2: [0, 3, 8]}, False),
    "no encodings": ({}, False),
    "encodings that are none": ({2: ["x"], 13: 5}, False),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_which_chunks_are_wholly_encoded_by_a_dictionary(name):
    metadata, wholly = ENCODINGS[name]

    assert is_wholly_dictionary(metadata) is wholly


def test_many_chunks_of_one_shape_keep_what_their_encodings_say(tmp_path):
    # Of many chunks most are read by a pattern, which one of them made.
    few = pa.table({"x": [f"{n % 5:030}" for n in range(100)]})
    many = pa.table({"x": [f"{n:030}" for n in range(100)]})
    with pq.ParquetWriter(
        tmp_path / "f.parquet", few.schema, dictionary_pagesize_limit=1000, write_batch_size=5
    ) as writer:
        for at in range(120):
            writer.write_table(many if at % 7 == 3 else few)

    counts = level(tmp_path, f"x = '{2:030}x'")

    assert counts["pruned_by"]["dictionary"] == sum(at % 7 != 3 for at in range(120))
    assert level(tmp_path, f"x = '{77:030}'")["kept"] == sum(at % 7 == 3 for at in range(120))


def test_damaged_dictionaries_are_counted_or_prove_no_more_than_they_say(tmp_path):
    path = tmp_path / "f.parquet"
    pq.write_table(EVEN, path, compression="gzip", use_dictionary=["x"])
    begin = pq.read_metadata(path).row_group(0).column(0).dictionary_page_offset
    whole, dice = path.read_bytes(), random.Random(6)  # the same damage everywhere
    counted = 0
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[begin + dice.randrange(40)] ^= 1 << dice.randrange(8)
        path.write_bytes(damaged)
        report = whyscan.open(tmp_path).explain("x = 8", depth="dictionary").to_dict()
        is_counted = any("dictionary" in unchecked["why"] for unchecked in report["unchecked"])
        assert report["levels"][1]["kept"] == 1 or not is_counted
        counted += is_counted
    assert counted > 20


@pytest.mark.parametrize("claim", [1 << 40, -1, (1 << 31) - 1])
@pytest.mark.parametrize("field", [2, 3])
def test_a_dictionary_that_claims_to_be_huge_takes_no_memory(tmp_path, field, claim):
    from tables.by_hand import I32, Decoder, encode_struct

    path = tmp_path / "f.parquet"
    pq.write_table(EVEN, path, compression="zstd")
    begin = pq.read_metadata(path).row_group(0).column(0).dictionary_page_offset
    data = path.read_bytes()
    decoder = Decoder(data)
    decoder.at = begin
    header = decoder.struct()
    header[field] = (I32, claim)
    changed = encode_struct(header)
    patched = bytearray(data)
    patched[begin : begin + len(changed)] = changed
    path.write_bytes(patched)

    report = whyscan.open(tmp_path).explain("x = 7", depth="dictionary").to_dict()

    assert report["levels"][1]["kept"] == 1
    assert "dictionary" in report["unchecked"][0]["why"]


def test_a_dictionary_that_is_not_where_it_should_be_proves_nothing(tmp_path):
    path = tmp_path / "f.parquet"
    pq.write_table(EVEN, path)

    def move(metadata):
        for group in metadata[4][1][1]:
            group[1][1][1][0][3][1][11] = (6, -3)

    patch(path, move)

    assert "dictionary" not in level(tmp_path, "x = 7")["pruned_by"]
