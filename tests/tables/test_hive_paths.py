"""Partition columns from folder names: what Spark infers, without Spark."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tables.hive_cases import FOLDERS, INFERRED, NULL
from whyscan.errors import TableError, UsageError
from whyscan.tables.parquet import values
from whyscan.tables.parquet.partitions import typed
from whyscan.tables.parquet.paths import read_keys, visible
from whyscan.tables.parquet.type_names import type_named
from whyscan.tree import zones
from whyscan.tree.types import (
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TINYINT,
    DecimalType,
    TimestampType,
)

UTC = zones.zone("UTC")


def files(*folders: str) -> pa.Array:
    return pa.array([f"{folder}/f.parquet" if folder else "f.parquet" for folder in folders])


def shown(texts: list[str], kind) -> list[str | None]:
    """Values as the test cases write them."""
    converted = values.convert(texts, kind, UTC)
    if pa.types.is_null(converted.type):
        return [None] * len(converted)
    if pa.types.is_binary(converted.type):
        return converted.cast(pa.string()).to_pylist()
    if pa.types.is_temporal(converted.type):
        return [None if v is None else str(v).removesuffix("00000") for v in converted.to_pylist()]
    return [None if v is None else str(v) for v in converted.to_pylist()]


def same(ours: str | None, theirs: str | None) -> bool:
    if ours is None or theirs is None or ours == theirs:
        return ours == theirs
    try:
        return str(float(ours)) == str(float(theirs))
    except ValueError:
        return False


@pytest.mark.parametrize("name", INFERRED)
def test_inferred_type_and_values(name):
    texts, kind, expected = INFERRED[name]

    inferred = values.infer(texts)

    assert str(inferred) == kind
    ours = shown(texts, inferred)
    assert all(map(same, ours, expected)), (ours, expected)


@pytest.mark.parametrize("name", [n for n, (_, columns) in FOLDERS.items() if columns])
def test_folders_give_columns(name):
    folders, columns = FOLDERS[name]
    paths = files(*folders)

    keys = read_keys(paths.filter(visible(paths)))

    assert list(keys.names) == columns


@pytest.mark.parametrize("name", [n for n, (_, columns) in FOLDERS.items() if not columns])
def test_folders_that_contradict_each_other_are_refused(name):
    folders, _ = FOLDERS[name]

    with pytest.raises(TableError):
        read_keys(files(*folders))


@pytest.mark.parametrize(
    ("path", "is_data"),
    [
        ("a.parquet", True),
        ("000000_0", True),
        ("k=1/_m=1.parquet", True),
        ("_k=1/a.parquet", True),
        ("_SUCCESS", False),
        ("_metadata", False),
        ("_common_metadata", False),
        (".a.parquet.crc", False),
        ("k=1/.hidden", False),
        (".k=1/a.parquet", False),
        ("_temporary/0/a.parquet", False),
        ("k=1/_temporary/a.parquet", False),
        ("a.parquet._COPYING_", False),
        ("a_b/c._d", True),
    ],
)
def test_hidden_files_are_no_data(path, is_data):
    assert visible(pa.array([path])).to_pylist() == [is_data]


def test_a_file_beside_partition_folders_has_no_folder():
    keys = read_keys(files("", "a=1"))

    assert keys.folder.to_pylist() == [None, 0]


def test_a_table_without_keys_has_no_columns():
    keys = read_keys(files("", "x", "x/y"))

    assert (keys.names, keys.folder.null_count) == ((), 0)


def partitions(types, *folders):
    return typed(read_keys(files(*folders)), types)


def test_a_given_type_overrides_inference():
    columns = partitions({"K": STRING}, "k=01", "k=1")

    assert columns.table(UTC).to_pylist() == [{"k": "01"}, {"k": "1"}]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (INT, "zz"),
        (INT, " 1"),
        (INT, "%31"),
        (INT, "3000000000"),
        (TINYINT, "300"),
        (DecimalType(5, 2), "1.239"),
        (DecimalType(5, 2), "123456"),
        (DATE, "20200101x"),
        (TIMESTAMP, "10:00:00"),
    ],
)
def test_a_value_that_the_given_type_cannot_hold_names_its_folder(kind, text):
    with pytest.raises(TableError, match=f"k={text}"):
        partitions({"k": kind}, f"k={text}")


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("decimal(5,2)", "2", "2.00"),
        ("decimal(5,2)", "1.2e1", "12.00"),
        ("double", "01", "1.0"),
        ("float", "0.1", "0.10000000149011612"),
        ("date", "2020", "2020-01-01"),
        ("date", "2020-01-01 10:00:00", "2020-01-01"),
        ("timestamp_ntz", "2020-01-01", "2020-01-01 00:00:00"),
        ("boolean", "False", "False"),
        ("binary", "a%20b", "a%20b"),
        ("int", NULL, None),
    ],
)
def test_given_types(kind, text, value):
    assert shown([text], type_named(kind)) == [value]


def test_an_unknown_partition_column_or_type_is_the_callers_mistake():
    with pytest.raises(UsageError, match="'month' is no partition column"):
        partitions({"month": INT}, "k=1")
    with pytest.raises(UsageError, match="unknown type 'number'"):
        type_named("number")


def test_h6_h8_null_is_a_point_of_its_own():
    interval = partitions({}, "k=5", f"k={NULL}").intervals(UTC)[("k",)]

    assert interval.value.to_pylist() == [True, False]
    assert interval.null.to_pylist() == [False, True]


def test_nan_is_no_bound():
    interval = partitions({}, "k=NaN", "k=1.5").intervals(UTC)[("k",)]

    assert interval.type == DOUBLE
    assert interval.nan.to_pylist() == [True, False]
    assert interval.value.to_pylist() == [False, True]
    assert interval.lower.to_pylist() == [None, 1.5]


def test_f18_a_timestamp_is_read_in_the_sessions_zone():
    columns = partitions({}, "k=2018-02-15 10:00:00")
    paris = zones.zone("Europe/Paris")

    (utc,) = columns.intervals(UTC)[("k",)].lower.cast(pa.int64()).to_pylist()
    (there,) = columns.intervals(paris)[("k",)].lower.cast(pa.int64()).to_pylist()

    assert (utc - there) // 1_000_000 == 3600


def test_f18_without_a_zone_a_timestamp_may_be_any_within_18_hours():
    interval = partitions({}, "k=2018-02-15 10:00:00").intervals(None)[("k",)]

    reach = interval.upper.cast(pa.int64())[0].as_py() - interval.lower.cast(pa.int64())[0].as_py()
    assert interval.type == TimestampType(instant=True)
    assert reach == 36 * 3600 * 1_000_000
