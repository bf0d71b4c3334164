"""Tables that a call names by their path or in a string are scans like any other."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

import whyscan
from whyscan.errors import SyntaxProblem, WhyscanError


@pytest.fixture
def lake(tmp_path, monkeypatch):
    """Two tables by month, a small one, and a Delta table; the statements' paths are relative."""
    for name in ("data1", "data2"):
        for month in range(1, 13):
            folder = tmp_path / name / f"month={month}"
            folder.mkdir(parents=True)
            pq.write_table(pa.table({"i": [month]}), folder / "0.parquet")
    pq.write_table(pa.table({"key": [1], "month": [3]}), tmp_path / "other.parquet")
    write_deltalake(str(tmp_path / "delta"), pa.table({"i": [1, 2]}))
    monkeypatch.chdir(tmp_path)


def kept(sql: str, **how) -> dict[str, tuple[int, int]]:
    """Files kept of all, by alias."""
    scans = whyscan.explain_sql(sql, dialect="duckdb", **how).to_dict()["scans"]
    files = [next(x for x in s["levels"] if x["level"] == "files") for s in scans]
    return {s["alias"]: (f["kept"], f["total"]) for s, f in zip(scans, files, strict=True)}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            """SELECT * FROM read_parquet('data1/**/*.parquet', hive_partitioning=true) t1
               JOIN read_parquet('data2/**/*.parquet', hive_partitioning=true) t2
               ON t1.month = t2.month WHERE t1.month = 1""",
            {"t1": (1, 12), "t2": (1, 12)},
        ),
        (
            "SELECT * FROM parquet_scan('data1/*/*.parquet') WHERE month > 10",
            {"parquet_scan": (2, 12)},
        ),
        (
            "SELECT read_parquet.i FROM read_parquet('data1') WHERE month = 2",
            {"read_parquet": (1, 12)},
        ),
        ("SELECT * FROM 'other.parquet' o WHERE key = 2", {"o": (0, 1)}),
        ("SELECT * FROM delta_scan('delta') d WHERE i > 5", {"d": (0, 1)}),
    ],
)
def test_a_path_in_a_statement_is_opened_and_planned(lake, sql, expected):
    assert kept(sql) == expected


def test_a_value_from_a_file_selects_a_partition(lake):
    sql = """SELECT * FROM read_parquet('data1/**/*.parquet', hive_partitioning=true) t1
             WHERE t1.month = (SELECT month FROM 'other.parquet' o WHERE key = 1)"""
    assert kept(sql, resolve_joins=True)["t1"] == (1, 12)


def test_a_table_function_with_other_options_is_not_a_scan(lake):
    assert kept("SELECT * FROM read_parquet('data1/**/*.parquet', hive_partitioning=false)") == {}


def test_a_path_where_nothing_is_is_named(lake):
    with pytest.raises(WhyscanError, match="nowhere"):
        kept("SELECT * FROM read_parquet('nowhere/*.parquet') WHERE i = 1")


@pytest.mark.parametrize("dialect", ["spark", "databricks", "snowflake"])
@pytest.mark.parametrize("name", ["IDENTIFIER('orders')", "TABLE(IDENTIFIER('db.orders'))"])
def test_a_name_in_a_string_is_a_table(lake, name, dialect):
    sql = f"SELECT * FROM {name} o WHERE month = 2"
    (scan,) = whyscan.explain_sql(sql, {"orders": "data1"}, dialect=dialect).scans

    assert scan.report.files_level.kept == 1


@pytest.mark.parametrize("name", [":t", "?", "IDENTIFIER(:t)", "IDENTIFIER('${t}')", "{t}"])
def test_a_parameter_is_not_a_table(lake, name):
    with pytest.raises(SyntaxProblem, match="stands where a table is named"):
        whyscan.explain_sql(f"SELECT * FROM {name} WHERE month = 2", {"t": "data1"})
