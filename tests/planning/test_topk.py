"""ORDER BY with a LIMIT: no row among the first is in a file that was left out."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import whyscan
from oracle.dice import tried
from oracle.rows import RAISED, evaluate_row
from planning.generated import Case, cases
from planning.plans import planned
from planning.sorting import in_order
from support.memory_table import DataFile, MemoryTable, RowGroup
from whyscan.planning.rows.limit import Unproven, limited
from whyscan.planning.rows.topk import SortKey, top
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.tree.nodes import Arithmetic, Column, Literal, Operation
from whyscan.tree.types import DATE, DOUBLE, INT


def sort_values(rows, key):
    values = [evaluate_row(key.expression, row) for row in rows]
    if any(value is RAISED for value in values):
        reject()
    return values


def check(case: Case, key: SortKey, rows: int, offset: int) -> None:
    first = top(case.plan, key, rows, offset)
    if isinstance(first, Unproven):
        return
    wanted = rows + offset if rows else 0
    whole, left = (sort_values(case.matching(plan), key) for plan in (None, first))
    assert in_order(left, key)[:wanted] == in_order(whole, key)[:wanted]


ROWS = st.integers(0, 4)


@pytest.mark.slow
@given(cases(), st.booleans(), st.booleans(), ROWS, st.integers(0, 2))
@tried(400)
def test_the_first_rows_are_those_of_the_whole_table(case, descending, nulls_first, rows, offset):
    check(case, SortKey(case.key, descending, nulls_first), rows, offset)


@given(cases((INT,)), st.booleans(), st.booleans(), ROWS)
@tried(150)
def test_they_are_by_an_expression_too(case, descending, nulls_first, rows):
    halved = Arithmetic(Operation.SUBTRACT, Literal(7, INT), case.key, INT)
    check(case, SortKey(halved, descending, nulls_first), rows, 0)


@pytest.mark.slow
@given(cases(), ROWS, st.integers(0, 2))
@tried(300)
def test_without_an_order_the_files_that_are_left_have_the_rows(case, rows, offset):
    first = limited(case.plan, rows, offset)

    if isinstance(first, Unproven):
        assert rows > 0
        return
    assert len(case.matching(first)) >= (rows + offset if rows else 0)


def table(*files, kind=INT, nan=False, **changes):
    """Files of one row group each: (rows, lower, upper, NULLs) of `x`."""
    data = [
        DataFile(f"f{at}", {}, [RowGroup(rows, {"x": (low, high)}, {"x": nulls}, nan=nan)])
        for at, (rows, low, high, nulls) in enumerate(files)
    ]
    return MemoryTable({"x": kind}, data, **{"footers_describe_files": False, **changes})


def first(lake, order_by, rows, predicate=None, offset=0, **options):
    """The files that `ORDER BY order_by LIMIT rows OFFSET offset` reads, or why it reads all."""
    expression, *words = order_by.split(" ", 1)
    bound = bind(f"{expression} IS NULL", lake.schema(), Session()).expression.operand
    words = words[0] if words else "ASC NULLS FIRST"
    key = SortKey(bound, "DESC" in words, "FIRST" in words)
    columns = (Column(("x",), lake.columns["x"]),)
    first = top(planned(lake, predicate, measured=columns, **options), key, rows, offset)
    return first.why if isinstance(first, Unproven) else {scan.path for scan in first}


FOUR = table((10, 1, 5, 0), (10, 5, 9, 0), (10, 10, 20, 0), (10, 4, 30, 5))


@pytest.mark.parametrize(
    ("order_by", "rows", "offset", "kept"),
    [
        # Ten rows are at most 5: the second file begins there, and ties stay.
        ("x ASC NULLS LAST", 10, 0, {"f0", "f1", "f3"}),
        ("x ASC NULLS LAST", 5, 5, {"f0", "f1", "f3"}),
        ("x ASC NULLS LAST", 11, 0, {"f0", "f1", "f3"}),
        # Twenty are at most 9, thirty at most 20, and of the fourth five are at most 30.
        ("x ASC NULLS LAST", 21, 0, {"f0", "f1", "f2", "f3"}),
        # Five NULLs come first of all.
        ("x ASC NULLS FIRST", 5, 0, {"f3"}),
        ("x ASC NULLS FIRST", 6, 0, {"f0", "f1", "f3"}),
        ("x ASC NULLS FIRST", 15, 0, {"f0", "f1", "f3"}),
        ("x DESC NULLS LAST", 10, 0, {"f2", "f3"}),
        # Ten are at least 10, ten more at least 5, which the first file reaches.
        ("x DESC NULLS LAST", 15, 0, {"f0", "f1", "f2", "f3"}),
        ("x DESC NULLS FIRST", 5, 0, {"f3"}),
        ("x DESC NULLS FIRST", 15, 0, {"f2", "f3"}),
        ("x ASC NULLS LAST", 0, 3, set()),
        # A function that turns the order round, and an unknown one.
        ("-x ASC NULLS LAST", 10, 0, {"f2", "f3"}),
        ("xxhash64(x)", 1, 0, {"f0", "f1", "f2", "f3"}),
    ],
)
def test_what_lies_strictly_behind_enough_rows_is_left_out(order_by, rows, offset, kept):
    assert first(FOUR, order_by, rows, offset=offset) == kept


@pytest.mark.parametrize(
    ("predicate", "rows", "kept"),
    [
        # Only a file of which every row matches can stand in for others.
        ("x > 4", 10, {"f0", "f1", "f3"}),
        ("x > 4", 21, "20 rows are sure to match, 21 are asked for"),
        ("x > 9", 10, {"f2", "f3"}),
        ("x < 6", 10, {"f0", "f1", "f3"}),
    ],
)
def test_rows_that_may_not_match_do_not_stand_in_for_others(predicate, rows, kept):
    assert first(FOUR, "x ASC NULLS LAST", rows, predicate) == kept


@pytest.mark.parametrize("footers", [False, True])
def test_neither_do_those_of_row_groups(footers):
    lake = table((10, 1, 5, 0), (10, 6, 9, 0), (10, 10, 20, 0), footers_describe_files=footers)

    assert first(lake, "x ASC NULLS LAST", 5, "x > 0") == {"f0"}
    assert first(lake, "x ASC NULLS LAST", 5, "x > 4") == {"f0", "f1"}


def test_a_nan_that_may_be_there_is_the_greatest_of_all():
    lake = table((5, 1.0, 2.0, 0), (5, 3.0, 4.0, 0), kind=DOUBLE, nan=True)

    assert first(lake, "x ASC NULLS LAST", 1) == {"f0", "f1"}
    assert first(lake, "x DESC NULLS LAST", 5) == {"f0", "f1"}
    assert first(lake, "x ASC NULLS LAST", 5, assume_no_nan=True) == {"f0"}


def test_a_file_without_statistics_stays_and_replaces_no_other():
    unknown = DataFile("f4", {}, [RowGroup(99)])
    lake = replace_data(FOUR, [*FOUR.data, unknown])

    assert first(lake, "x ASC NULLS LAST", 10) == {"f0", "f1", "f3", "f4"}


def replace_data(lake, data, footers=False):
    return MemoryTable(lake.columns, data, footers_describe_files=footers)


@pytest.mark.parametrize(
    ("order_by", "deleted", "kept"),
    [
        ("x ASC NULLS FIRST", 0, {"f0"}),
        ("x ASC NULLS LAST", 0, {"f0"}),
        # The five that are left may be no NULLs, or nothing else.
        ("x ASC NULLS FIRST", 5, {"f0"}),
        ("x DESC NULLS FIRST", 5, {"f0", "f1"}),
        ("x ASC NULLS LAST", 5, {"f0", "f1"}),
        ("x DESC NULLS LAST", 5, {"f0", "f1"}),
    ],
)
@pytest.mark.parametrize("footers", [False, True])
def test_which_rows_are_deleted_is_unknown(order_by, deleted, kept, footers):
    lake = table((10, 1, 2, 5), (4, 3, 4, 0))
    data = [replace(lake.data[0], deleted=deleted), lake.data[1]]

    assert first(replace_data(lake, data, footers), order_by, 5) == kept


def test_row_groups_alone_decide_where_files_have_nothing_else(tmp_path):
    for name, days in {"a": (0, 10), "b": (20, 30), "c": (40, 50)}.items():
        values = pa.table({"d": pa.array(range(*days), pa.int32()).cast(pa.date32())})
        pq.write_table(values, tmp_path / f"{name}.parquet", row_group_size=5)
    column = Column(("d",), DATE)
    plan = planned(whyscan.open(tmp_path).snapshot, None, measured=(column,))

    def read(rows, *, descending):
        first = top(plan, SortKey(column, descending, nulls_first=False), rows)
        return {scan.path: scan.row_groups for scan in first}

    assert read(3, descending=False) == {"a.parquet": (0,)}
    assert read(6, descending=False) == {"a.parquet": (0, 1)}
    assert read(11, descending=False) == {"a.parquet": (0, 1), "b.parquet": (0,)}
    assert read(5, descending=True) == {"c.parquet": (1,)}
