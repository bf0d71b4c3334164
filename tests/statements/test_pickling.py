"""Reports travel between processes: a pipeline makes them on its workers."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan

JOIN = "SELECT * FROM sales s JOIN days d ON s.day = d.day WHERE d.name = 'b1'"


@pytest.mark.parametrize(
    ("sql", "files"), [(JOIN, [1, 1]), ("SELECT * FROM sales WHERE day >= 0 LIMIT 1", [1])]
)
def test_a_report_on_a_statement_is_the_same_on_the_other_side(tmp_path, sql, files):
    for name in ("sales", "days"):
        (tmp_path / name).mkdir()
        for day in range(3):
            table = pa.table({"day": [day, day], "name": ["a", f"b{day}"]})
            pq.write_table(table, tmp_path / name / f"{day}.parquet")
    tables = {name: str(tmp_path / name) for name in ("sales", "days")}
    report = whyscan.explain_sql(sql, tables, resolve_joins=True)

    there = pickle.loads(pickle.dumps(report))

    assert there.to_dict() == report.to_dict()
    assert [len(scan.plan.files) for scan in there.scans] == files
