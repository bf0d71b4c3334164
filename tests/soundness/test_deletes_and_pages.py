"""The cases of soundness-cases.md about deletes where a filter skips row groups, and about pages.

Positions of deletes count from the begin of a file, whatever a filter skips of it. What pages say
is held against the rows: each row that matches is in a page that is read.
"""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from tables.iceberg.by_hand import Lake
from tables.page_files import rows_that_are_read, write

COLUMNS = {"id": "long", "s": "string"}
BY_ID = pa.schema(
    [
        pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"}),
        pa.field("s", pa.string(), metadata={"PARQUET:field_id": "2"}),
    ]
)


def lake_of_groups(folder) -> Lake:
    """A file of three row groups, ids 0 to 8."""
    lake = Lake(folder, COLUMNS, specs=[{"spec-id": 0, "fields": []}])
    (folder / "data").mkdir()
    rows = pa.table({"id": range(9), "s": [f"s{i}" for i in range(9)]}, BY_ID)
    pq.write_table(rows, folder / "data" / "a.parquet", row_group_size=3)
    lake.manifest([lake.file("a.parquet", rows=9)], sequence=1)
    return lake


def positions(lake: Lake, folder, *deleted: int) -> None:
    """A file of position deletes."""
    path = lake.file("a.parquet")["data_file"]["file_path"]
    fields = [
        pa.field("file_path", pa.string(), metadata={"PARQUET:field_id": "2147483546"}),
        pa.field("pos", pa.int64(), metadata={"PARQUET:field_id": "2147483545"}),
    ]
    rows = pa.table({"file_path": [path] * len(deleted), "pos": list(deleted)}, pa.schema(fields))
    pq.write_table(rows, folder / "data" / "d.parquet")
    entry = lake.file("d.parquet", rows=len(deleted), content=1)
    lake.manifest([entry], content=1, sequence=2)


@pytest.mark.parametrize(
    ("predicate", "ids"),
    [
        ("id >= 3", [3, 5, 6, 7, 8]),
        ("id >= 6", [6, 7, 8]),
        ("id BETWEEN 3 AND 5", [3, 5]),
        ("id = 4", []),
        ("id = 1 OR id = 8", [8]),
    ],
)
def test_m2_m4_positions_count_from_the_begin_whatever_is_skipped(tmp_path, predicate, ids):
    lake = lake_of_groups(tmp_path / "t")
    positions(lake, tmp_path / "t", 1, 4)
    lake.commit()

    plan = whyscan.open(str(tmp_path / "t")).plan(predicate, depth="row-groups")

    assert sorted(plan.to_arrow()["id"].to_pylist()) == ids


@pytest.mark.parametrize("select", [["s"], ["id"], ["id", "s"]])
def test_m20_an_equality_delete_by_a_column_that_is_not_selected(tmp_path, select):
    lake = lake_of_groups(tmp_path / "t")
    equal_to(lake, tmp_path / "t", 4)
    lake.commit()

    plan = whyscan.open(str(tmp_path / "t")).plan("id >= 3", select=select)

    kept = [3, 5, 6, 7, 8]
    assert plan.to_arrow()[select[-1]].to_pylist() == (
        kept if select[-1] == "id" else [f"s{i}" for i in kept]
    )


@pytest.mark.parametrize(
    "about",
    [
        {"bounds": {"id": (4, 4)}, "nulls": {"id": 0}},
        {"bounds": {"id": (4, None)}},
        {"bounds": {"id": (None, 4)}, "nulls": {"id": 1}},
        {},
    ],
    ids=["bounds", "no upper bound", "no lower bound", "nothing"],
)
def test_m22_an_equality_delete_applies_whatever_is_known_of_it(tmp_path, about):
    lake = lake_of_groups(tmp_path / "t")
    equal_to(lake, tmp_path / "t", 4, **about)
    lake.commit()

    plan = whyscan.open(str(tmp_path / "t")).plan("id = 4")

    assert plan.to_arrow().num_rows == 0


def equal_to(lake: Lake, folder, *ids: int, **about) -> None:
    """A file of equality deletes by `id`."""
    rows = pa.table({"id": list(ids)}, pa.schema([BY_ID.field("id")]))
    pq.write_table(rows, folder / "data" / "e.parquet")
    entry = lake.file("e.parquet", rows=len(ids), content=2, equality_ids=[1], **about)
    lake.manifest([entry], content=1, sequence=2)


TEXTS = ["", "a", "a", None, None, "b", "zz", None, "z\x7f", "é", "\U0001f33c", "b"]
PAGES = {
    "i2_a_list_beside_null": (
        pa.array(["foo", None, None, "bar", "baz", None]),
        {"x NOT IN ('foo', 'bar')": [4], "x IN ('foo', NULL)": [0], "x IS NULL": [1, 2, 5]},
    ),
    "e8_decimals_of_fixed_length": (
        pa.array(
            [Decimal(v) for v in ("-1.50", "0.01", "-0.01", "99999.99")], pa.decimal128(38, 2)
        ),
        {"x = 0.01": [1], "x = -1.5": [0], "x IN (-0.01, 99999.99)": [2, 3], "x < 0": [0, 2]},
    ),
    "n2_bytes_beyond_ascii": (
        pa.array([b"\xff", b"a", b"\x00", b"\xff\x00"]),
        {"x = X'FF'": [0], "x > X'61'": [0, 3], "x < X'01'": [2]},
    ),
    "n4_integers_of_few_bits": (
        pa.array([70_000, 4464, 4_294_967_295, 0], pa.uint32()),
        {"x = 70000": [0], "x = 4464": [1], "x = 4294967295": [2], "x < 1": [3]},
    ),
    "n6_n8_half_a_dictionary_and_nulls": (
        pa.array(TEXTS),
        {"x = 'b'": [5, 11], "x = 'zz'": [6], "x = '\U0001f33c'": [10], "x = ''": [0]},
    ),
    "n10_pages_that_begin_with_null": (
        pa.array([None, 1, None, None, 2, 3, None, None, None, 4], pa.int32()),
        {"x = 1": [1], "x = 4": [9], "x IS NULL": [0, 2, 3, 6, 7, 8], "x >= 2": [4, 5, 9]},
    ),
    "n14_text_below_the_blank": (
        pa.array(["z", "z\t", "za", "z "]),
        {"x = 'z\t'": [1], "x = 'z'": [0], "x > 'z '": [2]},
    ),
    "l8_pages_of_null": (
        pa.array([None, None, None, None, 5, 6], pa.int64()),
        {"x IS NULL": [0, 1, 2, 3], "x = 5": [4], "NOT (x <=> 5)": [0, 1, 2, 3, 5]},
    ),
}


@pytest.mark.parametrize("depth", ["row-groups", "pages"])
@pytest.mark.parametrize("dictionary", [True, False], ids=["dictionary", "plain"])
@pytest.mark.parametrize("name", PAGES)
def test_n12_every_layer_keeps_the_rows_that_match(tmp_path, name, dictionary, depth):
    values, predicates = PAGES[name]
    # A dictionary of one byte is full after the first value: the other pages are plain.
    limit = {"use_dictionary": dictionary, "dictionary_pagesize_limit": 1}
    write(tmp_path / "a.parquet", pa.table({"x": values}), max_rows_per_page=2, **limit)

    for sql, rows in predicates.items():
        read = rows_that_are_read(tmp_path, sql, len(values), depth)
        assert [row for row in rows if not read[row]] == [], sql
