"""What joins give to scans at run time: what engines read against the rules that they have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark.stages.verify.test_engines import numbers
from whyscan.profiles.dynamic_filters import DYNAMIC_FILTERS, DynamicReach
from whyscan.spark.stages.verify.engines.polars_engine import polars_lines
from whyscan.spark.stages.verify.engines.spark_reader import scan_metrics

if TYPE_CHECKING:
    from pathlib import Path

ROWS, ROWS_A_GROUP, STEP = 8_000, 200, 50_000
GROUPS = ROWS // ROWS_A_GROUP
SCANNED = re.compile(r'"row_groups_scanned": *(\d+)')
READ = re.compile(r"row_groups_pruned_statistics=\d+ total → (\d+) matched")
POLARS_GROUPS = re.compile(r"reading (\d+) / \d+ row groups")


@pytest.fixture(scope="module")
def facts(tmp_path_factory) -> Path:
    """Keys in order, in forty row groups."""
    path = tmp_path_factory.mktemp("facts") / "f.parquet"
    keys = pa.array([n * STEP for n in range(ROWS)], pa.int64())
    pq.write_table(pa.table({"k": keys, "v": keys}), path, row_group_size=ROWS_A_GROUP)
    return path


def keys_in_first_and_last(folder: Path, count: int) -> Path:
    """So many keys: the last is in the last row group, the others are in the first."""
    keys = [n * STEP for n in range(count - 1)] + [(ROWS - 1) * STEP]
    path = folder / "keys.parquet"
    pq.write_table(pa.table({"k": pa.array(keys, pa.int64()), "g": ["a"] * count}), path)
    return path


def read_by_duckdb(facts: Path, keys: Path) -> int:
    query = f"SELECT sum(v) FROM '{facts}' f JOIN '{keys}' d USING (k) WHERE g = 'a'"
    with duckdb.connect() as connection:
        plan = connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}").fetchall()[0][1]
    return max(map(int, SCANNED.findall(plan)))


def read_by_datafusion(facts: Path, keys: Path) -> int:
    context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
    context.register_parquet("f", str(facts))
    context.register_parquet("d", str(keys))
    query = "SELECT sum(v) FROM f JOIN d ON f.k = d.k WHERE g = 'a'"
    lines = "\n".join(context.sql(f"EXPLAIN ANALYZE VERBOSE {query}").to_pydict()["plan"])
    (scan,) = [
        line for line in lines.splitlines() if facts.name in line and "DynamicFilter [" in line
    ][:1]
    return int(READ.findall(scan)[0])


def read_by_polars(facts: Path, keys: Path) -> int:
    joined = pl.scan_parquet(facts).join(pl.scan_parquet(keys), on="k")
    _, lines = polars_lines(joined.filter(pl.col("g") == "a").select(pl.col("v").sum()))
    read = [int(count) for count in POLARS_GROUPS.findall(lines)]
    return max(read) if read and max(read) > 1 else GROUPS


READERS = {"duckdb": read_by_duckdb, "datafusion": read_by_datafusion, "polars": read_by_polars}


@pytest.mark.parametrize("count", [2, 20, 21, 50, 51])
@pytest.mark.parametrize("engine", list(READERS))
def test_a_join_reaches_as_far_as_the_rule_says(facts, tmp_path, engine, count):
    keys = keys_in_first_and_last(tmp_path, count)
    rule = next(
        rule
        for rule in DYNAMIC_FILTERS[engine]
        if rule.holds(partition_column=False, filtered_source=True, values=count)
    )

    read = READERS[engine](facts, keys)

    assert read == (2 if rule.reach is DynamicReach.ACTUAL else GROUPS)


def test_keys_close_together_are_reached_by_their_bounds(facts, tmp_path):
    keys = tmp_path / "keys.parquet"
    close = pa.array([(300 + n) * STEP for n in range(60)], pa.int64())
    pq.write_table(pa.table({"k": close, "g": ["a"] * 60}), keys)

    assert {name: READERS[name](facts, keys) for name in ("duckdb", "datafusion")} == {
        "duckdb": 1,
        "datafusion": 1,
    }


def test_values_that_were_not_read_reach_no_further_than_bounds():
    for engine in ("duckdb", "datafusion"):
        rule = next(
            rule
            for rule in DYNAMIC_FILTERS[engine]
            if rule.holds(partition_column=True, filtered_source=True)
        )
        assert rule.reach is DynamicReach.BOUNDED


@pytest.mark.spark
@pytest.mark.parametrize(
    ("join", "where", "rows"),
    [("p", "g = 'a'", 20), ("p", "true", 100), ("x", "g = 'a'", 100)],
    ids=["partition column, filtered", "partition column, not filtered", "another column"],
)
def test_spark_prunes_partitions_by_a_filtered_side_alone(spark, tmp_path, join, where, rows):
    for partition in range(5):
        (folder := tmp_path / "facts" / f"p={partition}").mkdir(parents=True)
        pq.write_table(numbers(partition * 20), folder / "f.parquet")
    keys = pa.table({"p": pa.array([1, 2], pa.int32()), "x": [25, 45], "g": ["a", "b"]})
    pq.write_table(keys, tmp_path / "keys.parquet")
    spark.read.parquet(str(tmp_path / "facts")).createOrReplaceTempView("facts")
    spark.read.parquet(str(tmp_path / "keys.parquet")).createOrReplaceTempView("wanted")

    frame = spark.sql(f"SELECT f.x FROM facts f JOIN wanted d ON f.{join} = d.{join} WHERE {where}")
    frame.collect()

    read = scan_metrics(frame)["numOutputRows"]
    assert read == rows + keys.num_rows
