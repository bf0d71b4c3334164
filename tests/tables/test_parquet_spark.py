"""Files that Spark wrote: bounds hold, and NaN would have been the greatest."""

from __future__ import annotations

import pyarrow as pa
import pytest

from whyscan.tables import open_snapshot
from whyscan.tree.nodes import Column

pytestmark = pytest.mark.spark

ROWS = """
SELECT * FROM VALUES
  (1, 1.5D, 'z', DATE '1500-01-01', TIMESTAMP '1000-06-14', CAST(-0.8 AS DECIMAL(38,38)), NULL),
  (2, 2.5D, 'é', DATE '2020-01-01', TIMESTAMP '2020-01-01', CAST(0.1 AS DECIMAL(38,38)), 1)
AS t(i, d, s, day, ts, m, n)
"""


def intervals(folder):
    snapshot = open_snapshot([str(folder)], {}, {})
    columns = [Column((f.name,), f.type) for f in snapshot.schema().fields]
    files = snapshot.files(columns)
    return snapshot.row_groups(files, pa.array([0]), columns, None).containers.statistics


def text(bound):
    return None if bound is None else bound.cast(pa.string())[0].as_py()


def test_bounds_of_a_file_that_spark_wrote(spark, tmp_path):
    spark.sql(ROWS).coalesce(1).write.parquet(str(tmp_path / "t"))

    by_column = intervals(tmp_path / "t")

    shown = {path[0]: (str(i.type), text(i.lower), text(i.upper)) for path, i in by_column.items()}
    assert shown == {
        "i": ("int", "1", "2"),
        "d": ("double", "1.5", "2.5"),
        "s": ("string", "z", "é"),
        "day": ("date", "1500-01-01", "2020-01-01"),
        # INT96, which Spark writes unless told otherwise, has no bounds.
        "ts": ("timestamp", None, None),
        "m": ("decimal(38,38)", "-0.8" + "0" * 37, "0.1" + "0" * 37),
        "n": ("int", "1", "1"),
    }


@pytest.mark.parametrize(
    ("values", "nan"), [("(1D), (2D)", False), ("(1D), (DOUBLE('NaN'))", True)]
)
def test_spark_makes_nan_the_maximum(spark, tmp_path, values, nan):
    spark.sql(f"SELECT * FROM VALUES {values} AS t(x)").coalesce(1).write.parquet(
        str(tmp_path / "t")
    )

    interval = intervals(tmp_path / "t")[("x",)]

    assert (interval.nan if isinstance(interval.nan, bool) else interval.nan[0].as_py()) is nan
