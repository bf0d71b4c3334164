"""A table's alias as a value: the row as a struct."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan


@pytest.fixture
def lake(tmp_path):
    for number in range(3):
        rows = pa.table({"id": [number], "age": [number * 10]})
        pq.write_table(rows, tmp_path / f"{number}.parquet")
    return {"t": str(tmp_path)}


@pytest.mark.parametrize(
    ("sql", "files"),
    [
        ("DELETE FROM t WHERE self._condition(T)", [3]),
        ("SELECT 1 FROM t WHERE f(t) AND age > 10", [1]),
        ("SELECT 1 FROM t WHERE t IS NOT NULL AND age > 10", [1]),
        ("SELECT 1 FROM t u JOIN t v ON u = v WHERE u.age > 10", [1, 3]),
        ("SELECT u FROM t u ORDER BY u", [3]),
    ],
)
def test_a_condition_on_a_row_prunes_nothing_and_reads_every_column(lake, sql, files):
    scans = whyscan.explain_sql(sql, lake).scans

    assert [scan.report.files_level.kept for scan in scans] == files
    assert {name for scan in scans for name in scan.columns} == {"id", "age"}
