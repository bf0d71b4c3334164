"""Hostile logs: each is read in part, or listed with the reason; nothing breaks."""

from __future__ import annotations

import gzip
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whyscan.errors import WhyscanError
from whyscan.spark import read_workload

EVENT = {
    "metadata": {"queryId": "q", "query": "SELECT a FROM t"},
    "statistics": {"physicalInputBytes": 3},
    "createTime": "2024-01-01T00:00:00Z",
    "ioMetadata": {"inputs": [{"catalogName": "c", "schema": "s", "table": "t"}]},
}
MANIFEST = {
    "metadata": {"dbt_schema_version": "https://x/manifest/v12.json", "adapter_type": "spark"},
    "nodes": {
        "model.a": {
            "resource_type": "model",
            "compiled_code": "SELECT a FROM t",
            "config": {"materialized": "table"},
        }
    },
}
LOGS = {
    "a.sql": b"SELECT a FROM t WHERE x = 1;\nSELECT b FROM t;\n",
    "b.csv": b"query,bytes,start_time\nSELECT a FROM t,10,2024-01-01\nSELECT b FROM t,20,\n",
    "c.json": b'{"query": "SELECT a FROM t", "bytes": 3}\n{"query": "SELECT b FROM t"}\n',
    "d.json": json.dumps(EVENT).encode(),
    "manifest.json": json.dumps(MANIFEST).encode(),
    "app-1": b'{"Event":"SparkListenerLogStart","Spark Version":"4.1.0"}\n'
    b'{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",'
    b'"executionId":0,"description":"SELECT a FROM t","time":1700000000000,'
    b'"sparkPlanInfo":{"nodeName":"Scan","simpleString":"","children":[],"metadata":{},'
    b'"metrics":[]}}\n',
}
WHOLE = {
    "zeros": lambda _: b"\0" * 1000,
    "noise": lambda _: random.Random(3).randbytes(5000),
    "sixteen bits": lambda log: log.decode().encode("utf-16"),
    "braces": lambda _: b"{" * 200_000,
    "brackets": lambda _: b"[" * 200_000,
    "objects": lambda _: b'{"a":' * 100_000,
    "a line without an end": lambda log: log + b"x" * 20_000_000,
    "a quote without an end": lambda _: b'"' + b"a" * 20_000_000,
    "lines": lambda _: b"\n" * 100_000,
    "half a gzip": lambda log: gzip.compress(log * 50)[:40],
    "Parquet in name": lambda _: b"PAR1" + b"\x15" * 100,
    "a thousand times": lambda log: log * 1000,
}


def read(folder, name, content):
    """The workload of one log; an error of ours is an answer, too."""
    (folder / name).write_bytes(content)
    try:
        return read_workload([str(folder / name)])
    except WhyscanError:
        return None


@pytest.mark.parametrize("damage", WHOLE)
@pytest.mark.parametrize("name", LOGS)
def test_a_log_of_another_kind_than_it_says(tmp_path, name, damage):
    workload = read(tmp_path, name, WHOLE[damage](LOGS[name]))

    assert workload is None or all(entry.why for entry in workload.unparsed)


@pytest.mark.parametrize("name", LOGS)
def test_flipped_and_cut_bytes(tmp_path, name):
    dice = random.Random(name)
    for number in range(60):
        content = bytearray(LOGS[name])
        for _ in range(3):
            content[dice.randrange(len(content))] = dice.randrange(256)
        read(
            tmp_path,
            name,
            bytes(content[: dice.randrange(len(content))] if number % 2 else content),
        )


@pytest.mark.parametrize("name", ["c.json", "d.json", "manifest.json"])
def test_values_of_other_types_than_expected(tmp_path, name):
    document = json.loads(LOGS[name].splitlines()[0])
    for path in _paths(document):
        for value in (None, 1, -1.5, "x", [], {}, True, [1], 10**30):
            changed = json.loads(json.dumps(document))
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
            read(tmp_path, name, json.dumps(changed).encode())


def _paths(document, above=()):
    named = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in named:
        yield (*above, key)
        if isinstance(value, dict | list):
            yield from _paths(value, (*above, key))


@pytest.mark.parametrize("name", ["b.csv", "c.json"])
def test_a_row_that_is_not_utf_8_is_listed_and_the_others_are_read(tmp_path, name):
    first, second = (f"SELECT {column} FROM t".encode() for column in "ab")

    workload = read(tmp_path, name, LOGS[name].replace(first, first + b" \xff"))

    assert [query.text for query in workload.queries] == [second.decode()]
    assert len(workload.unparsed) == 1


def test_a_text_in_parquet_that_is_no_text(tmp_path):
    pq.write_table(pa.table({"query": ["SELECT a FROM t"]}), tmp_path / "a.parquet")
    content = (tmp_path / "a.parquet").read_bytes()

    workload = read(
        tmp_path, "a.parquet", content.replace(b"SELECT a FROM t", b"SELECT \xff FROM t")
    )

    assert workload.queries == ()
    assert "it is not whole Parquet" in workload.unparsed[0].why


HISTORIES = {
    "snowflake": "QUERY_ID,QUERY_TEXT,START_TIME,BYTES_SCANNED",
    "bigquery": "creation_time,job_id,query,total_bytes_processed",
    "databricks": "statement_id,statement_text,start_time,read_bytes",
    "databricks api": "query_id,query_text,query_start_time_ms,read_bytes",
    "redshift": "query,starttime,querytxt,bytes",
    "athena": "QueryExecutionId,Query,SubmissionDateTime,DataScannedInBytes",
    "clickhouse": "event_time,query_start_time,query,read_bytes",
}
VALUES = {
    "text": "SELECT a FROM t",
    "when": "2024-01-02T03:04:05Z",
    "bytes": "77",
    "id": "0123",
}
MEANT = {
    "query": "text",
    "querytext": "text",
    "statementtext": "text",
    "querytxt": "text",
    "starttime": "when",
    "creationtime": "when",
    "querystarttime": "when",
    "querystarttimems": "when",
    "submissiondatetime": "when",
    "bytesscanned": "bytes",
    "totalbytesprocessed": "bytes",
    "readbytes": "bytes",
    "datascannedinbytes": "bytes",
    "bytes": "bytes",
}


@pytest.mark.parametrize("warehouse", HISTORIES)
def test_the_query_history_of_a_warehouse_is_read_as_it_is_exported(tmp_path, warehouse):
    columns = HISTORIES[warehouse].split(",")
    meant = [MEANT.get(name.lower().replace("_", ""), "id") for name in columns]
    if warehouse == "redshift":
        meant[0] = "id"  # where there is a text beside it
    row = ",".join(VALUES[what] for what in meant)

    workload = read(tmp_path, "history.csv", f"{HISTORIES[warehouse]}\n{row}\n".encode())
    (query,) = workload.queries

    assert (query.text, query.bytes_read) == (VALUES["text"], 77)
    assert query.first.isoformat() == "2024-01-02T03:04:05+00:00"
