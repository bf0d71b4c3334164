"""Which conditions each scan gets, which stay above it and why: one statement a rule.

The statements are in `placement/`, each with its scans: the conditions of a scan in one line,
then, behind `^`, those that stayed above it. That a condition compares columns of several tables
says nothing of a rule and is left out.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import whyscan
from statements.dialects import lake
from whyscan.errors import SyntaxProblem, UnknownColumn, UnknownTable
from whyscan.statements.sql.syntax import parse_statement

CASES = [
    tuple(part.strip() for part in re.split(r"^--(?: (?=\w)|$)", case, flags=re.MULTILINE))
    for path in sorted((Path(__file__).parent / "placement").glob("*.sql"))
    for case in re.split(r"^== ", path.read_text(), flags=re.MULTILINE)[1:]
]
SEVERAL = "it compares columns of several tables"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    lake.make(folder)
    return {name: whyscan.open(folder / name) for name in lake.NAMES}


def lines_of(report):
    for scan in report.scans:
        placed = " AND ".join(condition.sql for condition in scan.placed)
        yield f"{scan.name} {scan.alias}: {placed or '-'}"
        for stayed in scan.above:
            if stayed.why != SEVERAL:
                yield f"  ^ {stayed.sql}: {stayed.why}"


@pytest.mark.parametrize(("title", "text", "expected"), CASES, ids=[case[0] for case in CASES])
def test_conditions_go_where_they_belong(title, text, expected, tables):
    dialect, sql = text.split("\n", 1)
    report = whyscan.explain_sql(sql, tables, dialect=dialect)
    assert "\n".join(lines_of(report)) == expected


def files(scan):
    return sorted(Path(file.path).stem for file in scan.plan)


@pytest.mark.parametrize(
    ("on", "where", "expected"),
    [
        ("a.month = b.month + 1", "b.month = 4", ["o5a", "o5b"]),
        ("a.month - 1 = b.month", "b.month = 4", ["o5a", "o5b"]),
        ("a.day = date_add(b.day, 31)", "b.day = DATE '2024-03-20'", ["o4b"]),
        ("a.month > b.month", "b.month = 5", ["o6a", "o6b"]),
        ("a.month BETWEEN b.month AND b.month + 1", "b.month = 5", ["o5a", "o5b", "o6a", "o6b"]),
    ],
)
def test_a_constant_keeps_the_files_that_an_expression_of_it_leaves(on, where, expected, tables):
    sql = f"SELECT a.id FROM orders a JOIN orders b ON {on} WHERE {where}"
    report = whyscan.explain_sql(sql, tables, dialect="spark")
    assert next(files(scan) for scan in report.scans if scan.alias == "a") == expected


@pytest.mark.slow
def test_a_chain_of_three_hundred_tables_is_pruned_at_its_far_end(tables):
    joins = " ".join(f"JOIN orders t{n} ON t{n}.id = t{n - 1}.id" for n in range(1, 300))
    report = whyscan.explain_sql(
        f"SELECT count(*) FROM orders t0 {joins} WHERE t0.id = 305", tables
    )
    assert {tuple(files(scan)) for scan in report.scans} == {("o3a",)}
    assert len(report.scans) == 300


@pytest.mark.slow
def test_a_union_of_five_hundred_branches_is_filtered_in_each(tables):
    branches = " UNION ALL ".join(["SELECT item_id AS k FROM items"] * 500)
    report = whyscan.explain_sql(f"SELECT k FROM ({branches}) x WHERE k = 3", tables)
    assert [files(scan) for scan in report.scans] == [["i2"]] * 500


def test_a_long_list_reaches_the_other_side_of_a_join(tables):
    listed = ", ".join(map(str, range(30, 10_030)))
    joined = "SELECT 1 FROM orders o JOIN users u ON o.user_id = u.user_id"
    report = whyscan.explain_sql(f"{joined} WHERE u.user_id IN ({listed})", tables)
    assert [files(scan) for scan in report.scans][1] == ["fr", "us"]
    assert "o1a" not in files(report.scans[0])


@pytest.mark.parametrize(
    ("dialect", "sql", "limited"),
    [
        ("duckdb", "SELECT id FROM orders LIMIT 10", True),
        ("duckdb", "SELECT id FROM orders LIMIT 10%", False),
        ("duckdb", "SELECT id FROM orders LIMIT 5 + 5", False),
        ("tsql", "SELECT TOP 10 id FROM orders ORDER BY id", True),
        ("tsql", "SELECT TOP 10 WITH TIES id FROM orders ORDER BY id", False),
        ("tsql", "SELECT TOP 10 PERCENT id FROM orders ORDER BY id", False),
        ("postgres", "SELECT id FROM orders ORDER BY id FETCH FIRST 10 ROWS ONLY", True),
        ("postgres", "SELECT id FROM orders ORDER BY id FETCH FIRST 10 ROWS WITH TIES", False),
        ("clickhouse", "SELECT id FROM orders ORDER BY id LIMIT 10 BY month", False),
        ("clickhouse", "SELECT id FROM orders FINAL LIMIT 10", False),
        ("clickhouse", "SELECT count(*) FROM orders FINAL", False),
        ("clickhouse", "SELECT max(id) FROM orders FINAL", False),
    ],
)
def test_only_a_number_of_rows_limits_the_files(dialect, sql, limited, tables):
    [scan] = whyscan.explain_sql(sql, tables, dialect=dialect).scans
    assert (len(files(scan)) == 1) is limited


REFUSED = [
    ("SELECT * FROM orders WHERE status = 'new", SyntaxProblem, "breaks off", "'new"),
    ("SELECT 1; SELECT 2", SyntaxProblem, "these are 2 statements", None),
    ("DROP TABLE orders", SyntaxProblem, "DROP reads no table", "DROP"),
    ("CREATE VIEW v AS SELECT 1; DROP TABLE v", SyntaxProblem, "DROP reads no table", "DROP"),
    ("SELEC * FROMM orders", SyntaxProblem, "SELEC begins no statement", "SELEC"),
    ("", SyntaxProblem, "there is no statement", None),
    ("-- nothing\n;", SyntaxProblem, "there is no statement", None),
    (f"SELECT 1 FROM orders WHERE {'(' * 5000}month = 3{')' * 5000}", SyntaxProblem, "deep", None),
    (f"SELECT 1 FROM orders WHERE {'NOT ' * 5000}month = 3", SyntaxProblem, "too deep", None),
    (f"SELECT 1 FROM {'(SELECT * FROM ' * 500}orders{') x' * 500}", SyntaxProblem, "deep", None),
    ("SELECT 1 FROM order WHERE id = 1", UnknownTable, "unknown table 'order'", "order"),
    ("SELECT o.idd FROM orders o", UnknownColumn, "unknown column", "o.idd"),
    ("SELECT 1 FROM orders o WHERE o.mont = 3", UnknownColumn, "unknown column", "o.mont"),
]


@pytest.mark.parametrize(
    ("sql", "kind", "message", "place"), REFUSED, ids=[case[0][:40] for case in REFUSED]
)
def test_what_cannot_be_read_is_refused_with_its_place(sql, kind, message, place, tables):
    with pytest.raises(kind, match=message) as caught:
        whyscan.explain_sql(sql, tables)
    span = caught.value.span
    assert span is None or caught.value.hint
    if place is not None:
        assert sql[span.start : span.end] == place


@pytest.mark.parametrize(
    ("dialect", "sql", "message"),
    [
        (
            "snowflake",
            "SELECT 1 FROM orders o JOIN users USING (user_id), items i WHERE o.id = i.item_id(+)",
            "no outer join can be made of it",
        ),
    ],
)
def test_what_a_dialect_writes_and_is_not_understood_is_refused(dialect, sql, message, tables):
    with pytest.raises(SyntaxProblem, match=message):
        whyscan.explain_sql(sql, tables, dialect=dialect)


def test_a_name_that_is_nearly_right_is_suggested(tables):
    with pytest.raises(UnknownColumn) as caught:
        whyscan.explain_sql("SELECT 1 FROM orders o WHERE o.mont = 3", tables)
    assert caught.value.hint == "did you mean month?"


def test_a_very_long_hint_is_not_parsed(tables):
    hint = ", ".join(f"BROADCAST(t{number})" for number in range(1000))
    sql = f"SELECT /*+ {hint} */ id FROM orders WHERE month = 3"

    assert parse_statement(sql).tree.args.get("hint") is None
    assert [len(files(scan)) for scan in whyscan.explain_sql(sql, tables).scans] == [2]
