"""Layouts against tables that are really written in them: files read are those that were report."""

import math
import shutil
from datetime import date, timedelta
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import write_deltalake
from hypothesis import given, settings
from hypothesis import strategies as st

import whyscan

# Few and many distinct values, NULL and NaN.
VALUES = {
    "i": (pa.int32(), lambda random: random.randint(-3, 40)),
    "k": (pa.int64(), lambda random: random.randint(-(2**40), 2**40)),
    "s": (pa.string(), lambda random: random.choice(["", "a", "ab", "b", "ba", "ü", "z"])),
    "f": (pa.float64(), lambda random: random.choice([-1.5, 0.0, 2.0, 3.5, math.nan])),
    "d": (pa.date32(), lambda random: date(2021, 8, 1) + timedelta(random.randint(0, 60))),
}
PREDICATES = st.sampled_from(
    [
        "i = 7",
        "i BETWEEN 3 AND 12",
        "i < 0 OR i > 35",
        "i IN (1, 20, 39)",
        "i IS NULL",
        "s = 'b'",
        "s > 'b' AND i < 20",
        "s LIKE 'a%'",
        "f > 2.0",
        "f <= 0",
        "f IS NOT NULL AND i > 10",
        "d >= DATE '2021-08-20'",
        "NOT (i > 5)",
        "i + 1 = 20",
        "k > 0",
        "k BETWEEN -1000000 AND 5000000000",
    ]
)


@st.composite
def tables(draw):
    """A table of some files, and the rows of a file."""
    random = Random(draw(st.integers(0, 2**32)))
    files, rows = random.randint(2, 7), random.randint(1, 12)
    nulls = random.choice([0.0, 0.0, 0.2])
    columns = {
        name: pa.array(
            [None if random.random() < nulls else value(random) for _ in range(files * rows)], kind
        )
        for name, (kind, value) in VALUES.items()
    }
    return pa.table(columns), rows


def write(table, rows):
    """Files of `rows` rows each, in the order of the table."""
    folder = mkdtemp()
    for number, start in enumerate(range(0, table.num_rows, rows)):
        pq.write_table(table.slice(start, rows), f"{folder}/{number:03}.parquet", compression=None)
    return folder


def write_delta(table, rows):
    """A Delta table with a commit for each file."""
    folder = mkdtemp()
    for start in range(0, table.num_rows, rows):
        write_deltalake(folder, table.slice(start, rows), mode="append")
    return folder


def size_of_files(folder):
    """The bytes of the files on average, so that a layout has as many."""
    sizes = [file.stat().st_size for file in Path(folder).iterdir()]
    return round(sum(sizes) / len(sizes))


def sorted_as_spark_sorts(table, order):
    """Ascending: NULL, values, NaN. Descending is the other way round."""

    def key(row, name):
        value = row[name]
        is_nan = isinstance(value, float) and math.isnan(value)
        return (value is not None, is_nan, 0 if value is None or is_nan else value)

    rows = table.to_pylist()
    for name, descending in reversed(order):
        rows.sort(key=lambda row, name=name: key(row, name), reverse=descending)
    return pa.Table.from_pylist(rows, table.schema)


ORDERS = st.lists(
    st.tuples(st.sampled_from(["k", "k", "k", *VALUES]), st.booleans()),
    min_size=1,
    max_size=2,
    unique_by=lambda column: column[0],
)


@given(tables(), ORDERS, PREDICATES)
def test_a_sorted_layout_reads_the_files_that_the_sorted_table_reads(generated, order, predicate):
    table, rows = generated
    today = write(table, rows)
    written = write(sorted_as_spark_sorts(table, order), rows)
    columns = ", ".join(f"{n} desc" if down else n for n, down in order)
    layout = f"sort by {columns} file size {size_of_files(today)}"
    try:
        expected = whyscan.open(written).explain(predicate).files_level
        report = whyscan.open(today).with_layout(layout).explain(predicate)

        # Rows with equal keys are in any order, so a cut between them may fall elsewhere.
        assert report.files_level.total == expected.total
        if _cuts_are_certain(table, order, rows):
            assert report.files_level.kept == expected.kept
        assert (
            report.hypothetical.files.low
            <= report.files_level.kept
            <= report.hypothetical.files.high
        )
    finally:
        shutil.rmtree(today)
        shutil.rmtree(written)


def _cuts_are_certain(table, order, rows):
    """No cut between two files separates rows with equal keys."""
    names = [name for name, _ in order]
    keys = sorted_as_spark_sorts(table, order).select(names).to_pylist()
    cuts = range(rows, len(keys), rows)
    return all(str(keys[cut - 1]) != str(keys[cut]) for cut in cuts)


@given(tables(), st.sampled_from(list(VALUES)), PREDICATES, st.booleans())
def test_what_bounds_prove_holds_for_the_table_that_is_written(
    generated, column, predicate, is_sorted_today
):
    check_what_bounds_prove(generated, column, predicate, write, is_sorted_today=is_sorted_today)


@settings(max_examples=10)
@given(tables(), st.sampled_from(list(VALUES)), PREDICATES, st.booleans())
def test_what_bounds_prove_holds_for_the_delta_table_that_is_written(
    generated, column, predicate, is_sorted_today
):
    check_what_bounds_prove(
        generated, column, predicate, write_delta, is_sorted_today=is_sorted_today
    )


def check_what_bounds_prove(generated, column, predicate, write, *, is_sorted_today):
    table, rows = generated
    if is_sorted_today:
        table = sorted_as_spark_sorts(table, [(column, False)])
    today = write(table, rows)
    try:
        report = whyscan.open(today).with_layout(f"sort by {column}", sample=0).explain(predicate)
        size = whyscan.open(today).with_layout(f"sort by {column}", sample=0).snapshot.rows_a_file
        written = write(sorted_as_spark_sorts(table, [(column, False)]), int(size))
        measured = whyscan.open(written).explain(predicate).files_level
        shutil.rmtree(written)

        files = report.hypothetical.files
        assert report.hypothetical.evidence == "guaranteed"
        assert files.low <= measured.kept <= files.high
    finally:
        shutil.rmtree(today)
