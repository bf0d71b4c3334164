"""What is read of a plan: its rows, its files and no others, a few rows at a time."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import DoubleType, LongType

import whyscan
from scan.same_rows import counted, difference
from whyscan.errors import CorruptFile, EvaluationProblem
from whyscan.scan import read
from whyscan.tables import duckdb_engine

GARBAGE = b"these are no rows"


def numbers(start, count):
    values = list(range(start, start + count))
    return pa.table(
        {"id": values, "name": [f"n{v}" for v in values], "half": [v / 2 for v in values]}
    )


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """Four files of 100 rows in two partitions, some of them deleted."""
    folder = str(tmp_path_factory.mktemp("scan") / "delta")
    for start in range(0, 400, 100):
        rows = numbers(start, 100).append_column("part", pa.array([start // 200] * 100, pa.int32()))
        write_deltalake(folder, rows, partition_by=["part"], mode="append")
    DeltaTable(folder).delete("id = 7 OR id = 301")
    return folder


@pytest.fixture
def delta(untouched, tmp_path):
    """A copy that a test may spoil."""
    return shutil.copytree(untouched, str(tmp_path / "delta"))


PREDICATES = [
    "true",
    "id < 150",
    "part = 1 AND half > 170.0",
    "name LIKE 'n1%' OR part = 0 AND id % 2 = 0",
    "_metadata.file_size > 0 AND id = 250",
    "id > 5000",
]


@pytest.mark.parametrize("sql", PREDICATES)
def test_delta_has_the_rows_that_delta_rs_reads(delta, sql):
    whole = DeltaTable(delta).to_pyarrow_table()
    kept = [row for row in whole.to_pylist() if matches(sql, row)]

    rows = whyscan.open(delta).plan(sql).to_arrow()

    assert (
        difference(rows, pa.Table.from_pylist(kept, whole.schema).select(rows.column_names)) == ""
    )


def matches(sql, row):
    checks = {
        "true": True,
        "id < 150": row["id"] < 150,
        "part = 1 AND half > 170.0": row["part"] == 1 and row["half"] > 170,
        PREDICATES[3]: row["name"].startswith("n1") or (row["part"] == 0 and row["id"] % 2 == 0),
        PREDICATES[4]: row["id"] == 250,
        "id > 5000": False,
    }
    return checks[sql]


@pytest.mark.parametrize("sql", PREDICATES)
def test_files_that_the_plan_dropped_may_hold_anything(delta, sql):
    table = whyscan.open(delta)
    plan = table.plan(sql)
    expected, kept = plan.to_arrow(), {scan.path for scan in plan}
    for path in table.snapshot.files([]).paths.to_pylist():
        if path not in kept:
            Path(delta, path).write_bytes(GARBAGE)

    assert counted(whyscan.open(delta).plan(sql).to_arrow()) == counted(expected)


def test_a_file_that_is_read_and_holds_garbage_is_named(delta):
    plan = whyscan.open(delta).plan("true", depth="files")
    path = plan.files[0].path
    Path(delta, path).write_bytes(GARBAGE)

    with pytest.raises(CorruptFile, match=path[-20:]):
        plan.to_arrow()


def test_columns_come_as_asked_and_only_their_chunks_are_read(tmp_path):
    pq.write_table(
        numbers(0, 1000), tmp_path / "a.parquet", compression="none", use_dictionary=False
    )
    table = whyscan.open(str(tmp_path))
    plan = table.plan("id >= 500", select=["name"])
    before = table.snapshot.traffic().bytes

    rows = plan.to_arrow()

    chunks = pq.read_metadata(tmp_path / "a.parquet").row_group(0)
    needed = sum(chunks.column(i).total_compressed_size for i in (0, 1))
    assert (rows.column_names, rows.num_rows) == (["name"], 500)
    assert needed <= table.snapshot.traffic().bytes - before < needed + 30_000 < 2 * needed + 30_000


def test_nothing_more_is_read_once_there_are_enough_rows(delta):
    plan = whyscan.open(delta).plan("true")

    assert sum(batch.num_rows for batch in read(plan, limit_rows=150)) == 150
    assert sum(batch.num_rows for batch in plan.to_batches(limit_rows=3)) == 3


def test_memory_follows_a_batch_and_not_the_table(tmp_path):
    writer = None
    for start in range(40):
        rows = pa.table(
            {"id": list(range(start * 50_000, (start + 1) * 50_000)), "s": ["x" * 100] * 50_000}
        )
        writer = writer or pq.ParquetWriter(tmp_path / "a.parquet", rows.schema)
        writer.write_table(rows)
    writer.close()
    plan = whyscan.open(str(tmp_path)).plan("id >= 0 AND s <> 'y'")
    del rows
    before, most, total = pa.total_allocated_bytes(), 0, 0

    for batch in plan.to_batches():
        total += batch.nbytes
        del batch
        most = max(most, pa.total_allocated_bytes() - before)

    assert total > 200_000_000
    assert most < 60_000_000


def test_parquet_files_unite_by_name_and_folders_are_columns(tmp_path):
    for name, rows in {
        "k=1/a": {"x": pa.array([1], pa.int32()), "old": ["o"]},
        "k=2/b": {"X": pa.array([2], pa.int64()), "l": [[1, 2]]},
    }.items():
        (tmp_path / name).parent.mkdir()
        pq.write_table(pa.table(rows), tmp_path / f"{name}.parquet")

    actual = whyscan.open(str(tmp_path)).plan("k > 0").to_arrow()

    assert sorted(actual.to_pylist(), key=str) == [
        {"x": 1, "old": "o", "l": None, "k": 1},
        {"x": 2, "old": None, "l": [1, 2], "k": 2},
    ]
    assert actual.schema.field("x").type == pa.int64()
    assert actual.schema.field("k").type == pa.int32()


def test_a_member_of_a_struct_is_read_alone(tmp_path):
    rows = pa.table({"s": [{"a": 1, "b": "x"}, None, {"a": None, "b": "z"}], "i": [1, 2, 3]})
    pq.write_table(rows, tmp_path / "a.parquet")
    table = whyscan.open(str(tmp_path))

    assert table.plan("s.a = 1", select=["s.b", "i"]).to_arrow().to_pylist() == [
        {"s.b": "x", "i": 1}
    ]
    assert table.plan("s.a IS NULL", select=["i"]).to_arrow().to_pylist() == [{"i": 2}, {"i": 3}]
    assert table.plan("s.b = 'z'").to_arrow().to_pylist() == [{"s": {"a": None, "b": "z"}, "i": 3}]


def test_iceberg_has_the_rows_that_pyiceberg_reads_after_columns_changed(tmp_path):
    catalog = SqlCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}/lake")
    catalog.create_namespace("n")
    rows = pa.table(
        {"a": pa.array([1, 2, None], pa.int32()), "b": ["x", "y", "z"], "c": [1.5, None, 2.5]}
    )
    table = catalog.create_table("n.t", rows.schema)
    table.append(rows)
    with table.update_schema() as change:
        change.rename_column("b", "text")
        change.update_column("a", field_type=LongType())
        change.delete_column("c")
    with table.update_schema(allow_incompatible_changes=True) as change:
        change.add_column("c", DoubleType())
        change.move_first("text")
    table.append(pa.table({"text": ["w"], "a": pa.array([9], pa.int64()), "c": [7.5]}))
    theirs = table.scan().to_arrow()
    catalog.engine.dispose()

    opened = whyscan.open(f"{tmp_path}/lake/n/t")

    assert difference(opened.plan("true").to_arrow(), theirs) == ""
    assert opened.plan("c IS NULL AND a < 2", select=["text"]).to_arrow().to_pylist() == [
        {"text": "x"}
    ]


def test_a_row_that_raises_is_an_error(delta):
    with pytest.raises(EvaluationProblem, match="cannot evaluate"):
        whyscan.open(delta).plan("100 / (id - 50) > 1").to_arrow()


def test_what_only_duckdb_can_say_is_asked_over_one_connection(tmp_path, monkeypatch):
    rows = pa.table({"id": list(range(5000)), "s": [f"n{v * 7 % 5000}" for v in range(5000)]})
    pq.write_table(rows, tmp_path / "a.parquet", row_group_size=1000)
    plan = whyscan.open(str(tmp_path)).plan("s RLIKE '^n[0-9]7$'", select=["id", "s"])
    made = []
    connect = duckdb_engine._connect
    monkeypatch.setattr(duckdb_engine, "_idle", {})
    monkeypatch.setattr(duckdb_engine, "_connect", lambda why: made.append(why) or connect(why))

    actual = plan.to_arrow()

    expected = [row for row in rows.to_pylist() if len(row["s"]) == 3 and row["s"][2] == "7"]
    assert actual.to_pylist() == expected
    assert len(made) == 1
