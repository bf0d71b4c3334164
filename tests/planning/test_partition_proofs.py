"""Exact means that no partition value, present or not, holds rows of both kinds."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from decimal import Decimal
from functools import cache
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.reports import explained
from tables.iceberg.by_hand import Lake
from whyscan.planning.plan.judgement import flags
from whyscan.planning.why.partition_proofs import decided_by_partitions
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.pruning.containers import Containers
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.interval import Interval
from whyscan.pruning.transforms import forward, parse_transform
from whyscan.tree import arrow
from whyscan.tree.types import BIGINT, DATE, INT, STRING, TIMESTAMP_NTZ, DecimalType, Field, Schema
from whyscan.tree.zones import zone

COLUMNS = {
    "d": DATE,
    "t": TIMESTAMP_NTZ,
    "n": INT,
    "k": BIGINT,
    "x": DecimalType(9, 2),
    "s": STRING,
}
SCHEMA = Schema(tuple(Field(name, kind) for name, kind in COLUMNS.items()))
UTC = zone("UTC")

EXACT = [
    ("day", "t >= TIMESTAMP_NTZ '2015-05-01'"),
    ("day", "t < TIMESTAMP_NTZ '2015-05-01' OR t >= TIMESTAMP_NTZ '2015-06-01'"),
    ("day", "t > TIMESTAMP_NTZ '2015-04-30 23:59:59.999999'"),
    ("day", "cast(t AS DATE) = '2015-05-01'"),
    ("day", "year(t) = 2015"),
    ("hour", "date_trunc('day', t) = TIMESTAMP_NTZ '2015-05-01'"),
    ("month", "d >= DATE '2015-05-01'"),
    ("month", "d >= TIMESTAMP_NTZ '2015-05-01 00:00:00'"),
    ("month", "d > TIMESTAMP_NTZ '2015-04-30 12:00:00'"),
    ("month", "d IS NULL"),
    ("year", "NOT (d BETWEEN DATE '2015-01-01' AND DATE '2015-12-31')"),
    ("day", "dayofweek(d) = 2"),
    ("identity", "n * 2 >= 31"),
    ("identity", "upper(s) = 'DE'"),
    ("truncate[10]", "n >= 20"),
    ("truncate[10]", "n > 19.5"),
    ("truncate[10]", "n < 20 AND n >= -30"),
    ("truncate[10]", "k IS NOT NULL"),
    ("truncate[100]", "x >= 5"),
    ("truncate[2]", "s LIKE 'ab%'"),
    ("truncate[2]", "s LIKE 'a%'"),
    ("truncate[2]", "startswith(s, 'ab')"),
    ("truncate[2]", "s >= 'ab'"),
    ("truncate[2]", "s = 'a'"),
    ("truncate[2]", "s = ''"),
    ("bucket[4]", "k IS NULL"),
    ("bucket[4]", "k = 5 AND k IS NULL"),
]
INEXACT = [
    ("day", "t >= TIMESTAMP_NTZ '2015-05-01 12:00:00'"),
    ("day", "t >= TIMESTAMP_NTZ '2015-05-01 00:00:00.000001'"),
    ("day", "unix_timestamp(t) > 1430000000"),
    ("day", "hour(t) = 5"),
    ("month", "d >= TIMESTAMP_NTZ '2015-05-01 00:00:00.000001'"),
    ("month", "d <= DATE '2015-05-01'"),
    ("month", "date_add(d, 5) >= '2015-05-01'"),
    ("month", "dayofweek(d) = 2"),
    # Old writers rounded towards zero: a month before 1970 may hold days of the one before it.
    ("month", "month(d) = 3"),
    ("month", "d >= DATE '1960-05-01'"),
    ("truncate[10]", "n >= 15"),
    ("truncate[10]", "n >= 15.5"),
    ("truncate[10]", "n * 2 >= 31"),
    ("truncate[10]", "n % 10 = 3"),
    ("truncate[10]", "n + 1 >= 20"),
    ("truncate[10]", "cast(n AS STRING) = '20'"),
    ("truncate[100]", "x >= 5.01"),
    ("truncate[2]", "s LIKE 'abc%'"),
    ("truncate[2]", "s LIKE '%b'"),
    ("truncate[2]", "s = 'ab'"),
    ("truncate[2]", "s > 'ab'"),
    ("truncate[2]", "s IN ('a', 'abc')"),
    ("truncate[2]", "upper(s) = 'A'"),
    ("truncate[2]", "length(s) > 3"),
    ("bucket[4]", "k = 5"),
    ("bucket[4]", "k <> 5"),
    ("void", "n = 5"),
]


@cache
def condition(text):
    return bind(text, SCHEMA, Session("spark", "UTC")).expression


def decided(transform, text):
    predicate = bind(text, SCHEMA, Session("spark", "UTC"))
    spec = {c.path: (parse_transform(transform),) for c in predicate.columns()}
    return decided_by_partitions(predicate.expression, spec, UTC)


@pytest.mark.parametrize(("transform", "text"), EXACT)
def test_a_condition_with_its_edges_on_partition_edges_is_decided(transform, text):
    assert decided(transform, text)


@pytest.mark.parametrize(("transform", "text"), INEXACT)
def test_a_condition_that_splits_some_partition_is_not_decided(transform, text):
    assert not decided(transform, text)


def test_or_of_conditions_on_several_partition_columns_is_decided_by_its_parts():
    spec = {("t",): (parse_transform("day"),), ("s",): (parse_transform("identity"),)}
    on_edge = condition("t >= TIMESTAMP_NTZ '2015-05-01' OR upper(s) = 'DE'")
    inside = condition("t >= TIMESTAMP_NTZ '2015-05-01 12:00:00' OR upper(s) = 'DE'")

    assert decided_by_partitions(on_edge, spec, UTC)
    assert not decided_by_partitions(inside, spec, UTC)


FIELDS = {"date": "month", "int": "truncate[10]", "string": "truncate[2]", "timestamp": "day"}
ABSENT = [
    # The partition that is there lies far from the one that the condition splits.
    ("date", 600, "v >= TIMESTAMP '2015-05-01 00:00:00.000001'", "inexact"),
    ("date", 600, "v >= DATE '2015-05-01'", "exact"),
    ("int", 100, "v >= 15.5", "inexact"),
    ("int", 100, "v >= 20", "exact"),
    ("int", 100, "v * 2 >= 31", "inexact"),
    ("string", "zz", "v LIKE 'abc%'", "inexact"),
    ("string", "zz", "v LIKE 'ab%'", "exact"),
    ("timestamp", 19_000, "unix_timestamp(v) > 1430000000", "inexact"),
    ("timestamp", 19_000, "v >= '2015-05-01'", "exact"),
]


@pytest.mark.parametrize(("kind", "value", "predicate", "expected"), ABSENT)
@pytest.mark.parametrize("empty", [False, True], ids=["one file", "no file"])
def test_the_class_does_not_depend_on_the_partitions_that_are_there(
    tmp_path, kind, value, predicate, expected, empty
):
    field = {"source-id": 1, "field-id": 1000, "name": "p", "transform": FIELDS[kind]}
    lake = Lake(tmp_path / "t", {"v": kind}, [field])
    lake.manifest([] if empty else [lake.file("f", {}, partition={"p": value})])

    (conjunct,) = explained(lake.commit().open(), predicate, depth="files")["conjuncts"]

    assert conjunct["pushdown"] == expected


# Every value of a dense domain of each column, and the conditions that hypothesis makes on it.

DAYS = range(
    (date(2014, 12, 20) - date(1970, 1, 1)).days, (date(2015, 6, 10) - date(1970, 1, 1)).days
)
TEXTS = ["".join(t) for n in range(5) for t in product("abc", repeat=n)]
DOMAINS = {
    "d": [None, *DAYS],
    "t": [
        None,
        *(day * 86_400_000_000 + s for day in DAYS for s in (0, 1, 43_200_000_000, 86_399_999_999)),
    ],
    "n": [None, *range(-130, 131)],
    "x": [
        None,
        *(Decimal(u).scaleb(-2) for u in range(-700, 700)),
    ],
    "s": [None, *TEXTS],
}
TRANSFORMS = {
    "d": ["year", "month", "day", "identity"],
    "t": ["year", "month", "day", "hour"],
    "n": ["truncate[10]", "truncate[7]", "identity", "bucket[3]"],
    "x": ["truncate[100]", "truncate[5]"],
    "s": ["truncate[1]", "truncate[2]", "truncate[3]", "identity"],
}
OPERATORS = st.sampled_from(["<", "<=", "=", "<>", ">", ">=", "<=>"])
DAY_TEXTS = st.integers(DAYS[0], DAYS[-1]).map(lambda n: date.fromordinal(n + 719_163).isoformat())
CLOCKS = st.sampled_from(["00:00:00", "00:00:00.000001", "12:00:00", "23:59:59.999999"])
STAMPS = st.builds(lambda day, clock: f"TIMESTAMP_NTZ '{day} {clock}'", DAY_TEXTS, CLOCKS)
DATES = st.one_of(DAY_TEXTS.map(lambda day: f"DATE '{day}'"), STAMPS)
SHORT = st.text("abc", max_size=4)
NUMBERS = st.one_of(
    st.integers(-120, 120).map(str), st.integers(-240, 240).map(lambda n: f"{n / 2:.1f}")
)


def compared(operands, literals):
    return st.builds(
        lambda operand, operator, literal: f"{operand} {operator} {literal}",
        st.sampled_from(operands),
        OPERATORS,
        literals,
    )


ATOMS = {
    "d": st.one_of(
        compared(["d", "date_add(d, 3)", "date_trunc('month', d)"], DATES),
        compared(["month(d)", "dayofmonth(d)"], st.integers(1, 12).map(str)),
        compared(["year(d)"], st.sampled_from(["2014", "2015"])),
    ),
    "t": st.one_of(
        compared(["t", "date_trunc('hour', t)"], STAMPS),
        compared(["cast(t AS DATE)"], DATES),
        compared(["hour(t)"], st.integers(0, 23).map(str)),
    ),
    "n": st.one_of(
        compared(["n", "n + 1", "n * 2", "-n", "abs(n)", "n div 10", "n % 10"], NUMBERS),
        st.lists(st.integers(-120, 120), min_size=1, max_size=12).map(
            lambda values: f"n IN ({', '.join(map(str, values))})"
        ),
    ),
    "x": compared(["x", "x + 1", "floor(x)", "round(x, 1)"], NUMBERS),
    "s": st.one_of(
        compared(["s", "upper(s)", "substring(s, 1, 2)"], SHORT.map(lambda t: f"'{t}'")),
        st.text("abc%_", max_size=4).map(lambda pattern: f"s LIKE '{pattern}'"),
        SHORT.map(lambda prefix: f"startswith(s, '{prefix}')"),
        st.lists(SHORT, min_size=1, max_size=4).map(
            lambda values: f"s IN ({', '.join(repr(v) for v in values)})"
        ),
    ),
}


def combined(name):
    atom = st.one_of(ATOMS[name], st.just(f"{name} IS NULL"))
    return st.recursive(
        atom,
        lambda inner: st.one_of(
            inner.map(lambda c: f"NOT ({c})"),
            st.builds(lambda a, b: f"({a}) AND ({b})", inner, inner),
            st.builds(lambda a, b: f"({a}) OR ({b})", inner, inner),
        ),
        max_leaves=3,
    )


@st.composite
def conditions(draw):
    name = draw(st.sampled_from(list(DOMAINS)))
    return name, draw(st.sampled_from(TRANSFORMS[name])), draw(combined(name))


@pytest.mark.slow
@given(conditions())
@settings(max_examples=400, deadline=None)
def test_what_is_decided_splits_no_partition_of_a_dense_domain(drawn):
    name, transform, text = drawn
    if not decided(transform, text):
        return
    kind = COLUMNS[name]
    values = arrow.array(DOMAINS[name], kind)
    points = Interval(kind, values, values, value=values.is_valid(), null=values.is_null())
    rows = Containers(
        len(values), pa.repeat(pa.scalar(1, pa.int64()), len(values)), {(name,): points}
    )
    true = flags(evaluate(condition(text), rows, UTC).true, len(values))
    partitions = defaultdict(set)
    for partition, matches in zip(
        forward(parse_transform(transform), kind, values).to_pylist(), true.tolist(), strict=True
    ):
        partitions[partition].add(matches)
    assert [p for p, answers in partitions.items() if len(answers) > 1] == []
