"""Bloom filters of real files: no row is lost, DuckDB's probe agrees, damage is counted."""

from __future__ import annotations

import random
import struct
from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from support.value_predicates import complaints
from tables.by_hand import patch
from tables.page_files import probed, values_of_groups
from tables.test_parquet_pages import MOMENTS, NUMBERS, TYPES
from whyscan.pruning.value_filters import MOST_VALUES
from whyscan.tables.parquet.bloom_filters import BloomFilter, read_header
from whyscan.tables.parquet.thrift import MalformedThrift
from whyscan.tables.parquet.xxhash import xxh64

NAN = float("nan")
HASHES = {
    b"": 0xEF46DB3751D8E999,
    b"a": 0xD24EC4F1A98C6E5B,
    b"Nobody inspects the spammish repetition": 0xFBCEA83C8A378BF1,
}
HASHED = sorted(set(TYPES) - {"boolean", "only null"})


def write(path, table, **options):
    columns = {name: {"ndv": 100, "fpp": 0.01} for name in table.column_names}
    pq.write_table(table, path, bloom_filter_options=columns, **({"row_group_size": 20} | options))


def pruned(folder, sql, level="row_groups"):
    document = whyscan.open(folder).explain(sql, depth="pages").to_dict()
    return next(x["pruned_by"] for x in document["levels"] if x["level"] == level)


def test_the_hash_is_xxh64():
    assert {text: xxh64(text) for text in HASHES} == HASHES


@pytest.mark.parametrize("integers", [False, True], ids=["bytes", "integers"])
@pytest.mark.parametrize("name", HASHED)
def test_no_row_is_lost_for_any_type(tmp_path, name, integers):
    table = pa.table({"x": TYPES[name]})
    write(tmp_path / "f.parquet", table, store_decimal_as_integer=integers)

    containers, column = probed(tmp_path, "x", values_of_groups(table, tmp_path))

    assert containers.filters
    inside = values_of_groups(table, tmp_path)
    assert list(complaints(column, containers, inside, at_most=40)) == []


@pytest.mark.parametrize("name", HASHED)
def test_a_value_that_no_row_has_is_in_no_filter(tmp_path, name):
    values = TYPES[name].drop_null().unique()
    odd, even = (
        values.take(list(range(1, len(values), 2))),
        values.take(list(range(0, len(values), 2))),
    )
    write(tmp_path / "f.parquet", pa.table({"x": odd}))

    containers, _ = probed(tmp_path, "x", [even.drop_null()])

    [filters] = containers.filters.values()
    is_nan = pa.types.is_floating(odd.type)
    assert filters.possible.mean() < (0.4 if is_nan else 0.1)


def test_duckdb_finds_the_same_values_in_every_filter(tmp_path):
    path = tmp_path / "f.parquet"
    rows = {"i": list(range(0, 400, 2)), "s": [f"é{n}" for n in range(0, 400, 2)],
            "d": [n / 8 for n in range(0, 400, 2)]}  # fmt: skip
    write(path, pa.table(rows), row_group_size=50)
    for name, literals in {
        "i": pa.array(range(400)),
        "s": pa.array([f"é{n}".encode() for n in range(400)]),
        "d": pa.array([n / 8 for n in range(400)]),
    }.items():
        containers, _ = probed(tmp_path, name, [literals])
        [filters] = containers.filters.values()
        order = {v: at for at, v in enumerate(filters.values.to_pylist())}
        with duckdb.connect() as connection:
            for literal in literals.to_pylist()[::7]:
                value = literal.decode() if isinstance(literal, bytes) else literal
                answer = connection.execute(
                    "SELECT bloom_filter_excludes FROM parquet_bloom_probe(?, ?, ?)",
                    [str(path), name, value],
                ).fetchall()
                mine = filters.possible[:, order[literal]].tolist()
                assert [not excludes for (excludes,) in answer] == mine, (name, literal)


def test_filters_of_duckdb_lose_no_row(tmp_path):
    dice = random.Random(2)
    with duckdb.connect() as connection:
        connection.register("t", pa.table({"i": [dice.randrange(90) for _ in range(8192)]}))
        connection.execute(
            f"COPY (SELECT i::INT AS i, i::BIGINT * 3 AS l, 't' || i AS s, (i / 4)::DECIMAL(9,2)"
            f" AS m, (i / 4)::DECIMAL(30,2) AS h, DATE '2020-01-01' + i::INT AS d, i / 8.0::DOUBLE"
            f" AS f FROM t) TO '{tmp_path}/f.parquet' (ROW_GROUP_SIZE 2048)"
        )
    table = pq.read_table(tmp_path / "f.parquet")
    filtered = 0
    for name in table.column_names:
        inside = values_of_groups(table, tmp_path, name)
        containers, column = probed(tmp_path, name, inside)
        filtered += bool(containers.filters)
        assert list(complaints(column, containers, inside, at_most=30)) == []
    assert filtered >= 5


def test_datafusion_writes_filters_that_lose_no_row(tmp_path):
    import datafusion

    config = datafusion.SessionConfig().with_target_partitions(1)
    options = datafusion.ParquetWriterOptions(bloom_filter_on_write=True)
    table = pa.table({"i": pa.array(NUMBERS, pa.int32()), "s": TYPES["text"],
                      "m": TYPES["small decimal"], "t": TYPES["instants"]})  # fmt: skip
    datafusion.SessionContext(config).from_arrow(table).write_parquet_with_options(
        str(tmp_path / "out"), options
    )
    written = pq.read_table(tmp_path / "out")
    filtered = 0
    for name in written.column_names:
        inside = values_of_groups(written, tmp_path / "out", name)
        containers, column = probed(tmp_path / "out", name, inside)
        filtered += bool(containers.filters)
        assert list(complaints(column, containers, inside, at_most=30)) == []
    assert filtered == len(written.column_names)


def test_both_zeros_are_one_value(tmp_path):
    for at, zero in enumerate([0.0, -0.0]):
        write(tmp_path / f"f{at}.parquet", pa.table({"x": [zero, 5.0, -5.0]}))

    for sql in ("x = 0.0", "x = double('-0.0')", "x IN (0.0, 3.0)"):
        assert len(whyscan.open(tmp_path).plan(sql, depth="pages").files) == 2
    assert pruned(tmp_path, "x = 3.0", "files")["bloom"] == 2


def test_nan_is_in_every_filter(tmp_path):
    write(tmp_path / "f.parquet", pa.table({"x": [NAN, 1.0, 5.0]}))

    for sql in ("x = double('NaN')", "x IN (3.0, double('NaN'))", "x <=> double('NaN')"):
        assert len(whyscan.open(tmp_path).plan(sql, depth="pages").files) == 1


def test_a_wider_integer_of_the_table_is_hashed_as_the_file_has_it(tmp_path):
    write(tmp_path / "a.parquet", pa.table({"x": pa.array([1, 9], pa.int32())}))
    write(tmp_path / "b.parquet", pa.table({"x": pa.array([1, 9], pa.int64())}))
    table = whyscan.open(tmp_path)

    assert str(table.schema.fields[0].type) == "bigint"
    assert len(table.plan("x = 9", depth="pages").files) == 2
    assert pruned(tmp_path, "x = 5", "files")["bloom"] == 2
    assert pruned(tmp_path, "x = 5 OR x = 6", "files")["bloom"] == 2


def test_a_float_of_32_bits_is_equal_to_the_doubles_that_it_can_be(tmp_path):
    write(tmp_path / "a.parquet", pa.table({"x": pa.array([0.5, 0.1, 0.75], pa.float32())}))
    table = whyscan.open(tmp_path)

    assert len(table.plan("x = 0.5", depth="pages").files) == 1
    assert len(table.plan("x = CAST(0.1 AS FLOAT)", depth="pages").files) == 1
    assert pruned(tmp_path, "x = 0.625", "files")["bloom"] == 1


def test_int96_is_not_hashed(tmp_path):
    table = pa.table({"x": pa.array(MOMENTS, pa.timestamp("us"))})
    write(tmp_path / "f.parquet", table, use_deprecated_int96_timestamps=True)
    moment = MOMENTS[3].isoformat(" ")

    for sql in (f"x = TIMESTAMP '{moment}'", "x = TIMESTAMP '1999-01-01 00:00:00'"):
        assert "bloom" not in pruned(tmp_path, sql)


def test_text_is_compared_with_its_blanks(tmp_path):
    write(tmp_path / "f.parquet", pa.table({"x": ["a    ", "a", "z"]}))

    for sql in ("x = 'a'", "x = 'a    '"):
        assert len(whyscan.open(tmp_path).plan(sql, depth="pages").files) == 1
    assert pruned(tmp_path, "x = 'a '", "files")["bloom"] == 1


def test_conditions_of_several_columns(tmp_path):
    table = pa.table({"a": [2 * n for n in range(80)], "b": [3 * n for n in range(80)]})
    write(tmp_path / "f.parquet", table, row_group_size=80)

    assert pruned(tmp_path, "a = 7 AND b > 0") == {"partition": 0, "statistics": 0, "bloom": 1}
    assert "bloom" not in pruned(tmp_path, "a = 7 OR b > 0")
    assert pruned(tmp_path, "a = 7 OR b = 10")["bloom"] == 1
    assert pruned(tmp_path, "NOT (a <> 7)")["bloom"] == 1
    assert "bloom" not in pruned(tmp_path, "NOT (a = 7)")
    report = whyscan.open(tmp_path).explain("a <> 7", depth="pages").to_dict()
    assert report["levels"][1]["all"] == 1


def test_what_statistics_remove_is_not_credited_to_a_filter_and_not_read(tmp_path):
    write(tmp_path / "f.parquet", pa.table({"x": [2 * n for n in range(80)]}))
    table = whyscan.open(tmp_path)
    table.plan("x = 7")
    before = table.snapshot.traffic().bytes

    report = table.explain("x = 7", depth="pages").to_dict()

    assert report["levels"][1]["pruned_by"] == {"partition": 0, "statistics": 3, "bloom": 1}
    assert table.snapshot.traffic().bytes > before
    assert "bloom" not in table.explain("x = 7").to_dict()["levels"][1]["pruned_by"]


def test_a_list_of_too_many_values_reads_no_filter(tmp_path):
    write(tmp_path / "f.parquet", pa.table({"x": [2 * n for n in range(80)]}))
    listed = ", ".join(str(2 * n + 1) for n in range(MOST_VALUES + 1))

    assert "bloom" not in pruned(tmp_path, f"x IN ({listed})")
    assert pruned(tmp_path, f"x IN ({listed[:60].rpartition(',')[0]})")["bloom"]


def chunks(metadata):
    for group in metadata[4][1][1]:
        for chunk in group[1][1][1]:
            yield chunk[3][1]


def test_a_filter_of_an_old_writer_has_no_size(tmp_path):
    path = tmp_path / "f.parquet"
    table = pa.table({"x": [2 * n for n in range(80)], "big": [str(n) for n in range(80)]})
    pq.write_table(table, path, row_group_size=40, bloom_filter_options={
        "x": {"ndv": 50, "fpp": 0.01}, "big": {"ndv": 50_000, "fpp": 0.001}})  # fmt: skip

    patch(path, lambda metadata: [chunk.pop(15) for chunk in chunks(metadata)])

    assert pruned(tmp_path, "x = 7")["bloom"] == 1
    assert pruned(tmp_path, "big = '55x'")["bloom"] == 2
    assert whyscan.open(tmp_path).plan("big = '55'", depth="pages").files[0].row_groups == (1,)


PLACES = {
    "behind the file": (1 << 40, 50),
    "at a negative place": (-5, 50),
    "longer than the file": (4, (1 << 31) - 1),
    "of a negative size": (4, -1),
    "in the rows": (4, 64),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_filter_that_is_not_where_it_should_be_proves_nothing(tmp_path, name):
    path = tmp_path / "f.parquet"
    write(path, pa.table({"x": [2 * n for n in range(80)]}))

    def move(metadata):
        for chunk in chunks(metadata):
            chunk[14], chunk[15] = (6, PLACES[name][0]), (5, PLACES[name][1])

    patch(path, move)

    assert "bloom" not in pruned(tmp_path, "x = 7")
    assert len(whyscan.open(tmp_path).plan("x = 8", depth="pages").files) == 1


def test_damaged_filters_are_counted_and_lose_nothing_that_their_bits_have(tmp_path):
    path = tmp_path / "f.parquet"
    write(path, pa.table({"x": [2 * n for n in range(80)]}), row_group_size=80)
    places = []
    patch(path, lambda m: places.extend((c[14][1], c[15][1]) for c in chunks(m)))
    [(begin, _)] = places
    whole, dice = path.read_bytes(), random.Random(4)  # the same damage everywhere
    counted = 0
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[begin + dice.randrange(16)] ^= 1 << dice.randrange(8)
        path.write_bytes(damaged)
        report = whyscan.open(tmp_path).explain("x = 8", depth="pages").to_dict()
        counted += any("bloom" in unchecked["why"] for unchecked in report["unchecked"])
    assert counted > 20


def test_filters_that_overlap_are_read_no_longer_than_the_file(tmp_path):
    path = tmp_path / "f.parquet"
    names = [f"c{n}" for n in range(30)]
    write(path, pa.table({name: [2, 4] for name in names}), compression="none")

    def share(metadata):
        first = next(chunks(metadata))
        for chunk in chunks(metadata):
            chunk[14], chunk[15] = first[14], first[15]

    patch(path, share)
    size = path.stat().st_size
    table = whyscan.open(tmp_path)
    report = table.explain(" OR ".join(f"{name} = 3" for name in names), depth="pages").to_dict()

    assert report["metadata"]["bytes"] < 12 * size


def test_headers_of_other_kinds_are_refused():
    good = bytes.fromhex("1580101c1c00001c1c00001c1c000000")
    assert read_header(good).size == 1024

    longer = good.replace(b"\x15\x80\x10", b"\x15\xff\xff\x03")
    for bad in (b"", b"\x15", good.replace(b"\x80\x10", b"\x82\x10"), b"\x15\x00" + good[3:],
                good[:5] + b"\x2c" + good[6:], longer):  # fmt: skip
        with pytest.raises(MalformedThrift):
            read_header(bad)


def test_the_rate_of_false_positives_is_that_of_the_bits():
    empty, full = BloomFilter.of(bytes(64)), BloomFilter.of(b"\xff" * 64)
    half = BloomFilter.of(struct.pack("<8I", *[0xFFFF] * 8))

    assert (empty.false_positive_rate, full.false_positive_rate) == (0, 1)
    assert half.false_positive_rate == pytest.approx(0.5**8)


def test_decimals_of_every_form_are_probed(tmp_path):
    values = pa.array([Decimal(n) / 4 for n in range(-40, 40)], pa.decimal128(7, 2))
    for at, (kind, integers) in enumerate(
        [(pa.decimal128(7, 2), True), (pa.decimal128(15, 2), True), (pa.decimal128(15, 2), False)]
    ):
        write(tmp_path / f"f{at}.parquet", pa.table({"x": values.cast(kind)}),
              store_decimal_as_integer=integers, row_group_size=80)  # fmt: skip

    assert pruned(tmp_path, "x = 1.13", "files")["bloom"] == 3
    assert len(whyscan.open(tmp_path).plan("x = 1.25", depth="pages").files) == 3


def test_the_report_says_where_filters_are_what_they_take_and_what_they_prove(tmp_path):
    table = pa.table({"x": [2 * n for n in range(80)], "y": range(80)})
    for at, columns in enumerate([{"x": {"ndv": 40, "fpp": 0.01}}, None]):
        pq.write_table(table, tmp_path / f"f{at}.parquet", row_group_size=40,
                       use_dictionary=["x"], bloom_filter_options=columns)  # fmt: skip

    report = whyscan.open(tmp_path).explain("x = 7 OR y = 3", depth="pages")

    x, y, dictionary_of_x, dictionary_of_y = report.to_dict()["filters"]
    assert (x["mechanism"], x["column"], y["column"]) == ("bloom", "x", "y")
    assert (x["files"], x["files_with_filter"]) == (2, 1)
    assert (x["row_groups"], x["row_groups_with_filter"], x["excluding"]) == (2, 1, 1)
    assert 0 < x["false_positive_rate"] < 0.02
    assert (y["row_groups_with_filter"], y["false_positive_rate"]) == (0, None)
    assert (dictionary_of_x["read"], dictionary_of_x["excluding"]) == (False, None)
    assert (dictionary_of_x["row_groups_with_filter"], dictionary_of_x["bytes"] > 100) == (2, True)
    assert dictionary_of_y["bytes"] == 0
    text = " ".join(report.to_text().split())
    assert "bloom x in 1 of 2 undecided row groups, 1 of 2 files, " in text
    assert "1 have no value of the predicate" in text
    assert "not read, --depth dictionary reads them" in text
    assert "filters" not in whyscan.open(tmp_path).explain("x = 7").to_dict()
    assert "filters" not in whyscan.open(tmp_path).explain("x > 7", depth="pages").to_dict()


def test_the_counts_of_parts_add_up(tmp_path):
    for at in range(3):
        write(tmp_path / f"f{at}.parquet", pa.table({"x": [2 * n for n in range(80)]}))

    parts = [
        whyscan.open(f"{tmp_path}/f{at}.parquet").explain("x = 7", depth="pages").to_dict()
        for at in range(3)
    ]
    whole = whyscan.open(tmp_path).explain("x = 7", depth="pages").to_dict()["filters"][0]

    for name in ("files", "row_groups", "row_groups_with_filter", "bytes", "excluding"):
        assert whole[name] == sum(part["filters"][0][name] for part in parts)


def test_stats_say_which_columns_have_filters_without_reading_one(tmp_path):
    table = pa.table({"x": [2 * n for n in range(80)], "y": range(80)})
    for at, columns in enumerate([{"x": {"ndv": 40, "fpp": 0.01}}, None]):
        pq.write_table(table, tmp_path / f"f{at}.parquet", row_group_size=40,
                       bloom_filter_options=columns)  # fmt: skip

    stats = whyscan.open(tmp_path).stats()

    [line] = stats.to_dict()["bloom_filters"]
    assert (line["column"], line["read"], line["false_positive_rate"]) == ("x", False, None)
    assert (line["files"], line["files_with_filter"]) == (2, 1)
    assert (line["row_groups"], line["row_groups_with_filter"]) == (4, 2)
    assert line["bytes"] > 64
    text = " ".join(stats.to_text().split())
    assert "bloom filters x in 2 of 4 row groups and 1 of 2 files" in text
    assert "bloom_filters" not in whyscan.open(tmp_path / "f1.parquet").stats().to_dict()
