"""Plans made by several threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq

import whyscan


def test_threads_that_negate_what_others_affirm_do_not_wait_for_each_other(tmp_path):
    for number in range(4):
        pq.write_table(pa.table({"a": [number, number + 1]}), tmp_path / f"{number}.parquet")
    texts = ["NOT (a > 1 AND NOT (a < 3 OR NOT a = 2))", "a > 1 AND (a < 3 OR NOT (a = 2))"] * 50

    def kept(predicate: str) -> int:
        return whyscan.open(tmp_path).plan(predicate).summary.files_kept

    # Left open: closing it would wait for threads that never end.
    actual = list(ThreadPoolExecutor(8).map(kept, texts, timeout=60))

    assert actual == [kept(predicate) for predicate in texts[:2]] * 50
