"""Tables in layouts that they do not have: partitions, samples, statistics, row groups, errors."""

from datetime import datetime, timedelta
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, DayTransform, TruncateTransform
from pyiceberg.types import LongType, NestedField, StringType, TimestampType

import whyscan
from whyscan.errors import TableError, UnknownColumn, UsageError

ROWS = 4_000


@pytest.fixture(scope="module")
def events():
    random = Random(1)
    start = datetime(2024, 3, 1)  # noqa: DTZ001 - a wall clock
    return pa.table(
        {
            "id": pa.array([random.randint(0, 500) for _ in range(ROWS)], pa.int64()),
            "ts": pa.array(
                [start + timedelta(minutes=random.randint(0, 14_000)) for _ in range(ROWS)],
                pa.timestamp("us"),
            ),
            "name": [random.choice(["alpha", "alto", "beta", "gamma"]) for _ in range(ROWS)],
        }
    )


@pytest.fixture(scope="module")
def parquet(events, tmp_path_factory):
    folder = tmp_path_factory.mktemp("events")
    for number in range(8):
        part = events.slice(number * ROWS // 8, ROWS // 8)
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=100)
    return whyscan.open(folder)


@pytest.fixture(scope="module")
def delta(events, tmp_path_factory):
    folder = tmp_path_factory.mktemp("delta")
    write_deltalake(folder, events)
    return whyscan.open(folder)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    folder = tmp_path_factory.mktemp("iceberg")
    made = SqlCatalog("c", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}")
    made.create_namespace("db")
    return made


SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "ts", TimestampType()),
    NestedField(3, "name", StringType()),
)
TRANSFORMS = {
    "day(ts)": (2, DayTransform(), "ts >= TIMESTAMP '2024-03-04 00:00:00'"),
    "bucket(4, id)": (1, BucketTransform(4), "id IN (17, 18)"),
    "truncate(2, name)": (3, TruncateTransform(2), "name LIKE 'al%'"),
}


def iceberg(catalog, name, events, spec=PartitionSpec()):  # noqa: B008 - it is immutable
    table = catalog.create_table(f"db.{name}", SCHEMA, partition_spec=spec)
    table.append(events)
    return whyscan.open(table.metadata_location)


@pytest.mark.parametrize("term", TRANSFORMS)
def test_partitions_of_iceberg_are_those_that_pyiceberg_writes(catalog, events, term):
    source, transform, predicate = TRANSFORMS[term]
    word = term.partition("(")[0]
    spec = PartitionSpec(PartitionField(source, 1000, transform, word))
    written = iceberg(catalog, f"by_{word}", events, spec).explain(predicate).files_level
    today = iceberg(catalog, f"for_{word}", events)

    report = today.with_layout(f"partition by {term}").explain(predicate)

    level = report.files_level
    assert (level.total, level.kept) == (written.total, written.kept)
    assert level.pruned_by == written.pruned_by
    assert level.rows_kept == written.rows_kept


def test_a_delta_table_partitioned_by_a_column_has_its_folders(delta):
    report = delta.with_layout("partition by name").explain("name = 'beta'", verbose=True)

    files = report.files().to_pylist()
    assert [file["path"] for file in files] == [
        "name=alpha/00000.parquet",
        "name=alto/00001.parquet",
        "name=beta/00002.parquet",
        "name=gamma/00003.parquet",
    ]
    assert [file["verdict"] for file in files] == ["none", "none", "all", "none"]


def test_partitions_of_today_stay_unless_the_layout_says_otherwise(events, tmp_path):
    write_deltalake(tmp_path, events, partition_by=["name"])
    table = whyscan.open(tmp_path)

    sorted_report = table.with_layout("sort by id").explain("id = 3 AND name = 'beta'")
    assert sorted_report.table.partitioned_by == ("name",)
    assert table.with_layout("partition by none").explain("id = 3").table.partitioned_by == ()


def test_a_sample_reads_some_row_groups_and_its_interval_contains_the_truth(parquet):
    layout, predicate = "sort by id", "id BETWEEN 100 AND 200"
    whole = parquet.with_layout(layout).explain(predicate)

    sampled = parquet.with_layout(layout, sample=8_000).explain(predicate)

    estimate = sampled.hypothetical
    assert whole.hypothetical.sampled_rows == ROWS
    assert 0 < estimate.sampled_rows < ROWS
    assert estimate.files.low <= whole.files_level.kept <= estimate.files.high
    assert sampled.files_level.total == whole.files_level.total


def test_a_sample_too_small_for_its_files_is_refused(parquet):
    with pytest.raises(UsageError) as caught:
        parquet.with_layout("sort by id file size 200", sample=1_000).explain("id = 1")

    assert caught.value.hint == "raise --sample, or ask for larger files"


def test_row_groups_of_a_layout_are_counted_if_it_says_how_large_they_are(parquet):
    report = parquet.with_layout("sort by id row group size 2000").explain("id = 7")

    files, groups = report.levels
    assert (files.kept, groups.level) == (1, "row_groups")
    assert groups.kept < groups.total


def test_statistics_are_those_that_the_layout_names(delta):
    without = delta.with_layout("sort by id statistics on ts").explain("id = 7")
    with_id = delta.with_layout("sort by id statistics on id file size 10kB").explain("id = 7")

    assert without.files_level.kept == without.files_level.total
    assert with_id.files_level.kept < with_id.files_level.total


REFUSED = {
    "sort by nothing": (UnknownColumn, "unknown column 'nothing'"),
    "partition by day(ts)": (UsageError, "parquet tables have no partition transforms: day(ts)"),
    "zorder by id, ts": (UsageError, "bounds alone prove nothing about this layout"),
    "sort by id desc": (UsageError, "bounds are proved for ascending order"),
    "partition by name sort by id": (
        UsageError,
        "bounds alone do not say which rows are in which partition",
    ),
}


@pytest.mark.parametrize(("layout", "kind", "message"), [(k, *v) for k, v in REFUSED.items()])
def test_what_cannot_be_planned_is_refused_with_the_reason(parquet, layout, kind, message):
    with pytest.raises(kind) as caught:
        parquet.with_layout(layout, sample=0)

    assert caught.value.message == message


def test_a_bucket_of_a_type_without_one_is_refused(catalog):
    schema = pa.schema([("f", pa.float64())])
    table = catalog.create_table("db.floats", schema)

    with pytest.raises(UsageError) as caught:
        whyscan.open(table.metadata_location).with_layout("partition by bucket(4, f)")

    assert caught.value.message == "bucket(4, f) is not defined for f, of type double"


def test_a_layout_has_no_rows_to_read(delta):
    with pytest.raises(UsageError) as caught:
        delta.with_layout("sort by id").scan("id = 1").read_all()

    assert caught.value.hint == "read the table itself"


def test_a_layout_of_a_layout_is_one_of_the_table(delta):
    again = delta.with_layout("partition by name").with_layout("sort by id").explain("id = 7")

    assert again.table.partitioned_by == ()


def test_layouts_are_compared_with_today(parquet):
    difference = parquet.diff(parquet.with_layout("sort by id"), "id = 7")

    assert difference.before.files_level.kept == 8
    assert difference.after.files_level.kept == 1


def test_rows_that_are_gone_cannot_be_sampled_and_bounds_are_offered(tmp_path):
    write_deltalake(tmp_path, pa.table({"a": [1, 2, 3]}))
    for file in tmp_path.glob("*.parquet"):
        file.unlink()
    table = whyscan.open(tmp_path)

    with pytest.raises(TableError) as caught:
        table.with_layout("sort by a").explain("a = 1")

    assert "is missing, and the plan reads it" in caught.value.message
    assert "plan a layout by bounds alone with --no-sample" in caught.value.hint
    report = table.with_layout("sort by a", sample=0).explain("a = 1")
    assert report.hypothetical.evidence == "guaranteed"
