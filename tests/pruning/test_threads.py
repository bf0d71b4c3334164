"""Plans made by several threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq

import whyscan


def test_threads_that_negate_what_others_affirm_do_not_wait_for_each_other(tmp_path):
    for number in range(4):
        pq.write_table(pa.table({"a": [number, number + 1]}), tmp_path / f"{number}.parquet")
    asked = ["NOT (a > 1 AND NOT (a < 3 OR NOT a = 2))", "a > 1 AND (a < 3 OR NOT (a = 2))"] * 50

    def kept(predicate: str) -> int:
        return whyscan.open(tmp_path).plan(predicate).summary.files_kept

    # Left open: closing it would wait for threads that never end.
    found = list(ThreadPoolExecutor(8).map(kept, asked, timeout=60))

    assert found == [kept(predicate) for predicate in asked[:2]] * 50
