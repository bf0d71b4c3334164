"""Versions of tables in statements."""

from __future__ import annotations

import pyarrow as pa
import pytest
from deltalake import write_deltalake

import whyscan
from whyscan.errors import SyntaxProblem, WhyscanError


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A Delta table of three versions, with one, two and three files."""
    path = tmp_path_factory.mktemp("versions") / "t"
    for number in range(3):
        write_deltalake(path, pa.table({"a": [number, number]}), mode="append")
    return {"t": str(path)}


def scanned(report):
    return [(s.alias, s.report.table.version, s.report.files_level.kept) for s in report.scans]


@pytest.mark.parametrize(
    ("dialect", "sql", "scans"),
    [
        ("spark", "SELECT * FROM t", [("t", 2, 3)]),
        ("spark", "SELECT * FROM t VERSION AS OF 0", [("t", 0, 1)]),
        ("spark", "SELECT * FROM t@v1 WHERE a = 1", [("t", 1, 1)]),
        ("databricks", "SELECT * FROM t@v1", [("t", 1, 2)]),
        ("spark", "SELECT * FROM t TIMESTAMP AS OF '2999-01-01'", [("t", 2, 3)]),
        ("trino", "SELECT * FROM t FOR VERSION AS OF 1", [("t", 1, 2)]),
        ("duckdb", "SELECT * FROM t AT (VERSION => 0)", [("t", 0, 1)]),
        ("snowflake", "SELECT * FROM t AT (TIMESTAMP => '2999-01-01'::timestamp)", [("t", 2, 3)]),
        (
            "spark",
            "SELECT * FROM t x JOIN t VERSION AS OF 1 y ON x.a = y.a WHERE x.a = 1",
            [("x", 2, 1), ("y", 1, 1)],
        ),
    ],
)
def test_each_occurrence_is_planned_at_its_own_version(lake, dialect, sql, scans):
    assert scanned(whyscan.explain_sql(sql, lake, dialect=dialect)) == scans


def test_a_table_by_its_path_has_versions_too(lake):
    sql = f"SELECT * FROM delta.`{lake['t']}` VERSION AS OF 1"
    (scan,) = whyscan.explain_sql(sql).scans
    assert (scan.report.table.version, scan.report.files_level.kept) == (1, 2)


def test_a_version_that_is_computed_is_refused(lake):
    sql = "SELECT * FROM t TIMESTAMP AS OF current_timestamp() - INTERVAL 1 DAY"
    with pytest.raises(SyntaxProblem, match="no plain value"):
        whyscan.explain_sql(sql, lake)


def test_a_version_that_is_not_there_is_an_error_that_says_which_is(lake):
    with pytest.raises(WhyscanError, match="no version 9"):
        whyscan.explain_sql("SELECT * FROM t VERSION AS OF 9", lake)
