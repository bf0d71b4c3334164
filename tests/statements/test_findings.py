"""Findings about a whole statement: each fires, its near-miss does not, and its fix is applied.

A fix that changes the statement is asked again; one that changes a table is written again.
"""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import validator
from support.statement_reports import valid
from tables.delta.conftest import Lake as DeltaLake
from tables.delta.conftest import bounds
from whyscan.reports.document import document
from whyscan.table import Table
from whyscan.tables.snapshot import Collected, Recording
from whyscan.tree.types import BIGINT, DATE, INT, STRING, TIMESTAMP_NTZ, DecimalType

DAY = 86_400_000_000
START = 19_724
"""2024-01-02 as days since 1970."""


def table(columns, files, partitioned_by=(), **terms):
    return MemoryTable(columns, files, partitioned_by, footers_describe_files=False, **terms)


def sales(**terms):
    """Two files a month; ids reach across all of them, users do not."""
    files = [
        DataFile(
            f"month={month}/{part}",
            {"month": month},
            [RowGroup(50, {"user": (10 * month, 10 * month + 9), "id": (part, 1000 + month)})],
        )
        for month in range(1, 13)
        for part in (0, 1)
    ]
    columns = {"month": INT, "user": INT, "id": BIGINT}
    return table(columns, files, ("month",), uri="lake/sales", **terms)


def months():
    """A file a month; its number as text too, and as a decimal."""
    files = [
        DataFile(
            f"{m}",
            {},
            [
                RowGroup(
                    30,
                    {
                        "month": (m, m),
                        "code": (str(m), str(m)),
                        "id": (10 * m, 10 * m + 9),
                        "name": ("a", "z"),
                    },
                )
            ],
        )
        for m in range(1, 7)
    ]
    columns = {"month": INT, "code": STRING, "id": BIGINT, "name": STRING}
    return table(columns, files, uri="lake/months")


def events():
    """A file a day, with instants of that day."""
    files = [
        DataFile(f"{d}", {}, [RowGroup(500, {"ts": (d * DAY, (d + 1) * DAY - 1)})])
        for d in range(START, START + 10)
    ]
    return table({"ts": TIMESTAMP_NTZ, "x": INT}, files, uri="lake/events")


def days():
    files = [
        DataFile(f"{d}", {}, [RowGroup(1, {"day": (d, d), "week": (d // 7, d // 7)})])
        for d in range(START, START + 10)
    ]
    return table({"day": DATE, "week": INT, "x": INT}, files, uri="lake/days")


NUMBERED = "SELECT *, row_number() OVER (PARTITION BY user ORDER BY id) AS r FROM s"

LAKE = {"s": sales, "m": months, "e": events, "d": days}


def explained(sql, **tables):
    tables_by_name = {name: Table(make()) for name, make in LAKE.items()}
    tables_by_name |= {name: Table(snapshot) for name, snapshot in tables.items()}
    report = whyscan.explain_sql(sql, tables_by_name, depth="files")
    valid(document(report))
    return report


def finding_of(sql, code, **tables):
    """The finding of that code, None where it is not raised."""
    all_findings = explained(sql, **tables).findings
    return next((f for f in all_findings if f.code == code), None)


def kept(sql, alias, **tables):
    """The files that a scan keeps."""
    scans = explained(sql, **tables).scans
    return next(s.report.files_level.kept for s in scans if s.alias == alias)


def effect(finding):
    return finding.effect.unit, finding.effect.before, finding.effect.after


# A cross join.


def test_a_cross_join_offers_the_equality_by_which_a_condition_spreads():
    sql = "SELECT * FROM s, m WHERE m.month = 3"
    finding = finding_of(sql, "CROSS_JOIN")

    assert finding.evidence == {"rows": 1200, "other_rows": 30, "pairs": 36_000}
    assert finding.rewrite == "s.month = m.month"
    assert effect(finding) == ("files of s", 24, 2)
    fixed = f"{sql} AND {finding.rewrite}"
    assert kept(fixed, "s") == 2
    assert finding_of(fixed, "CROSS_JOIN") is None


def test_a_cross_join_of_tables_with_nothing_in_common_offers_nothing():
    finding = finding_of("SELECT * FROM m CROSS JOIN e", "CROSS_JOIN")

    assert (finding.rewrite, finding.effect) == (None, None)
    assert "up to 180 rows meet up to 5,000 each, 900,000 pairs" in finding.message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM s JOIN m USING (month)",
        "SELECT * FROM s NATURAL JOIN m",
        "SELECT * FROM s, m WHERE s.month < m.month",
        "SELECT * FROM s, m WHERE s.month = 3 AND m.month = 3",
        "SELECT * FROM s, (SELECT max(id) AS id FROM m) x",
        "SELECT * FROM s, (SELECT id FROM m LIMIT 1) x",
        "SELECT * FROM s, (VALUES (1), (2)) AS v(n)",
        "SELECT * FROM s WHERE id IN (SELECT id FROM m)",
        "SELECT * FROM s WHERE EXISTS (SELECT 1 FROM m WHERE m.id = s.id)",
        "SELECT * FROM s, m WHERE EXISTS (SELECT 1 FROM d WHERE d.x = s.id AND d.week = m.id)",
        "SELECT * FROM s, LATERAL (SELECT * FROM m WHERE m.id = s.id) x",
        "SELECT * FROM s JOIN m ON hash(s.id, m.id) = 0",
        "SELECT (SELECT max(id) FROM m) FROM s",
        "SELECT * FROM s UNION ALL SELECT month, month, id FROM m",
    ],
)
def test_joined_tables_and_single_rows_are_no_cross_join(sql):
    assert finding_of(sql, "CROSS_JOIN") is None


# A filter on the wrong side of an outer join.


def test_a_filter_in_on_of_the_side_that_stays_filters_nothing_until_it_is_in_where():
    finding = finding_of(
        "SELECT * FROM s LEFT JOIN m ON s.id = m.id AND s.month = 3", "FILTER_ON_WRONG_SIDE"
    )

    assert finding.severity == "warning"
    assert effect(finding) == ("files of s", 24, 2)
    fixed = f"SELECT * FROM s LEFT JOIN m ON s.id = m.id {finding.rewrite}"
    assert kept(fixed, "s") == 2
    assert finding_of(fixed, "FILTER_ON_WRONG_SIDE") is None


def test_the_right_side_of_a_right_join_is_the_one_that_stays():
    finding = finding_of(
        "SELECT * FROM m RIGHT JOIN s ON s.id = m.id AND s.month = 3", "FILTER_ON_WRONG_SIDE"
    )

    assert effect(finding) == ("files of s", 24, 2)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM s LEFT JOIN m ON s.id = m.id AND m.month = 3",
        "SELECT * FROM s JOIN m ON s.id = m.id AND s.month = 3",
        "SELECT * FROM s LEFT JOIN m ON s.id = m.id WHERE s.month = 3",
        "SELECT * FROM s LEFT JOIN m ON s.id = m.id WHERE m.id IS NULL",
        "SELECT * FROM s LEFT JOIN m ON s.id = m.id WHERE coalesce(m.id, 0) < 5",
        "SELECT * FROM s FULL JOIN m ON s.id = m.id",
    ],
)
def test_filters_where_they_belong(sql):
    assert finding_of(sql, "FILTER_ON_WRONG_SIDE") is None


@pytest.mark.parametrize(
    ("kind", "condition", "instead"),
    [
        ("LEFT", "m.name > 'b'", "INNER JOIN"),
        ("RIGHT", "s.user = 5", "INNER JOIN"),
        ("FULL", "m.name > 'b'", "RIGHT JOIN"),
        ("FULL", "s.user = 5", "LEFT JOIN"),
        ("FULL", "s.user = 5 AND m.name > 'b'", "INNER JOIN"),
    ],
)
def test_a_filter_that_undoes_an_outer_join_names_the_join_that_is_left(kind, condition, instead):
    sql = f"SELECT * FROM s {kind} JOIN m ON s.month = m.month WHERE {condition}"
    finding = finding_of(sql, "FILTER_ON_WRONG_SIDE")

    assert (finding.severity, finding.rewrite, finding.effect) == ("info", instead, None)
    fixed = sql.replace(f"{kind} JOIN", instead)
    assert [kept(fixed, a) for a in "sm"] == [kept(sql, a) for a in "sm"]
    assert finding_of(fixed, "FILTER_ON_WRONG_SIDE") is None


# A function on the join key.


def test_a_function_on_the_key_is_reported_as_a_range_of_the_bare_column():
    sql = "SELECT * FROM e JOIN d ON CAST(e.ts AS DATE) = d.day WHERE d.day = DATE '2024-01-05'"
    finding = finding_of(sql, "FUNCTION_ON_JOIN_KEY")

    assert finding.rewrite == (
        "e.ts >= TIMESTAMP_NTZ '2024-01-05 00:00:00' AND e.ts < TIMESTAMP_NTZ '2024-01-06 00:00:00'"
    )
    assert effect(finding) == ("files of e", 10, 1)
    bare = f"SELECT * FROM e WHERE {finding.rewrite}"
    assert (kept(bare, "e"), kept("SELECT * FROM e", "e")) == (1, 10)


def test_what_a_function_makes_of_a_condition_is_offered_to_the_other_side():
    sql = """SELECT * FROM e JOIN d ON date_trunc('day', e.ts) = d.day
        WHERE e.ts BETWEEN '2024-01-05 10:00:00' AND '2024-01-06 09:00:00'"""
    finding = finding_of(sql, "FUNCTION_ON_JOIN_KEY")

    assert finding.severity == "warning"
    assert finding.rewrite == "d.day >= DATE '2024-01-05' AND d.day < DATE '2024-01-07'"
    assert effect(finding) == ("files of d", 10, 2)
    assert kept(f"{sql} AND {finding.rewrite}", "d") == 2


def test_an_integer_as_text_is_an_integer_again():
    sql = "SELECT * FROM s JOIN m ON CAST(s.month AS STRING) = m.code WHERE m.code = '3'"
    finding = finding_of(sql, "FUNCTION_ON_JOIN_KEY")

    assert finding.rewrite == "s.month = 3"
    assert kept(f"SELECT * FROM s WHERE {finding.rewrite}", "s") == finding.effect.after == 2


def test_values_of_joins_that_pass_through_a_function_are_reported():
    sql = "SELECT * FROM s JOIN m ON s.user + 1 = m.id WHERE m.code = '3'"
    finding = finding_of(sql, "FUNCTION_ON_JOIN_KEY")

    assert (finding.rewrite, finding.effect) == (None, None)
    assert "24 of 24 files are read, and at most 4 with what joins supply" in finding.message


@pytest.mark.parametrize("text", ["03", "+3", "3.0", "three", "99999999999", "٣"])
def test_text_that_no_integer_is_written_as_is_no_integer(text):
    sql = f"SELECT * FROM s JOIN m ON CAST(s.month AS STRING) = m.code WHERE m.code = '{text}'"
    finding = finding_of(sql, "FUNCTION_ON_JOIN_KEY")

    assert finding is None or finding.rewrite is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM s JOIN m ON s.month = m.month WHERE m.month + 1 = 3",
        "SELECT * FROM s JOIN m ON s.month + 1 = m.month",
        "SELECT * FROM s LEFT JOIN m ON s.month + 1 = m.month AND m.name = 'b'",
    ],
)
def test_a_function_that_keeps_no_condition_from_spreading_is_not_reported(sql):
    assert finding_of(sql, "FUNCTION_ON_JOIN_KEY") is None


def test_bounds_that_are_no_text_say_nothing():
    cut = [
        DataFile("a", {}, [RowGroup(5, {"s": (b"a", b"ab\xff"), "k": (1, 5)})]),
        DataFile("b", {}, [RowGroup(5, {"s": (b"c", b"d"), "k": (6, 9)})]),
    ]
    x, y = (table({"s": STRING, "k": INT}, cut, uri=name) for name in "xy")
    plain = explained("SELECT * FROM x JOIN y ON x.s = y.s WHERE y.k = 3", x=x, y=y)
    lower = finding_of(
        "SELECT * FROM x JOIN y ON lower(x.s) = y.s WHERE x.s LIKE 'ab%'",
        "FUNCTION_ON_JOIN_KEY",
        x=x,
        y=y,
    )

    assert plain.scans[0].dynamic.supplies[0].high is None
    assert lower is None or "\ufffd" not in str(lower.rewrite)


# A type mismatch between the keys.


@pytest.mark.parametrize(
    ("on", "condition", "rewrite", "expected"),
    [
        ("s.month = m.code", "m.code IN ('3', '5')", "s.month IN (3, 5)", ("files of s", 24, 4)),
        ("s.month = m.code", "s.month = 3", "m.code = '3'", ("files of m", 6, 1)),
        (
            "d.day = e.ts",
            "d.day >= DATE '2024-01-09'",
            "e.ts >= TIMESTAMP_NTZ '2024-01-09 00:00:00'",
            ("files of e", 10, 3),
        ),
    ],
)
def test_keys_of_two_types_cost_the_condition_that_does_not_spread(
    on, condition, rewrite, expected
):
    one, other = on[0], on[on.index("=") + 2]
    sql = f"SELECT * FROM {one} JOIN {other} ON {on} WHERE {condition}"
    finding = finding_of(sql, "JOIN_TYPE_MISMATCH")

    assert (finding.rewrite, effect(finding)) == (rewrite, expected)
    alias = expected[0][-1]
    assert kept(f"SELECT * FROM {alias} WHERE {rewrite}", alias) == expected[2]


def test_a_constant_passes_the_cast_of_a_key():
    sql = "SELECT * FROM s JOIN m ON s.month = m.code WHERE m.code = '3'"

    assert finding_of(sql, "JOIN_TYPE_MISMATCH").rewrite is None
    assert kept(sql, "s") == 2


def test_decimals_of_two_scales_are_cast():
    prices = table(
        {"price": DecimalType(10, 2), "id": BIGINT}, [DataFile("a", {}, [RowGroup(5)])], uri="p"
    )
    limits = table({"price": DecimalType(12, 4)}, [DataFile("b", {}, [RowGroup(5)])], uri="q")
    sql = "SELECT * FROM p JOIN q ON p.price = q.price"
    finding = finding_of(sql, "JOIN_TYPE_MISMATCH", p=prices, q=limits)

    assert finding.severity == "info"
    assert finding.evidence == {
        "left": "decimal(10,2)",
        "right": "decimal(12,4)",
        "compared_as": "decimal(12,4)",
    }


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM s JOIN m ON s.user = m.id WHERE m.id = 33",
        "SELECT * FROM s JOIN m ON s.month = m.month WHERE m.code = '3'",
        "SELECT * FROM s JOIN m ON s.month < m.code",
    ],
)
def test_integers_of_two_widths_and_equal_types_are_no_mismatch(sql):
    assert finding_of(sql, "JOIN_TYPE_MISMATCH") is None


def test_what_is_said_to_follow_changes_no_row():
    """The implied conditions of all three tables, run."""
    con = duckdb.connect()
    con.execute("CREATE TABLE s AS SELECT i % 13 AS month, i AS id FROM range(200) t(i)")
    con.execute("CREATE TABLE m AS SELECT CAST(i AS VARCHAR) AS code FROM range(20) t(i)")
    for condition in ("m.code IN ('3', '4')", "m.code IN ('3', '5')"):
        sql = f"SELECT * FROM s JOIN m ON s.month = m.code WHERE {condition}"
        finding = finding_of(sql, "JOIN_TYPE_MISMATCH")
        run = sql.replace("= m.code WHERE", "= CAST(m.code AS BIGINT) WHERE")
        rows = con.sql(f"{run} ORDER BY s.id").fetchall()
        again = con.sql(f"{run} AND {finding.rewrite} ORDER BY s.id").fetchall()
        assert rows == again
        assert rows


# A join key without statistics.


def test_a_key_without_statistics_names_the_property_of_its_table():
    setting = ("delta.dataSkippingStatsColumns", "id")
    files = [DataFile(f"{n}", {}, [RowGroup(90)]) for n in range(8)]
    facts = table(
        {"id": BIGINT},
        files,
        uri="lake/f",
        recordings={"id": Recording(Collected.BEYOND_BUDGET, "only the first 2 columns", setting)},
    )
    sql = "SELECT * FROM f JOIN m ON f.id = m.id WHERE m.month = 3"
    finding = finding_of(sql, "JOIN_KEY_WITHOUT_STATISTICS", f=facts)

    assert finding.evidence == {"files": 8, "files_without_bounds": 8}
    assert finding.rewrite == (
        "ALTER TABLE delta.`lake/f` SET TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'id')"
    )
    assert (
        finding_of("SELECT * FROM f JOIN m ON f.id = m.id", "JOIN_KEY_WITHOUT_STATISTICS", f=facts)
        is None
    )


def test_once_written_the_statistics_of_the_key_are_missed_no_more(tmp_path):
    def written(name, *statistics):
        lake = DeltaLake(tmp_path / name)
        lake.create({"id": "long"})
        lake.commit(
            *(lake.add(f"f{n}", bounded, size=9_000) for n, bounded in enumerate(statistics))
        )
        return lake.open()

    sql = "SELECT * FROM f JOIN m ON f.id = m.id WHERE m.month = 3"
    blind = written("blind", *(None for _ in range(4)))
    bounded = written("told", *(bounds("id", 20 * n, 20 * n + 19) for n in range(4)))
    finding = finding_of(sql, "JOIN_KEY_WITHOUT_STATISTICS", f=blind)

    assert finding.evidence == {"files": 4, "files_without_bounds": 4}
    assert finding_of(sql, "JOIN_KEY_WITHOUT_STATISTICS", f=bounded) is None
    scan = explained(sql, f=bounded).scans[0]
    assert (scan.dynamic.static.files, scan.dynamic.bounded.files) == (4, 1)


# A full scan of the larger side.


def test_a_full_scan_offers_the_equality_by_which_the_other_filter_would_spread():
    sql = "SELECT * FROM s JOIN m ON s.id = m.id WHERE m.month = 3"
    finding = finding_of(sql, "FULL_SCAN_OF_LARGER_SIDE")

    assert finding.rewrite == "s.month = m.month"
    assert effect(finding) == ("files of s", 24, 2)
    fixed = f"{sql} AND {finding.rewrite}"
    assert kept(fixed, "s") == 2
    assert finding_of(fixed, "FULL_SCAN_OF_LARGER_SIDE") is None


def test_a_full_scan_without_such_a_column_tells_how_deep_the_key_lies():
    finding = finding_of(
        "SELECT * FROM s JOIN m ON s.id = m.id WHERE m.name = 'b'", "FULL_SCAN_OF_LARGER_SIDE"
    )

    assert finding.rewrite is None
    assert effect(finding) == ("median depth", 24, 1)


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT * FROM s JOIN m ON s.id = m.id", "nothing is filtered"),
        ("SELECT * FROM s LEFT JOIN m ON s.id = m.id AND m.month = 3", "all of s is wanted"),
        ("SELECT * FROM s JOIN m ON s.user = m.id WHERE m.month = 3", "bounds rule files out"),
        ("SELECT * FROM s JOIN m ON s.month = m.month WHERE m.name = 'b'", "partitions tell"),
        (
            "SELECT * FROM s WHERE NOT EXISTS (SELECT 1 FROM m WHERE m.id = s.id AND m.month = 3)",
            "an anti join keeps what has no partner",
        ),
    ],
)
def test_a_larger_side_that_is_wanted_or_can_be_pruned_is_no_full_scan(sql, why):
    assert finding_of(sql, "FULL_SCAN_OF_LARGER_SIDE") is None, why


# A filter above a barrier.


@pytest.mark.parametrize(
    ("sql", "fixed"),
    [
        (
            "SELECT * FROM (SELECT * FROM s ORDER BY id LIMIT 500) x WHERE x.month = 3",
            "SELECT * FROM (SELECT * FROM s WHERE month = 3 ORDER BY id LIMIT 500) x",
        ),
        (
            f"SELECT * FROM ({NUMBERED}) x WHERE x.month = 3 AND r = 1",
            f"SELECT * FROM ({NUMBERED} WHERE month = 3) x WHERE r = 1",
        ),
    ],
)
def test_a_filter_above_a_barrier_tells_what_it_would_spare_below(sql, fixed):
    finding = finding_of(sql, "FILTER_ABOVE_BARRIER")

    assert (finding.severity, finding.rewrite) == ("info", None)
    assert "not the same" in finding.fix
    assert finding.effect.after == kept(fixed, "s") == 2
    assert finding.effect.before == kept(sql, "s") == 24
    assert finding_of(fixed, "FILTER_ABOVE_BARRIER") is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM (SELECT * FROM s) x WHERE x.month = 3",
        f"SELECT * FROM ({NUMBERED}) x WHERE x.user = 33",
        "SELECT user, max(month) AS mm FROM s GROUP BY user HAVING max(month) = 3",
        "SELECT * FROM (SELECT * FROM s ORDER BY id LIMIT 500) x WHERE x.id >= 0",
    ],
)
def test_a_filter_that_passes_or_spares_nothing_is_not_reported(sql):
    assert finding_of(sql, "FILTER_ABOVE_BARRIER") is None


# What is named without need.


def test_a_table_that_is_scanned_twice_with_the_same_filters_is_reported_with_its_bytes():
    sql = """WITH x AS (SELECT * FROM s WHERE month = 3)
        SELECT * FROM x a JOIN x b ON a.id = b.id"""
    finding = finding_of(sql, "SCANNED_TWICE")

    assert finding.evidence == {"scans": 2, "files": 2, "bytes_again": 10_200}
    once = explained("SELECT * FROM s WHERE month = 3").reading
    twice = explained(sql).reading
    assert effect(finding) == ("files", twice.kept, once.kept)
    assert twice.bytes_kept - once.bytes_kept == finding.evidence["bytes_again"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM s a JOIN s b ON a.id = b.id WHERE a.month = 3 AND b.month = 4",
        "SELECT count(*) FROM s UNION ALL SELECT count(*) FROM s",
        "SELECT * FROM s JOIN d a ON a.x = s.id JOIN d b ON b.x = s.id",
    ],
)
def test_other_conditions_answers_and_small_tables_are_not_read_again(sql):
    assert finding_of(sql, "SCANNED_TWICE") is None


def test_an_unused_cte_is_reported():
    sql = "WITH a AS (SELECT * FROM m JOIN d ON m.id = d.x), b AS (SELECT * FROM s) SELECT * FROM b"
    finding = finding_of(sql, "UNUSED_CTE")

    assert "CTE a" in finding.message
    assert finding.evidence == {"tables": 2}
    assert finding_of("WITH b AS (SELECT * FROM s) SELECT * FROM b", "UNUSED_CTE") is None
    recursive = (
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM s, r"
    )
    assert finding_of(recursive, "UNUSED_CTE") is None


def test_warnings_come_first_and_every_code_is_in_the_schema():
    report = explained(
        "WITH a AS (SELECT * FROM d) SELECT * FROM s LEFT JOIN m ON s.id = m.id AND s.month = 3, e"
    )

    assert [(f.code, f.severity) for f in report.findings] == [
        ("CROSS_JOIN", "warning"),
        ("FILTER_ON_WRONG_SIDE", "warning"),
        ("UNUSED_CTE", "info"),
    ]
    codes = validator().schema["$defs"]["Code"]["enum"]
    assert {f.code for f in report.findings} <= set(codes)
    assert explained("SELECT * FROM s JOIN m USING (month) WHERE month = 3").findings == ()


def test_two_scans_of_one_table_have_one_finding_with_one_cause(tmp_path):
    for number in range(6):
        rows = pa.table({"k": list(range(number, 100, 7))})
        pq.write_table(rows, tmp_path / f"{number}.parquet", write_statistics=number % 2 == 0)
    sql = "SELECT a.k FROM t a JOIN t b ON a.k = b.k WHERE a.k = 50"

    report = whyscan.explain_sql(sql, {"t": str(tmp_path)})

    first, second = (list(scan.report.findings) for scan in report.scans)
    assert [finding.code.value for finding in first] == ["NO_STATISTICS"]
    assert all(finding.message.endswith("; in the scans t a and t b") for finding in first)
    assert second == []
    assert " in whole files (" in str(report).splitlines()[0]
