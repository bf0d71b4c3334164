"""DataFrames of Spark Connect explained, as a program: a process has one kind of session.

It writes what it found as JSON: of each frame its scans by where they are, each with the names of
the files that are kept, the conditions, those that stay above, and the notes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from test_explain_frames import ROWS, STATEMENTS, WRITTEN

import whyscan
import whyscan.spark

HOSTILE = [
    "plain",
    "a, b",
    "a)]\nfoo",
    "a\n",
    "x)\n\n(9) Scan parquet \nLocation: InMemoryFileIndex [file:/etc]",
    "a', p = 'plain",
    "(p#1 = 5) OR (",
    "a%3Ab c",
    "1', runtimeFilters=",
    "... 3 more",
]
"""Values that a plan prints as if they were more than one, or its end."""


def main(address, folder):
    spark = whyscan.spark.session(address)
    tables = made(spark, folder)
    found = {
        "statements": {sql: statement(spark, sql, tables) for sql in STATEMENTS},
        "written": {name: written(spark, *one) for name, one in tables.items()},
        "travel": travelled(spark, folder),
        "values of a run": told(whyscan.spark.explain(AT_RUN_TIME, spark=spark)),
        "others": others(spark, tables, folder),
        "hostile": hostile(spark, folder),
        "months": months(spark, folder),
        "deleted": deleted(spark, folder),
        "chosen": chosen(spark, tables["hive"][0]),
        "settings": settings(spark),
    }
    spark.stop()
    return found


AT_RUN_TIME = """SELECT h.name FROM h JOIN i ON h.id = i.id WHERE i.day = '2024-01-04'
  AND h.id > (SELECT max(id) FROM d WHERE day = '2024-01-01' AND name <> 'x')"""


def made(spark, folder):
    """The same rows as a Delta, an Iceberg and a Hive table: where each is, and its name."""
    delta, hive = f"{folder}/delta's", f"{folder}/frames"
    warehouse = spark.conf.get("spark.sql.catalog.ice.warehouse")
    spark.sql(f"CREATE TABLE delta.`{delta}` USING delta PARTITIONED BY (day) AS {ROWS}")
    spark.sql(f"CREATE TABLE ice.frames.t USING iceberg PARTITIONED BY (day) AS {ROWS}")
    spark.sql(ROWS).write.partitionBy("day").parquet(hive)
    spark.read.parquet(hive).createOrReplaceTempView("hive")
    tables = {
        "delta": (delta, f"delta.`{delta}`"),
        "iceberg": (f"{warehouse}/frames/t", "ice.frames.t"),
        "hive": (hive, "hive"),
    }
    for name, (_, table) in tables.items():
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {name[0]} AS SELECT * FROM {table}")
    spark.sql("CREATE OR REPLACE TEMP VIEW narrow AS SELECT * FROM d WHERE id < 30")
    return tables


def kept(plan):
    return sorted(file.path.rpartition("/")[2] for file in plan)


def told(report):
    return {
        "scans": [
            {
                "name": scan.name,
                "version": scan.report.table.version,
                "kept": kept(scan.plan),
                "total": scan.plan.summary.files_total,
                "placed": [one.sql for one in scan.placed],
                "above": [one.why for one in scan.above],
            }
            for scan in report.scans
        ],
        "notes": list(report.notes),
    }


def or_refused(frame):
    try:
        return told(whyscan.spark.explain(frame))
    except whyscan.WhyscanError as error:
        return str(error)


def kept_by_table(report):
    return sorted([scan.report.table.uri, kept(scan.plan)] for scan in report.scans)


def statement(spark, sql, tables):
    """Of the frame, and of the statement, in which nobody but Spark knows the view."""
    places = {name[0]: where for name, (where, _) in tables.items()}
    written = sql.replace("narrow", "(SELECT * FROM d WHERE id < 30)")
    frame = whyscan.spark.explain(spark.sql(sql))
    return [kept_by_table(frame), kept_by_table(whyscan.explain_sql(written, places))]


def written(spark, where, table):
    condition = WRITTEN.format(table="t")
    frame = whyscan.spark.explain(spark.sql(f"SELECT name FROM {table} t WHERE {condition}"))
    mine = whyscan.open(where).plan(WRITTEN.format(table="t").replace("t.", ""))
    return [told(frame)["scans"], kept(mine)]


def travelled(spark, folder):
    delta, ice = f"{folder}/grown", "ice.frames.grown"
    for table, form in ((f"delta.`{delta}`", "delta"), (ice, "iceberg")):
        spark.sql(f"CREATE TABLE {table} USING {form} AS SELECT id FROM RANGE(0, 5, 1, 1)")
        spark.sql(f"INSERT INTO {table} SELECT id FROM RANGE(5, 10, 1, 1)")
    rows = spark.sql(f"SELECT snapshot_id FROM {ice}.snapshots ORDER BY committed_at").collect()
    first = rows[0].snapshot_id
    spark.sql(f"ALTER TABLE {ice} CREATE TAG early AS OF VERSION {first}")
    frames = {
        "delta 0": spark.sql(f"SELECT * FROM delta.`{delta}` VERSION AS OF 0 WHERE id < 7"),
        "delta": spark.sql(f"SELECT * FROM delta.`{delta}` WHERE id < 7"),
        "delta 0 by option": spark.read.format("delta").option("versionAsOf", 0).load(delta),
        "iceberg first": spark.sql(f"SELECT * FROM {ice} VERSION AS OF {first} WHERE id < 7"),
        "iceberg tag": spark.sql(f"SELECT * FROM {ice} VERSION AS OF 'early' WHERE id > 7"),
        "iceberg": spark.sql(f"SELECT * FROM {ice} WHERE id < 7"),
        "iceberg since": spark.read.format("iceberg").option("start-snapshot-id", first).load(ice),
        "iceberg files": spark.table(f"{ice}.files"),
    }
    return {name: told(whyscan.spark.explain(frame)) for name, frame in frames.items()}


def others(spark, tables, folder):
    spark.range(3).write.json(f"{folder}/j")
    held = spark.read.parquet(tables["hive"][0]).where("id < 3").cache()
    query = (
        spark.read.json(f"{folder}/j")
        .join(held, "id")
        .join(spark.table("d").where("id < 3"), "id")
        .join(spark.range(5), "id")
    )
    found = told(whyscan.spark.explain(query))
    held.unpersist()
    return found


def hostile(spark, folder):
    """Of each kind of table and each value: what is kept, and what has to be."""
    from pyspark.sql.functions import col

    rows = [(number, text) for number, text in enumerate(HOSTILE)]
    frame = spark.createDataFrame(rows, "id bigint, p string").coalesce(1)
    frame = frame.withColumn("name", col("p"))
    frame.write.format("delta").partitionBy("p").save(f"{folder}/hostile-delta")
    frame.write.partitionBy("p").parquet(f"{folder}/hostile-hive")
    frame.writeTo("ice.frames.hostile").partitionedBy(col("p")).create()
    warehouse = spark.conf.get("spark.sql.catalog.ice.warehouse")
    tables = {
        "delta": (spark.read.format("delta").load(f"{folder}/hostile-delta"), "hostile-delta"),
        "hive": (spark.read.parquet(f"{folder}/hostile-hive"), "hostile-hive"),
        "iceberg": (spark.table("ice.frames.hostile"), None),
    }
    found = {}
    for kind, (table, name) in tables.items():
        place = f"{folder}/{name}" if name else f"{warehouse}/frames/hostile"
        opened = whyscan.open(place)
        for column in ("p", "name") if kind == "iceberg" else ("p",):
            for text in HOSTILE:
                literal = text.replace("\\", "\\\\").replace("'", "\\'")
                needed = kept(opened.plan(f"{column} = '{literal}'"))
                report = or_refused(table.where(col(column) == text))
                found[f"{kind} {column} {text!r}"] = [report, needed]
    return found


def months(spark, folder):
    """`month > 7` is another condition where a month is text, and is printed alike."""
    place = f"{folder}/months"
    spark.sql("SELECT id, id + 1 AS month FROM RANGE(12)").write.partitionBy("month").parquet(place)
    as_text = spark.read.schema("id bigint, month string").parquet(place)
    as_number = spark.read.parquet(place)
    frames = {
        "text": as_text.where("month > '7'"),
        "number": as_number.where("month > 7"),
        "one": as_number.where("month = 7"),
    }
    return {name: told(whyscan.spark.explain(frame)) for name, frame in frames.items()}


def deleted(spark, folder):
    """Delta reads such files with a filter and a column of its own."""
    table = f"delta.`{folder}/deleted`"
    vectors = "TBLPROPERTIES ('delta.enableDeletionVectors' = true)"
    spark.sql(f"CREATE TABLE {table} USING delta {vectors} AS SELECT id FROM RANGE(0, 50, 1, 2)")
    spark.sql(f"DELETE FROM {table} WHERE id = 3")
    return told(whyscan.spark.explain(f"SELECT id FROM {table} WHERE id < 5", spark=spark))


def chosen(spark, place):
    """Options choose among the files, and the plan does not say so."""
    few = spark.read.option("pathGlobFilter", "part-00000*").parquet(place)
    return told(whyscan.spark.explain(few.where("id < 20")))


def settings(spark):
    """What is changed for a moment is as it was."""
    keys = ("spark.sql.maxMetadataStringLength", "spark.sql.debug.maxToStringFields")
    spark.conf.set(keys[0], "77")
    whyscan.spark.explain("SELECT * FROM h WHERE id < 5", spark=spark)
    return [spark.conf.get(key) for key in keys]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    print(json.dumps(main(*sys.argv[1:])))
