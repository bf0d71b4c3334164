"""One percent of a clustered table of 10,000,000 rows on Spark, against Spark's own reader."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measure import Ratio, compare
from spark_session import session

from whyscan.spark import read, register

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame

FILES = 100
ROW_GROUPS = 4
ROWS = 25_000
"""Of a row group."""
WANTED = FILES * ROW_GROUPS * ROWS // 100
FIRST = 4_321_000
PREDICATE = f"id >= {FIRST} AND id < {FIRST + WANTED}"


def measurements(folder: Path) -> Iterator[Ratio]:
    """From a path to the result each time; a round before, so that both are warm."""
    lake = folder / "clustered"
    if not lake.exists():
        _write(lake)
    with session() as spark:
        register(spark)

        def whole(columns: list[str]) -> DataFrame:
            return read(spark, str(lake), PREDICATE, columns)

        def source(columns: list[str]) -> DataFrame:
            asked = {"predicate": PREDICATE, "columns": ",".join(columns)}
            return spark.read.format("whyscan").options(**asked).load(str(lake))

        def theirs(columns: list[str]) -> DataFrame:
            return spark.read.parquet(str(lake)).where(PREDICATE).select(columns)

        columns = ["id", "ts", "user_id", "country", "amount", "note"]
        for way, ours in (("read", whole), ("the data source", source)):
            assert _result(ours, columns) == _result(theirs, columns)
            yield compare(
                f"1 % of a clustered table, {way}",
                "Spark's Parquet",
                1.0,
                partial(_result, ours, columns),
                partial(_result, theirs, columns),
            )


def _result(frame: Callable[[list[str]], DataFrame], columns: list[str]) -> tuple[object, ...]:
    """Something that needs every value."""
    sums = [f"sum(hash({name}))" for name in columns]
    (row,) = frame(columns).selectExpr("count(*)", *sums).collect()
    return tuple(row)


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
