"""Advice of executors is the advice of one process."""

from __future__ import annotations

import pytest

import whyscan
import whyscan.spark as whyscan_spark
from spark.stages.audit.lake import write_delta, write_hive
from whyscan.errors import TableError, UsageError
from whyscan.spark.stages.workload.query import Query, Workload

pytestmark = pytest.mark.spark

QUERIES = {
    "SELECT id FROM sales WHERE amount > 90": 30,
    "SELECT * FROM visits WHERE id BETWEEN 40 AND 60": 5,
    "SELECT s.id FROM sales s JOIN visits v ON s.id = v.id WHERE v.amount = 7": 2,
    "SELECT * FROM sales": 1,
    "SELECT nope FROM sales WHERE nope = 1": 1,
    "SELECT * FROM elsewhere WHERE id = 1": 1,
    "SELECT * FORM sales": 1,
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    write_delta(folder / "sales", 4)
    write_hive(folder / "visits", 4)
    return {name: str(folder / name) for name in ("sales", "visits")}


@pytest.fixture
def workload():
    return Workload(tuple(Query(text, "spark", times) for text, times in QUERIES.items()), ())


def test_the_advice_of_executors_is_that_of_one_process(spark, lake, workload):
    advice = whyscan_spark.advise(spark, workload, lake)

    expected = whyscan.advise(workload, lake)
    assert {table.table: table for table in advice.tables} == {
        table.table: table for table in expected.tables
    }
    assert set(advice.unread) == set(expected.unread)
    assert advice.reading_everything == expected.reading_everything
    assert advice.of_other_tables == expected.of_other_tables == 1
    assert advice.failed == ()


def test_a_table_that_cannot_be_read_is_listed_and_the_others_are_advised_on(
    spark, lake, workload, tmp_path
):
    advice = whyscan_spark.advise(spark, workload, {**lake, "gone": str(tmp_path / "gone")})

    assert {table.table for table in advice.tables} == {"sales", "visits"}
    assert [table.table for table in advice.failed] == ["gone"]


def test_without_conditions_there_is_nothing_to_advise_on(spark, lake):
    with pytest.raises(TableError) as caught:
        whyscan_spark.advise(spark, Workload((Query("SELECT * FROM sales", "spark", 12),)), lake)

    assert caught.value.message == "nothing to advise on: 1 query read everything on purpose"


def test_engines_and_bounds_alone_are_as_in_one_process(spark, lake, workload):
    terms = {"sample": 0, "engines": ("spark-delta", "duckdb")}

    advice = whyscan_spark.advise(spark, workload, lake, **terms)

    expected = whyscan.advise(workload, lake, **terms)
    assert {t.table: t for t in advice.tables} == {t.table: t for t in expected.tables}
    assert advice.engines == expected.engines


def test_the_tables_of_an_inventory_have_the_advice_of_the_tables(spark, lake, workload, tmp_path):
    place = str(tmp_path / "inventory")
    whyscan_spark.write_inventory(spark, lake, place, depth="row-groups")

    in_process = whyscan.advise(workload, inventory=place)
    advice = whyscan_spark.advise(spark, workload, {}, inventory=place)

    expected = {table.table: table for table in whyscan.advise(workload, lake).tables}
    for by_inventory in (in_process, advice):
        assert {t.table for t in by_inventory.tables} == set(expected)
        for table in by_inventory.tables:
            assert table.today.bytes == expected[table.table].today.bytes
            assert [a.layout for a in table.advice] == [
                a.layout for a in expected[table.table].advice
            ]


def test_a_sample_of_less_than_nothing_and_no_tables_are_refused(spark, lake, workload):
    with pytest.raises(UsageError):
        whyscan_spark.advise(spark, workload, lake, sample=-1)
    with pytest.raises(UsageError):
        whyscan_spark.advise(spark, workload, {})
