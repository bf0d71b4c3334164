"""count, min and max from metadata alone: what is answered is what the rows say."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from hypothesis import given
from hypothesis import strategies as st

import whyscan
from oracle.dice import tried
from planning.generated import SORT, cases
from planning.plans import planned
from planning.sorting import aggregated, same
from support.memory_table import DataFile, MemoryTable, RowGroup
from whyscan.planning.plan.scan_plan import Depth
from whyscan.planning.rows.answers import Answers, Function, MetadataAggregate, answers
from whyscan.planning.rows.limit import Unproven
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.tree.nodes import columns_of
from whyscan.tree.types import DOUBLE, INT, STRING

ROWS = MetadataAggregate(Function.COUNT)


@pytest.mark.slow
@given(cases(), st.sampled_from(Function))
@tried(500)
def test_an_answer_is_what_the_rows_say(case, function):
    proven = answers(case.plan, [MetadataAggregate(function, case.key)])

    if isinstance(proven, Answers):
        (answer,) = proven.values
        values = [row[SORT] for row in case.matching()]
        assert same(answer.value, aggregated(function, values)), (answer, values)
        assert list(proven.plan) == []


@pytest.mark.slow
@given(cases())
@tried(200)
def test_a_count_of_rows_is_what_there_is(case):
    proven = answers(case.plan, [ROWS])

    if isinstance(proven, Answers):
        assert proven.values[0].value == len(case.matching())


def answer_of(lake, text, predicate=None, **options):
    """The answers to `count(*), min(x)` and so on; the reason where metadata does not tell."""
    wanted = []
    for one in text.split(", "):
        name, _, inside = one.removesuffix(")").partition("(")
        bound = None
        if inside != "*":
            bound = bind(f"{inside} IS NULL", lake.schema(), Session()).expression.operand
        wanted.append(MetadataAggregate(Function(name), bound))
    measured = [c for one in wanted if one.expression for c in columns_of(one.expression)]
    proven = answers(planned(lake, predicate, measured=tuple(measured), **options), wanted)
    return proven.why if isinstance(proven, Unproven) else tuple(v.value for v in proven.values)


def table(*files, kind=INT, nan=False, footers=False):
    """Files of one row group each: (rows, lower, upper, NULLs) of `x`."""
    data = [
        DataFile(f"f{at}", {}, [RowGroup(rows, {"x": (low, high)}, {"x": nulls}, nan=nan)])
        for at, (rows, low, high, nulls) in enumerate(files)
    ]
    return MemoryTable({"x": kind}, data, footers_describe_files=footers)


THREE = ((10, 1, 5, 2), (20, 7, 9, 0), (5, None, None, 5))


@pytest.mark.parametrize("footers", [False, True])
@pytest.mark.parametrize(
    ("aggregates", "predicate", "expected"),
    [
        ("count(*), count(x), min(x), max(x)", None, (35, 28, 1, 9)),
        ("count(*), min(x), max(x)", "x > 6", (20, 7, 9)),
        ("count(*), count(x), min(x)", "x > 99", (0, 0, None)),
        ("count(*), count(x), max(x)", "x IS NULL AND x IS NOT NULL", (0, 0, None)),
        ("count(*)", "x > 3", "20 to 30 rows match"),
        # Whatever of [1, 5] matches, 9 is the greatest; the least of them is unknown.
        ("max(x)", "x > 3", (9,)),
        ("min(x)", "x > 3", "x may go beyond the values that bounds are sure of"),
        ("max(x)", "x < 4", "no bound of x is sure to be a value of a row that matches"),
        ("max(x + 1)", None, "no bound of x + 1 is sure to be a value of a row that matches"),
        ("max(xxhash64(x))", None, "xxhash64(x) may fail"),
    ],
)
def test_what_statistics_answer(footers, aggregates, predicate, expected):
    assert answer_of(table(*THREE, footers=footers), aggregates, predicate) == expected


def test_nan_is_the_greatest_and_so_it_hides_a_maximum_only():
    lake = table((5, 1.0, 2.0, 0), kind=DOUBLE, nan=True)

    assert answer_of(lake, "min(x)") == (1.0,)
    assert answer_of(lake, "max(x)") == "x may be NaN"
    assert answer_of(lake, "max(x)", assume_no_nan=True) == (2.0,)


def test_partition_values_are_values_of_rows():
    files = [DataFile(f"p={p}/a", {"p": p}, [RowGroup(3, {"x": (1, 2)})]) for p in ("a", "b", None)]
    lake = MemoryTable({"p": STRING, "x": INT}, files, ("p",))

    assert answer_of(lake, "min(p), max(p), count(p), count(*)") == ("a", "b", 6, 9)
    assert answer_of(lake, "max(p), max(upper(p))", "p < 'b'") == ("a", "A")


VALUES = pa.table(
    {
        "i": pa.array([3, None, 1, 2], pa.int32()),
        "d": pa.array([date(2024, 1, n) for n in (3, 1, 2, 4)], pa.date32()),
        "m": pa.array([Decimal("1.50"), Decimal("-2.25"), None, None], pa.decimal128(9, 2)),
        "t": pa.array([1_700_000_000_000_001, 5, 6, 7], pa.timestamp("us")),
        "s": pa.array(["b", "a", "d", None], pa.string()),
        "x": pa.array([1.5, math.nan, -0.0, None], pa.float64()),
    }
)
EXACT = "count(*), count(i), min(i), max(i), count(m), min(m), max(m), min(x)"
EXACTLY = (4, 3, 1, 3, 2, Decimal("-2.25"), Decimal("1.50"), 0.0)
DAYS = (date(2024, 1, 1) - date(1970, 1, 1)).days


def test_parquet_files_answer_what_is_not_cut(tmp_path):
    pq.write_table(VALUES, tmp_path / "a.parquet", row_group_size=2)
    lake = whyscan.open(tmp_path).snapshot

    assert answer_of(lake, EXACT) == EXACTLY
    assert answer_of(lake, "min(d), max(d), min(t), max(t), count(s)") == (
        DAYS, DAYS + 3, 5, 1_700_000_000_000_001, 3,
    )  # fmt: skip
    assert answer_of(lake, "max(s)") == "no bound of s is sure to be a value of a row that matches"
    assert answer_of(lake, "max(x)") == "x may be NaN"


def test_delta_answers_what_its_log_records_to_the_last_digit(tmp_path):
    write_deltalake(tmp_path, VALUES)
    lake = whyscan.open(tmp_path).snapshot
    unsure = "no bound of {} is sure to be a value of a row that matches"

    assert answer_of(lake, EXACT, depth=Depth.FILES) == EXACTLY
    assert answer_of(lake, "min(d), max(d)", depth=Depth.FILES) == (DAYS, DAYS + 3)
    for column in ("t", "s"):
        assert answer_of(lake, f"max({column})", depth=Depth.FILES) == unsure.format(column)
    # A footer has the microseconds that the log cuts off.
    assert answer_of(lake, "max(t)", depth=Depth.ROW_GROUPS) == (1_700_000_000_000_001,)
    assert answer_of(lake, "max(x)", depth=Depth.FILES) == "x may be NaN"


@pytest.mark.parametrize(
    ("surely", "maybe", "aggregates", "expected"),
    [
        (4, 0, "count(*)", (31,)),
        (0, 3, "count(*)", "32 to 35 rows match"),
        (0, None, "count(*)", "15 to 35 rows match"),
        # The least is in another file; it is unknown whether a row that is left has the greatest.
        (4, 0, "min(x)", (1,)),
        (4, 0, "max(x)", "x may go beyond the values that bounds are sure of"),
        (4, 0, "count(x)", "no metadata says in how many of the matching rows x is NULL"),
        (20, 0, "count(*), count(x), max(x)", (15, 8, 5)),
    ],
)
def test_deleted_rows_leave_what_does_not_depend_on_them(surely, maybe, aggregates, expected):
    first, second, third = table(*THREE).data
    data = [first, replace(second, deleted=surely, maybe_deleted=maybe), third]
    lake = MemoryTable({"x": INT}, data, footers_describe_files=False)

    assert answer_of(lake, aggregates) == expected


def test_the_value_of_a_partition_needs_a_row_that_is_left():
    files = [DataFile(f"p={p}/a", {"p": p}, [RowGroup(3)]) for p in ("a", "b")]

    def greatest(maybe):
        data = [files[0], replace(files[1], maybe_deleted=maybe)]
        return answer_of(MemoryTable({"p": STRING}, data, ("p",)), "max(p)")

    assert greatest(2) == ("b",)
    assert greatest(3) == "p may go beyond the values that bounds are sure of"
