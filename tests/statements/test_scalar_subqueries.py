"""Comparisons with a subquery of one value, once its rows were read: no row may be lost."""

from __future__ import annotations

import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan


@pytest.fixture
def lake(tmp_path):
    """`t` has a file a value, NaN among them; `v` and `n` give the values that are compared."""
    for name, files in {
        "t": [[1.0], [4.0], [9.0], [math.nan]],
        "v": [[4.0, math.nan, 2.0]],
        "n": [[math.nan]],
    }.items():
        (tmp_path / name).mkdir()
        for number, values in enumerate(files):
            table = pa.table({"x": values, "y": ["a"] * len(values)})
            pq.write_table(table, tmp_path / name / f"{number}.parquet")
    return {name: str(tmp_path / name) for name in ("t", "v", "n")}


# NaN is the greatest value and equal to itself: the value of max(v.x) is NaN, of min(v.x) 2.0.
@pytest.mark.parametrize(
    ("condition", "matching"),
    [
        ("x < (SELECT max(x) FROM v WHERE y = 'a')", {0, 1, 2}),
        ("x <= (SELECT max(x) FROM v WHERE y = 'a')", {0, 1, 2, 3}),
        ("x = (SELECT max(x) FROM v WHERE y = 'a')", {3}),
        ("x > (SELECT min(x) FROM v WHERE y = 'a')", {1, 2, 3}),
        ("x < (SELECT min(x) FROM v WHERE y = 'a')", {0}),
        ("x < (SELECT min(x) FROM n WHERE y = 'a')", {0, 1, 2}),
        ("x = (SELECT x FROM n WHERE y = 'a')", {3}),
        ("x < (SELECT max(nullif(x, 4.0D)) FROM v WHERE y = 'a')", {0, 1, 2}),
        ("x >= (SELECT max(nullif(x, 4.0D)) FROM v WHERE y = 'a' AND x < 5)", {1, 2, 3}),
    ],
)
def test_nan_and_null_among_the_values_lose_no_row(lake, condition, matching):
    report = whyscan.explain_sql(f"SELECT * FROM t WHERE {condition}", lake, resolve_joins=True)
    kept = {int(file.path.removesuffix(".parquet")) for file in report.scans[0].plan}
    assert kept >= matching, report.scans[0].placed


def test_a_value_that_was_read_still_removes_files(lake):
    sql = "SELECT * FROM t WHERE x < (SELECT min(x) FROM v WHERE y = 'a')"
    report = whyscan.explain_sql(sql, lake, resolve_joins=True)
    # The last file holds NaN alone, and so has no bounds to go by.
    assert [file.path for file in report.scans[0].plan] == ["0.parquet", "3.parquet"]


@pytest.mark.parametrize(
    ("sql", "kept"),
    [
        ("SELECT * FROM t JOIN v ON t.x = v.x WHERE v.x / v.x > 0.5 AND v.x < 5", {1, 3}),
        ("SELECT * FROM t WHERE x <= (SELECT max(x) FROM v WHERE x / x > 0.5 AND x < 4)", {0, 3}),
        ("SELECT * FROM t WHERE x >= (SELECT max(x) FROM v WHERE x / x > 9)", {0, 1, 2, 3}),
    ],
)
def test_a_condition_that_cannot_run_on_rows_leaves_the_other_conditions(lake, sql, kept):
    """DuckDB's `/` is no function of whyscan: the rows are read without this condition."""
    report = whyscan.explain_sql(sql, lake, dialect="duckdb", resolve_joins=True)
    files = {int(file.path.removesuffix(".parquet")) for file in report.scans[0].plan}
    assert files == kept, report.scans[0].placed
