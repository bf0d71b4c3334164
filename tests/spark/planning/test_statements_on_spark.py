"""The executors of a real session explain whole statements as one process does."""

from __future__ import annotations

import json

import pytest

import whyscan
from spark.planning.plans_in_parts import comparable_statement, stated
from support.commands import whyscan as command
from whyscan.spark.planning import executors
from whyscan.statements.explain import ExplainOptions

pytestmark = pytest.mark.spark

ROWS = """SELECT id, DATE '2024-01-01' + CAST(id % 4 AS INT) AS day, CONCAT('n', id % 10) AS name
  FROM RANGE(0, 80, 1, 2)"""


@pytest.fixture(scope="module")
def tables(spark, tmp_path_factory):
    """The same rows as four kinds of table; rows of d and i are deleted, and marked as such."""
    folder = tmp_path_factory.mktemp("stated")
    spark.sql(
        f"CREATE TABLE delta.`{folder}/d` USING delta PARTITIONED BY (day) "
        f"TBLPROPERTIES ('delta.enableDeletionVectors' = true) AS {ROWS}"
    )
    spark.sql(f"DELETE FROM delta.`{folder}/d` WHERE id = 9")
    spark.sql(
        "CREATE TABLE ice.stated.i USING iceberg PARTITIONED BY (day) "
        f"TBLPROPERTIES ('format-version' = 2, 'write.delete.mode' = 'merge-on-read') AS {ROWS}"
    )
    spark.sql("DELETE FROM ice.stated.i WHERE id = 9")
    spark.sql(ROWS).write.partitionBy("day").parquet(f"{folder}/h")
    spark.sql(ROWS).repartitionByRange(6, "id").write.parquet(f"{folder}/p")
    iceberg = f"{spark.conf.get('spark.sql.catalog.ice.warehouse')}/stated/i"
    return {"d": f"{folder}/d", "i": iceberg, "h": f"{folder}/h", "p": f"{folder}/p"}


STATEMENTS = [
    "SELECT d.id FROM d JOIN i ON d.id = i.id WHERE i.day = '2024-01-02' AND i.id < 20",
    "SELECT * FROM h LEFT JOIN p ON h.id = p.id WHERE p.id < 15 AND h.day > '2024-01-02'",
    "SELECT * FROM h WHERE id > (SELECT max(id) FROM p WHERE name = 'n3') OR day = '2024-01-01'",
    """WITH few AS (SELECT * FROM p WHERE id < 9) SELECT * FROM few a JOIN few b USING (id)
    WHERE EXISTS (SELECT 1 FROM i WHERE i.id = a.id)""",
    "SELECT id FROM d WHERE day = '2024-01-02' UNION ALL SELECT id FROM i WHERE id < 3",
    """MERGE INTO d USING p ON d.id = p.id AND p.id < 12 WHEN MATCHED THEN DELETE
    WHEN NOT MATCHED BY SOURCE AND d.day = '2024-01-03' THEN UPDATE SET name = 'x'""",
    "DELETE FROM i WHERE day = '2024-01-04'",
]


@pytest.mark.parametrize("sql", STATEMENTS)
def test_in_parts_of_few_files(spark, tables, sql):
    opened = {name: whyscan.open(place).snapshot for name, place in tables.items()}
    whole = stated(sql, opened, ExplainOptions(1_000, verbose=True))
    elsewhere = ExplainOptions(1_000, verbose=True, planner=executors(spark, files_each=3))

    assert stated(sql, opened, elsewhere) == whole


CUT_SHORT = [
    "SELECT id FROM d WHERE day = '2024-01-01' LIMIT 3",
    "SELECT id FROM p ORDER BY id DESC LIMIT 2",
    "SELECT count(*), max(id) FROM p WHERE id < 1000",
]


@pytest.mark.parametrize("sql", CUT_SHORT)
def test_what_looks_at_all_files_at_once(spark, tables, sql):
    opened = {name: whyscan.open(place).snapshot for name, place in tables.items()}
    whole = stated(sql, opened, ExplainOptions(verbose=True))
    elsewhere = ExplainOptions(verbose=True, planner=executors(spark, files_each=2))

    assert stated(sql, opened, elsewhere) == whole
    (scan,) = whole["scans"]
    assert scan["levels"][0]["kept"] < scan["levels"][0]["total"]


def test_travel_in_time(spark, tables):
    """The first version has the row that was deleted later, and its file as it was."""
    sql = "SELECT * FROM d VERSION AS OF 0 JOIN i ON d.id = i.id WHERE d.id = 9"

    report = whyscan.explain_sql(sql, tables, spark=spark)

    assert report.scans[0].report.table.version == 0
    whole = whyscan.explain_sql(sql, tables).to_dict()
    assert comparable_statement(report.to_dict()) == comparable_statement(whole)


def test_the_command_line(spark, tables, tmp_path):
    words = ["explain", "--sql", STATEMENTS[0], "--format", "json", "--max-files", "1"]
    words += [word for name in "di" for word in ("--table", f"{name}={tables[name]}")]
    whole = command(*words, cwd=tmp_path)
    run = command(*words, "--spark", cwd=tmp_path)
    assert whole.code == run.code == 1
    assert comparable_statement(json.loads(run.out)) == comparable_statement(json.loads(whole.out))
