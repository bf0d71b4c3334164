"""DataFrames explained: the conditions that Spark gives its scans, and what we read for them."""

from __future__ import annotations

from pathlib import Path

import pytest

import whyscan
from whyscan.plans import Plan
from whyscan.spark import explain

pytestmark = pytest.mark.spark

ROWS = """SELECT id, CONCAT('n', id) AS name, DATE '2024-01-01' + CAST(id % 5 AS INT) AS day,
  TIMESTAMP '2024-01-01 00:00:00' + MAKE_DT_INTERVAL(0, CAST(id AS INT)) AS at,
  CAST(id AS DECIMAL(12, 2)) AS price, NAMED_STRUCT('x', id) AS nested FROM RANGE(0, 60, 1, 2)"""
WRITTEN = """{table}.day = '2024-01-03' AND ({table}.id > 9 OR {table}.name LIKE 'a%')
  AND {table}.nested.x < 50 AND price IN (7, 12.00) AND at >= '2024-01-01 00:00:03'"""


@pytest.fixture(scope="module")
def tables(spark, tmp_path_factory):
    """The same rows as a Delta, an Iceberg and a Hive table: where each is, and its name."""
    folder = tmp_path_factory.mktemp("frames")
    delta, hive = folder / "delta's", folder / "hive"
    spark.sql(f"CREATE TABLE delta.`{delta}` USING delta PARTITIONED BY (day) AS {ROWS}")
    spark.sql(f"CREATE TABLE ice.frames.t USING iceberg PARTITIONED BY (day) AS {ROWS}")
    spark.sql(ROWS).write.partitionBy("day").parquet(str(hive))
    spark.read.parquet(str(hive)).createOrReplaceTempView("hive")
    warehouse = Path(spark.conf.get("spark.sql.catalog.ice.warehouse"))
    return {
        "delta": (delta, f"delta.`{delta}`"),
        "iceberg": (warehouse / "frames" / "t", "ice.frames.t"),
        "hive": (hive, "hive"),
    }


def kept(plan):
    return sorted(file.path.rpartition("/")[2] for file in plan)


@pytest.mark.parametrize("name", ["delta", "iceberg", "hive"])
def test_a_scan_is_planned_by_the_conditions_that_were_written(spark, tables, name):
    where, table = tables[name]
    query = spark.sql(f"SELECT name FROM {table} t WHERE {WRITTEN.format(table='t')}")

    report = explain(query)

    (scan,) = report.scans
    mine = whyscan.open(where).plan(WRITTEN.format(table=table).replace(f"{table}.", ""))
    assert kept(scan.plan) == kept(mine)
    assert 0 < scan.plan.summary.files_kept < scan.plan.summary.files_total
    assert scan.report.files_level.kept == scan.plan.summary.files_kept
    assert {"name", "id", "nested", "price", "at"} <= set(scan.columns)
    assert [one.sql for one in scan.placed if "IS NOT NULL" in one.sql] == []
    assert {"day = DATE '2024-01-03'", "nested.x < 50"} <= {one.sql for one in scan.placed}
    assert scan.above == ()
    ours = Plan.of(scan.plan).to_arrow()["name"].to_pylist()
    assert ours == [row.name for row in query.collect()] == ["n12"]


def test_joins_subqueries_and_values_of_a_run(spark, tables):
    delta, table = tables["delta"][0], tables["delta"][1]
    report = explain(
        f"""SELECT h.name, count(*) FROM hive h JOIN ice.frames.t i ON h.id = i.id
        WHERE h.day > '2024-01-02' AND i.day = '2024-01-04'
          AND h.id > (SELECT max(id) FROM {table} WHERE day = '2024-01-01' AND name <> 'x')
        GROUP BY 1""",
        spark=spark,
    )

    scans = {scan.name: scan for scan in report.scans}
    assert set(scans) == {str(tables["hive"][0]), "ice.frames.t", str(delta)}
    hive, ice, nested = (scans[n] for n in (str(tables["hive"][0]), "ice.frames.t", str(delta)))
    assert "day > DATE '2024-01-02'" in {one.sql for one in hive.placed}
    assert [stayed.why for stayed in hive.above] == ["its values are known when the query runs"]
    # Iceberg took this one out of Spark's plan.
    assert "day = DATE '2024-01-04'" in {one.sql for one in ice.placed}
    assert ice.plan.summary.files_kept < ice.plan.summary.files_total
    assert "day = DATE '2024-01-01'" in {one.sql for one in nested.placed}
    assert nested.columns == ("id", "name", "day")
    assert report.sql.startswith("SELECT h.name")


def test_an_earlier_version_is_explained_as_it_was(spark, tmp_path):
    table = f"delta.`{tmp_path}/t`"
    spark.sql(f"CREATE TABLE {table} USING delta AS SELECT id FROM RANGE(5)")
    spark.sql(f"INSERT INTO {table} VALUES (77)")

    before, today = (
        explain(spark.sql(f"SELECT * FROM {table} {travel}")) for travel in ("VERSION AS OF 0", "")
    )

    assert before.scans[0].report.table.version == 0
    assert before.scans[0].plan.summary.files_total < today.scans[0].plan.summary.files_total
    assert today.scans[0].placed == ()


def test_what_is_no_table_of_files_is_said_to_be_left_out(spark, tables, tmp_path):
    spark.range(3).write.json(str(tmp_path / "j"))
    cached = spark.read.json(str(tmp_path / "j")).cache()
    query = (
        spark.read.json(str(tmp_path / "j"))
        .join(spark.table("hive").where("id < 3"), "id")
        .join(spark.sql("SELECT max(id) AS id FROM ice.frames.t"), "id")
        .join(spark.range(5), "id")
    )

    report = explain(query)
    cached.unpersist()

    assert [scan.name for scan in report.scans] == [str(tables["hive"][0])]
    assert len(report.notes) == 2
    assert "metadata answers" in report.notes[1]
    assert all(note.startswith("not explained: ") for note in report.notes)


def test_a_frame_reports_as_text_json_and_in_a_notebook(spark, tables):
    report = explain(spark.table("hive").where("day = '2024-01-03' AND id < 20"))

    assert "reads 1 of 10 files" in str(report).splitlines()[0]
    assert report.to_dict()["scans"][0]["placed"][0]["origin"] == "written"
    assert "2024-01-03" in report._repr_html_()


STATEMENTS = [
    "SELECT * FROM d JOIN i ON d.id = i.id WHERE d.day = '2024-01-02' AND i.id < 20",
    "SELECT * FROM d JOIN h USING (day) WHERE d.day = '2024-01-03'",
    "SELECT * FROM d LEFT JOIN h ON d.id = h.id AND h.day > '2024-01-04' WHERE d.id < 12",
    "SELECT * FROM d LEFT JOIN h ON d.id = h.id WHERE h.day = '2024-01-02'",
    "SELECT * FROM h WHERE EXISTS (SELECT 1 FROM i WHERE i.id = h.id AND i.day = '2024-01-05')",
    "SELECT * FROM h WHERE day > '2024-01-02' AND id IN (SELECT id FROM d WHERE name = 'n3')",
    "SELECT * FROM (SELECT day, max(id) AS m FROM d GROUP BY day) WHERE day < '2024-01-03'",
    "WITH few AS (SELECT * FROM i WHERE id < 9) SELECT * FROM few a JOIN few b USING (id)",
    "SELECT id FROM d WHERE id < 5 UNION ALL SELECT id FROM h WHERE day = '2024-01-04'",
    "SELECT * FROM narrow WHERE name = 'n7'",
    "SELECT a.id FROM narrow a JOIN narrow b ON a.id = b.id WHERE b.day = '2024-01-04'",
    "SELECT * FROM h WHERE date_trunc('MONTH', at) = '2024-01-01' AND nested.x > 50",
]


@pytest.fixture(scope="module")
def views(spark, tables):
    """The tables by a letter each, and a view of one of them: the folders, by name."""
    for name, (_, table) in tables.items():
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {name[0]} AS SELECT * FROM {table}")
    spark.sql("CREATE OR REPLACE TEMP VIEW narrow AS SELECT * FROM d WHERE id < 30")
    return {name[0]: str(where) for name, (where, _) in tables.items()}


def kept_by_table(report):
    return sorted((scan.report.table.uri, kept(scan.plan)) for scan in report.scans)


@pytest.mark.parametrize("sql", STATEMENTS)
def test_a_frame_keeps_the_files_that_its_statement_keeps(spark, views, sql):
    """Of a view the statement is written out, as only Spark knows it."""
    written = sql.replace("narrow", "(SELECT * FROM d WHERE id < 30)")

    assert kept_by_table(explain(spark.sql(sql))) == kept_by_table(
        whyscan.explain_sql(written, views)
    )


@pytest.fixture(scope="module")
def grown(spark, tmp_path_factory):
    """A Delta and an Iceberg table, each with two versions of five rows, and where they are."""
    delta = tmp_path_factory.mktemp("grown") / "d"
    ice = "ice.frames.grown"
    for table, form in ((f"delta.`{delta}`", "delta"), (ice, "iceberg")):
        spark.sql(f"CREATE TABLE {table} USING {form} AS SELECT id FROM RANGE(0, 5, 1, 1)")
        spark.sql(f"INSERT INTO {table} SELECT id FROM RANGE(5, 10, 1, 1)")
    warehouse = Path(spark.conf.get("spark.sql.catalog.ice.warehouse"))
    (first, _) = spark.sql(
        f"SELECT snapshot_id FROM {ice}.snapshots ORDER BY committed_at"
    ).collect()
    spark.sql(f"ALTER TABLE {ice} CREATE TAG early AS OF VERSION {first.snapshot_id}")
    return {"delta": str(delta), "iceberg": str(warehouse / "frames" / "grown")}, first.snapshot_id


def test_travel_in_time_is_that_of_the_statement(spark, grown):
    where, first = grown
    delta, ice = f"delta.`{where['delta']}`", "ice.frames.grown"
    tables = {ice: where["iceberg"]}
    questions = {
        f"SELECT * FROM {delta} VERSION AS OF 0 WHERE id < 7": 1,
        f"SELECT * FROM {delta} WHERE id < 7": 2,
        f"SELECT * FROM {ice} VERSION AS OF {first} WHERE id < 7": 1,
        f"SELECT * FROM {ice} VERSION AS OF 'early' WHERE id > 7": 0,
        f"SELECT * FROM {ice} WHERE id < 7": 2,
    }
    for sql, files in questions.items():
        report = explain(spark.sql(sql))
        assert [len(kept(scan.plan)) for scan in report.scans] == [files], sql
        assert kept_by_table(report) == kept_by_table(whyscan.explain_sql(sql, tables)), sql
    by_option = spark.read.format("delta").option("versionAsOf", 0).load(where["delta"])
    assert explain(by_option).scans[0].report.table.version == 0
