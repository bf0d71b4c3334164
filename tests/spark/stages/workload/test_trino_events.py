"""Trino's QueryCompletedEvent, in the shape that its HTTP event listener writes."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from whyscan.spark.stages.workload import read_workload
from whyscan.spark.stages.workload.query import ActualScan, Query, Unparsed

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
TEXT = "SELECT sum(totalprice) FROM orders WHERE orderstatus = 'F'"


def event(text=TEXT, **more):
    """One event; `more` replaces parts of it."""
    return {
        "metadata": {
            "queryId": "20260302_090000_00001_abcde",
            "transactionId": "1234",
            "query": text,
            "queryState": "FINISHED",
            "tables": [],
            "routines": [],
            "uri": "http://trino.example/ui/query.html?20260302_090000_00001_abcde",
            "plan": "Fragment 0 …",
        },
        "statistics": {
            "cpuTime": 0.5,
            "wallTime": 1.2,
            "physicalInputBytes": 64056,
            "physicalInputRows": 7304,
            "processedInputBytes": 131000,
            "outputRows": 1,
        },
        "context": {"user": "ann", "catalog": "iceberg", "schema": "tpch"},
        "ioMetadata": {
            "inputs": [
                {
                    "connectorName": "iceberg",
                    "catalogName": "iceberg",
                    "schema": "tpch",
                    "table": "orders",
                    "columns": ["orderstatus", "totalprice"],
                    "connectorInfo": {"snapshotId": 1, "totalDataFiles": "3"},
                    "connectorMetrics": {
                        "dataFiles": {
                            "@class": "io.trino.plugin.base.metrics.LongCount",
                            "total": 1,
                        }
                    },
                    "physicalInputBytes": 64056,
                    "physicalInputRows": 7304,
                }
            ],
        },
        "createTime": "2026-03-02T09:00:00Z",
        "executionStartTime": "2026-03-02T09:00:01Z",
        "endTime": "2026-03-02T09:00:02Z",
    } | more


def read(path, content):
    path.write_text(content, "utf-8")
    return read_workload([str(path)])


def test_an_event_is_a_query_with_what_was_read(tmp_path):
    workload = read(tmp_path / "one.json", json.dumps(event(), indent=2))

    assert workload.unparsed == ()
    assert workload.queries == (
        Query(
            TEXT,
            "trino",
            1,
            NINE,
            NINE,
            {"2026-03-02": 1},
            64056,
            ("one.json[1] (20260302_090000_00001_abcde)",),
            (ActualScan("iceberg.tpch.orders", 1, files=1, bytes=64056, rows=7304),),
            namespace="iceberg.tpch",
            users={"ann": 1},
            logs={"trino": 1},
        ),
    )


def test_an_event_in_the_envelope_of_the_kafka_listener_is_the_same(tmp_path):
    wrapped = {"eventPayload": event(), "eventMetadata": {"CLUSTER": "prod"}}

    (query,) = read(tmp_path / "kafka.jsonl", json.dumps(wrapped)).queries

    assert (query.text, query.bytes_read, len(query.actual)) == (TEXT, 64056, 1)


def test_runs_of_a_query_add_up_failed_ones_too(tmp_path):
    failed = event(failureInfo={"errorCode": {"name": "EXCEEDED_TIME_LIMIT"}})
    lines = "\n".join(map(json.dumps, [event(), failed, event("SELECT 1")]))

    same, other = read(tmp_path / "many.jsonl", lines).queries

    assert (same.times, same.bytes_read) == (2, 128112)
    assert same.actual == (ActualScan("iceberg.tpch.orders", 2, files=2, bytes=128112, rows=14608),)
    assert other.text == "SELECT 1"


def test_partitions_of_hive_are_counted_and_what_is_not_logged_is_unknown(tmp_path):
    statistics = {
        "catalogName": "hive",
        "schema": "web",
        "table": "visits",
        "columns": [],
        "connectorInfo": {"partitionIds": ["d=1", "d=2"], "truncated": False},
    }
    bare = event(statistics={}, ioMetadata={"inputs": [statistics]}, createTime=None)
    del bare["executionStartTime"]

    (query,) = read(tmp_path / "hive.json", json.dumps([bare])).queries

    assert (query.first, query.bytes_read) == (None, None)
    assert query.actual == (ActualScan("hive.web.visits", 1, partitions=2),)


def test_the_beginning_of_a_query_and_a_statement_that_reads_nothing_are_listed(tmp_path):
    created = {"metadata": event()["metadata"], "createTime": "2026-03-02T09:00:00Z"}
    lines = "\n".join(map(json.dumps, [created, event("SHOW TABLES"), {"neither": 1}]))

    workload = read(tmp_path / "odd.jsonl", lines)

    assert workload.queries == ()
    assert [entry.why.split(",")[0] for entry in workload.unparsed] == [
        "the event tells only that the query began",
        "no column of it is a query's text",
        "SHOW reads no table",
    ]
    assert isinstance(workload.unparsed[0], Unparsed)


PREPARED = "SELECT a FROM t WHERE p = ? AND s <> 'why?' AND d IN (?, ?)"
FILLED = "SELECT a FROM t WHERE p = 3 AND s <> 'why?' AND d IN (DATE '2026-01-01', f(1, 'x, y'))"


@pytest.mark.parametrize(
    ("text", "prepared", "run"),
    [
        ("EXECUTE q USING 3, DATE '2026-01-01', f(1, 'x, y')", PREPARED, FILLED),
        ("execute \"a q\" using 3, DATE '2026-01-01', f(1, 'x, y');", PREPARED, FILLED),
        ("EXECUTE q USING 3", PREPARED, PREPARED),
        ("EXECUTE q", "SELECT a FROM t", "SELECT a FROM t"),
        (
            "EXECUTE IMMEDIATE 'SELECT a FROM t WHERE s = ''x'' AND p = ?'\nUSING 5",
            None,
            "SELECT a FROM t WHERE s = 'x' AND p = 5",
        ),
        (TEXT, PREPARED, TEXT),
    ],
)
def test_what_was_prepared_is_the_query_with_its_values(tmp_path, text, prepared, run):
    completed = event(text)
    completed["metadata"]["preparedQuery"] = prepared

    (query,) = read(tmp_path / "one.json", json.dumps(completed)).queries

    assert query.text == run


def test_a_prepared_statement_without_a_text_is_listed(tmp_path):
    (entry,) = read(tmp_path / "one.json", json.dumps(event("EXECUTE q USING 3"))).unparsed

    assert entry.text == "EXECUTE q USING 3"
