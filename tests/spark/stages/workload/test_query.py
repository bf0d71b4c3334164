"""Runs of one text are one query; statements that differ in values alone have one shape."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from whyscan.spark.stages.workload.query import MOST_ORIGINS, ActualScan, Query, grouped, shape_of


def test_runs_of_a_text_are_one_query_with_their_sums():
    monday, tuesday = datetime(2026, 3, 2, 9, tzinfo=UTC), datetime(2026, 3, 3, 9, tzinfo=UTC)
    runs = [
        Query("SELECT 1", "spark", 2, monday, monday, {"2026-03-02": 2}, 10, ("a:1",)),
        Query("SELECT 2", "spark"),
        Query("SELECT 1", "spark", 1, tuesday, tuesday, {"2026-03-03": 1}, 5, ("b:7",)),
        Query("SELECT 1", "trino"),
    ]

    assert grouped(runs) == (
        Query(
            "SELECT 1",
            "spark",
            3,
            monday,
            tuesday,
            {"2026-03-02": 2, "2026-03-03": 1},
            15,
            ("a:1", "b:7"),
        ),
        Query("SELECT 2", "spark"),
        Query("SELECT 1", "trino"),
    )


def test_a_sum_is_unknown_where_one_run_does_not_say():
    (query,) = grouped(
        [
            Query("q", "spark", bytes_read=10, actual=(ActualScan("t", files=2, rows=5),)),
            Query("q", "spark", actual=(ActualScan("t", files=0),)),
        ]
    )

    assert query.bytes_read is None
    assert query.actual == (ActualScan("t", runs=2, files=2, rows=None),)


def test_two_scans_of_a_table_stay_two():
    run = Query("q", "spark", actual=(ActualScan("t", files=1), ActualScan("t", files=10)))

    (query,) = grouped([run, run])

    assert [(scan.runs, scan.files) for scan in query.actual] == [(2, 2), (2, 20)]


def test_origins_are_the_first_ones_and_times_is_the_count():
    (query,) = grouped(Query("q", "spark", origins=(f"log:{at}",)) for at in range(1000))

    assert query.times == 1000
    assert query.origins == tuple(f"log:{at}" for at in range(MOST_ORIGINS))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT * FROM t WHERE id = 5", "select *\nfrom T where ID=-7 -- the other\n;"),
        ("SELECT a FROM t WHERE s IN ('x')", "SELECT a FROM t WHERE s IN ('x', 'it''s', NULL)"),
        ("SELECT a FROM t WHERE n IN (5L)", "SELECT a FROM t WHERE n IN (1, -2, 3)"),
        (
            "SELECT a FROM t WHERE d IN (DATE '2026-01-01')",
            "SELECT a FROM t WHERE d IN (DATE '2026-01-01', DATE '2026-01-02')",
        ),
        ("INSERT INTO t VALUES (1, 'a')", "INSERT INTO t VALUES (2, 'b'), (3, 'c')"),
        ("SELECT f(a, 1) FROM t", "SELECT f (a , 2) FROM t"),
    ],
)
def test_statements_that_differ_in_values_have_one_shape(one, other):
    assert shape_of(one, "spark") == shape_of(other, "spark")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT a FROM t WHERE a = 1", "SELECT a FROM t WHERE a > 1"),
        ("SELECT f(1) FROM t", "SELECT f(1, 2) FROM t"),
        ("SELECT a - 1 FROM t", "SELECT a + 1 FROM t"),
        ("SELECT a - 1 FROM t", "SELECT a, 1 FROM t"),
        ("SELECT `a b` FROM t", "SELECT `A c` FROM t"),
    ],
)
def test_statements_that_differ_in_more_have_not(one, other):
    assert shape_of(one, "spark") != shape_of(other, "spark")


def test_a_shape_reads_like_the_statement():
    text = "select count(*) from db.events e where e.Day >= '2026-01-01' and n in (1,2,3) limit 5"

    assert shape_of(text, "spark") == (
        "SELECT count(*) FROM db.events e WHERE e.day >= ? AND n IN (?) LIMIT ?"
    )


def test_a_list_of_a_hundred_thousand_has_a_short_shape():
    values = ", ".join(map(str, range(100_000)))

    assert shape_of(f"SELECT a FROM t WHERE n IN ({values})", "spark") == (
        "SELECT a FROM t WHERE n IN (?)"
    )


def test_what_is_no_sql_has_itself_for_a_shape():
    assert shape_of("SELECT 'open\n  end", "spark") == "SELECT 'open end"
