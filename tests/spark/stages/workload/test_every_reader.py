"""Every reader says what became of each entry of its log: those taken and those left are all."""

from __future__ import annotations

import csv
import json
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark.stages.workload.test_dbt_runs import node, result, run
from spark.stages.workload.test_engine_documents import ATHENA, BIGQUERY, DATABRICKS
from spark.stages.workload.test_scan_reports import report
from spark.stages.workload.test_scans_in_logs import COLUMNS, REST, log_of, scan
from spark.stages.workload.test_trino_events import event
from whyscan.spark import workload_frame
from whyscan.spark.stages.workload import read_workload
from whyscan.spark.stages.workload.frames import from_frame

if TYPE_CHECKING:
    from pathlib import Path

    from whyscan.spark.stages.workload.query import Workload

TEXT = "SELECT a FROM t WHERE a > 5"


def sql_file(place: Path) -> None:
    (place / "queries.sql").write_text(
        f"{TEXT};\n-- times: 3\nSELECT b FROM t;\n-- times: 0\n{TEXT};\n"
        "CREATE VIEW v AS SELECT 1 AS x;\nSHOW TABLES;\n"
    )


def snowflake(place: Path) -> None:
    table(
        place / "QUERY_HISTORY.csv",
        ["QUERY_TEXT", "USER_NAME", "PARTITIONS_SCANNED", "PARTITIONS_TOTAL"],
        [[TEXT, "ann", 3, 40], [TEXT, "bob", 3, 40], ["", "ann", 0, 0], ["SHOW TABLES", "b", 0, 0]],
    )


def postgres(place: Path) -> None:
    table(
        place / "pg_stat_statements.csv",
        ["query", "calls", "total_exec_time", "params"],
        [
            ["SELECT a FROM t WHERE a > $1", 7, 1.5, "$1 = '5'"],
            [TEXT, "often", 1, ""],
            [TEXT, 0, 0, ""],
        ],
    )


def redshift(place: Path) -> None:
    table(
        place / "sys_query_history.csv",
        ["query_text", "username", "redshift_version"],
        [[TEXT, "ann", "1.0"], ["SELECT " + "a" * 4_000, "ann", "1.0"]],
    )


def redshift_details(place: Path) -> None:
    table(
        place / "sys_external_query_detail.csv",
        ["query_id", "external_query_text", "scanned_files"],
        [[1, "", 3], [2, "", 3], [3, "", 3]],
    )


def databricks_table(place: Path) -> None:
    rows = [{"statement_text": text, "executed_by": "ann"} for text in (TEXT, TEXT, None, "RESET")]
    pq.write_table(pa.Table.from_pylist(rows), place / "history.parquet")


def databricks_api(place: Path) -> None:
    document(place / "databricks.json", {"res": [DATABRICKS, DATABRICKS, None]})


def athena(place: Path) -> None:
    missing = {"QueryExecutionId": "a-2", "ErrorMessage": "it is too old"}
    document(
        place / "athena.json",
        {"QueryExecutions": [ATHENA], "UnprocessedQueryExecutionIds": [missing]},
    )


def bigquery(place: Path) -> None:
    document(place / "bigquery.json", {"kind": "bigquery#jobList", "jobs": [BIGQUERY, {}]})


def lines_of_json(place: Path) -> None:
    rows = [{"query": TEXT, "times": 4}, {"query": "SELECT 1; SELECT b FROM t"}]
    texts = (*map(json.dumps, rows), "{no json", "[]")
    (place / "lines.json").write_text("\n".join(texts), "utf-8")


def trino(place: Path) -> None:
    document(place / "trino.json", [event(), event(), {**event(), "statistics": None}])


def iceberg(place: Path) -> None:
    commit = {"report-type": "commit-report", "table-name": "t"}
    document(place / "metrics.json", [report(), report(), commit])


def several(place: Path) -> None:
    document(place / "several.json", [event(), report(), DATABRICKS, 7])


def dbt(place: Path) -> None:
    nodes = [node("a"), node("b", "view"), node("c"), node("d", kind="test")]
    results = [result("a"), result("b"), result("c", status="skipped"), result("d", "test")]
    run(place, nodes, results)


def dbt_without_results(place: Path) -> None:
    run(place, [node("a"), node("raw", "seed", "seed", code=None), node("b", "ephemeral")])


def spark(place: Path) -> None:
    parquet = f"BatchScan parquet {COLUMNS} ParquetScan {REST.format(format='parquet')}"
    of_table = scan("BatchScan parquet file:/lake/t", parquet)
    of_csv = scan("Scan csv ", f"FileScan csv {COLUMNS}", metadata={"Format": "CSV"})
    of_nothing = scan("LocalTableScan", "LocalTableScan [x#1]")
    log_of(place / "app-1", of_table, of_csv, of_nothing, of_table)
    with (place / "app-1").open("a") as log:
        log.write('no event\n{"Event":"org.apache.spark.scheduler.SparkListenerJobSt')


def cut_off(place: Path) -> None:
    pq.write_table(pa.table({"query": [TEXT]}), place / "whole.parquet")
    whole = (place / "whole.parquet").read_bytes()
    (place / "whole.parquet").write_bytes(whole[:-20])


def table(path: Path, columns: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


def document(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), "utf-8")


# Of each log: its kinds with the entries that are written into it, and those that are queries.
LOGS = {
    sql_file: {"sql": (7, 4)},
    snowflake: {"csv": (4, 2)},
    postgres: {"csv": (9, 7)},
    redshift: {"csv": (2, 1)},
    redshift_details: {"csv": (3, 0)},
    databricks_table: {"parquet": (4, 2)},
    databricks_api: {"json": (3, 2)},
    athena: {"json": (2, 1)},
    bigquery: {"json": (2, 1)},
    lines_of_json: {"json": (8, 6)},
    trino: {"trino": (3, 2)},
    iceberg: {"iceberg": (3, 2)},
    several: {"trino": (1, 1), "iceberg": (1, 1), "json": (2, 1)},
    dbt: {"dbt": (4, 2)},
    dbt_without_results: {"dbt": (3, 1)},
    spark: {"spark": (6, 2)},
    cut_off: {"parquet": (1, 0)},
}


def counts(workload: Workload) -> dict[str, tuple[int, int]]:
    """Of each kind of log its entries, and those that are queries."""
    taken, left = Counter[str](), Counter[str]()
    for query in workload.queries:
        taken.update(query.logs)
    for entry in workload.unparsed:
        assert entry.why
        left[entry.log] += entry.times
    return {log: (taken[log] + left[log], taken[log]) for log in taken.keys() | left.keys()}


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.__name__)
def test_the_entries_that_a_reader_takes_and_leaves_are_all_of_its_log(tmp_path, log):
    log(tmp_path)

    workload = read_workload([str(tmp_path)])

    assert counts(workload) == LOGS[log]
    assert workload.entries == sum(entries for entries, _ in LOGS[log].values())


@pytest.mark.spark
def test_executors_count_the_entries_of_all_logs_as_one_process_does(spark, tmp_path):
    entries, taken = Counter[str](), Counter[str]()
    for log, kinds in LOGS.items():
        place = tmp_path / log.__name__
        place.mkdir()
        log(place)
        for kind, (all_of_it, queries) in kinds.items():
            entries[kind] += all_of_it
            taken[kind] += queries
    expected = {kind: (entries[kind], taken[kind]) for kind in entries}

    assert counts(read_workload([str(tmp_path)])) == expected
    assert counts(from_frame(workload_frame(spark, [str(tmp_path)]))) == expected
