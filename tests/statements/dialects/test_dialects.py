"""One statement in six languages has one plan."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb
import pytest
from pyspark.errors import AnalysisException

import whyscan
from statements.dialects import lake
from statements.dialects.cases import DIALECTS, cases

CASES = cases()
IDS = [case.title for case in CASES]
CHANCE = "what is not deterministic"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    lake.make(folder)
    return folder


@pytest.fixture(scope="module")
def tables(folder):
    return {name: whyscan.open(folder / name) for name in lake.NAMES}


@pytest.fixture(scope="module")
def engine(folder):
    """DuckDB with the tables by all the names that the statements have for them."""
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.execute("ATTACH ':memory:' AS lake; CREATE SCHEMA lake.shop; CREATE SCHEMA shop")
    for name in lake.NAMES:
        connection.execute(
            f"CREATE TABLE all_{name} AS SELECT *, parse_filename(filename, true) AS file"
            f" FROM read_parquet('{folder}/{name}/**/*.parquet', filename = true)"
        )
    yield connection
    connection.close()


def scanned(sql, tables, dialect):
    report = whyscan.explain_sql(sql, tables, dialect=dialect)
    return Counter(
        (s.name, s.alias, s.columns, tuple(sorted(Path(f.path).stem for f in s.plan)))
        for s in report.scans
    )


def answer(engine, sql, files):
    """The rows of a query on some files of each table; None is all of them."""
    for name in lake.NAMES:
        chosen = "" if files is None else f" WHERE list_contains({files[name]}::VARCHAR[], file)"
        query = f"SELECT * EXCLUDE (file, filename) FROM memory.all_{name}{chosen}"
        for schema in ("memory.main", "memory.shop", "lake.shop"):
            engine.execute(f"CREATE OR REPLACE VIEW {schema}.{name} AS {query}")
    return Counter(map(repr, engine.execute(sql).fetchall()))


def test_there_are_sixty_statements_each_in_six_dialects():
    assert len(CASES) >= 60
    assert [c.title for c in CASES if set(c.texts) != set(DIALECTS)] == []
    assert len(set(IDS)) == len(CASES)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_statement_has_one_plan_in_all_dialects(case, dialect, tables):
    assert scanned(case.texts[dialect], tables, dialect) == case.scans


@pytest.mark.parametrize("case", [case for case in CASES if case.title != CHANCE], ids=str)
def test_duckdb_reads_the_same_rows_from_the_expected_files_alone(case, engine):
    kept = {name: [] for name in lake.NAMES}
    for name, _, _, files in case.scans:
        kept[name] += files
    # What a statement makes goes with it.
    sql = case.texts["duckdb"].replace("CREATE VIEW", "CREATE OR REPLACE TEMP VIEW")
    everything = answer(engine, sql, None)
    assert everything
    assert answer(engine, sql, kept) == everything


@pytest.mark.spark
def test_spark_takes_its_spelling_of_every_statement(spark, folder):
    """Analysed, not run: that a text is Spark's is what is in doubt."""
    for name in lake.NAMES:
        spark.catalog.dropTempView(name)  # Another test's of the same session would hide it.
        spark.sql(f"CREATE TABLE {name} USING parquet LOCATION '{folder / name}'")
    refused = {}
    try:
        for case in CASES:
            for part in (
                case.texts["spark"].replace("lake.shop.", "").replace("shop.", "").split(";")
            ):
                try:
                    if part.strip():
                        spark.sql(part)
                except AnalysisException as error:
                    refused[case.title] = str(error).splitlines()[0]
    finally:
        for name in lake.NAMES:
            spark.sql(f"DROP TABLE {name}")
    assert refused == {}
