"""A column that only some files of a Parquet table have."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from whyscan.errors import UnknownColumn


@pytest.fixture
def lake(tmp_path):
    for number, columns in enumerate(({"a": [1]}, {"a": [1], "late": [5]})):
        pq.write_table(pa.table(columns), tmp_path / f"{number}.parquet")
    return {"m": str(tmp_path)}


def test_a_missed_column_is_read_in_a_second_attempt(lake):
    (scan,) = whyscan.explain_sql("SELECT a FROM m WHERE late = 5", lake).scans
    assert (scan.columns, scan.report.files_level.kept) == (("a", "late"), 1)


def test_what_no_file_has_is_unknown_and_the_others_are_suggested(lake):
    with pytest.raises(UnknownColumn, match="nope") as problem:
        whyscan.explain_sql("SELECT nope FROM m", lake)
    assert problem.value.hint == "the columns are a, late"
