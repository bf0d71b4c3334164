"""Limits, orders and aggregates on tables of every format, column by column, against their rows."""

from __future__ import annotations

from functools import cache
from itertools import product

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from planning.plans import planned
from planning.sorting import aggregated, in_order, same
from tables.delta import rs_lakes
from tables.iceberg import pyiceberg_lakes
from whyscan.planning.plan.scan_plan import Depth
from whyscan.planning.rows.answers import Answers, Function, MetadataAggregate, answers
from whyscan.planning.rows.limit import limited
from whyscan.planning.rows.topk import SortKey, top
from whyscan.tree import arrow
from whyscan.tree.nodes import Column
from whyscan.tree.types import StructType, TimestampType


def parquet(folder):
    for seed in range(4):
        pq.write_table(rs_lakes.rows(seed), folder / f"{seed}.parquet", row_group_size=10)


def iceberg(folder):
    table = pyiceberg_lakes.create(folder, {"yes": "identity", "day": "year"})
    for seed in range(4):
        table.append(pyiceberg_lakes.rows(seed))


LAKES = {
    "parquet": parquet,
    "delta": rs_lakes.plain,
    "delta, partitioned": rs_lakes.partitioned,
    "iceberg": iceberg,
}


@pytest.fixture(scope="module", params=LAKES)
def lake(request, tmp_path_factory):
    """A snapshot, and its folder."""
    folder = tmp_path_factory.mktemp("lake")
    LAKES[request.param](folder)
    return whyscan.open(folder).snapshot, folder


def columns(snapshot):
    fields = snapshot.schema().fields
    return [Column((f.name,), f.type) for f in fields if not isinstance(f.type, StructType)]


def values(plan, folder, column):
    """The column's values in what a plan reads."""
    read = []
    for scan in plan:
        at = scan.path.removeprefix("file://")
        path = str(at if at.startswith("/") else folder / at)
        groups = range(groups_of(path)) if scan.row_groups is None else scan.row_groups
        for group in groups:
            read += values_of_group(path, group, column)
    return read


@cache
def groups_of(path):
    return pq.read_metadata(path).num_row_groups


@cache
def values_of_group(path, group, column):
    (name,) = column.path
    column_values = pq.ParquetFile(path).read_row_group(group, [name])[name].combine_chunks()
    if isinstance(column.type, TimestampType):
        column_values = column_values.cast(pa.timestamp("us"))
    column_values = column_values.cast(arrow.arrow_type(column.type))
    return [arrow.value(value, column.type) if value.is_valid else None for value in column_values]


def columns_of_files(plan):
    """Columns that every file holds: partition columns of Delta stand in paths alone."""
    partitioned = {path[0] for path in plan.snapshot.partition_sources}
    hidden = partitioned if plan.snapshot.format == "delta" else set()
    return [column for column in columns(plan.snapshot) if column.path[0] not in hidden]


@pytest.mark.parametrize("depth", [Depth.FILES, Depth.ROW_GROUPS])
def test_the_first_rows_by_every_column_are_those_of_the_whole_table(lake, depth):
    snapshot, folder = lake
    everything = planned(snapshot, None, depth=depth, measured=tuple(columns(snapshot)))
    left_out = 0
    for column in columns_of_files(everything):
        whole = values(everything, folder, column)
        for descending, nulls_first in product((False, True), repeat=2):
            key = SortKey(column, descending, nulls_first)
            for rows in (2, 60):
                first = top(everything, key, rows)
                read = values(first, folder, column)
                assert in_order(read, key)[:rows] == in_order(whole, key)[:rows], key
                left_out += len(read) < len(whole)

    assert left_out > 10


@pytest.mark.parametrize("depth", [Depth.FILES, Depth.ROW_GROUPS])
def test_every_answer_is_what_the_rows_say(lake, depth):
    snapshot, folder = lake
    everything = planned(snapshot, None, depth=depth, measured=tuple(columns(snapshot)))
    answered = 0
    for column, function in product(columns_of_files(everything), Function):
        proven = answers(everything, [MetadataAggregate(function, column)])
        if isinstance(proven, Answers):
            answered += 1
            said = aggregated(function, values(everything, folder, column))
            assert same(proven.values[0].value, said), (column, function, proven.values)

    assert answered > 20


def test_a_limit_reads_one_file_where_one_has_the_rows(lake):
    snapshot, folder = lake
    plan = limited(planned(snapshot, None), 5)

    assert len(list(plan)) == 1
    assert len(values(plan, folder, columns_of_files(plan)[0])) >= 5


def test_statistics_answer_for_a_column_whose_years_are_partitions(tmp_path):
    iceberg(tmp_path)
    snapshot = whyscan.open(tmp_path).snapshot
    day = next(column for column in columns(snapshot) if column.path == ("day",))
    plan = planned(snapshot, None, measured=(day,), depth=Depth.FILES)

    proven = answers(plan, [MetadataAggregate(function, day) for function in Function])
    values_in_files = values(plan, tmp_path, day)

    assert [v.value for v in proven.values] == [aggregated(f, values_in_files) for f in Function]
