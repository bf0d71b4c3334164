"""LIMIT without an order: the fewest files that are sure to have the rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planning.plans import planned
from support.memory_table import DataFile, MemoryTable, RowGroup
from whyscan.planning.rows.limit import Unproven, before_limit, limited
from whyscan.tree.types import INT


def table(*files, **changes):
    """Files of row groups, each (rows, lower, upper) of `x`."""
    data = [
        DataFile(f"f{at}", {}, [RowGroup(rows, {"x": (low, high)}) for rows, low, high in groups])
        for at, groups in enumerate(files)
    ]
    return MemoryTable({"x": INT}, data, footers_describe_files=False, **changes)


def read(plan):
    return {scan.path: scan.row_groups for scan in plan}


THREE = table([(10, 1, 5)], [(30, 6, 9)], [(20, 1, 9)], [(30, 6, 9)])


@pytest.mark.parametrize(
    ("predicate", "rows", "offset", "kept"),
    [
        ("x > 0", 1, 0, {"f1"}),
        ("x > 0", 30, 0, {"f1"}),
        ("x > 0", 31, 0, {"f1", "f3"}),
        ("x > 0", 30, 1, {"f1", "f3"}),
        ("x > 0", 90, 0, {"f0", "f1", "f2", "f3"}),
        ("x > 5", 60, 0, {"f1", "f3"}),
        ("x < 6", 10, 0, {"f0"}),
        ("x > 0", 0, 0, set()),
        ("x > 0", 0, 5, set()),
        ("x > 99", 0, 0, set()),
    ],
)
def test_the_fewest_files_that_are_sure_to_have_the_rows(predicate, rows, offset, kept):
    plan = limited(planned(THREE, predicate), rows, offset)

    assert set(read(plan)) == kept
    assert plan.summary.files_kept == len(kept)


@pytest.mark.parametrize(
    ("predicate", "rows", "why"),
    [
        ("x > 0", 91, "90 rows are sure to match, 91 are asked for"),
        ("x > 5", 61, "60 rows are sure to match, 61 are asked for"),
        ("x = 3", 1, "0 rows are sure to match, 1 are asked for"),
    ],
)
def test_too_few_rows_that_are_sure_to_match_leave_nothing_out(predicate, rows, why):
    assert limited(planned(THREE, predicate), rows) == Unproven(why)


def test_rows_that_deletes_may_have_hidden_are_not_sure():
    hidden = [(0, 0), (25, 0), (0, None), (0, 29)]
    data = [
        replace(file, deleted=surely, maybe_deleted=maybe)
        for file, (surely, maybe) in zip(THREE.data, hidden, strict=True)
    ]
    lake = MemoryTable(THREE.columns, data, footers_describe_files=False)

    assert set(read(limited(planned(lake, "x > 0"), 10))) == {"f0"}
    assert set(read(limited(planned(lake, "x > 0"), 15))) == {"f0", "f1"}
    assert limited(planned(lake, "x > 0"), 17) == Unproven(
        "16 rows are sure to match, 17 are asked for"
    )


def test_a_file_with_deleted_rows_is_read_whole():
    lake = table([(5, 1, 5), (5, 1, 5), (5, 1, 5)])
    (file,) = lake.data
    deleted = MemoryTable(lake.columns, [replace(file, deleted=5)], footers_describe_files=False)

    assert read(limited(planned(lake, "x > 0"), 5)) == {"f0": (0,)}
    assert read(limited(planned(deleted, "x > 0"), 5)) == {"f0": (0, 1, 2)}


def test_the_fewest_row_groups_of_the_files_that_are_left():
    lake = table([(5, 1, 5), (9, 1, 5), (5, 1, 9)], [(4, 6, 9)])

    assert read(limited(planned(lake, "x > 0"), 8)) == {"f0": (1,)}
    assert read(limited(planned(lake, "x > 0"), 10)) == {"f0": (0, 1)}
    assert read(limited(planned(lake, "x < 6"), 12)) == {"f0": (0, 1)}
    assert read(limited(planned(lake, "x > 0"), 20)) == {"f0": (0, 1, 2), "f1": (0,)}


def test_a_limit_of_a_limit_starts_from_the_whole_plan():
    plan = planned(THREE, "x > 0")

    assert set(read(limited(limited(plan, 1), 31))) == {"f1", "f3"}
    assert before_limit(limited(plan, 1)).summary == plan.summary
