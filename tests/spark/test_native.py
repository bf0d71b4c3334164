"""Spark's own reader is taken where it is sure to give the same rows, and nowhere else."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from tables.delta.conftest import Lake as DeltaTable
from tables.delta.conftest import bounds
from tables.iceberg.by_hand import Lake as IcebergTable
from whyscan.scan.plan_portions import whole_plan
from whyscan.spark.reading.native import NativeFiles, NativeRefusal, native

ROWS = pa.table({"id": pa.array([1, 2]), "name": ["a", "b"]})
LEGACY = {"org.apache.spark.version": "2.4.8"}
ANCIENT = {"org.apache.spark.version": "3.5.0", "org.apache.spark.legacyDateTime": ""}


def chosen(table, columns=None) -> NativeFiles | str:
    """What Spark reads, or why it does not."""
    try:
        return native(whole_plan(whyscan.open(table).plan("true", select=columns)))
    except NativeRefusal as why:
        return str(why)


def write(folder, files):
    for name, table in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, place)
    return folder


def with_words(words):
    return ROWS.replace_schema_metadata(words)


@pytest.mark.parametrize(
    "files",
    [
        {"a.parquet": ROWS, "b.parquet": ROWS},
        {"a.parquet": ROWS, "b.parquet": ROWS.drop(["name"])},
        {"with a blank.parquet": ROWS},
        {"day=2024-01-03/n=7/a.parquet": ROWS, "day=2024-01-04/n=-1/b.parquet": ROWS},
        {"c=DE/a.parquet": ROWS, "c=__HIVE_DEFAULT_PARTITION__/b.parquet": ROWS},
        {"a.parquet": pa.table({"s": [{"x": 1, "y": [1, None]}], "m": [date(2024, 1, 1)]})},
        {"a.parquet": with_words({"org.apache.spark.version": "3.5.0"})},
    ],
    ids=lambda files: next(iter(files)),
)
def test_plain_files_are_sparks(tmp_path, files):
    choice = chosen(write(tmp_path, files))

    assert isinstance(choice, NativeFiles), choice
    assert sorted(choice.paths) == sorted(f"{tmp_path}/{name}" for name in files)
    assert choice.root == (str(tmp_path) if any("=" in name for name in files) else None)


NARROW = ROWS.set_column(0, "id", pa.array([1, 2], pa.int32()))
SHORT = pa.table({"t": pa.array([0, 1]).cast(pa.timestamp("ms", "UTC"))})


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"a.parquet": ROWS, "b.parquet": NARROW}, "has id as int32"),
        ({"a.parquet": ROWS, "b.parquet": ROWS.rename_columns(["ID", "name"])}, "another name"),
        ({"a.parquet": SHORT}, "as timestamp[ms"),
        ({"a.parquet": pa.table({"u": pa.array([1], pa.uint8())})}, "as uint8"),
        ({"a.parquet": pa.table({"n": pa.array([1]).cast(pa.timestamp("ns"))})}, "something else"),
        ({"a*.parquet": ROWS}, "may not take the path"),
        ({"a{b}.parquet": ROWS}, "may not take the path"),
        ({"100%25.parquet": ROWS}, "may not take the path"),
        ({"n=07/a.parquet": ROWS, "n=8/a.parquet": ROWS}, "not how Spark would write it"),
        ({"n=1.50/a.parquet": ROWS}, "not how Spark would write it"),
        ({"a.parquet": with_words(LEGACY)}, "another calendar"),
        ({"a.parquet": with_words(ANCIENT)}, "another calendar"),
    ],
    ids=lambda one: one if isinstance(one, str) else next(iter(one)),
)
def test_a_doubt_is_a_reason_for_our_own_reader(tmp_path, files, why):
    choice = chosen(write(tmp_path, files))

    assert isinstance(choice, str), choice
    assert why in choice


def test_nothing_and_very_much_is_read_by_us(tmp_path, monkeypatch):
    table = whyscan.open(write(tmp_path, {"a.parquet": ROWS, "b.parquet": ROWS}))
    with pytest.raises(NativeRefusal, match="nothing to read"):
        native(whole_plan(table.plan("id > 5")))

    monkeypatch.setattr("whyscan.spark.reading.native.COMPARED_FILES", 1)
    with pytest.raises(NativeRefusal, match="2 files are too many"):
        native(whole_plan(table.plan("true")))


def delta(folder, fields=None, path="a.parquet", partition=None, **more):
    table = DeltaTable(folder).create(fields or {"id": "long", "name": "string"}, **more)
    table.commit(table.add(path, bounds("id", 1, 2), partition=partition or {}))
    write(folder, {path: ROWS})
    return folder


def test_a_plain_delta_table_is_sparks(tmp_path):
    assert isinstance(chosen(delta(tmp_path)), NativeFiles)


def test_a_path_that_says_another_partition_than_the_log_is_not_believed(tmp_path):
    fields = {"id": "long", "name": "string", "c": "string"}
    log = {"partition": {"c": "FR"}, "partitions": ("c",)}
    partitioned = DeltaTable(tmp_path).create(fields, log["partitions"])
    partitioned.commit(
        partitioned.add("c=DE/a.parquet", bounds("id", 1, 2), partition=log["partition"])
    )
    write(tmp_path, {"c=DE/a.parquet": ROWS})

    assert "not how Spark would write it" in chosen(tmp_path)
    # What is not asked for cannot be wrong.
    assert isinstance(chosen(tmp_path, ["id"]), NativeFiles)


def test_folders_of_other_names_are_not_believed(tmp_path):
    table = DeltaTable(tmp_path).create({"id": "long", "c": "string"}, ("c",))
    table.commit(table.add("ab/a.parquet", bounds("id", 1, 2), partition={"c": "DE"}))
    write(tmp_path, {"ab/a.parquet": ROWS})

    assert "not called after the partition columns" in chosen(tmp_path)


def test_hidden_files_of_a_log_are_read_by_us(tmp_path):
    assert "may not take the path" in chosen(delta(tmp_path, path="_hidden/a.parquet"))


def iceberg(folder, kinds, files):
    """Files with the field ids that are given as name and number."""
    lake = IcebergTable(folder, kinds)
    for name, columns in files.items():
        fields = [
            pa.field(column, pa.int64(), metadata={"PARQUET:field_id": str(number)})
            for column, number in columns.items()
        ]
        write(folder / "data", {name: pa.table([[1, 2]] * len(fields), pa.schema(fields))})
    lake.manifest([lake.file(name, {}, {}) for name in files])
    lake.commit()
    return folder


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"a.parquet": {"a": 1, "b": 2}, "b.parquet": {"a": 1}}, None),
        ({"a.parquet": {"was_a": 1, "b": 2}}, "under another name"),
        # The column of this name was dropped, and another one got the name.
        ({"a.parquet": {"a": 9, "b": 2}}, "is another one"),
    ],
    ids=["the same", "renamed", "dropped and added"],
)
def test_columns_of_iceberg_are_found_by_name_where_their_ids_say_the_same(tmp_path, files, why):
    choice = chosen(iceberg(tmp_path, {"a": "long", "b": "long"}, files))

    assert isinstance(choice, NativeFiles) if why is None else why in choice
