"""A stage's table can be written, written again, added to and queried in each format."""

from __future__ import annotations

import pytest

from whyscan.errors import UsageError, WhyscanError
from whyscan.spark import stage_output

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


@pytest.mark.parametrize("form", ["parquet", "delta", "iceberg"])
def test_a_table_is_replaced_and_added_to(spark, tmp_path, form):
    place = "ice.stages.added" if form == "iceberg" else str(tmp_path / "out")
    first = spark.createDataFrame([(1, "a")], "n int, part string")
    second = spark.createDataFrame([(2, "b", 5)], "n int, part string, more int")

    stage_output.append(first, place, form, partitioned_by=["part"])
    stage_output.append(first, place, form, partitioned_by=["part"])
    assert stage_output.read(spark, place, form).count() == 2

    stage_output.write(second, place, form)
    assert [row.asDict() for row in stage_output.read(spark, place, form).collect()] == [
        {"n": 2, "part": "b", "more": 5}
    ]


def test_what_cannot_be_written_is_said_in_one_line(spark, tmp_path):
    frame = spark.createDataFrame([(1,)], "n int")

    with pytest.raises(UsageError, match="a stage cannot be written as 'csv'"):
        stage_output.write(frame, str(tmp_path), "csv")
    with pytest.raises(UsageError, match="names no table of a catalog"):
        stage_output.write(frame, str(tmp_path), "iceberg")
    with pytest.raises(WhyscanError, match=r"^Spark failed: .*nowhere"):
        stage_output.read(spark, str(tmp_path / "nowhere"))
