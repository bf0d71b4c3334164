"""Query logs in rows: their columns by name, their times and counts, what is no query listed."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.csv import write_csv

from whyscan.spark.stages.workload import read_workload
from whyscan.spark.stages.workload.logs import find_logs
from whyscan.spark.stages.workload.query import Query, Unparsed
from whyscan.spark.stages.workload.reading import read_log

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)


def read(path, **named):
    return read_workload([str(path)], **named)


def test_rows_of_a_csv_are_runs_and_equal_texts_one_query(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(
        "started,query_text,bytes_scanned,user\n"
        '2026-03-02T09:00:00Z,"SELECT a\nFROM t WHERE s = \'x, ""y""\'",100,ann\n'
        "2026-03-03 10:30:00+01:00,SELECT b FROM t,5,bob\n"
        '2026-03-04 09:00:00,"SELECT a\nFROM t WHERE s = \'x, ""y""\'",11,ann\n',
        "utf-8",
    )

    workload = read(log)

    assert workload.unparsed == ()
    assert workload.queries == (
        Query(
            "SELECT a\nFROM t WHERE s = 'x, \"y\"'",
            "spark",
            2,
            NINE,
            datetime(2026, 3, 4, 9, tzinfo=UTC),
            {"2026-03-02": 1, "2026-03-04": 1},
            111,
            ("log.csv:3", "log.csv:6"),
            users={"ann": 2},
            logs={"csv": 2},
        ),
        Query(
            "SELECT b FROM t",
            "spark",
            1,
            datetime(2026, 3, 3, 9, 30, tzinfo=UTC),
            datetime(2026, 3, 3, 9, 30, tzinfo=UTC),
            {"2026-03-03": 1},
            5,
            ("log.csv:4",),
            users={"bob": 1},
            logs={"csv": 1},
        ),
    )


def test_a_row_may_be_many_runs_and_say_its_dialect(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("sql;executions;dialect\nSELECT a FROM t;1,200;TRINO\nSELECT b FROM t;;\n")

    one, other = read(log).queries

    assert (one.times, one.dialect, one.bytes_read) == (1200, "trino", None)
    assert (other.times, other.dialect) == (1, "spark")


def test_a_row_that_is_no_query_is_listed(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(
        "query,times,bytes\nSELECT a FROM t,often,1\n,1,1\nSHOW TABLES,3,1\n"
        "SELECT b FROM t,1,-5\nSELECT c FROM t,1,\nSHOW TABLES,4,1\n"
    )

    workload = read(log)

    assert [query.text for query in workload.queries] == ["SELECT b FROM t", "SELECT c FROM t"]
    no_count = "times of the row are no count: often"
    assert workload.unparsed == (
        Unparsed("log.csv:2", "SELECT a FROM t", no_count, log="csv"),
        Unparsed("log.csv:3", "", "the row has no query", log="csv"),
        Unparsed("log.csv:4", "SHOW TABLES", "SHOW reads no table", 7, log="csv"),
    )


@pytest.mark.parametrize(
    ("printed", "count"),
    [("1000.0", 1000), ("1e6", 1000000), ('"1,000"', 1000), ("1000", 1000), ("", None)],
)
def test_a_count_is_read_however_programs_print_it(tmp_path, printed, count):
    log = tmp_path / "log.csv"
    log.write_text(f"query,bytes,times\nSELECT a FROM t,{printed},{printed}\n")

    (query,) = read(log).queries

    assert (query.bytes_read, query.times, query.notes) == (count, count or 1, ())


@pytest.mark.parametrize("printed", ["1.5 GB", "-5", "1e999999999", "99999999999999999999", "inf"])
def test_bytes_that_are_no_count_are_unknown_and_said(tmp_path, printed):
    log = tmp_path / "log.csv"
    log.write_text(f"query,bytes\nSELECT a FROM t,{printed}\n")

    (query,) = read(log).queries

    assert query.bytes_read is None
    assert query.notes == (f"how many bytes it read cannot be read: {printed}",)


def test_a_number_that_pandas_has_for_none_is_none(tmp_path):
    nothing = pa.array([float("nan")], pa.float64())
    log = pa.table({"query": ["SELECT a FROM t"], "bytes": nothing, "times": nothing})
    pq.write_table(log, tmp_path / "log.parquet")

    (query,) = read(tmp_path / "log.parquet").queries

    assert (query.bytes_read, query.times, query.notes) == (None, 1, ())


def test_a_text_in_bytes_is_a_text_and_a_time_that_python_has_not_is_unknown(tmp_path):
    texts = pa.array([b"SELECT 'x' FROM t", b"SELECT '\xff' FROM t", b"SELECT 'x' FROM t"])
    times = pa.array([1772442000_000_000, None, 1 << 62], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"query": texts, "started": times}), tmp_path / "log.parquet")

    workload = read(tmp_path / "log.parquet")

    (query,) = workload.queries
    assert (query.text, query.times, query.first) == ("SELECT 'x' FROM t", 2, NINE)
    late = "4611686018427387904 as timestamp[us, tz=UTC]"
    assert query.notes == (f"when it ran cannot be read: {late}",)
    assert workload.unparsed == (
        Unparsed("log.parquet:2", "", "its query is not UTF-8", log="parquet"),
    )


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("log.csv", "query,times\r\nSELECT 'ü𝄞' FROM t,1\r\n"),
        ("log.sql", "SELECT 'ü𝄞' FROM t;\r\n"),
        ("log.jsonl", '{"query": "SELECT \'ü𝄞\' FROM t"}\r\n'),
    ],
)
def test_a_text_of_windows_is_read(tmp_path, coding, name, content):
    mark = "\ufeff" if coding == "utf-16-be" else ""
    (tmp_path / name).write_bytes((mark + content).encode(coding))

    workload = read(tmp_path / name)

    assert [query.text for query in workload.queries] == ["SELECT 'ü𝄞' FROM t"]
    assert workload.unparsed == ()


def test_the_statements_of_one_row_are_queries_and_views_stay_with_those_that_use_them(tmp_path):
    log = tmp_path / "log.csv"
    view = "CREATE TEMP VIEW v AS SELECT a FROM t; SELECT a FROM v"
    log.write_text(
        "query,times,bytes\n"
        "\"SET x = 1; SELECT a FROM t WHERE s = 'x;y'; SELECT b FROM t;\",4,100\n"
        f'"{view}",1,5\nSELECT b FROM t,2,7\n"SELECT FROM; ) x",1,1\n'
    )

    workload = read(log)

    note = ("one of several statements of an entry",)
    entries = [(one.text, one.times, one.bytes_read, one.notes) for one in workload.queries]
    assert entries == [
        ("SELECT a FROM t WHERE s = 'x;y'", 4, None, note),
        ("SELECT b FROM t", 6, None, note),
        (view, 1, 5, ()),
    ]
    assert [(one.text, one.times) for one in workload.unparsed] == [
        ("SET x = 1", 4),
        ("SELECT FROM", 1),
        (") x", 1),
    ]


def test_a_time_that_cannot_be_read_is_unknown_and_said(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("query,when\nSELECT a FROM t,yesterday\n")

    (query,) = read(log).queries

    assert (query.first, query.days) == (None, {})
    assert query.notes == ("when it ran cannot be read: yesterday",)


@pytest.mark.parametrize("value", [1772442000, 1772442000000, 1772442000.0, "1772442000000000"])
def test_numbers_since_1970_are_times_in_any_unit(tmp_path, value):
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"query": "SELECT a FROM t", "timestamp": value}) + "\n")

    (query,) = read(log).queries

    assert query.first == NINE


def test_a_log_without_a_column_of_queries_says_which_it_has(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("who,what\nann,SELECT a FROM t\n")

    (entry,) = read(log).unparsed

    assert entry.why.endswith("its columns are who, what")


def test_a_parquet_log_is_read_with_its_types(tmp_path):
    log = tmp_path / "log.parquet"
    rows = {
        "Statement": ["SELECT a FROM t", "SELECT a FROM t", None],
        "start_time": pa.array([NINE, None, None], pa.timestamp("us", "UTC")),
        "physicalInputBytes": [7, 8, 9],
        "other": [1, 2, 3],
    }
    pq.write_table(pa.table(rows), log)

    workload = read(log)

    (query,) = workload.queries
    assert (query.times, query.bytes_read, query.first, query.last) == (2, 15, NINE, NINE)
    assert query.days == {"2026-03-02": 1}
    assert workload.unparsed == (
        Unparsed("log.parquet:3", "", "the row has no query", log="parquet"),
    )


def test_lines_of_json_are_rows_and_a_cut_last_line_is_listed(tmp_path):
    log = tmp_path / "log.jsonl"
    line = json.dumps({"query": "SELECT a FROM t", "bytesRead": 3})
    log.write_text(f"{line}\n{line}\n{line[:20]}")

    workload = read(log)

    (query,) = workload.queries
    assert (query.times, query.bytes_read) == (2, 6)
    assert workload.unparsed == (
        Unparsed("log.jsonl:3", "", "it is no whole object of JSON", log="json"),
    )


def test_a_log_that_grows_after_it_was_listed_has_its_whole_lines_and_the_cut_one_is_listed(
    tmp_path,
):
    log = tmp_path / "log.jsonl"
    line = json.dumps({"query": "SELECT a FROM t"}) + "\n"
    log.write_text(line)
    (listed,) = find_logs(str(log))
    with log.open("a") as file:
        file.write(line * 2 + line[:20])

    *queries, cut = read_log(listed, "spark")

    assert [query.text for query in queries] == ["SELECT a FROM t"] * 3
    assert cut == Unparsed("log.jsonl:4", "", "it is no whole object of JSON", log="json")


def test_an_array_of_json_is_rows_too(tmp_path):
    log = tmp_path / "log.json"
    log.write_text(json.dumps([{"sql": "SELECT a FROM t"}, 5], indent=1))

    workload = read(log)

    assert [query.origins for query in workload.queries] == [("log.json[1]",)]
    assert [entry.origin for entry in workload.unparsed] == ["log.json[2]"]


def test_a_damaged_parquet_file_does_not_stop_the_others(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing else")
    (tmp_path / "good.sql").write_text("SELECT a FROM t")

    workload = read(tmp_path)

    assert len(workload.queries) == 1
    assert [entry.origin for entry in workload.unparsed] == ["bad.parquet"]


# The first row of each history as its engine exports it: columns that whyscan does not know stay.
HISTORIES = {
    "snowflake": (
        (
            "QUERY_ID,QUERY_TEXT,DATABASE_NAME,SCHEMA_NAME,USER_NAME,ROLE_NAME,WAREHOUSE_SIZE,START_TIME,"
            "BYTES_SCANNED,PARTITIONS_SCANNED,PARTITIONS_TOTAL,CREDITS_USED_CLOUD_SERVICES\n"
            "01b2,SELECT a FROM t WHERE a > 5,LAKE,SALES,ANN,ANALYST,X-Small,"
            "2026-03-02 01:00:00.000 -0800,4096,3,40,0.000012\n"
        ),
        {"namespace": "LAKE.SALES", "users": {"ANN": 1}, "bytes_read": 4096, "files": (3, 40)},
    ),
    "redshift": (
        (
            "user_id,query_id,query_label,database_name,query_type,status,result_cache_hit,start_time,"
            "returned_bytes,query_text,redshift_version,username,scanned_files,qualified_partitions\n"
            "101,7,default,dev,SELECT,success,f,2026-03-02 09:00:00.000000,64,"
            "SELECT a\\nFROM t WHERE a > 5   ,1.0.5,ann,3,2\n"
        ),
        {"text": "SELECT a\nFROM t WHERE a > 5", "users": {"ann": 1}, "files": (3, None)},
    ),
    "postgres": (
        (
            "userid,dbid,queryid,query,parameters,calls,total_exec_time,rows,shared_blks_hit\n"
            "10,5,-77,SELECT a FROM t WHERE a > $1 AND b = $2,\"$1 = '5', $2 = NULL\",12,3.5,9,1\n"
        ),
        {"text": "SELECT a FROM t WHERE a > '5' AND b = NULL", "times": 12, "users": {"10": 12}},
    ),
    "bigquery": (
        (
            "creation_time,user_email,job_id,query,total_bytes_processed,total_slot_ms\n"
            "2026-03-02 09:00:00.000000 UTC,ann@example.com,j,SELECT a FROM t WHERE a > 5,4096,12\n"
        ),
        {"users": {"ann@example.com": 1}, "bytes_read": 4096},
    ),
    "databricks": (
        (
            "statement_id,executed_by,executed_by_user_id,statement_text,start_time,read_files,"
            "pruned_files,read_bytes,total_task_duration_ms\n"
            "s,ann@example.com,7,SELECT a FROM t WHERE a > 5,2026-03-02T09:00:00Z,3,37,4096,9\n"
        ),
        {"users": {"ann@example.com": 1}, "bytes_read": 4096, "files": (3, 40)},
    ),
}


@pytest.mark.parametrize("engine", HISTORIES)
def test_a_history_is_of_the_engine_whose_columns_it_has(tmp_path, engine):
    text, expected = HISTORIES[engine]
    (tmp_path / "log.csv").write_text(text)

    workload = read(tmp_path / "log.csv")

    [query] = workload.queries
    assert workload.unparsed == ()
    assert (query.dialect, query.text) == (
        engine,
        expected.get("text", "SELECT a FROM t WHERE a > 5"),
    )
    assert query.first in {NINE, None}
    for name in ("namespace", "users", "bytes_read", "times"):
        assert getattr(query, name) == expected.get(name, getattr(query, name)), name
    if "files" in expected:
        [scan] = query.actual
        assert (scan.files, scan.files_total) == expected["files"]


PARAMETERS = {
    "a list": ("postgres", "a > $1 AND s = $2", '[5, "it\'s"]', "a > 5 AND s = 'it''s'"),
    "question marks": ("spark", "a > ? AND s = ?", "[5, true]", "a > 5 AND s = TRUE"),
    "fewer values": ("spark", "a > ? AND s = ?", "[5]", "a > ? AND s = ?"),
    "twice": ("postgres", "a > $1 OR b > $1", "$1 = '5'", "a > '5' OR b > '5'"),
    "in a string": ("postgres", "s = '$1' AND a > $1", "[5]", "s = '$1' AND a > 5"),
    "two digits": ("postgres", "a > $11", "[5]", "a > $11"),
    "a float": ("postgres", "a > $1", "[1.5]", "a > $1"),
    "a backslash": ("postgres", "s = $1", '["a\\\\b"]', "s = $1"),
    "no list": ("postgres", "a > $1", "five", "a > $1"),
}


@pytest.mark.parametrize("case", PARAMETERS)
def test_values_of_parameters_stand_in_their_places(tmp_path, case):
    dialect, condition, values, expected = PARAMETERS[case]
    row = {"query": f"SELECT a FROM t WHERE {condition}", "parameters": values, "dialect": dialect}
    (tmp_path / "log.json").write_text(json.dumps(row))

    [query] = read(tmp_path / "log.json").queries

    assert query.text == f"SELECT a FROM t WHERE {expected}"


def test_a_text_as_long_as_its_engine_keeps_is_left_out_as_it_may_be_cut(tmp_path):
    begin = "SELECT a FROM t WHERE a > 5 OR s = '"
    texts = [f"{begin}{'x' * (length - len(begin) - 1)}'" for length in (3_999, 4_000)]
    rows = [{"query_text": text, "redshift_version": "1"} for text in texts]
    (tmp_path / "log.json").write_text(json.dumps(rows))

    workload = read(tmp_path / "log.json")

    assert [query.text for query in workload.queries] == texts[:1]
    [left] = workload.unparsed
    assert left.why == "the log keeps 4,000 characters of a text"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_every_row_of_a_log_without_texts_is_counted(tmp_path, form):
    rows = pa.table(
        {"query_id": [1, 2, 3], "scanned_files": [3] * 3, "external_query_text": [""] * 3}
    )
    log = tmp_path / f"detail.{form}"
    if form == "csv":
        write_csv(rows, log)
    else:
        pq.write_table(rows, log)

    workload = read(log)

    assert (workload.entries, workload.queries) == (3, ())
    assert workload.unparsed[0].why == "it has no texts: join SYS_QUERY_HISTORY to it by query_id"
