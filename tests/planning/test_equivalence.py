"""Ranges that mean the same as a condition: proved, and held against the condition itself."""

from __future__ import annotations

from functools import cache

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whyscan.planning.plan.judgement import flags
from whyscan.planning.why.equivalence import where_true
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.pruning.containers import Containers
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.interval import between
from whyscan.tree import arrow
from whyscan.tree.rendering import to_sql
from whyscan.tree.types import BIGINT, DATE, INT, TIMESTAMP, TIMESTAMP_NTZ, Field, Schema
from whyscan.tree.zones import zone

COLUMNS = {"ts": TIMESTAMP, "d": DATE, "n": BIGINT, "i": INT, "t": TIMESTAMP_NTZ}
SCHEMA = Schema(tuple(Field(name, kind) for name, kind in COLUMNS.items()))

PROVED = {
    "year(ts) = 2024": (
        "ts >= TIMESTAMP '2024-01-01 00:00:00Z' AND ts < TIMESTAMP '2025-01-01 00:00:00Z'"
    ),
    "year(d) = 2024 AND month(d) = 2": "d >= DATE '2024-02-01' AND d < DATE '2024-03-01'",
    "date_add(d, 5) > '2024-01-01'": "d >= DATE '2023-12-28'",
    "n div 10 = 3": "n >= 30 AND n < 40",
    "i * 2 = 10": "i = 5",
    # Of the least integer abs raises: no row of it is returned either way.
    "abs(i) >= 2147483645": "(i >= -2147483647 AND i < -2147483644) OR i >= 2147483645",
    "cast(t AS DATE) = '2024-01-01'": (
        "t >= TIMESTAMP_NTZ '2024-01-01 00:00:00' AND t < TIMESTAMP_NTZ '2024-01-02 00:00:00'"
    ),
}
NOT_PROVED = {
    "month(d) = 2": "too many ranges",
    "n % 10 = 3": "too many ranges",
    "hour(t) = 5": "too many ranges",
    "d IS NULL": "a range is never TRUE of NULL",
    "coalesce(n, 0) > -1": "NULL again",
    "my_function(n) = 1": "nobody knows",
    "n > i": "two columns",
}


@cache
def spans_of(text, timezone="UTC"):
    return where_true(bind(text, SCHEMA, Session("spark", timezone)).expression, zone(timezone))


@pytest.mark.parametrize(("text", "expected"), PROVED.items(), ids=PROVED)
def test_a_condition_has_a_range_that_means_the_same(text, expected):
    assert to_sql(spans_of(text).as_ranges()) == expected


@pytest.mark.parametrize(("text", "why"), NOT_PROVED.items(), ids=NOT_PROVED)
def test_nothing_is_offered_without_a_proof(text, why):
    spans = spans_of(text)

    assert spans is None or spans.as_ranges() is None, why


def test_a_short_range_is_a_list():
    assert to_sql(spans_of("n BETWEEN 5 AND 7").as_list()) == "n IN (5, 6, 7)"
    assert spans_of("n > 5").as_list() is None


EDGES = {"ts": 86_400_000_000, "t": 86_400_000_000, "d": 1, "n": 1, "i": 1}


@given(
    text=st.sampled_from([*PROVED, "date_trunc('week', ts) = '2024-03-04'", "n + 3 > 9"]),
    timezone=st.sampled_from(["UTC", "America/St_Johns", "Asia/Kolkata"]),
    steps=st.lists(st.integers(-3_000_000, 3_000_000), min_size=1, max_size=20),
    nudge=st.integers(-2, 2),
)
def test_range_and_condition_agree_on_every_value(text, timezone, steps, nudge):
    spans = spans_of(text, timezone)
    if spans is None or (ranges := spans.as_ranges()) is None:
        return
    column = spans.column
    ends = [e for s in spans.true_spans for e in (s.low - 1, s.low, s.high, s.high + 1)]
    chosen = [n * EDGES[column.path[0]] + nudge for n in steps]
    points = [n for n in [*ends, *chosen] if spans.domain.low <= n <= spans.domain.high]
    values = arrow.array(points, column.type)
    rows = pa.repeat(pa.scalar(1, pa.int64()), len(points))
    point = Containers(len(points), rows, {column.path: between(column.type, values, values)})
    condition = bind(text, SCHEMA, Session("spark", timezone)).expression

    def true(expression):
        return flags(evaluate(expression, point, zone(timezone)).true, len(points)).tolist()

    assert true(ranges) == true(condition)
