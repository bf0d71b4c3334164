"""A stage's table can be made, added to and queried in each format."""

from __future__ import annotations

import pytest

from whyscan.errors import UsageError, WhyscanError
from whyscan.spark import stage_output

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
