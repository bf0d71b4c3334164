"""A condition that a finding says changes no row changes none: both statements, run by DuckDB."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import cache

import duckdb
import pytest
import sqlglot
from hypothesis import assume, given
from hypothesis import strategies as st

import whyscan
from oracle.dice import Dice, tried
from support.memory_table import DataFile, MemoryTable, RowGroup
from whyscan.table import Table
from whyscan.tree.types import DATE, INT, STRING, TIMESTAMP_NTZ

FILES, ROWS = 12, 4
FIRST = date(2024, 1, 30)
START = datetime.fromisoformat("2024-01-30 12:00:00")
EPOCH = datetime.fromisoformat("1970-01-01")
COLUMNS = {"k": INT, "s": STRING, "d": DATE, "ts": TIMESTAMP_NTZ}

SIDES = (
    ("k", "{}.k"),
    ("k", "{}.k + 1"),
    ("k", "{}.k * -1"),
    ("k", "abs({}.k - 5)"),
    ("k", "coalesce({}.k, 3)"),
    ("k", "nullif({}.k, 4)"),
    ("k", "CASE WHEN {0}.k IS NULL THEN 4 ELSE {0}.k END"),
    ("k", "{}.k % 5"),
    ("k", "month({}.d)"),
    ("k", "CAST({}.s AS INTEGER)"),
    ("s", "{}.s"),
    ("s", "CAST({}.k AS VARCHAR)"),
    ("s", "lower({}.s)"),
    ("d", "{}.d"),
    ("d", "CAST({}.ts AS DATE)"),
    ("ts", "{}.ts"),
    ("ts", "date_trunc('day', {}.ts)"),
    ("ts", "CAST({}.d AS TIMESTAMP)"),
)
"""Sides of an equality, and what of; those of one kind, and some of two, can be compared."""

TOGETHER = {frozenset(pair) for pair in ("k", "s", "d", ("ts",), ("d", "ts"), ("k", "s"))}
CONDITIONS = (
    "{}.k = 3",
    "{}.k IN (2, 3, 9)",
    "{}.k BETWEEN 3 AND 5",
    "{}.k > 8",
    "{}.k <> 4",
    "{}.k IS NULL",
    "{}.s = '3'",
    "{}.s IN ('3', '4')",
    "{}.s > '5'",
    "{}.d = DATE '2024-02-02'",
    "{}.d >= DATE '2024-02-05'",
    "{}.ts < TIMESTAMP '2024-02-03 12:00:00'",
    "{}.ts BETWEEN TIMESTAMP '2024-02-03 12:00:00' AND TIMESTAMP '2024-02-04 12:00:00'",
)


def rows(file: int) -> list[tuple]:
    """Values of a file lie close together; every fourth row is NULL."""
    day = FIRST + timedelta(days=file)
    moment = START + timedelta(days=file)
    full = [(file, str(file), day, moment + timedelta(hours=n)) for n in range(ROWS - 1)]
    return [*full, (None, None, None, None)]


@cache
def lake() -> dict[str, Table]:
    """Two tables of the same rows."""
    files = []
    for file in range(FILES):
        values = [[v for v in column if v is not None] for column in zip(*rows(file), strict=True)]
        ends = {
            name: (as_written(min(column)), as_written(max(column)))
            for name, column in zip(COLUMNS, values, strict=True)
        }
        nulls = dict.fromkeys(COLUMNS, 1)
        files.append(DataFile(f"{file}", {}, [RowGroup(ROWS, ends, nulls)]))
    return {n: Table(MemoryTable(COLUMNS, files, footers_describe_files=False)) for n in "ab"}


def as_written(value):
    if isinstance(value, datetime):
        return (value - EPOCH) // timedelta(microseconds=1)
    return (value - EPOCH.date()).days if isinstance(value, date) else value


@cache
def engine() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    for name in "ab":
        con.execute(f"CREATE TABLE {name} (k INTEGER, s VARCHAR, d DATE, ts TIMESTAMP)")
        con.executemany(
            f"INSERT INTO {name} VALUES (?, ?, ?, ?)", [r for f in range(FILES) for r in rows(f)]
        )
    return con


@st.composite
def joins(draw) -> str:
    """A statement with a place for one more condition beside its equality."""
    dice = Dice(draw)
    (one, left), (other, right) = dice.pick(SIDES), dice.pick(SIDES)
    assume(frozenset({one, other}) in TOGETHER)
    equality = f"{left.format('a')} = {right.format('b')}"
    condition = dice.pick(CONDITIONS).format(dice.pick("ab"))
    kind = dice.pick(("JOIN", "LEFT JOIN", "RIGHT JOIN", "SEMI JOIN", "ANTI JOIN"))
    below = kind in {"SEMI JOIN", "ANTI JOIN"} or dice.one_in(3)
    on, where = (f" AND {condition}", "") if below else ("", f" WHERE {condition}")
    return f"SELECT * FROM a {kind} b ON {equality}{{}}{on}{where}"


@pytest.mark.slow
@given(joins())
@tried(80)
def test_a_condition_that_is_said_to_change_no_row_changes_none(statement):
    sql = statement.format("")
    try:
        expected = answer(sql)
    except duckdb.Error:
        assume(False)
    findings = whyscan.explain_sql(sql, lake(), dialect="duckdb", depth="files").findings
    for finding in findings:
        if finding.rewrite is None or "changes no row" not in (finding.fix or ""):
            continue
        added = sqlglot.transpile(finding.rewrite, read="spark", write="duckdb")[0]
        changed = statement.format(f" AND ({added})")
        assert answer(changed) == expected, (changed, finding.message)


def answer(sql: str) -> list[tuple]:
    return engine().sql(sql).order("ALL").fetchall()


@pytest.mark.parametrize(
    ("sql", "rewrite"),
    [
        (
            "SELECT * FROM a JOIN b ON a.k + 1 = b.k AND a.k > 3",
            "b.k >= 5",
        ),
        # A constant is placed at the other side already: there is nothing to add.
        ("SELECT * FROM a JOIN b ON a.k + 1 = b.k AND a.k = 3", None),
        ("SELECT * FROM a LEFT JOIN b ON a.k = b.s WHERE a.k = 3", None),
        (
            "SELECT * FROM a JOIN b ON a.k = CAST(b.s AS INTEGER) WHERE b.s IN ('3', '4')",
            "a.k IN (3, 4)",
        ),
        (
            "SELECT * FROM a JOIN b ON CAST(a.ts AS DATE) = b.d AND a.ts > TIMESTAMP '2024-02-09'",
            "b.d >= DATE '2024-02-09'",
        ),
    ],
)
def test_what_the_property_is_about_does_come_up(sql, rewrite):
    findings = whyscan.explain_sql(sql, lake(), dialect="duckdb", depth="files").findings
    assert [f.rewrite for f in findings if "changes no row" in (f.fix or "")] == (
        [] if rewrite is None else [rewrite]
    )
