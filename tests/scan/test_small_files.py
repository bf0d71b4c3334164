"""Small files that Arrow scans together give the rows that they give one by one."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from scan.same_rows import difference
from whyscan.errors import CorruptFile, TableError
from whyscan.scan import reader
from whyscan.scan.plan_portions import whole_plan
from whyscan.scan.small_files import SmallFile
from whyscan.scan.sources import ROWS_AT_MOST
from whyscan.table import Table
from whyscan.tables.parquet.declared_tables import DeclaredPartition, DeclaredTable, open_declared
from whyscan.tables.storage.store import local_store
from whyscan.tree.types import BIGINT, INT, Field, Schema

FILES = 40


def rows_of(number):
    """Ten rows; the columns have another order, other types, and other members in later files."""
    ids = list(range(number * 10, number * 10 + 10))
    columns = {
        "id": pa.array(ids, pa.int64() if number < 30 else pa.int32()),
        "s": pa.array([None if i % 4 == 0 else f"s{i}" for i in ids]),
        "l": [[i] * (i % 3) for i in ids],
        "st": [{"a": i, "b": {"c": str(i)}} for i in ids],
        "d": pa.array([f"k{i % 3}" for i in ids]).dictionary_encode(),
        "u": pa.array(ids, pa.uint32()),
        "t": pa.array(ids, pa.timestamp("ns" if number % 2 else "ms")),
    }
    if number % 7 == 6:
        del columns["s"]
    return pa.table(dict(reversed(columns.items())) if number > 20 else columns)


@pytest.fixture
def folder(tmp_path):
    for number in range(FILES):
        place = tmp_path / "t" / f"part={number // 10}"
        place.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows_of(number), place / f"{number:03}.parquet", row_group_size=4)
    return tmp_path / "t"


@pytest.mark.parametrize("select", [None, ["part", "id"], ["st.b.c"], ["part"], ["s", "l"], ["t"]])
@pytest.mark.parametrize("where", ["true", "id >= 95 AND id < 303", "s LIKE '%7' AND part <> 1"])
def test_the_rows_are_those_of_files_that_are_read_one_by_one(folder, monkeypatch, where, select):
    together = whyscan.open(folder).plan(where, select=select).to_arrow()
    monkeypatch.setattr(reader, "is_small", lambda *_: False)
    one_by_one = whyscan.open(folder).plan(where, select=select).to_arrow()

    assert together.num_rows
    assert together.schema == one_by_one.schema
    assert not difference(together, one_by_one)


def test_they_are_really_scanned_together(folder, monkeypatch):
    monkeypatch.setattr(reader, "open_file", None)

    assert whyscan.open(folder).plan("id >= 95", select=["id", "part"]).to_arrow().num_rows == 305


def test_the_bytes_are_those_of_the_columns_and_row_groups_that_are_read(folder):
    table = whyscan.open(folder)
    plan = table.plan("id < 100 AND id % 10 < 9", select=["id"])
    before = table.snapshot.traffic().bytes
    plan.to_arrow()

    footers = [pq.read_metadata(file) for file in sorted(folder.rglob("0*.parquet"))[:10]]
    chunks = [f.row_group(g).column(0).total_compressed_size for f in footers for g in range(3)]
    assert table.snapshot.traffic().bytes - before >= sum(chunks)
    assert table.snapshot.traffic().bytes - before < sum(chunks) + 40 * (1 << 14)


def test_a_damaged_file_among_them_is_named(folder):
    portion = whole_plan(whyscan.open(folder).plan("true", select=["id", "s"]))
    damaged = folder / "part=2" / "025.parquet"
    content = damaged.read_bytes()
    footer = content[-8 - int.from_bytes(content[-8:-4], "little") :]
    damaged.write_bytes(content[:4] + bytes(len(content) - 4 - len(footer)) + footer)

    with pytest.raises(CorruptFile, match=r"025\.parquet"):
        list(reader.read_portion(portion))


def test_a_file_that_is_gone_is_named(folder):
    portion = whole_plan(whyscan.open(folder).plan("true", select=["id"]))
    (folder / "part=3" / "033.parquet").unlink()

    with pytest.raises(TableError, match=r"033\.parquet is missing"):
        list(reader.read_portion(portion))


def test_the_first_rows_need_a_few_files_alone(folder):
    portion = whole_plan(whyscan.open(folder).plan("s LIKE '%1%'", select=["id"]))
    for file in sorted(folder.rglob("*.parquet"))[16:]:
        file.write_bytes(b"no Parquet")

    assert next(reader.read_portion(portion)).num_rows


def test_few_bytes_of_many_equal_rows_are_read_in_batches(tmp_path):
    many = ROWS_AT_MOST + 1
    pq.write_table(pa.table({"id": pa.repeat(7, many)}), tmp_path / "a.parquet")
    portion = whole_plan(whyscan.open(tmp_path).plan("id = 7"))

    assert (tmp_path / "a.parquet").stat().st_size < 2_000
    assert SmallFile.open(0, portion.reading.files[0], portion.tasks[0]) is None
    assert [batch.num_rows for batch in reader.read_portion(portion)] == [ROWS_AT_MOST, 1]


def test_a_folder_of_two_partitions_is_read_for_each_with_its_values(tmp_path):
    pq.write_table(pa.table({"id": [1, 2]}), tmp_path / "0.parquet")
    partitions = [DeclaredPartition((day,), str(tmp_path)) for day in ("1", "2")]
    schema = Schema((Field("id", BIGINT),))
    declared = DeclaredTable(str(tmp_path), schema, (Field("day", INT),), partitions)

    rows = Table(open_declared(declared, local_store)).plan("id = 2").to_arrow().to_pylist()

    assert rows == [{"id": 2, "day": 1}, {"id": 2, "day": 2}]


def test_a_column_that_is_called_as_one_of_arrows_is_read(tmp_path):
    row = {"__filename": "x", "a.b": 1, "": 2, "[0]": 3, "a": {"b": 4}}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "0.parquet")

    assert whyscan.open(tmp_path).plan("`a.b` = 1").to_arrow().to_pylist() == [row]
