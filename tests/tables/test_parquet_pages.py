"""The level `pages`: what indexes of real files prove of the rows, and files without them."""

from __future__ import annotations

import datetime as dt
import itertools
import random
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from hypothesis import given, settings
from hypothesis import strategies as st

import whyscan
from support.value_predicates import complaints
from tables.by_hand import patch
from tables.page_files import opened, rows_that_are_read, values_inside, write
from whyscan.tables.parquet.page_indexes import page_locations, page_statistics
from whyscan.tables.parquet.thrift import MalformedThrift

COUNT = 80
DICE = random.Random(3)  # the same values everywhere
NUMBERS = [DICE.randrange(-50, 50) if at % 7 else None for at in range(COUNT)]
NAN = float("nan")
FLOATS = [None if n is None else [NAN, -0.0, 0.0, n / 4][n % 4] for n in NUMBERS]
MOMENTS = [dt.datetime(2024, 1, 1) + dt.timedelta(hours=n or 0) for n in NUMBERS]  # noqa: DTZ001

TYPES = {
    "int8": pa.array(NUMBERS, pa.int8()),
    "uint32": pa.array([n and abs(n) for n in NUMBERS], pa.uint32()),
    "int64": pa.array(NUMBERS, pa.int64()),
    "float": pa.array(FLOATS, pa.float32()),
    "double": pa.array(FLOATS, pa.float64()),
    "boolean": pa.array([None if n is None else n > 0 for n in NUMBERS]),
    "text": pa.array([None if n is None else f"é{n}" * (abs(n) % 40) for n in NUMBERS]),
    "bytes": pa.array([None if n is None else bytes([255, 255, n % 256]) for n in NUMBERS]),
    "small decimal": pa.array([n and Decimal(n) / 4 for n in NUMBERS], pa.decimal128(7, 2)),
    "large decimal": pa.array([n and Decimal(n) / 4 for n in NUMBERS], pa.decimal128(38, 2)),
    "date": pa.array(MOMENTS).cast(pa.date32()),
    "milliseconds": pa.array(MOMENTS, pa.timestamp("ms")),
    "instants": pa.array(MOMENTS, pa.timestamp("us", "UTC")),
    "only null": pa.array([None] * COUNT, pa.int32()),
    "null pages": pa.array([n if at // 5 % 2 else None for at, n in enumerate(NUMBERS)]),
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("dictionary", [False, True], ids=["plain", "dictionary"])
def test_pages_of_every_type_keep_the_rows_that_match(tmp_path, name, dictionary):
    table = pa.table({"x": TYPES[name]})
    write(tmp_path / "f.parquet", table, use_dictionary=dictionary)

    _, pages, [column] = opened(tmp_path, "x")

    assert pages.count >= COUNT // 5 or name in {"float", "double"}
    assert pages.rows.to_pylist() == [5] * pages.count or pages.unchecked
    assert list(complaints(column, pages.containers, values_inside(table, column, pages))) == []


def test_pages_of_columns_that_do_not_begin_with_the_same_rows(tmp_path):
    long = pa.array([f"{n:04}" * 40 for n in range(400)])
    table = pa.table({"x": pa.array(range(400)), "long": long})
    write(tmp_path / "f.parquet", table, row_group_size=200, max_rows_per_page=30,
          data_page_size=1000)  # fmt: skip

    _, pages, columns = opened(tmp_path)

    assert len(set(pages.rows.to_pylist())) > 2
    assert sum(pages.rows.to_pylist()) == 400
    for column in columns:
        inside = values_inside(table, column, pages)
        assert list(complaints(column, pages.containers, inside)) == []


CONDITIONS = [
    "a < {0}", "a >= {0}", "a = {0}", "a IN ({0}, {1})", "a IS NULL", "b BETWEEN {0} AND {1}",
    "NOT (b > {0})", "b <> {1}", "s = 't{0}'", "s LIKE 't1%'", "a + b > {0}", "c.d < {0}",
    "c.d IS NOT NULL", "a <=> {1}", "a = b", "b % 5 = 2",
]  # fmt: skip


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Columns that are sorted, random and nested, with pages of several sizes."""
    dice = random.Random(11)
    rows = 300
    table = pa.table(
        {
            "a": pa.array([at // 3 if at % 17 else None for at in range(rows)]),
            "b": pa.array([dice.randrange(100) for _ in range(rows)], pa.int32()),
            "s": pa.array([f"t{at // 9}" for at in range(rows)]),
            "c": pa.array([None if at % 23 == 0 else {"d": rows - at} for at in range(rows)]),
            "l": pa.array([[at] * (at % 4) for at in range(rows)]),
        }
    )
    folder = tmp_path_factory.mktemp("mixed")
    write(folder / "f.parquet", table, row_group_size=120, max_rows_per_page=13, data_page_size=90)
    return folder, table


@settings(max_examples=60)
@given(data=st.data())
def test_and_or_and_not_over_several_columns_lose_no_row(mixed, data):
    folder, table = mixed
    part = st.builds(
        str.format, st.sampled_from(CONDITIONS), st.integers(0, 110), st.integers(0, 110)
    )
    joined = st.recursive(
        part,
        lambda inner: st.one_of(
            st.builds("({} AND {})".format, inner, inner),
            st.builds("({} OR {})".format, inner, inner),
            st.builds("NOT ({})".format, inner),
        ),
        max_leaves=4,
    )
    sql = data.draw(joined)
    spoken = sql.replace("<=>", "IS NOT DISTINCT FROM")
    with duckdb.connect() as connection:
        connection.register("t", table)
        matching = connection.sql(f"SELECT coalesce({spoken}, false) AS m FROM t").fetchall()

    read = rows_that_are_read(folder, sql, table.num_rows)

    lost = [at for at, (is_match,) in enumerate(matching) if is_match and not read[at]]
    assert lost == [], sql


def test_the_report_counts_pages_their_rows_and_bytes(tmp_path):
    table = pa.table({"x": range(80), "y": [str(n) * 30 for n in range(80)]})
    write(tmp_path / "f.parquet", table, compression="none")

    report = whyscan.open(tmp_path).explain("x BETWEEN 12 AND 13", depth="pages")

    [*_, groups, pages] = report.to_dict()["levels"]
    assert (groups["level"], groups["total"], groups["kept"]) == ("row_groups", 2, 1)
    assert (pages["level"], pages["total"], pages["kept"]) == ("pages", 8, 1)
    assert (pages["rows_total"], pages["rows_kept"]) == (40, 5)
    assert pages["pruned_by"] == {"partition": 0, "statistics": 7}
    assert (
        pages["bytes_total"]
        == pq.read_metadata(tmp_path / "f.parquet").row_group(0).total_byte_size
    )
    assert pages["bytes_total"] / 9 < pages["bytes_kept"] < pages["bytes_total"] / 5
    assert report.to_dict()["rows_matched"]["at_most"] == 5
    for text in (report.to_text(), report.to_markdown(), report.to_html()):
        assert "pages" in text


def test_byte_ranges_are_those_of_the_pages_that_stay(tmp_path):
    table = pa.table({"x": range(80), "y": [str(n) * 30 for n in range(80)]})
    write(tmp_path / "f.parquet", table, compression="none")
    table = whyscan.open(tmp_path)

    [pages] = table.plan("x BETWEEN 12 AND 13", depth="pages").files
    [groups] = table.plan("x BETWEEN 12 AND 13").files

    sizes = [sum(end - begin for begin, end in f.byte_ranges) for f in (pages, groups)]
    assert 5 * sizes[0] < sizes[1]
    [(first, last)] = groups.byte_ranges
    assert all(first <= begin < end <= last for begin, end in pages.byte_ranges)


def test_byte_ranges_hold_the_dictionary_and_only_the_selected_columns(tmp_path):
    table = pa.table({"x": range(80), "y": [str(n % 3) for n in range(80)], "z": range(80)})
    write(tmp_path / "f.parquet", table, use_dictionary=["y"], row_group_size=80)
    footer = pq.read_metadata(tmp_path / "f.parquet").row_group(0)

    [scan] = whyscan.open(tmp_path).plan("x = 44", select=["y"], depth="pages").files

    begins = [begin for begin, _ in scan.byte_ranges]
    assert footer.column(1).dictionary_page_offset in begins
    assert all(end <= footer.column(2).data_page_offset for _, end in scan.byte_ranges)


def test_files_without_indexes_are_counted_and_read_whole(tmp_path):
    for at, with_index in enumerate([True, False]):
        write(tmp_path / f"f{at}.parquet", pa.table({"x": range(80)}), write_page_index=with_index)

    report = whyscan.open(tmp_path).explain("x = 3", depth="pages")

    assert report.to_dict()["levels"][-1]["total"] == 8
    [unchecked] = report.to_dict()["unchecked"]
    assert unchecked == {"level": "pages", "why": "1 of 2 data files are without a page index"}
    scans = whyscan.open(tmp_path).plan("x = 3", depth="pages").files
    assert [scan.row_groups for scan in scans] == [(0,), (0,)]
    assert scans[1].byte_ranges == whyscan.open(tmp_path).plan("x = 3").files[1].byte_ranges


def test_indexes_are_read_only_when_asked_for(tmp_path):
    write(tmp_path / "f.parquet", pa.table({"x": range(80)}))

    shallow, deep = (
        whyscan.open(tmp_path).explain("x = 3", depth=depth).to_dict()
        for depth in ("row-groups", "pages")
    )

    assert [level["level"] for level in shallow["levels"]] == ["files", "row_groups"]
    assert shallow["metadata"]["bytes"] < deep["metadata"]["bytes"]


def test_delta_tables_have_pages_too(tmp_path):
    write_deltalake(tmp_path, pa.table({"x": range(10)}))
    [path] = tmp_path.glob("*.parquet")
    write(path, pa.table({"x": range(80)}), row_group_size=80)

    report = whyscan.open(tmp_path).explain("x = 3", depth="pages").to_dict()

    assert [lev["level"] for lev in report["levels"]] == ["files", "row_groups", "pages"]
    assert (report["levels"][-1]["total"], report["levels"][-1]["kept"]) == (16, 1)


def indexed(path):
    """The places of a file's indexes, by the names of their fields."""
    places: dict[str, list[tuple[int, int]]] = {"offset": [], "column": []}

    def look(metadata):
        for group in metadata[4][1][1]:
            for chunk in group[1][1][1]:
                places["offset"].append((chunk[4][1], chunk[5][1]))
                places["column"].append((chunk[6][1], chunk[7][1]))

    patch(path, look)
    return places


PLACES = {
    "behind the file": (1 << 40, 50),
    "longer than the file": (4, 1 << 30),
    "negative": (-5, 50),
    "of no length": (400, 0),
    "of a negative length": (400, -1),
    "over the footer": (None, 1 << 20),
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("field", [4, 6], ids=["offset index", "column index"])
def test_an_index_that_cannot_be_where_it_should_be_is_counted(tmp_path, name, field):
    path = tmp_path / "f.parquet"
    write(path, pa.table({"x": range(80)}))
    offset, length = PLACES[name]

    def move(metadata):
        for group in metadata[4][1][1]:
            for chunk in group[1][1][1]:
                if offset is not None:
                    chunk[field] = (chunk[field][0], offset)
                chunk[field + 1] = (chunk[field + 1][0], length)

    patch(path, move)
    report = whyscan.open(tmp_path).explain("x = 3", depth="pages").to_dict()

    assert report["levels"][-1]["total"] == 0
    [unchecked] = report["unchecked"]
    assert unchecked["why"] == "1 of 1 data files are damaged in a page index"
    assert rows_that_are_read(tmp_path, "x = 3", 80)[3]


def test_indexes_that_overlap_are_not_read(tmp_path):
    path = tmp_path / "f.parquet"
    write(path, pa.table({"x": range(80), "y": range(80)}))

    def share(metadata):
        for group in metadata[4][1][1]:
            first = group[1][1][1][0]
            for chunk in group[1][1][1]:
                chunk[4], chunk[5] = first[4], first[5]

    patch(path, share)
    report = whyscan.open(tmp_path).explain("x = 3 AND y = 3", depth="pages").to_dict()

    assert report["levels"][-1]["total"] == 0
    assert report["unchecked"]


def test_damaged_indexes_are_answers_or_typed_errors(tmp_path):
    path = tmp_path / "f.parquet"
    write(path, pa.table({"x": range(80), "s": [str(n) for n in range(80)]}))
    places = indexed(path)
    whole = path.read_bytes()
    dice = random.Random(5)  # the same damage everywhere
    counted = 0
    for begin, length in itertools.chain(*places.values()):
        for _ in range(25):
            damaged = bytearray(whole)
            for _ in range(dice.randint(1, 3)):
                damaged[begin + dice.randrange(length)] = dice.choice(
                    [0, 1, 0x7F, 0x80, 0xFF, 0x2C]
                )
            path.write_bytes(damaged)
            report = whyscan.open(tmp_path).explain("x = 3 AND s < '9'", depth="pages").to_dict()
            [*_, pages] = report["levels"]
            assert 0 <= pages["kept"] <= pages["total"]
            assert pages["bytes_kept"] <= pages["bytes_total"]
            counted += bool(report["unchecked"])
    assert counted > 20


LOCATIONS = {
    "rows out of order": ([(4, 10, 0), (14, 10, 9), (24, 10, 5)], "not in order"),
    "rows that do not begin with the first": ([(4, 10, 1)], "not in order"),
    "more rows than the row group": ([(4, 10, 0), (14, 10, 99)], "not in order"),
    "before the chunk": ([(0, 10, 0)], "not inside"),
    "behind the chunk": ([(95, 10, 0)], "not inside"),
    "of a negative size": ([(4, -1, 0)], "not inside"),
    "over each other": ([(4, 10, 0), (8, 10, 4)], "not inside"),
    "at a huge offset": ([(1 << 60, 1 << 60, 0)], "not inside"),
}


def offset_index(pages):
    from tables.by_hand import I32, I64, LIST, STRUCT, encode_struct

    members = [{1: (I64, a), 2: (I32, b), 3: (I64, c)} for a, b, c in pages]
    return encode_struct({1: (LIST, (STRUCT, members))})


@pytest.mark.parametrize("name", LOCATIONS)
def test_pages_that_cannot_be_where_they_should_be(name):
    pages, why = LOCATIONS[name]

    with pytest.raises(MalformedThrift, match=why):
        page_locations(offset_index(pages), 20, (4, 100))


def test_locations_are_the_same_in_the_short_and_in_the_long_form():
    pages = [(4, 10, 0), (300, 70_000, 9), (100_000, 1, 19)]
    quick = page_locations(offset_index(pages), 20, (4, 200_000))
    # The numbers of the fields in full, as a writer may write them.
    long = b"".join(
        bytes([0x06, 0x02]) + number(a) + bytes([0x05, 0x04]) + number(b)
        + bytes([0x06, 0x06]) + number(c) + b"\0"
        for a, b, c in pages
    )  # fmt: skip
    slow = page_locations(b"\x19\x3c" + long + b"\0", 20, (4, 200_000))

    for locations in (quick, slow):
        arrays = (locations.offsets, locations.sizes, locations.first_rows)
        assert [tuple(map(int, page)) for page in np.transpose(arrays)] == pages


def number(value):
    from tables.by_hand import varint

    return varint(value << 1)


def test_a_list_that_claims_more_pages_than_bytes_is_refused_before_memory_is_taken():
    for data in (b"\x19\xfc\xff\xff\xff\xff\x0f", b"\x19\xfc\xff\xff\xff\xff\xff\xff\xff\xff\x7f"):
        with pytest.raises(MalformedThrift):
            page_locations(data, 10, (4, 100))
        with pytest.raises(MalformedThrift):
            page_statistics(data, 3)


def test_a_null_page_with_values_by_its_count_proves_nothing(tmp_path):
    from tables.by_hand import BINARY, I32, I64, LIST, TRUE, encode_struct

    index = {
        1: (LIST, (TRUE, [True, True])),
        2: (LIST, (BINARY, [b"", b""])),
        3: (LIST, (BINARY, [b"", b""])),
        4: (I32, 0),
        5: (LIST, (I64, [3, 1])),
    }
    encoded = encode_struct(index).replace(b"\x19\x21", b"\x19\x21\x01\x01", 1)
    recorded = page_statistics(encoded, 2)

    assert recorded.only_null.tolist() == [True, True]
    assert recorded.nulls.tolist() == [3, 1]
