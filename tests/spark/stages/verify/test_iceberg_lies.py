"""Iceberg tables that lie in a manifest: of partitions, of counts, and of types Spark lacks."""

from __future__ import annotations

import uuid
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.transforms import parse_transform
from pyiceberg.types import (
    DateType,
    DecimalType,
    LongType,
    StringType,
    TimestampType,
    UUIDType,
)

from spark.stages.verify.iceberg_files import write
from spark.stages.verify.proofs import proven, verified
from support.formats import text
from tables.iceberg.by_hand import Lake

pytestmark = pytest.mark.spark

ID = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")
NOON = datetime(2024, 3, 7, 12, 30)  # noqa: DTZ001 - a wall clock
# Transform, Iceberg's type, the values of one file, all of one partition, and PyIceberg's type.
FIELDS = {
    "i": ("identity", "long", pa.array([7, 7], pa.int64()), LongType()),
    "y": ("year", "date", pa.array([date(1999, 1, 1), date(1999, 12, 31)]), DateType()),
    "m": ("month", "timestamp", pa.array([NOON, NOON], pa.timestamp("us")), TimestampType()),
    "d": ("day", "timestamp", pa.array([NOON, NOON], pa.timestamp("us")), TimestampType()),
    "h": ("hour", "timestamp", pa.array([NOON, NOON], pa.timestamp("us")), TimestampType()),
    "w": ("truncate[10]", "long", pa.array([20, 29], pa.int64()), LongType()),
    "s": ("truncate[2]", "string", pa.array(["abc", "abd"]), StringType()),
    "bl": ("bucket[16]", "long", pa.array([34, 34], pa.int64()), LongType()),
    "bs": ("bucket[16]", "string", pa.array(["iceberg", "iceberg"]), StringType()),
    "bd": ("bucket[16]", "date", pa.array([date(2017, 11, 16)] * 2), DateType()),
    "bt": ("bucket[16]", "timestamp", pa.array([NOON, NOON], pa.timestamp("us")), TimestampType()),
    "bu": ("bucket[16]", "uuid", pa.array([ID.bytes, ID.bytes], pa.binary(16)), UUIDType()),
    "bm": (
        "bucket[16]",
        "decimal(9, 2)",
        pa.array([Decimal("14.20")] * 2, pa.decimal128(9, 2)),
        DecimalType(9, 2),
    ),
}
ARRAYS = {name: array for name, (_, _, array, _) in FIELDS.items()}


def partition_of(name):
    """The partition of the first value, as PyIceberg has it."""
    transform, _, array, kind = FIELDS[name]
    value = array[0].cast(pa.int32()) if pa.types.is_date(array.type) else array[0]
    value = value.cast(pa.int64()) if pa.types.is_timestamp(array.type) else value
    return parse_transform(transform).transform(kind)(ID if name == "bu" else value.as_py())


def elsewhere(value, transform):
    """Another partition."""
    if isinstance(value, str):
        return f"x{value[1:]}"
    return value + (10 if transform == "truncate[10]" else 1)


@pytest.fixture(scope="module")
def partitioned(spark, tmp_path_factory):
    """A file whose partition is right, and one for each field that lies in another one's."""
    spec = [
        {"name": f"p_{name}", "transform": FIELDS[name][0], "source-id": at, "field-id": 999 + at}
        for at, name in enumerate(FIELDS, start=1)
    ]
    columns = {name: kind for name, (_, kind, _, _) in FIELDS.items()}
    lake = Lake(tmp_path_factory.mktemp("partitions") / "t", columns, spec)
    right = {f"p_{name}": partition_of(name) for name in FIELDS}
    entries = [write(lake, "right.parquet", ARRAYS, partition=right)]
    for name in FIELDS:
        wrong = right | {f"p_{name}": elsewhere(right[f"p_{name}"], FIELDS[name][0])}
        entries.append(write(lake, f"{name}.parquet", ARRAYS, partition=wrong))
    lake.manifest(entries)
    lake.commit()
    return verified(spark, lake.folder, "true", select=["*"])


def test_a_partition_value_that_is_right_is_never_accused(partitioned):
    assert [lie for lie in partitioned.tables[0].lies if "right" in lie.path] == []


@pytest.mark.parametrize("name", FIELDS)
def test_a_partition_value_that_the_rows_contradict_is_named(partitioned, name):
    """With its file and its column, whatever the transform is."""
    lies = [lie for lie in partitioned.tables[0].lies if Path(lie.path).stem == name]

    assert {lie.column for lie in lies} == {name}
    source = "bucket" if FIELDS[name][0].startswith("bucket") else "partition"
    assert {lie.what.split()[0] for lie in lies} == {source}
    assert partitioned.exit_code == 1


def test_a_wrong_bucket_in_words(partitioned):
    printed = " ".join(text(partitioned).split())

    assert "bl.parquet, bl: the bucket of its partition is recorded as 4, and is 3" in printed


def test_every_count_and_bound_of_a_manifest(spark, tmp_path):
    lake = Lake(tmp_path / "t", {"x": "double", "s": "string"})
    columns = {
        "x": pa.array([1.5, 2.5, None, float("nan")]),
        "s": pa.array(["a" * 20, "b", "c", "d"]),
    }
    honest = {"bounds": {"x": (1.5, 2.5), "s": ("a" * 16, "d")}, "nans": {"x": 1}}

    def lying(name, **lie):
        return write(lake, f"{name}.parquet", columns, **(honest | lie))

    lake.manifest(
        [
            lying("honest"),
            lying("lower", bounds=honest["bounds"] | {"x": (2.0, 2.5)}),
            lying("upper", bounds=honest["bounds"] | {"x": (1.5, 2.0)}),
            lying("text", bounds=honest["bounds"] | {"s": ("b", "d")}),
            lying("nulls", nulls={"x": 0, "s": 0}),
            lying("nans", nans={"x": 0}),
            lying("rows", rows=5),
            lying("size", file_size_in_bytes=1),
        ]
    )
    lake.commit()

    verification = verified(spark, lake.folder, "x > 0", select=["*"])
    lies = {(Path(lie.path).stem, lie.column, lie.what) for lie in verification.tables[0].lies}

    assert lies == {
        ("lower", "x", "lower"),
        ("upper", "x", "upper"),
        ("text", "s", "lower"),
        ("nulls", "x", "nulls"),
        ("nans", "x", "nan"),
        ("rows", None, "rows"),
        ("size", None, "bytes"),
    }
    assert verification.exit_code == 1


NANOS = 1_700_000_000_000_000_000


def nanoseconds(*offsets) -> pa.Array:
    nanoseconds = [None if n is None else NANOS + n for n in offsets]
    return pa.array(nanoseconds, pa.int64()).view(pa.timestamp("ns"))


def at(offset: int) -> str:
    """A text: what Spark calls a timestamp has no nanoseconds."""
    return f"'2023-11-14 22:13:20.{offset:09}'"


def test_nanoseconds_are_judged_to_the_last_one(spark, tmp_path):
    lake = Lake(tmp_path / "t", {"t": "timestamp_ns"}, version=3)
    lake.manifest(
        [
            write(
                lake,
                "a.parquet",
                {"t": nanoseconds(1, 2, None)},
                bounds={"t": (NANOS + 1, NANOS + 2)},
            ),
            write(
                lake,
                "b.parquet",
                {"t": nanoseconds(3, 999)},
                bounds={"t": (NANOS + 3, NANOS + 999)},
            ),
        ]
    )
    lake.commit()
    predicates = (
        f"t > {at(2)}",
        f"t = {at(999)}",
        f"t IN ({at(1)}, {at(3)})",
        f"NOT (t < {at(3)}) OR t IS NULL",
    )

    verification = proven(spark, lake.folder, *predicates, select=["*"])

    assert [proof.rows_true for proof in verification.predicates] == [2, 1, 2, 3]
    assert [proof.planned.files_kept for proof in verification.predicates] == [1, 1, 2, 2]
    assert verification.columns == ("t",)


def test_a_bound_that_is_one_nanosecond_off_is_a_lie(spark, tmp_path):
    lake = Lake(tmp_path / "t", {"t": "timestamp_ns"}, version=3)
    lake.manifest(
        [write(lake, "a.parquet", {"t": nanoseconds(1, 5)}, bounds={"t": (NANOS + 1, NANOS + 4)})]
    )
    lake.commit()

    verification = verified(spark, lake.folder, f"t = {at(5)}")
    (lie,) = verification.tables[0].lies

    assert (lie.column, lie.what) == ("t", "upper")
    assert verification.tables[0].predicates[0].lost_rows == 1
    assert verification.exit_code == 1


def test_what_else_is_done_with_nanoseconds_is_not_judged_and_says_so(spark, tmp_path):
    lake = Lake(tmp_path / "t", {"t": "timestamp_ns"}, version=3)
    lake.manifest([write(lake, "a.parquet", {"t": nanoseconds(1)})])
    lake.commit()

    verification = verified(spark, lake.folder, "year(t) = 2023")

    assert "nanoseconds" in verification.tables[0].predicates[0].why
    assert verification.exit_code == 3


def test_a_time_of_day_is_judged(spark, tmp_path):
    lake = Lake(tmp_path / "t", {"clock": "time"})
    columns = {"clock": pa.array([time(1), time(13, 30, 0, 1), None], pa.time64("us"))}
    lake.manifest([write(lake, "a.parquet", columns)])
    lake.commit()

    verification = proven(spark, lake.folder, "clock > TIME '13:30:00'", "clock IS NULL")

    assert [proof.rows_true for proof in verification.predicates] == [1, 1]
