"""Runs are kept, and a query that keeps more of a table than it did is found, with the cause."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

import whyscan.spark
from spark.stages.audit.lake import rows, write_hive
from tables.iceberg.pyiceberg_lakes import Memory
from whyscan.errors import UsageError
from whyscan.spark import stage_output
from whyscan.spark.stages.workload.query import Query, Workload

pytestmark = pytest.mark.spark

SQL = "SELECT id FROM t WHERE id = 7"


def run(spark, folder, *texts, form="parquet", history=None):
    queries = Workload(tuple(Query(text, "spark") for text in texts or (SQL,)))
    place = history or str(folder / "history")
    tables = {"t": str(folder / "t")}
    return whyscan.spark.audit(spark, queries, tables, history=place, history_format=form)


def shuffled(months: int) -> pa.Table:
    """Ids from everywhere, so that every file of it reaches across all of them."""
    return pa.concat_tables([rows(month) for month in range(months)])


def worsened(folder):
    write_deltalake(folder, rows(4), mode="append")
    write_deltalake(folder, shuffled(4), mode="append")
    write_deltalake(folder, shuffled(4), mode="append")


@pytest.fixture(scope="module")
def fallen(tmp_path_factory, spark):
    """A Delta table before and after files without order came, at version 5 of 0 to 6."""
    folder = tmp_path_factory.mktemp("fallen")
    for month in range(4):
        write_deltalake(folder / "t", rows(month), mode="append")
    before = run(spark, folder)
    worsened(folder / "t")
    return folder, before, run(spark, folder)


def test_the_snapshot_at_which_a_shape_fell_is_named(fallen):
    _, before, after = fallen

    (drift,) = after.drift
    assert (drift.table, drift.before_run, drift.before_snapshot) == ("t", before.run.id, 3)
    assert (drift.fell_at, drift.last_good, drift.after_snapshot, drift.unknown) == (5, 4, 6, None)
    assert drift.after - drift.before > 0.1
    assert before.drift == ()


def test_the_trend_is_the_sums_of_earlier_runs(fallen):
    _, before, after = fallen

    assert before.trend == ()
    [query] = before.queries
    [earlier] = after.trend
    assert (earlier.run, earlier.at) == (before.run.id, before.run.at)
    assert (earlier.bytes_read, earlier.wasted) == (query.bytes_read, query.wasted)
    assert f"{before.run.at:%Y-%m-%d %H:%M} UTC: " in " ".join(str(after).split())


def test_the_text_tells_of_it(fallen):
    _, _, after = fallen

    assert "it fell at snapshot 5; 4 was still as good" in " ".join(str(after).split())


def test_the_rows_of_a_history_hold_no_values(fallen, spark):
    folder, before, after = fallen

    kept = stage_output.read(spark, str(folder / "history")).orderBy("at").collect()
    assert [row["run"] for row in kept] == [before.run.id, after.run.id]
    assert {row["shape"] for row in kept} == {"SELECT id FROM t WHERE id = ?"}
    assert [row["files_kept"] for row in kept] == [1, 3]


def test_other_values_are_no_drift(spark, tmp_path):
    """Of the two new texts of a known shape one keeps everything, then as now."""
    for month in range(4):
        write_deltalake(tmp_path / "t", rows(month), mode="append")
    run(spark, tmp_path, "SELECT id FROM t WHERE id <= 9")
    worsened(tmp_path / "t")
    everything, fallen = "SELECT id FROM t WHERE id <= 999", "SELECT id FROM t WHERE id <= 5"

    again = run(spark, tmp_path, everything, fallen)

    assert [(drift.sql, drift.fell_at) for drift in again.drift] == [(fallen, 5)]


def test_a_table_that_is_named_by_its_path_is_planned_as_it_was_too(spark, tmp_path):
    for month in range(4):
        write_deltalake(tmp_path / "t", rows(month), mode="append")
    sql = f"SELECT id FROM delta.`file:{tmp_path}/t` WHERE id = 7"
    run(spark, tmp_path, sql)
    worsened(tmp_path / "t")

    (drift,) = run(spark, tmp_path, sql).drift

    assert (drift.table, drift.fell_at, drift.last_good) == ("t", 5, 4)


def test_versions_that_are_gone_are_said_to_be(spark, tmp_path):
    for month in range(4):
        write_deltalake(tmp_path / "t", rows(month), mode="append")
    run(spark, tmp_path)
    worsened(tmp_path / "t")
    DeltaTable(tmp_path / "t").create_checkpoint()
    for version in range(5):
        (tmp_path / "t" / "_delta_log" / f"{version:020}.json").unlink()

    (drift,) = run(spark, tmp_path).drift

    assert drift.fell_at is None
    assert "version 3" in drift.unknown


def test_an_iceberg_table_by_the_parents_of_its_snapshots(spark, tmp_path):
    from pyiceberg.io.pyarrow import _pyarrow_to_schema_without_ids
    from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
    from pyiceberg.schema import assign_fresh_schema_ids

    schema = assign_fresh_schema_ids(_pyarrow_to_schema_without_ids(rows(0).schema))
    folder = tmp_path / "t"
    table = Memory(folder).create(schema, UNPARTITIONED_PARTITION_SPEC, str(folder), 2)
    for month in range(4):
        table.append(rows(month))
    run(spark, tmp_path)
    table.append(rows(4))
    good = table.current_snapshot().snapshot_id
    table.append(shuffled(4))
    bad = table.current_snapshot().snapshot_id
    table.append(shuffled(4))

    (drift,) = run(spark, tmp_path).drift

    assert (drift.last_good, drift.fell_at) == (good, bad)


def test_files_without_versions_have_drift_without_a_snapshot(spark, tmp_path):
    write_hive(tmp_path / "t", 4)
    run(spark, tmp_path)
    for at in range(3):
        for country in ("DE", "FR", "IT"):
            place = tmp_path / "t" / f"country={country}" / f"all-{at}.parquet"
            pq.write_table(shuffled(4).drop_columns(["country"]), place)

    drifts = run(spark, tmp_path, SQL, "SELECT id FROM t WHERE id = 8").drift

    summaries = [(drift.sql, drift.fell_at, drift.unknown) for drift in drifts]
    assert summaries == [(SQL, None, "the format keeps no versions")]


@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_a_history_is_kept_in_each_format(spark, tmp_path, form):
    write_hive(tmp_path / "t", 1)
    place = "ice.audits.history" if form == "iceberg" else str(tmp_path / "history")

    for _ in range(2):
        run(spark, tmp_path, form=form, history=place)

    assert stage_output.read(spark, place, form).count() == 2


@pytest.mark.parametrize(("first", "then"), [("parquet", "delta"), ("delta", "parquet")])
def test_a_history_of_another_format_is_refused_and_stays_as_it_is(spark, tmp_path, first, then):
    write_hive(tmp_path / "t", 1)
    run(spark, tmp_path, form=first)
    before = sorted(tmp_path.glob("history/**/*"))

    with pytest.raises(UsageError, match=r"is (a|no) Delta table"):
        run(spark, tmp_path, form=then)

    assert sorted(tmp_path.glob("history/**/*")) == before


def test_a_place_that_holds_something_else_is_refused_before_anything_is_added(spark, tmp_path):
    write_hive(tmp_path / "t", 1)

    with pytest.raises(UsageError, match="something else than a history"):
        run(spark, tmp_path, history=str(tmp_path / "t"))
