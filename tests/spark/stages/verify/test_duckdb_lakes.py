"""DuckDB's own readers for Delta and Iceberg, run on tables of real writers, beside the plan."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

from spark.stages.verify.proofs import verified
from support.environments import NotInstalled, python_of
from support.formats import text
from whyscan.spark.stages.verify.engines import duckdb_engine
from whyscan.spark.stages.verify.result import EngineComparison

pytestmark = pytest.mark.spark

ROWS = """SELECT id, CONCAT('n', LPAD(id, 3, '0')) AS name, NAMED_STRUCT('x', id) AS nested,
  DATE '2024-01-01' + CAST(id DIV 20 AS INT) AS day FROM RANGE({}, {})"""
PREDICATES = ("id = 30", "id < 0", "day = DATE '2024-01-02' AND id > 30", "name LIKE 'n05%'")
# Functions and disjunctions that the plan reads and DuckDB does not.
LOOSER = {
    "delta": ("upper(name) = 'N041'", "id IN (3, 75)", "id = 3 OR id = 75"),
    "iceberg": ("nested.x = 7", "id = 3 OR id = 75"),
}
NAN = float("nan")


@pytest.fixture(scope="module")
def python():
    try:
        return str(python_of("duckdb"))
    except NotInstalled as reason:
        pytest.skip(f"DuckDB's extensions cannot be installed: {reason}")


@pytest.fixture
def ask(spark, python):
    """Verifies a table, and gives what DuckDB did with each predicate."""

    def verified_with(folder, *predicates, **options):
        verification = verified(
            spark, folder, *predicates, engines=["duckdb"], duckdb_python=python, **options
        )
        reads = [proof.engines[0] for proof in verification.tables[0].predicates]
        assert [read.why for read in reads] == [None] * len(predicates)
        return verification, reads

    return verified_with


def in_spark(spark, name: str, properties: str, partitioned: str) -> None:
    """A table of 80 rows, three of them deleted without writing their files again."""
    spark.sql(
        f"CREATE TABLE {name} {properties} PARTITIONED BY ({partitioned}) AS {ROWS.format(0, 60)}"
    )
    spark.sql(f"DELETE FROM {name} WHERE id IN (3, 17, 18)")
    spark.sql(f"INSERT INTO {name} {ROWS.format(60, 80)}")


def delta_of(properties: str) -> str:
    whole = f"'delta.enableDeletionVectors' = 'true'{properties}"
    return f"USING delta TBLPROPERTIES ({whole})"


def test_delta_of_spark_with_deletion_vectors(spark, tmp_path, ask):
    in_spark(spark, f"delta.`{tmp_path}/t`", delta_of(""), "day")

    verification, reads = ask(tmp_path / "t", *PREDICATES, *LOOSER["delta"])

    assert verification.exit_code == 0, text(verification)
    assert [read.rows for read in reads] == [1, 0, 9, 10, 1, 1, 1]
    assert [read.reads for read in reads] == [EngineComparison.EQUAL] * 4 + [
        EngineComparison.MORE
    ] * 3


@pytest.mark.parametrize(("version", "partitioned"), [(2, "bucket(4, id)"), (3, "day")])
def test_iceberg_of_spark_with_deletes(spark, ask, version, partitioned):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.duckdb")
    properties = f"('format-version' = '{version}', 'write.delete.mode' = 'merge-on-read')"
    name = f"v{version}"
    in_spark(spark, f"ice.duckdb.{name}", f"USING iceberg TBLPROPERTIES {properties}", partitioned)
    folder = Path(spark.conf.get("spark.sql.catalog.ice.warehouse"), "duckdb", name)

    verification, reads = ask(folder, *PREDICATES, "NOT (id <> 5)", "true", *LOOSER["iceberg"])

    assert verification.exit_code == 0, text(verification)
    assert [read.rows for read in reads] == [1, 0, 9, 10, 1, 77, 1, 1]
    assert [read.reads for read in reads] == [EngineComparison.EQUAL] * 6 + [
        EngineComparison.MORE
    ] * 2
    assert reads[5].files == verification.tables[0].files_total


def in_files(folder: Path, writer: str, tables: list[pa.Table]) -> str:
    """The address of a table with a file for each part."""
    if writer == "delta-rs":
        for table in tables:
            write_deltalake(folder / "t", table, mode="append")
        return str(folder / "t")
    uri, warehouse = f"sqlite:///{folder}/catalog.db", f"file://{folder}/lake"
    catalog = SqlCatalog("c", uri=uri, warehouse=warehouse)
    catalog.create_namespace("n")
    made = catalog.create_table("n.t", schema=tables[0].schema)
    for table in tables:
        made.append(table)
    return made.metadata_location


@pytest.mark.parametrize("writer", ["delta-rs", "pyiceberg"])
def test_tables_of_other_writers(tmp_path, ask, writer):
    parts = [pa.table({"x": pa.array(range(s, s + 20), pa.int64())}) for s in (0, 20, 40)]

    verification, reads = ask(
        in_files(tmp_path, writer, parts), "x = 30", "x + 1 = 31", "x < 0", "x > 39"
    )

    assert verification.exit_code == 0, text(verification)
    assert [(read.rows, read.files) for read in reads] == [(1, 1), (1, 1), (0, 0), (20, 1)]
    assert {read.reads for read in reads} == {EngineComparison.EQUAL}


@pytest.mark.parametrize("writer", ["delta-rs", "pyiceberg"])
def test_nan_that_no_bound_tells_of_is_lost_by_duckdb_and_kept_by_the_plan(tmp_path, ask, writer):
    """These writers leave NaN out of the bounds; to DuckDB it is the greatest value too."""
    parts = [pa.table({"x": pa.array([x, x + 0.5, NAN])}) for x in (0.0, 1.0, 2.0)]

    verification, (read,) = ask(in_files(tmp_path, writer, parts), "x >= 100")
    (proof,) = verification.tables[0].predicates

    assert (proof.rows_true, proof.lost, proof.planned.files_kept) == (3, (), 3)
    assert (read.rows, read.files, read.sound) == (0, 0, False)
    assert "duckdb returns 0 rows instead of 3: x >= 100" in text(verification)
    assert verification.exit_code == 1


def test_a_partition_column_under_another_name_is_lost_by_duckdb(spark, tmp_path, ask):
    mapped = delta_of(", 'delta.columnMapping.mode' = 'name'")
    in_spark(spark, f"delta.`{tmp_path}/t`", mapped, "day")

    verification, (by_day, by_id) = ask(tmp_path / "t", "day = DATE '2024-01-02'", "id = 30")

    assert (by_day.rows, by_day.sound, by_id.rows, by_id.sound) == (0, False, 1, True)
    assert verification.tables[0].predicates[0].rows_true == 20
    assert verification.exit_code == 1


def test_an_older_version_is_what_duckdb_is_asked_for(spark, tmp_path, python):
    import whyscan
    from whyscan.spark import verify

    parts = [pa.table({"x": pa.array([n], pa.int64())}) for n in range(3)]
    table = whyscan.open(in_files(tmp_path, "delta-rs", parts), version=1)

    verification = verify(spark, table, "x >= 0", engines=["duckdb"], duckdb_python=python)

    assert (verification.tables[0].predicates[0].engines[0].rows, verification.exit_code) == (2, 0)


def test_the_environment_beside_this_python_is_found(spark, tmp_path, python, monkeypatch):
    folder = in_files(tmp_path, "delta-rs", [pa.table({"x": pa.array([1, 2], pa.int64())})])
    monkeypatch.setattr(duckdb_engine, "BESIDE", Path(python))

    verification = verified(spark, folder, "x = 2", engines=None)
    duckdb = next(e for e in verification.tables[0].predicates[0].engines if e.engine == "duckdb")

    assert (duckdb.rows, duckdb.why, duckdb.reads) == (1, None, EngineComparison.EQUAL)
