"""What engines read for the same predicate: tight, more than the plan, or not checked and why."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from spark.stages.verify.proofs import verified
from whyscan.errors import UsageError
from whyscan.spark.stages.verify.engines import duckdb_engine
from whyscan.spark.stages.verify.engines.matrix import ENGINES, named
from whyscan.spark.stages.verify.result import (
    EngineComparison,
    EngineRead,
    NativeRows,
    PlanCounts,
    PredicateProof,
    PredictedRead,
    TableProof,
)
from whyscan.spark.stages.verify.view import more_than_predicted

pytestmark = pytest.mark.spark

TRINO = "WHYSCAN_TRINO"
PREDICATES = ("x = 30", "x + 1 = 31", "x < 0")


def numbers(start: int) -> pa.Table:
    return pa.table({"x": pa.array(range(start, start + 20), pa.int64())})


def cells(verification, engine):
    return [
        next(one for one in proof.engines if one.engine == engine)
        for proof in verification.tables[0].predicates
    ]


@pytest.fixture(scope="module")
def delta(tmp_path_factory):
    folder = tmp_path_factory.mktemp("engines") / "delta"
    for start in (0, 20, 40):
        write_deltalake(folder, numbers(start), mode="append")
    return folder


def test_delta_on_spark_reads_what_the_plan_reads_where_it_understands_the_predicate(
    spark, delta, monkeypatch
):
    monkeypatch.setattr(duckdb_engine, "BESIDE", delta / "nowhere")
    verification = verified(spark, delta, *PREDICATES, engines=None)
    tight, lost, nothing = cells(verification, "spark-delta")

    assert verification.exit_code == 0
    assert (tight.rows, tight.files, tight.reads, tight.sound) == (
        1,
        1,
        EngineComparison.EQUAL,
        True,
    )
    assert (lost.rows, lost.files, lost.reads, lost.more) == (1, 3, EngineComparison.MORE, 2)
    assert (nothing.rows, nothing.files, nothing.reads) == (0, 0, EngineComparison.EQUAL)
    assert [one.predicted.files for one in (tight, lost, nothing)] == [1, 3, 0]
    assert lost.predicted.rules == ("SPARK_DELTA_COMPUTED", "SPARK_PARQUET_COMPUTED")
    for engine in ("delta-rs", "polars", "pyarrow"):
        assert [one.why for one in cells(verification, engine)] == [None] * 3, engine
    assert {"name a Python that has it" in one.why for one in cells(verification, "duckdb")} == {
        True
    }


def test_iceberg_on_spark_and_pyiceberg(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.verify")
    spark.sql("CREATE TABLE ice.verify.engines USING iceberg AS SELECT id AS x FROM RANGE(0, 20)")
    spark.sql("INSERT INTO ice.verify.engines SELECT id FROM RANGE(20, 40)")
    folder = Path(spark.conf.get("spark.sql.catalog.ice.warehouse"), "verify", "engines")

    verification = verified(spark, folder, *PREDICATES, engines=["spark-iceberg,pyiceberg"])
    own, other = cells(verification, "spark-iceberg"), cells(verification, "pyiceberg")

    assert [one.sound for one in own] == [True, True, True]
    assert own[0].reads is EngineComparison.EQUAL
    assert (other[0].rows, other[0].files, other[0].reads) == (
        1,
        own[0].files,
        EngineComparison.EQUAL,
    )
    assert other[1].why is not None


def test_parquet_on_spark_duckdb_and_datafusion(spark, tmp_path):
    for at, start in enumerate((0, 20)):
        pq.write_table(numbers(start), tmp_path / f"{at}.parquet", row_group_size=10)

    verification = verified(spark, tmp_path, *PREDICATES, engines=None)

    for engine in ("spark-parquet", "duckdb", "datafusion", "polars", "pyarrow"):
        assert [one.sound for one in cells(verification, engine)] == [True] * 3, engine
        assert cells(verification, engine)[0].why is None
    assert [(one.row_groups, one.reads) for one in cells(verification, "duckdb")][:1] == [
        (1, EngineComparison.EQUAL)
    ]
    assert cells(verification, "datafusion")[0].row_groups == 1
    every = [one for proof in verification.tables[0].predicates for one in proof.engines]
    assert {one.predicted.reads for one in every} == {EngineComparison.EQUAL}
    assert cells(verification, "duckdb")[1].predicted.row_groups == 1
    assert cells(verification, "spark-parquet")[1].predicted.rows == 40


def test_engines_that_do_not_fit_are_not_checked_and_say_why(spark, delta):
    verification = verified(spark, delta, "x = 30", engines=["pyiceberg", "trino"])
    iceberg, trino = verification.tables[0].predicates[0].engines

    assert iceberg.why == "pyiceberg does not read delta"
    assert "no server was named" in trino.why
    assert verification.exit_code == 0


def test_a_server_that_does_not_answer_is_not_checked(spark, delta):
    address = "http://127.0.0.1:9/delta/s/t"
    verification = verified(spark, delta, "x = 30", engines=["trino"], trino=address)

    assert "Trino did not answer" in verification.tables[0].predicates[0].engines[0].why


@pytest.mark.skipif(TRINO not in os.environ, reason=f"{TRINO} names no table of a running Trino")
def test_trino(spark):
    """`WHYSCAN_TRINO=http://host:8080/catalog/schema/table,/folder/of/that/table`."""
    address, folder = os.environ[TRINO].split(",")
    verification = verified(spark, folder, "true", engines=["trino"], trino=address)

    assert verification.tables[0].predicates[0].engines[0].sound is True


def read_of(rules, *, files, predicted, at_least=False, reads=EngineComparison.MORE):
    prediction = PredictedRead("1.2.3", predicted, None, None, at_least, rules, reads)
    return EngineRead("duckdb", sql="x", rows=1, files=files, sound=True, predicted=prediction)


def test_an_engine_that_reads_more_than_its_profile_is_named_with_the_rules():
    plan = PlanCounts(20, 5, None, None, None, 1, 1)
    reads = (
        read_of(("A_RULE",), files=9, predicted=7),
        read_of((), files=7, predicted=7, reads=EngineComparison.EQUAL),
    )
    proof = PredicateProof("x + 1 = 2", "spark", None, plan, 1, engines=reads)
    table = TableProof(
        "t", "t", "delta", 1, 20, 20, 20, 20, 20, (), NativeRows("spark-delta"), (proof,)
    )

    assert list(more_than_predicted(table)) == [
        "duckdb 1.2.3 reads 9 files for 7 that its profile predicts by A_RULE: x + 1 = 2"
    ]


def test_names_of_engines():
    assert named([]) is None
    assert named(["none"]) == ()
    assert named(["duckdb,Trino", "duckdb"]) == ("duckdb", "trino")
    assert set(ENGINES) >= {"spark-delta", "spark-iceberg", "pyiceberg", "datafusion"}
    with pytest.raises(UsageError, match="unknown engine 'presto'"):
        named(["presto"])
