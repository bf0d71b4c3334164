"""Which engines read bloom filters and page indexes: by what they read, against their profiles."""

from __future__ import annotations

import re

import datafusion
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from profiles.matrix import target_of
from whyscan.planning.plan.evidence import PAGES, ROW_GROUPS
from whyscan.profiles.engine_names import ENGINES, default_profile, engine_rules
from whyscan.profiles.prediction import predictions
from whyscan.spark.stages.verify.conditions import translated
from whyscan.spark.stages.verify.engines.matrix import ENGINES as OPENINGS

ROWS, ROWS_A_GROUP, ROWS_A_PAGE = 4_000, 1_000, 100
ABSENT, PRESENT = 1_001, 1_000
IN_PROCESS = ("duckdb", "datafusion", "polars", "pyarrow")
PAGES_KEPT = re.compile(r"page_index_pages_pruned=\d+ total → (\d+) matched")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> whyscan.Table:
    """`k` has even numbers in no order, with bloom filters; `s` is sorted, with a page index."""
    folder = tmp_path_factory.mktemp("filtered")
    columns = {
        "k": pa.array([n * 7_919 % ROWS * 2 for n in range(ROWS)], pa.int64()),
        "s": pa.array(range(ROWS), pa.int64()),
    }
    pq.write_table(
        pa.table(columns),
        folder / "f.parquet",
        row_group_size=ROWS_A_GROUP,
        use_dictionary=False,
        write_page_index=True,
        max_rows_per_page=ROWS_A_PAGE,
        write_batch_size=10,
        bloom_filter_options={"k": {"ndv": ROWS_A_GROUP, "fpp": 0.0001}},
    )
    return whyscan.open(str(folder))


def predicted(table: whyscan.Table, engine: str, sql: str) -> dict[str, int]:
    """The containers that a profile predicts, by level, of a plan down to pages."""
    plan = table.plan(sql, depth="pages")
    (prediction,) = predictions(plan, [default_profile(engine_rules(engine))])
    return {level.level: level.kept for level in prediction.levels}


def row_groups_read(table: whyscan.Table, engine: str, sql: str, spark=None) -> int:
    opened = OPENINGS[engine](target_of(table, spark))
    answer = opened.ask(translated(sql, "spark", opened.dialect))
    return answer.rows_read if answer.row_groups is None else answer.row_groups


@pytest.mark.parametrize("sql", [f"k = {ABSENT}", f"k = {PRESENT}", f"k IN ({ABSENT}, 3003)"])
@pytest.mark.parametrize("engine", IN_PROCESS)
def test_engines_read_the_row_groups_that_their_filters_leave(table, engine, sql):
    assert row_groups_read(table, engine, sql) == predicted(table, engine, sql)[ROW_GROUPS]


def test_bloom_filters_make_a_difference_between_engines(table):
    groups = {name: predicted(table, name, f"k = {ABSENT}")[ROW_GROUPS] for name in IN_PROCESS}

    assert groups == {"duckdb": 0, "datafusion": 0, "polars": 4, "pyarrow": 4}


@pytest.mark.parametrize("sql", ["s = 555", "s BETWEEN 950 AND 1149", "s < 100 OR s > 3899"])
def test_datafusion_reads_the_pages_that_its_profile_predicts(table, sql):
    context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
    context.register_parquet("t", table.uri)
    plan = context.sql(f"EXPLAIN ANALYZE VERBOSE SELECT count(*) FROM t WHERE {sql}").to_pydict()

    read = sum(map(int, PAGES_KEPT.findall("\n".join(plan["plan"]))))

    assert read == predicted(table, "datafusion", sql)[PAGES] > 0


@pytest.mark.parametrize("engine", ["duckdb", "polars", "pyarrow"])
def test_engines_without_page_indexes_are_predicted_to_read_whole_row_groups(table, engine):
    assert predicted(table, engine, "s = 555")[PAGES] == ROWS_A_GROUP // ROWS_A_PAGE


@pytest.mark.spark
def test_spark_reads_the_rows_of_the_pages_and_filters_that_its_profile_predicts(spark, table):
    for sql in (f"k = {ABSENT}", "s = 555", "s BETWEEN 950 AND 1149"):
        pages = predicted(table, "spark-parquet", sql)[PAGES]

        assert row_groups_read(table, "spark-parquet", sql, spark) == pages * ROWS_A_PAGE


def test_no_engine_reads_pages_of_row_groups_that_it_leaves_out(table):
    readers = [engine.name for engine in ENGINES if "parquet" in engine.formats]

    for name in readers:
        levels = predicted(table, name, f"s = 555 AND k <> {PRESENT}")
        assert levels[PAGES] <= levels[ROW_GROUPS] * ROWS_A_GROUP // ROWS_A_PAGE
