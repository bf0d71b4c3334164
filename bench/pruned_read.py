"""One percent of a clustered table of 10,000,000 rows on Spark, against Spark's own reader."""

from __future__ import annotations

import os
import shutil
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measure import Ratio, compare
from spark_session import session

from whyscan.spark import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

FILES = 100
ROW_GROUPS = 4
ROWS = 25_000
"""Of a row group."""
WANTED = FILES * ROW_GROUPS * ROWS // 100
FIRST = 4_321_000
PREDICATE = f"id >= {FIRST} AND id < {FIRST + WANTED}"


COLUMNS = ["id", "ts", "user_id", "country", "amount", "note"]


def measurements(folder: Path) -> Iterator[Ratio]:
    """From a path to the result each time; a round before, so that both are warm.

    Of plain files Spark's own reader gets the list; where rows were deleted, the data source reads.
    """
    lake, deleted = folder / "clustered", folder / "clustered-deleted"
    if not lake.exists():
        _write(lake)
    with session() as spark:
        if not deleted.exists():
            _delete(spark, lake, deleted)
        tables = (
            ("plain files", lake, "parquet", "Spark's Parquet"),
            ("rows deleted", deleted, "delta", "Delta on Spark"),
        )
        for kind, table, form, peer in tables:
            ours = partial(read, spark, str(table), PREDICATE, select=COLUMNS)
            theirs = partial(_theirs, spark, table, form)
            assert _result(ours) == _result(theirs)
            yield compare(
                f"1 % of a clustered table, {kind}",
                peer,
                1.0,
                partial(_result, ours),
                partial(_result, theirs),
            )


def _theirs(spark: SparkSession, table: Path, form: str) -> DataFrame:
    return spark.read.format(form).load(str(table)).where(PREDICATE).select(COLUMNS)


def _result(frame: Callable[[], DataFrame]) -> tuple[object, ...]:
    """Something that needs every value."""
    (row,) = frame().selectExpr("count(*)", *(f"sum(hash({name}))" for name in COLUMNS)).collect()
    return tuple(row)


def _delete(spark: SparkSession, lake: Path, deleted: Path) -> None:
    """The same files as a Delta table with deletion vectors."""
    shutil.copytree(lake, deleted, copy_function=os.link)
    table = f"delta.`{deleted}`"
    spark.sql(f"CONVERT TO DELTA parquet.`{deleted}`")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    spark.sql(f"DELETE FROM {table} WHERE id % 10000 = 7")


def _write(lake: Path) -> None:
    random = np.random.default_rng(7)
    lake.mkdir()
    count = ROW_GROUPS * ROWS
    for number in range(FILES):
        ids = np.arange(number * count, (number + 1) * count)
        table = pa.table(
            {
                "id": ids,
                "ts": pa.array(ids * 1_000_000).cast(pa.timestamp("us", "UTC")),
                "user_id": random.integers(0, 1_000_000, count),
                "country": pa.array(random.integers(0, 50, count)).cast(pa.string()),
                "amount": random.random(count),
                "note": pa.array(random.integers(0, 10_000, count)).cast(pa.string()),
            }
        )
        pq.write_table(table, lake / f"part-{number:04}.parquet", row_group_size=ROWS)
