"""Scans in Spark's event logs by the words of their plans: GPU scans, BatchScan, other formats.

The texts are those that Spark 4.1 and the RAPIDS plugin print.
"""

from __future__ import annotations

import json

import pytest

from whyscan.spark.stages.workload import read_workload
from whyscan.spark.stages.workload.query import ActualScan, Query, Unparsed

FILTERS = "DataFilters: [isnotnull(id#3L), (id#3L > 5), (p#4 = 1)]"
SCHEMA = "ReadSchema: struct<id:bigint,p:int,s:string>"
REST = f"{FILTERS}, Format: {{format}}, Location: InMemoryFileIndex(1 paths)[file:/lake/t]"
REST += f", PartitionFilters: [], PushedFilters: [GreaterThan(id,5)], {SCHEMA}"
COLUMNS = "[id#3L,p#4,s#5]"
WRITTEN = "SELECT `id`, `p`, `s` FROM {table} WHERE `id` > 5 AND `p` = 1"


def log_of(path, *nodes, metrics=()):
    """A log with one execution for each node; `metrics` are (accumulator, value)."""
    events = []
    for number, node in enumerate(nodes):
        events.append(
            {
                "Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
                "executionId": number,
                "description": "collect at run.py:1",
                "details": "",
                "physicalPlanDescription": "",
                "sparkPlanInfo": {"children": [], "metadata": {}, "metrics": []} | node,
                "time": 1772442000000,
                "modifiedConfigs": {},
            }
        )
        events.append(
            {
                "Event": "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates",
                "executionId": number,
                "accumUpdates": list(metrics),
            }
        )
    lines = (json.dumps(event, separators=(",", ":")) for event in events)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return read_workload([str(path)])


def scan(name, text, **more):
    return {"nodeName": name, "simpleString": text} | more


def gpu(name, table=""):
    return scan(f"{name} {table}", f"{name} {table}{COLUMNS} Batched: true, " + REST)


@pytest.mark.parametrize(
    ("node", "table"),
    [
        (
            scan(
                "BatchScan parquet file:/lake/t",
                "BatchScan parquet file:/lake/t[id#3L, p#4, s#5] ParquetScan "
                + REST.format(format="parquet")
                + " RuntimeFilters: []",
            ),
            "parquet.`/lake/t`",
        ),
        (gpu("GpuScan parquet"), "parquet.`/lake/t`"),
        (gpu("GpuFileGpuScan parquet", "spark_catalog.db.t"), "`spark_catalog`.`db`.`t`"),
    ],
    ids=["BatchScan", "GpuScan", "GpuFileGpuScan"],
)
def test_a_scan_that_is_described_in_its_text_alone_is_a_query(tmp_path, node, table):
    node["simpleString"] = node["simpleString"].replace("{format}", "Parquet")

    workload = log_of(tmp_path / "log", node)

    assert workload.unparsed == ()
    assert [query.text for query in workload.queries] == [WRITTEN.format(table=table)]
    assert workload.queries[0].notes == ()


def test_filters_that_the_text_cuts_are_left_out_with_a_note(tmp_path):
    text = REST.format(format="parquet").replace(FILTERS, "DataFilters: [isnotnull(id#3L), (id...")

    workload = log_of(
        tmp_path / "log", scan("BatchScan parquet file:/lake/t", f"BatchScan {COLUMNS} {text}")
    )

    assert workload.queries[0].text == "SELECT `id`, `p`, `s` FROM parquet.`/lake/t`"
    assert workload.queries[0].notes == ("left out of its text: [isnotnull(id#3L), (id...",)


def test_a_value_that_looks_like_a_key_makes_the_text_no_description(tmp_path):
    text = REST.format(format="parquet").replace("(p#4 = 1)", "(s#5 = a, Format: csv, x)")
    node = scan("BatchScan parquet file:/lake/t", f"BatchScan parquet {COLUMNS} {text}")

    workload = log_of(tmp_path / "log", node)

    assert workload.queries == ()
    assert [entry.text for entry in workload.unparsed] == [node["simpleString"]]


@pytest.mark.parametrize("kind", ["csv", "json", "orc", "avro"])
def test_a_scan_of_no_table_is_listed_with_its_bytes(tmp_path, kind):
    metric = {"name": "size of files read", "accumulatorId": 7, "metricType": "size"}
    metadata = {"Format": kind.upper(), "Location": "InMemoryFileIndex(1 paths)[file:/lake/t]"}
    node = scan(f"Scan {kind} ", f"FileScan {kind} {COLUMNS}", metadata=metadata, metrics=[metric])

    workload = log_of(tmp_path / "log", node, node, metrics=[[7, 4096]])

    assert workload.queries == ()
    why = f"it reads {kind}, which is no table of the lake"
    assert workload.unparsed == (
        Unparsed("log/execution 0", node["simpleString"], why, 2, 8192, "spark"),
    )


def test_a_scan_of_a_database_is_listed_by_its_kind(tmp_path):
    relation = "JDBCRelation((SELECT 'x' AS s FROM people) t) [numPartitions=1] "
    scanner = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCScan$$anon$1@3a4f01 "
    nodes = [scan(f"Scan {name}", f"Scan {name}[s#1]") for name in (relation, scanner)]

    workload = log_of(tmp_path / "log", *nodes)

    assert workload.queries == ()
    assert {entry.why for entry in workload.unparsed} == {
        "it reads jdbc, which is no table of the lake"
    }
    assert workload.unparsed_entries == len(nodes)


def test_a_plan_that_adapts_is_counted_once(tmp_path):
    metric = {"name": "size of files read", "accumulatorId": 7, "metricType": "size"}
    node = gpu("GpuScan parquet")
    node = node | {
        "simpleString": node["simpleString"].replace("{format}", "Parquet"),
        "metrics": [metric],
    }
    started = {
        "nodeName": "AdaptiveSparkPlan",
        "simpleString": "",
        "children": [node | {"metadata": {}}],
    }
    path = tmp_path / "log"
    log_of(path, started, metrics=[[7, 10]])
    again = {
        "Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate",
        "executionId": 0,
        "physicalPlanDescription": "",
        "sparkPlanInfo": {"metadata": {}, "metrics": [], **started},
    }
    with path.open("a") as log:
        log.write(f"{json.dumps(again, separators=(',', ':'))}\n" * 2)

    [query] = read_workload([str(path)]).queries

    assert isinstance(query, Query)
    assert query.times == 1
    assert query.actual == (ActualScan("/lake/t", bytes=10),)
