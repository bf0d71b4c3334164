"""Only the pages that stay are read, and they give the rows that whole column chunks give."""

from __future__ import annotations

import datetime as dt
import pickle
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

import whyscan
from scan.test_deletion_vectors import vector
from whyscan.cli.main import run
from whyscan.errors import WhyscanError
from whyscan.scan.plan_portions import portions, whole_plan
from whyscan.scan.reader import read_portion
from whyscan.tables.file_columns import InlineVector
from whyscan.tables.parquet.footers import LOCAL_TAIL, MAGIC
from whyscan.tables.parquet.page_indexes import page_locations
from whyscan.tables.parquet.paged_files import PagedFile
from whyscan.tables.parquet.thrift import MalformedThrift

COUNT, GROUP = 20_000, 8_000
IDS = range(COUNT)
RANGES = [(100, 200), (GROUP - 10, GROUP + 10), (0, 1), (COUNT - 5, COUNT + 9), (10, COUNT - 10)]
FLAT = ["id", "k", "s", "t", "n", "b", "old"]
ROWS = pa.table(
    {
        "id": pa.array(IDS, pa.int64()),
        "k": pa.array([i * 7919 % 50 for i in IDS], pa.int32()),
        "s": [None if i % 7 == 0 or 3_000 < i < 5_000 else "é" * (i % 90) for i in IDS],
        "t": pa.array(IDS, pa.timestamp("us", "UTC")),
        "n": pa.array([Decimal(i) / 4 for i in IDS], pa.decimal128(20, 2)),
        "b": [i % 2 == 0 for i in IDS],
        "old": pa.array([dt.datetime(2001, 1, 1) + dt.timedelta(hours=i) for i in IDS]),  # noqa: DTZ001
        "st": [None if i % 5 == 0 else {"a": i, "b": str(i) * 3} for i in IDS],
        "l": [[i] * (i % 3) for i in IDS],
    }
)


def written(folder, **options):
    folder.mkdir(exist_ok=True)
    settings = {"write_page_index": True, "data_page_size": 3_000, "max_rows_per_page": 900}
    settings["row_group_size"] = GROUP
    pq.write_table(ROWS, folder / "a.parquet", **{**settings, **options})
    return whyscan.open(folder)


def between(first, end):
    return ROWS.filter((pc.field("id") >= first) & (pc.field("id") < end))


def read(table, first, end, select):
    """The rows of a range, and the bytes and row groups that reading them took."""
    plan = table.plan(f"id >= {first} AND id < {end}", select=select, depth="pages")
    before = table.snapshot.traffic()
    rows = plan.to_arrow()
    after = table.snapshot.traffic()
    whole = sum(dict(after.whole).values()) - sum(dict(before.whole).values())
    return rows, after.bytes - before.bytes, after.paged - before.paged, whole


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False], ids=["dictionary", "plain"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_pages_of_every_encoding_give_the_rows_of_the_range(
    tmp_path, compression, dictionary, version
):
    options = {"compression": compression, "data_page_version": version}
    table = written(
        tmp_path / "t", use_dictionary=dictionary, use_deprecated_int96_timestamps=True, **options
    )

    for first, end in RANGES:
        rows, _, paged, whole = read(table, first, end, FLAT)
        assert rows.cast(ROWS.select(FLAT).schema).equals(between(first, end).select(FLAT))
        assert paged >= (end - first < GROUP)
        assert not whole


def test_a_tenth_of_the_pages_is_a_fraction_of_the_bytes(tmp_path):
    table = written(tmp_path / "t", use_dictionary=False, compression="none")
    plan = table.plan("id >= 100 AND id < 400", select=FLAT, depth="pages")
    promised = sum(end - begin for file in plan for begin, end in file.byte_ranges)

    rows, size, paged, _ = read(table, 100, 400, FLAT)

    assert (rows.num_rows, paged) == (300, 1)
    assert promised < (tmp_path / "t" / "a.parquet").stat().st_size / 10
    assert promised < size < promised + 2 * LOCAL_TAIL


@pytest.mark.parametrize(
    ("select", "options", "why"),
    [
        (["id", "l"], {}, "lists and maps are read whole"),
        (
            ["id", "st"],
            {"use_dictionary": False, "max_rows_per_page": GROUP, "data_page_size": 10_000},
            "the pages of a struct's members",
        ),
    ],
)
def test_what_cannot_be_read_by_pages_is_read_whole_and_counted(tmp_path, select, options, why):
    table = written(tmp_path / "t", **options)

    rows, _, paged, whole = read(table, 100, 200, select)

    assert rows.equals(between(100, 200).select(select))
    assert (paged, whole) == (0, 1)
    assert table.snapshot.traffic().whole[0][0].startswith(why)


def test_members_of_a_struct_with_the_same_pages_are_read_by_pages(tmp_path):
    table = written(tmp_path / "t", use_dictionary=False, max_rows_per_page=500)

    rows, _, paged, _ = read(table, 900, 1_600, ["st", "id", "s"])

    assert rows.equals(between(900, 1_600).select(["st", "id", "s"]))
    assert paged == 1


def test_rows_deleted_by_position_stay_deleted(tmp_path):
    plan = written(tmp_path / "t").plan("id >= 8900 AND id < 9000", select=["id"], depth="pages")
    portion = whole_plan(plan)
    (file,) = portion.reading.files
    gone = (InlineVector(vector([5, 8_950, 8_951, 12_000])),)
    reading = replace(portion.reading, files=(replace(file, deletes=gone),))

    rows = pa.Table.from_batches(read_portion(replace(portion, reading=reading)))

    assert rows["id"].to_pylist() == [i for i in range(8_900, 9_000) if i not in {8_950, 8_951}]


def test_a_portion_has_the_pages_of_its_row_groups(tmp_path):
    plan = written(tmp_path / "t").plan(f"id > {GROUP - 9} AND id < 9000", depth="pages")
    parts = list(portions(whole_plan(plan), plan.evidence, 1, 2))

    rows = pa.concat_tables(
        pa.Table.from_batches(read_portion(pickle.loads(pickle.dumps(part)))) for part in parts
    )

    assert [
        task.rows_in(number) is not None
        for part in parts
        for task in part.tasks
        for number in task.ordinals
    ] == [True, True]
    assert rows["id"].to_pylist() == list(range(GROUP - 8, 9_000))


def test_scan_says_what_was_read_by_pages(tmp_path, capfd):
    written(tmp_path / "t")
    command = ["scan", str(tmp_path / "t"), "-w", "id = 100", "--depth", "pages"]

    assert run([*command, "-s", "id"]) == 0
    assert capfd.readouterr().err == "pages: 1 row group read by the pages that stay\n"
    assert run([*command, "-s", "l"]) == 0
    assert capfd.readouterr().err.endswith("1 read whole: lists and maps are read whole\n")


def test_a_damaged_file_gives_its_rows_or_an_error_of_one_file(tmp_path):
    written(tmp_path / "t", use_dictionary=False, compression="none")
    file = tmp_path / "t" / "a.parquet"
    whole = file.read_bytes()
    first_index = min(place for place, _ in indexes(whole))
    outcomes = set()

    for at in np.random.default_rng(5).integers(first_index, len(whole) - 8, 150).tolist():
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 7
        file.write_bytes(damaged)
        table = whyscan.open(tmp_path / "t")
        try:
            outcomes.add(read(table, 100, 4_000, ["id"])[0].num_rows)
        except WhyscanError:
            outcomes.add("refused")

    assert outcomes == {3_900, "refused"}


def indexes(whole):
    """Where the offset indexes of `id` are in the bytes of a file."""
    length = int.from_bytes(whole[-8:-4], "little")
    file = PagedFile(whole[-8 - length : -8], len(whole), [0], lambda begin, end: whole[begin:end])
    return [place for ordinal in range(3) for place in file.index_ranges(ordinal)]


@pytest.mark.parametrize("change", [-1, 1, 40])
def test_an_index_that_contradicts_its_pages_is_an_error_and_no_lost_row(tmp_path, change):
    written(tmp_path / "t", use_dictionary=False, compression="none")
    whole = (tmp_path / "t" / "a.parquet").read_bytes()
    begin, end = indexes(whole)[0]
    length = int.from_bytes(whole[-8:-4], "little")

    def read_changed(first, stop):
        return b"".join((MAGIC, whole[4:begin], damaged, whole[end:]))[first:stop]

    locations = page_locations(whole[begin:end], GROUP, (0, len(whole)))
    second = int(locations.first_rows[1])
    damaged = whole[begin:end].replace(zigzag(second), zigzag(second + change), 1)
    assert damaged != whole[begin:end]
    file = PagedFile(whole[-8 - length : -8], len(whole), [0], read_changed)
    group = file.row_group(0, file.index_ranges(0))

    with pytest.raises(MalformedThrift, match="other rows than the offset index"):
        list(group.tables(((0, second + 50),)))


def zigzag(value):
    value *= 2
    return bytes([value & 0x7F | 0x80, value >> 7])
