"""A stage's table can be made, added to and queried in each format."""

from __future__ import annotations

import duckdb
import pytest
from deltalake import DeltaTable

from whyscan.errors import UsageError, WhyscanError
from whyscan.spark import stage_output, write_table

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("form", ["parquet", "delta", "iceberg"])
def test_a_table_is_made_and_added_to(spark, tmp_path, form):
    place = "ice.stages.added" if form == "iceberg" else str(tmp_path / "out")
    first = spark.createDataFrame([(1, "a")], "n int, part string")

    stage_output.append(first, place, form, partitioned_by=["part"])
    stage_output.append(first, place, form, partitioned_by=["part"])
    assert [row.asDict() for row in stage_output.read(spark, place, form).collect()] == [
        {"n": 1, "part": "a"},
        {"n": 1, "part": "a"},
    ]


def test_what_cannot_be_written_is_said_in_one_line(spark, tmp_path):
    frame = spark.createDataFrame([(1,)], "n int")

    with pytest.raises(UsageError, match="a stage cannot be written as 'csv'"):
        stage_output.append(frame, str(tmp_path), "csv")
    with pytest.raises(UsageError, match="names no table of a catalog"):
        stage_output.append(frame, str(tmp_path), "iceberg")
    with pytest.raises(WhyscanError, match=r"^Spark failed: .*nowhere"):
        stage_output.read(spark, str(tmp_path / "nowhere"))


def place_of(form, folder, name):
    return f"ice.stages.{name}" if form == "iceberg" else str(folder / name)


def rows(spark, place, form):
    return sorted(row.n for row in stage_output.read(spark, place, form).collect())


@pytest.mark.parametrize("form", ["parquet", "delta", "iceberg"])
def test_a_table_is_appended_to_and_replaced_and_a_write_that_fails_leaves_it(
    spark, tmp_path, form
):
    place = place_of(form, tmp_path, "kept")

    write_table(spark.range(2).toDF("n"), place, form)
    write_table(spark.range(2, 3).toDF("n"), place, form)
    assert rows(spark, place, form) == [0, 1, 2]

    write_table(spark.range(5, 7).toDF("n"), place, form, mode="replace")
    assert rows(spark, place, form) == [5, 6]

    broken = spark.range(4).selectExpr("IF(id = 3, raise_error('broken'), id) AS n")
    for mode in ("append", "replace"):
        with pytest.raises(WhyscanError, match="broken"):
            write_table(broken, place, form, mode=mode)
        assert rows(spark, place, form) == [5, 6]

    write_table(spark.range(0).toDF("n"), place, form, mode="replace")
    assert rows(spark, place, form) == []


def test_the_ui_says_which_table_is_written(spark, tmp_path):
    write_table(spark.range(2).toDF("n"), f"{tmp_path}/out")

    context = spark.sparkContext
    store = context._jsc.sc().statusStore()
    jobs = context.statusTracker().getJobIdsForGroup("whyscan output")
    assert f"append {tmp_path}/out" in {store.job(job).description().get() for job in jobs}


def test_other_tools_read_what_spark_wrote(spark, tmp_path):
    frame = spark.createDataFrame([(1, {"ann": 2}, None)], "n int, users map<string,long>, x long")
    for form in ("parquet", "delta"):
        write_table(frame, str(tmp_path / form), form, mode="replace")

    parquet = duckdb.sql(f"FROM '{tmp_path}/parquet/*/*.parquet'").fetchall()
    delta = DeltaTable(str(tmp_path / "delta")).to_pyarrow_table().to_pylist()
    assert parquet == [(1, {"ann": 2}, None, 1)]
    assert delta == [{"n": 1, "users": [("ann", 2)], "x": None, "format_version": 1}]


@pytest.mark.parametrize("form", ["parquet", "delta", "iceberg"])
def test_a_table_of_another_program_or_of_another_version_is_not_written_to(spark, tmp_path, form):
    other, newer = place_of(form, tmp_path, "other"), place_of(form, tmp_path, "newer")
    frame = spark.range(1).toDF("n")
    later = frame.selectExpr("n", "2 AS format_version")
    for place, written in ((other, frame), (newer, later)):
        if form == "iceberg":
            written.writeTo(place).using("iceberg").create()
        else:
            written.write.format(form).save(place)

    with pytest.raises(UsageError, match="a table that whyscan did not write"):
        write_table(frame, other, form)
    with pytest.raises(UsageError, match="has format version 2; this whyscan writes 1"):
        write_table(frame, newer, form, mode="replace")
    with pytest.raises(UsageError, match="cannot be written by 'merge'"):
        write_table(frame, newer, form, mode="merge")
