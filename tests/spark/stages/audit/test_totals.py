"""Names, ranks and sums of an audit, without Spark."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from support.audit_reports import AT, altered, plain_users
from whyscan.reports.engines import EngineFix, EngineLevel, EngineReading
from whyscan.reports.findings import Code, Effect, Finding, Severity
from whyscan.spark.pinned_tables import Pinned
from whyscan.spark.stages.audit.actions import actions
from whyscan.spark.stages.audit.executor import QueryOutcome
from whyscan.spark.stages.audit.phrases import kept
from whyscan.spark.stages.audit.report import Audit, AuditRun
from whyscan.spark.stages.audit.spending import RunsTotal, by_day, by_user
from whyscan.spark.stages.audit.totals import query_lines, table_totals
from whyscan.spark.stages.workload.query import ActualScan, Query

QUERIES = (
    Pinned("a", "/lake/t", {"secret_access_key": "hush"}, "delta", 1),
    Pinned("b", "/lake/t", {}, "delta", 1),
    Pinned("c", "/lake/c", {}, "delta", 1),
    Pinned("file:/lake/c", "/lake/c", {}, "delta", 1, declared=False),
)


def scan(name, uri, read, needed, *, kept=None, total=None):
    return altered(
        plain_users(),
        name=name,
        uri=uri,
        total=10,
        kept=5,
        bytes_total=total,
        bytes_kept=needed if kept is None else kept,
        bytes_read=read,
        bytes_needed=needed,
    )


def lines(*queries):
    texts = tuple(query for query, _ in queries)
    outcomes = {at: QueryOutcome(at, tables=tables) for at, (_, tables) in enumerate(queries)}
    return query_lines(texts, outcomes, QUERIES)


def test_a_table_keeps_the_name_that_a_query_uses_and_a_path_gets_the_one_it_was_given():
    (line,) = lines(
        (
            Query("q", "spark"),
            (
                scan("a", "/lake/t", 9, 9),
                scan("b", "/lake/t", 9, 9),
                scan("delta./lake/c", "/lake/c", 9, 9),
                scan("d", "/lake/d", 9, 9),
            ),
        )
    )

    assert [table.name for table in line.tables] == ["a", "b", "c", "d"]


def test_how_often_a_query_ran_counts_and_what_is_not_known_is_last_and_in_no_sum():
    rows = lines(
        (Query("often", "spark", times=10), (scan("a", "/lake/t", 30, 20),)),
        (Query("once", "spark"), (scan("a", "/lake/t", 90, 10),)),
        (Query("unknown", "spark"), (scan("c", "/lake/c", None, None, kept=0),)),
        (Query("nothing", "spark"), (scan("a", "/lake/t", 5, 5),)),
    )

    assert [(line.sql, line.wasted) for line in rows] == [
        ("often", 100),
        ("once", 80),
        ("nothing", 0),
        ("unknown", None),
    ]
    totals = {line.name: line for line in table_totals(rows, QUERIES)}
    assert (totals["a"].queries, totals["a"].times, totals["a"].wasted) == (3, 12, 180)
    assert (totals["c"].bytes_read, totals["c"].wasted) == (None, None)


def test_the_runs_of_a_user_and_of_a_day_are_summed_and_unknown_ones_are_counted():
    monday, tuesday = "2026-03-02", "2026-03-03"
    rows = lines(
        (
            Query("q", "spark", 10, users={"ann": 7, "bob": 2}, days={monday: 4, tuesday: 6}),
            (replace(scan("a", "/lake/t", 30, 20), layout_bytes=5),),
        ),
        (
            Query("unknown", "spark", 3, users={"bob": 3}, days={tuesday: 3}),
            (scan("c", "/lake/c", None, None, kept=0),),
        ),
    )

    assert by_user(rows) == (
        RunsTotal("ann", 7, 0, bytes_read=210, wasted=70, layout_bytes=35),
        RunsTotal("bob", 5, 3, bytes_read=60, wasted=20, layout_bytes=10),
    )
    assert by_day(rows) == (
        RunsTotal(monday, 4, 0, bytes_read=120, wasted=40, layout_bytes=20),
        RunsTotal(tuesday, 9, 3, bytes_read=180, wasted=60, layout_bytes=30),
    )


def test_users_are_in_every_report_and_hidden_where_it_is_shared():
    queries = lines((Query("q", "spark", 2, users={"zoe@x": 2}), (scan("a", "/lake/t", 30, 20),)))
    audit = Audit(AuditRun("r", AT, 1.0, "UTC", "auto", 0.1), queries)

    assert audit.to_dict()["users"][0]["name"] == "zoe@x"
    assert "zoe@x" in str(audit)
    assert "zoe@x" in audit.to_html()
    shared = audit.redacted()
    assert "zoe@x" not in f"{shared}{shared.to_json()}{shared.to_html()}"
    assert shared.to_dict()["users"][0]["times"] == 2


def test_a_share_is_of_bytes_and_of_files_where_those_are_not_known():
    by_bytes, by_files = lines(
        (Query("bytes", "spark"), (scan("a", "/lake/t", 30, 30, total=120),)),
        (Query("files", "spark"), (scan("a", "/lake/t", 20, 20),)),
    )

    assert (by_bytes.ratio, by_files.ratio) == (0.25, 0.5)
    assert (by_bytes.tables[0].ratio, by_files.tables[0].ratio) == (0.25, 0.5)
    assert (kept(1e-7), kept(0.0), kept(0.999999), kept(None)) == (
        "<0.1 %",
        "0 %",
        ">99.9 %",
        "unknown",
    )


def test_what_an_engine_says_of_two_scans_of_one_table_goes_to_each_in_turn():
    actual = (ActualScan("db.a", files=1), ActualScan("x", files=9), ActualScan("db.a", files=2))
    (line,) = lines(
        (
            Query("q", "spark", actual=actual),
            (scan("a", "/lake/t", 9, 9), scan("a", "/lake/t", 9, 9), scan("a", "/lake/t", 9, 9)),
        )
    )

    files = [None if table.actual is None else table.actual.files for table in line.tables]
    assert files == [1, 2, None]


FIX = EngineFix("x = 1", 2)
PREDICTED = EngineReading(
    "spark-delta", "4.4.0", "measured", (EngineLevel("files", 6, False),), (), FIX
)
BOUND = replace(PREDICTED, levels=(EngineLevel("files", 6, True),))


@pytest.mark.parametrize(
    ("engines", "read", "message"),
    [
        ((PREDICTED,), 9, "the profile of spark-delta 4.4 predicts 6 and metadata proves 5"),
        ((PREDICTED,), 6, None),
        ((BOUND,), 9, None),
        ((), 10, "where metadata proves 5"),
        ((), 9, None),
    ],
)
def test_runs_that_read_more_files_than_was_to_be_expected_are_a_finding(engines, read, message):
    planned = altered(scan("a", "/lake/t", 9, 9), engines=engines, findings=())
    query = Query("q", "spark", times=2, actual=(ActualScan("a", runs=2, files=2 * read),))

    (line,) = lines((query, (planned,)))

    findings = line.tables[0].scan.report.findings
    if message is None:
        assert findings == ()
    else:
        assert [f.code for f in findings] == [Code.ENGINE_READS_MORE]
        assert f"2 runs read {read} files each" in findings[0].message
        assert message in findings[0].message
        assert findings[0].rewrite == ("x = 1" if engines else None)


def test_no_secret_of_a_table_is_shown():
    assert "hush" not in repr(QUERIES)


def test_changes_that_queries_share_are_one_with_what_they_save_and_for_whom():
    rewrite = Finding(
        Code.FUNCTION_ON_PARTITION,
        Severity.WARNING,
        "a message",
        "write x = 1",
        rewrite="x = 1",
        effect=Effect("files", 5, 1),
        columns=("x",),
    )
    wide = Finding(Code.WIDE_BOUNDS, Severity.WARNING, "a message", "sort by y", columns=("y",))
    wasteful = altered(scan("a", "/lake/t", 30, 20), findings=(rewrite, rewrite))
    laid_out = altered(scan("c", "/lake/c", 50, 50), layout_bytes=40, findings=(wide,))
    rows = lines(
        (Query("p", "spark", 10, users={"ann": 7, "bob": 3}), (wasteful,)),
        (Query("q", "spark", 2, users={"bob": 2}), (wasteful, laid_out)),
        (Query("nothing", "spark", 9), (scan("a", "/lake/t", 5, 5),)),
    )

    assert [
        (one.table, one.columns, one.fix, one.saves, one.is_estimate, one.queries, one.times)
        for one in actions(rows, None)
    ] == [
        ("a", ("x",), "write x = 1", 120, False, 2, 12),
        ("c", ("y",), "sort by y", 80, True, 1, 2),
    ]
    assert [one.users for one in actions(rows, None)] == [("ann", "bob"), ("bob",)]
