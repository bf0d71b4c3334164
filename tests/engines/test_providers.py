"""What a provider says of itself, what it opens, and how it ends."""

from __future__ import annotations

import sys
import threading

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

import whyscan

ID = pc.field("id")


@pytest.fixture
def place(tmp_path):
    """Five files of ten rows, the first with `id` from 0, the second from 10."""
    for start in range(0, 50, 10):
        ids = pa.array(range(start, start + 10), pa.int64())
        write_deltalake(
            tmp_path / "events", pa.table({"id": ids, "s": ids.cast("string")}), mode="append"
        )
    return tmp_path / "events"


def test_each_scan_is_a_line_with_its_files_requests_and_bytes(place):
    connection = duckdb.connect()
    provider = whyscan.open(place).to_duckdb(connection, "events", explain=True)

    assert str(provider).startswith("no engine has scanned")
    connection.sql("SELECT s FROM events WHERE id > 42").fetchall()
    connection.sql("SELECT * FROM events").fetchall()

    lines = str(provider).splitlines()
    assert lines[0].startswith("DuckDB asked for 1 column WHERE id > 42; 1 of 5 files, 1 request, ")
    assert lines[1].startswith("DuckDB asked for all columns; 5 of 5 files, 5 requests, ")
    assert provider.scans[0].report.files_level.kept == 1
    assert provider.last_plan.summary.files_kept == 5


def test_without_explain_only_the_newest_plan_is_kept(place):
    dataset = whyscan.open(place).to_dataset()

    dataset.to_table(filter=ID > 42)
    dataset.to_table(filter=ID > 32)

    assert len(dataset.scans) == 1
    assert dataset.last_plan.summary.files_kept == 2


def test_a_provider_reads_one_snapshot_for_its_life(place):
    dataset = whyscan.open(place).to_dataset()
    frame = whyscan.open(place).to_polars()
    before = dataset.count_rows()

    write_deltalake(place, pa.table({"id": pa.array([99], pa.int64()), "s": ["99"]}), mode="append")

    assert dataset.count_rows() == before == 50
    assert frame.collect().height == 50
    assert whyscan.open(place).to_dataset().count_rows() == 51


def test_dropped_files_may_be_garbage(place):
    kept = {scan.path for scan in whyscan.open(place).plan("id >= 40")}
    for file in place.glob("*.parquet"):
        if file.name not in kept:
            file.write_bytes(b"garbage")
    table = whyscan.open(place)
    connection = duckdb.connect()
    table.to_duckdb(connection, "events")

    assert connection.sql("SELECT count(*) FROM events WHERE id >= 40").fetchall() == [(10,)]
    assert table.to_polars().filter(pl.col("id") >= 40).collect().height == 10
    assert table.to_dataset().to_table(filter=ID >= 40).num_rows == 10
    with pytest.raises(whyscan.WhyscanError):
        table.to_dataset().to_table(filter=ID >= 39)


def test_dropped_row_groups_may_be_garbage(tmp_path):
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": list(range(100))}), file, row_group_size=10, compression="none")
    groups = pq.read_metadata(file)
    content = bytearray(file.read_bytes())
    for number in range(9):
        chunk = groups.row_group(number).column(0)
        start = min(chunk.dictionary_page_offset or chunk.data_page_offset, chunk.data_page_offset)
        content[start : start + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    file.write_bytes(content)
    table = whyscan.open(tmp_path)

    assert table.to_dataset().to_table(filter=ID >= 90).num_rows == 10
    assert table.to_polars().filter(pl.col("id") >= 90).collect().height == 10


def test_the_dataset_has_what_pyarrow_datasets_have(place):
    dataset = whyscan.open(place).to_dataset()

    assert isinstance(dataset, ds.Dataset)
    assert dataset.schema.names == ["id", "s"]
    assert dataset.head(3).num_rows == 3
    assert dataset.last_plan.summary.files_kept == 1
    assert dataset.count_rows(ID < 5) == 5
    assert dataset.take([1, 2], columns=["id"]).num_rows == 2
    assert dataset.to_table({"twice": ID + ID}, ID > 48).to_pydict() == {"twice": [98]}
    assert dataset.filter(ID > 10).filter(ID < 13).to_table()["id"].to_pylist() == [11, 12]
    assert dataset.sort_by([("id", "descending")]).head(1)["id"].to_pylist() == [49]
    assert sum(f.to_table(filter=ID > 42).num_rows for f in dataset.get_fragments(ID > 42)) == 7
    assert max(batch.num_rows for batch in dataset.to_batches(batch_size=3)) == 3
    scanner = dataset.scanner(columns=["s"], filter=ID == 7)
    assert scanner.to_table() == scanner.to_reader().read_all()
    assert scanner.count_rows() == 1
    with pytest.raises(TypeError):
        dataset.__reduce__()


def test_a_plan_is_a_stream_of_arrow(place):
    plan = whyscan.open(place).plan("id >= 45")

    assert pa.table(plan).num_rows == 5
    assert pl.DataFrame(plan).height == 5
    assert duckdb.sql("SELECT max(id) FROM plan").fetchall() == [(49,)]


def test_a_missing_engine_is_one_line_that_names_the_extra(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)

    with pytest.raises(whyscan.WhyscanError) as missing:
        whyscan.open(place).to_polars()

    assert str(missing.value) == "Polars is not installed\nhint: pip install 'whyscan[engines]'"
    with pytest.raises(whyscan.WhyscanError, match="Daft is not installed"):
        whyscan.open(place).to_daft()


def test_memory_follows_the_batch_and_not_the_table(tmp_path):
    files, rows = 200, 25_000
    for number in range(files):
        ids = pa.array(range(number * rows, (number + 1) * rows))
        pq.write_table(pa.table({"id": ids}), tmp_path / f"{number:03}.parquet")
    before, most, total = pa.total_allocated_bytes(), 0, 0

    for batch in whyscan.open(tmp_path).to_dataset().to_batches():
        most = max(most, pa.total_allocated_bytes() - before)
        total += batch.nbytes

    assert total >= files * rows * 8
    assert most < total / 3


def test_a_reader_that_goes_away_leaves_no_thread(place):
    before = threading.active_count()
    batches = whyscan.open(place).to_dataset().to_batches(batch_size=1)

    next(batches)
    batches.close()

    assert threading.active_count() <= before + 1


def test_a_condition_that_datafusion_folds_to_false_has_no_rows(place):
    context = datafusion.SessionContext()
    dataset = whyscan.open(place).to_datafusion(context, "events")

    rows = context.sql("SELECT s FROM events WHERE id = 1 AND id = 2").to_arrow_table()

    assert (rows.num_rows, dataset.last_plan.summary.files_kept) == (0, 0)


@pytest.mark.parametrize(
    "secret", ["https://u:sEcReT@host/t", "az://c/t?sig=sEcReT", "jdbc:x://h;password=sEcReT"]
)
def test_no_text_of_a_scan_has_a_credential(place, secret):
    dataset = whyscan.open(place).to_dataset(explain=True)
    connection = duckdb.connect()
    view = whyscan.open(place).to_duckdb(connection, "events", explain=True)

    dataset.to_table(filter=ds.field("s") == secret)
    connection.execute(f"SELECT * FROM events WHERE s = '{secret}'").fetchall()

    for provider in (dataset, view):
        assert provider.scans
        for shown in (provider, provider.scans, *provider.scans, provider.last_plan):
            assert "sEcReT" not in f"{shown}{shown!r}"
        assert "sEcReT" not in provider.scans[0].report.to_text()
        assert "sEcReT" not in provider.scans[0].report.to_json()
