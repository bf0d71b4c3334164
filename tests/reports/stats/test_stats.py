"""How a table lies: figures counted by hand, and depth against counting one by one."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from support.commands import whyscan
from support.formats import text
from support.lakes import delta_users, empty
from support.memory_table import DataFile, MemoryTable, RowGroup
from whyscan.errors import UnknownColumn
from whyscan.planning.why.overlap_depth import overlap
from whyscan.reports.distribution import distribution
from whyscan.reports.document import document
from whyscan.reports.stats import profile
from whyscan.tables.snapshot import Collected, Recording
from whyscan.tree.types import DOUBLE, INT, STRING

ZOO = Path(__file__).resolve().parents[4] / "shared" / "zoo"


def files(*bounds, **others):
    """One column `n`; None is a file without bounds."""
    data = [
        DataFile(f"f{i}", {}, [RowGroup(4, {} if ends is None else {"n": ends})])
        for i, ends in enumerate(bounds)
    ]
    return MemoryTable({"n": INT}, data, footers_describe_files=False, **others)


def column(table, name="n"):
    return next(c for c in profile(table, full=False).columns if c.column == name)


def valid(document):
    done = whyscan("schema", "stats", cwd=".")
    complaints = list(Draft202012Validator(json.loads(done.out)).iter_errors(document))
    assert complaints == []
    return document


def test_a_sorted_column_skips_all_but_one_file():
    measured = column(files((0, 9), (10, 19), (20, 29), (30, 39)))

    assert (measured.depth.median, measured.depth.ideal) == (1, 1)
    assert measured.skipped == pytest.approx(0.75)
    assert (measured.bounded, measured.constant, measured.never_tight) == (4, 0, False)


def test_bounds_that_span_everything_help_no_filter():
    measured = column(files((0, 99), (0, 98), (1, 99), (0, 99)))

    assert measured.depth.median == 4
    assert measured.never_tight
    assert "take room and help no filter  n" in text(profile(files((0, 99), (0, 99)), full=False))


def test_a_file_without_bounds_is_read_whatever_is_asked():
    measured = column(files((0, 9), (10, 19), None, None))

    assert measured.bounded == 2
    assert measured.skipped == 1 - (1 + 2) / 4
    assert "bounds in some files only  n" in text(profile(files((0, 1), (2, 3), None), full=False))


def test_a_partition_column_is_constant_in_every_file():
    measured = column(delta_users(), "country")

    assert (measured.partitioned, measured.constant, measured.depth.median) == (True, 6, 2)
    assert measured.skipped == pytest.approx(4 / 6)


def test_columns_come_best_first():
    assert [c.column for c in profile(delta_users(), full=False).columns] == ["country", "age"]


def test_row_groups_of_a_file_are_one_hull():
    data = [
        DataFile("a", {}, [RowGroup(2, {"n": (0, 1)}), RowGroup(2, {"n": (8, 9)})]),
        DataFile("b", {}, [RowGroup(2, {"n": (4, 5)})]),
    ]
    measured = column(MemoryTable({"n": INT}, data))

    assert measured.files == 2
    assert measured.depth.spread.greatest == 2


def test_nulls_and_nan_are_counted_in_files():
    data = [
        DataFile("a", {}, [RowGroup(4, {"x": (0.0, 1.0)}, {"x": 1}, nan=True)]),
        DataFile("b", {}, [RowGroup(4, {"x": (2.0, 3.0)}, {"x": 0}, nan=True)]),
    ]
    measured = column(MemoryTable({"x": DOUBLE}, data, footers_describe_files=False), "x")

    assert (measured.nulls, measured.nan) == (1, 2)
    assert column(files((0, 1), (2, 3))).nan == 0


def test_columns_without_collected_statistics_are_listed():
    beyond = Recording(Collected.BEYOND_BUDGET)
    table = files(None, None, recordings={"n": beyond})

    assert "no bounds, beyond the column budget  n" in text(profile(table, full=False))


def test_a_table_without_files():
    stats = profile(empty(), full=False)

    assert text(stats).startswith("the table has no files")
    assert valid(document(stats))["file_bytes"] is None


def test_an_unknown_column_is_refused():
    with pytest.raises(UnknownColumn, match="unknown column 'm'"):
        profile(files((0, 1)), ["m"], full=False)


def test_a_hostile_name_is_inert():
    data = [DataFile("a", {}, [RowGroup(1, {"\x1b[31m": ("a", "b")})])]
    table = MemoryTable({"\x1b[31m": STRING}, data, footers_describe_files=False)

    assert "\x1b" not in text(profile(table, full=False))


ENDS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=2, max_size=12)


def mean_depth(lower, upper, pairs):
    """Half a unit at a time: between two whole numbers nothing begins or ends."""
    inside = [lower] if lower == upper else [n + 0.5 for n in range(lower, upper)]
    return sum(sum(a <= x <= b for a, b in pairs) for x in inside) / len(inside)


@given(ENDS)
def test_depth_is_what_counting_gives(pairs):
    pairs = [(min(pair), max(pair)) for pair in pairs]
    depth = overlap(pa.array([a for a, _ in pairs]), pa.array([b for _, b in pairs]))

    assert depth.depths.tolist() == pytest.approx([mean_depth(a, b, pairs) for a, b in pairs])
    extent = max(b for _, b in pairs) - min(a for a, _ in pairs)
    assert depth.widths.tolist() == pytest.approx([(b - a) / (extent or 1) for a, b in pairs])


KINDS = [pa.int8(), pa.int64(), pa.float32(), pa.date32(), pa.timestamp("us"), pa.time64("us")]


@pytest.mark.parametrize("kind", [*KINDS, pa.decimal128(12, 2)], ids=str)
def test_depth_is_measured_in_numbers_of_every_kind(kind):
    wide = pa.int64() if kind in {pa.int64(), pa.timestamp("us"), pa.time64("us")} else pa.int32()
    lower, upper = (pa.array(side, wide).cast(kind) for side in ([0, 10, 90], [100, 11, 91]))

    # Over the first lies another file in two hundredths of it alone.
    assert overlap(lower, upper).depths.tolist() == pytest.approx([1.02, 2, 2])


def test_depth_of_text_goes_by_the_order_of_the_bounds():
    depth = overlap(pa.array([b"a", b"b", b"c"]), pa.array([b"d", b"e", b"f"]))

    assert depth.median == 2
    assert depth.widths.tolist() == pytest.approx([0.6, 0.6, 0.6])


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=50))
def test_a_distribution_counts_every_number_once(numbers):
    histogram = distribution(np.array(numbers))

    assert sum(histogram.bins) == histogram.count == len(numbers)
    assert histogram.start <= max(min(numbers), 1) < 2 * histogram.start
    assert histogram.least <= histogram.quartiles[0] <= histogram.median <= histogram.greatest


def test_from_the_command_line(tmp_path):
    assert whyscan("demo", cwd=tmp_path).code == 0
    lake = tmp_path / "whyscan-demo"
    shown = whyscan("stats", "users", cwd=lake)
    assert shown.out.startswith("filters on country prune best: country = value skips 66.7 %")
    document = valid(json.loads(whyscan("stats", "users", "age", "--format", "json", cwd=lake).out))
    assert [c["column"] for c in document["columns"]] == ["age"]
    failed = whyscan("stats", "users", "aeg", cwd=lake)
    assert (failed.code, failed.out) == (3, "")


@pytest.mark.skipif(not ZOO.exists(), reason="../shared/zoo is not there")
@pytest.mark.parametrize("kind", ["delta-explain", "iceberg"])
def test_tables_of_other_writers(kind):
    from whyscan.errors import WhyscanError
    from whyscan.table import open as open_table

    measured = 0
    for folder in sorted(ZOO.glob(f"{kind}*/*")):
        try:
            table = open_table(folder)
        except WhyscanError:
            continue
        valid(document(table.stats()))
        measured += 1
    assert measured
