"""The workload stage: read by executors, written as a table, bound to tables scan by scan."""

from __future__ import annotations

import json
import pickle
import re

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from whyscan.spark import stage_output
from whyscan.spark.stages.workload import Workload, frames, read_workload, shape_of
from whyscan.spark.stages.workload.frames import from_frame, workload_frame, workload_rows
from whyscan.spark.stages.workload.logs import find_logs
from whyscan.spark.stages.workload.query import ActualScan, Query, Unparsed
from whyscan.spark.stages.workload.scans import workload_scans
from whyscan.spark.tables import sources
from whyscan.spark.versions import frame_of

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two hundred runs of three queries in four logs, a table, and what is no query."""
    place = tmp_path_factory.mktemp("workload")
    rows = pa.table({"id": list(range(100)), "day": [n // 10 for n in range(100)]})
    parts = ds.partitioning(pa.schema([("day", pa.int64())]), flavor="hive")
    ds.write_dataset(rows, place / "visits", format="parquet", partitioning=parts)
    logs = place / "logs"
    logs.mkdir()
    for name in ("a", "b"):
        lines = [
            json.dumps({"query": text, "bytes": 10, "when": f"2026-03-0{1 + at % 3}T09:00:00Z"})
            for at in range(50)
            for text in ("SELECT id FROM visits WHERE day = 3",)
        ]
        (logs / f"{name}.jsonl").write_text("\n".join(lines))
    (logs / "c.sql").write_text(
        "-- times: 98\nSELECT v.id FROM visits v JOIN visits w ON v.id = w.id WHERE w.day = 4;\n"
        f"SELECT id FROM parquet.`{place}/visits` WHERE day > 7;\nSELECT 5;\n"
        "SELECT nothing FROM visits;\nSELECT id FROM elsewhere;\nSET x = 1;\n"
    )
    (logs / "d.csv").write_text("sql,times\nSELECT id FROM visits WHERE day = 3,2\n,5\n")
    return place


def entries(workload: Workload):
    """Without the order, which Spark does not keep."""
    key = lambda one: (one.text, getattr(one, "why", ""))  # noqa: E731
    return sorted(workload.queries, key=key), sorted(workload.unparsed, key=key)


def test_executors_read_what_one_process_reads(spark, folder, monkeypatch):
    monkeypatch.setattr(frames, "BYTES_A_TASK", 4_000)  # several tasks, of small logs
    logs = [str(folder / "logs")]

    frame = workload_frame(spark, logs)

    queries, unparsed = entries(from_frame(frame))
    expected_queries, expected_unparsed = entries(read_workload(logs))
    assert unparsed == expected_unparsed
    assert [(q.text, q.times, q.bytes_read, dict(q.days), q.first, q.last) for q in queries] == [
        (q.text, q.times, q.bytes_read, dict(q.days), q.first, q.last) for q in expected_queries
    ]
    (most,) = [query for query in queries if query.times > 100]
    assert (most.times, most.bytes_read) == (102, None)
    assert sum(most.days.values()) == 100


def test_stores_that_only_spark_knows_are_read_by_spark(spark, folder, monkeypatch):
    monkeypatch.setattr(frames, "_OF_SPARK", re.compile("file:/"))
    logs = folder / "logs"

    frame = workload_frame(spark, [logs.as_uri()])

    queries, unparsed = entries(from_frame(frame))
    expected_queries, expected_unparsed = entries(read_workload([str(logs)]))
    assert [(query.text, query.times) for query in queries] == [
        (query.text, query.times) for query in expected_queries
    ]
    assert unparsed == expected_unparsed


def test_a_workload_is_a_table_that_people_can_query(spark, folder, tmp_path):
    workload = read_workload([str(folder / "logs" / "a.jsonl"), str(folder / "logs" / "c.sql")])
    place = str(tmp_path / "workload")

    frame = workload_frame(spark, [str(folder / "logs" / name) for name in ("a.jsonl", "c.sql")])
    stage_output.append(frame, place)
    table = stage_output.read(spark, place)

    assert entries(from_frame(table)) == entries(workload)
    assert table.where("unparsed IS NULL").groupBy("shape").count().count() == 6
    assert table.selectExpr("sum(times)").first()[0] == 50 + 98 + 5


def test_records_survive_the_table_whole(spark):
    workload = Workload(
        (
            Query(
                "SELECT 1",
                "trino",
                3,
                actual=(ActualScan("t", 3, 1, None, 5, None),),
                notes=("a note",),
                origins=("x:1",),
            ),
        ),
        (Unparsed("y:2", "SET a", "SET reads no table", 4),),
    )

    table = pa.Table.from_batches(workload_rows(workload))

    assert from_frame(frame_of(spark, table)) == workload


def test_scans_have_their_tables_predicates_and_columns(spark, folder):
    workload = read_workload([str(folder / "logs")])
    tables = sources([("visits", str(folder / "visits"))])

    rows = workload_scans(spark, workload, tables).collect()

    scans = {
        (row["table"], row["alias"], row["predicate"], tuple(row["columns"]), row["times"])
        for row in rows
        if row["unparsed"] is None
    }
    assert scans == {
        ("visits", "visits", "day = 3", ("id", "day"), 102),
        ("visits", "v", "true", ("id",), 98),
        ("visits", "w", "day = 4", ("id", "day"), 98),
        ("visits", f"{folder}/visits", "day > 7", ("id", "day"), 1),
    }
    assert {row["shape"] for row in rows if row["table"] == "visits" and row["alias"] == "v"} == {
        shape_of("SELECT v.id FROM visits v JOIN visits w ON v.id = w.id WHERE w.day = 4", "spark")
    }
    unparsed = {row["query"]: row["unparsed"] for row in rows if row["unparsed"] is not None}
    assert unparsed == {
        "SELECT 5": "it reads no table",
        "SELECT nothing FROM visits": "unknown column 'nothing'",
        "SELECT id FROM elsewhere": "unknown table 'elsewhere'",
        "SET x = 1": "SET reads no table",
        "": "the row has no query",
    }


def test_secrets_of_a_store_are_in_no_name_and_travel_to_executors(folder):
    (log,) = find_logs([str(folder / "logs" / "c.sql")], {"secret_access_key": "hush"})

    assert "hush" not in repr(log)
    assert pickle.loads(pickle.dumps(log)).files[0].options == {"secret_access_key": "hush"}
