"""JSON of engines, in which queries are listed and their statistics stand beside the text."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whyscan.spark.stages.workload import read_workload
from whyscan.spark.stages.workload.query import ActualScan, Query, Unparsed

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
MILLISECONDS = 1772442000000
TEXT = "SELECT a FROM t WHERE a > 5"

DATABRICKS = {
    "query_id": "01f0",
    "status": "FINISHED",
    "query_text": TEXT,
    "query_start_time_ms": MILLISECONDS,
    "user_id": 7,
    "user_name": "ann@example.com",
    "lookup_key": "x",
    "metrics": {
        "total_time_ms": 120,
        "read_bytes": 4096,
        "read_files_count": 3,
        "pruned_files_count": 9,
        "rows_read_count": 100,
    },
}
ATHENA = {
    "QueryExecutionId": "a-1",
    "Query": TEXT,
    "StatementType": "DML",
    "QueryExecutionContext": {"Database": "sales", "Catalog": "awsdatacatalog"},
    "Status": {"State": "SUCCEEDED", "SubmissionDateTime": "2026-03-02T09:00:00+00:00"},
    "Statistics": {"EngineExecutionTimeInMillis": 800, "DataScannedInBytes": 4096},
}
BIGQUERY = {
    "kind": "bigquery#job",
    "jobReference": {"projectId": "p", "jobId": "j"},
    "configuration": {"jobType": "QUERY", "query": {"query": TEXT, "useLegacySql": False}},
    "statistics": {
        "creationTime": str(MILLISECONDS),
        "totalBytesProcessed": "4096",
        "query": {"totalBytesBilled": "10485760", "cacheHit": False},
    },
    "user_email": "ann@example.com",
}


def read(path, document):
    path.write_text(json.dumps(document, indent=2), "utf-8")
    return read_workload([str(path)])


def query(dialect, origin, **more):
    return Query(
        TEXT,
        dialect,
        1,
        NINE,
        NINE,
        {"2026-03-02": 1},
        4096,
        (f"log.json[1]{origin}",),
        logs={"json": 1},
        **more,
    )


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            {"res": [DATABRICKS], "has_next_page": False},
            query(
                "databricks",
                " res[1]",
                actual=(ActualScan("", files=3, files_total=12),),
                users={"ann@example.com": 1},
            ),
        ),
        ({"QueryExecution": ATHENA}, query("athena", "", namespace="awsdatacatalog.sales")),
        (
            {"QueryExecutions": [ATHENA]},
            query("athena", " QueryExecutions[1]", namespace="awsdatacatalog.sales"),
        ),
        (BIGQUERY, query("bigquery", "", users={"ann@example.com": 1})),
        (
            {"kind": "bigquery#jobList", "jobs": [BIGQUERY]},
            query("bigquery", " jobs[1]", users={"ann@example.com": 1}),
        ),
    ],
    ids=["databricks", "athena", "athena batch", "bigquery", "bigquery list"],
)
def test_a_document_of_an_engine_is_its_queries(tmp_path, document, expected):
    workload = read(tmp_path / "log.json", document)

    assert workload.unparsed == ()
    assert workload.queries == (expected,)


def test_what_an_engine_did_not_return_is_listed(tmp_path):
    missing = {"QueryExecutionId": "a-2", "ErrorMessage": "it is too old"}
    document = {"QueryExecutions": [ATHENA, 7], "UnprocessedQueryExecutionIds": [missing]}

    workload = read(tmp_path / "log.json", document)

    assert workload.query_entries == 1
    assert workload.unparsed == (
        Unparsed("log.json[1] QueryExecutions[2]", "", "it is no object of JSON", log="json"),
        Unparsed(
            "log.json[1] (a-2)", "", "the engine did not return it: it is too old", log="json"
        ),
    )


@pytest.mark.parametrize(
    ("row", "files", "there"),
    [
        ({"PARTITIONS_SCANNED": 3, "PARTITIONS_TOTAL": 40}, 3, 40),
        ({"read_files": 3, "pruned_files": 37}, 3, 40),
        ({"scanned_files": 3, "total_partitions": 8}, 3, None),
    ],
    ids=["snowflake", "databricks", "redshift"],
)
def test_the_files_that_an_engine_counts_stand_beside_those_that_were_there(
    tmp_path, row, files, there
):
    workload = read(tmp_path / "log.json", [{"query_text": TEXT, **row}] * 2)

    [counted] = workload.queries
    assert counted.actual == (
        ActualScan("", 2, files=2 * files, files_total=None if there is None else 2 * there),
    )


def test_a_column_of_the_entry_counts_before_one_of_its_parts(tmp_path):
    entry = {"query_text": TEXT, "bytes_scanned": 1, "metrics": {"bytes_scanned": 2}}

    assert read(tmp_path / "log.json", [entry]).queries[0].bytes_read == 1


def test_athenas_execution_parameters_stand_in_the_text_as_they_are(tmp_path):
    text = "SELECT a FROM t WHERE a > ? AND s = ?"
    document = {**ATHENA, "Query": text, "ExecutionParameters": ["5", "'US'"], "WorkGroup": "bi"}

    [query] = read(tmp_path / "log.json", {"QueryExecution": document}).queries

    assert query.text == "SELECT a FROM t WHERE a > 5 AND s = 'US'"
    assert query.users == {"bi": 1}


ENTRIES = st.sampled_from(
    [
        (DATABRICKS, 1),
        (ATHENA, 1),
        (BIGQUERY, 1),
        ({"QueryExecution": ATHENA}, 1),
        ({"res": [DATABRICKS, None, {}]}, 3),
        ({"query": "SET x = 1"}, 1),
        ({"query": "SELECT 1; SELECT 2 FROM t", "calls": 3}, 6),
        ({"query": {"nothing": 1}}, 1),
        ({"report-type": "commit-report", "table-name": "t"}, 1),
        ({"report-type": "scan-report", "table-name": "t", "filter": {"type": "new"}}, 1),
        ({"report-type": "scan-report", "table-name": "t", "filter": 7}, 1),
        (None, 1),
        ([], 1),
        (7, 1),
    ]
)


@given(st.lists(ENTRIES, min_size=1, max_size=12))
def test_entries_taken_and_left_are_all_entries(tmp_path_factory, entries):
    workload = read(tmp_path_factory.mktemp("log") / "log.json", [entry for entry, _ in entries])

    assert workload.entries == sum(count for _, count in entries)
    assert all(entry.why for entry in workload.unparsed)
