"""Distinct texts take memory: past the limit their runs are counted and left out."""

from __future__ import annotations

from whyscan.spark.stages.workload.query import Query
from whyscan.spark.stages.workload.reading import gathered


def texts(count):
    """Distinct queries of 10,000 characters each, every one of them run three times."""
    for _ in range(3):
        for number in range(count):
            yield Query(f"SELECT a FROM t WHERE b = {number} AND s = '{'x' * 10_000}'", "spark")


def test_texts_past_the_limit_are_counted_and_those_before_it_keep_all_their_runs(monkeypatch):
    monkeypatch.setenv("WHYSCAN_MEMORY", "4MiB")

    workload = gathered(texts(300))

    assert workload.entries == 900
    assert 30 < len(workload.queries) < 150
    assert {query.times for query in workload.queries} == {3}
    assert {entry.why for entry in workload.unparsed} == {
        "the distinct texts take more than 1 MiB: it was left out"
    }


def test_texts_within_the_limit_are_all_queries(monkeypatch):
    monkeypatch.setenv("WHYSCAN_MEMORY", "64MiB")

    workload = gathered(texts(300))

    assert len(workload.queries) == 300
    assert workload.unparsed == ()
