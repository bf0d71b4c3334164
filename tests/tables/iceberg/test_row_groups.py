"""Row groups: columns by field id or by mapped name, and what stands for those that are missing."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whyscan.reports.levels import rows_matched
from whyscan.table import Table

IDENTITY = {"source-id": 1, "field-id": 1000, "name": "p", "transform": "identity"}


def write(table, name, columns, ids=None, **entry):
    """A data file of two rows a row group, and its entry; `ids` are the columns' field ids."""
    numbers = ids or {}
    data = pa.table(columns)
    fields = [
        f.with_metadata({"PARQUET:field_id": str(numbers[f.name])}) if f.name in numbers else f
        for f in data.schema
    ]
    path = table.folder / "data" / name
    path.parent.mkdir(exist_ok=True)
    pq.write_table(data.cast(pa.schema(fields)), path, row_group_size=2)
    return table.file(name, rows=data.num_rows, **entry)


def read(table, predicate, **question):
    """The row groups that a predicate reads of each file, None where no footer was read."""
    plan = Table(table.open()).plan(predicate, **question)
    return {scan.path.rpartition("/")[2]: scan.row_groups for scan in plan}


def test_a_renamed_column_is_found_by_its_id(lake):
    table = lake({"new": {"type": "int", "id": 7}, "old": {"type": "int", "id": 8}})
    columns = {"old": pa.array([1, 2, 3, 4], pa.int32()), "x": pa.array([0, 0, 9, 9], pa.int32())}
    table.manifest([write(table, "f", columns, {"old": 7, "x": 8})])
    table.commit()
    assert read(table, "new = 3") == {"f": (1,)}
    assert read(table, "new = 1 AND `old` = 0") == {"f": (0,)}
    assert read(table, "new = 9") == {}


def test_a_column_dropped_and_added_again_is_null_in_old_files(lake):
    table = lake({"j": {"type": "int", "id": 9}})
    table.manifest([write(table, "f", {"j": pa.array([5, 6], pa.int32())}, {"j": 1})])
    table.commit()
    assert read(table, "j = 5") == {}
    assert read(table, "j IS NULL") == {"f": (0,)}


def test_a_promoted_column_is_read_in_its_files_own_type(lake):
    table = lake({"n": "long", "x": "double"})
    columns = {"n": pa.array([1, 2, 3, 4], pa.int32()), "x": pa.array([1, 2, 3, 4], pa.float32())}
    table.manifest([write(table, "f", columns, {"n": 1, "x": 2})])
    table.commit()
    assert read(table, "n = 3000000000") == {}
    assert read(table, "n = 4") == {"f": (1,)}
    assert read(table, "x = 1.5", assume_no_nan=True) == {"f": (0,)}


def test_a_partition_column_that_no_file_stores_is_its_partition_value(lake):
    table = lake({"p": "int", "x": "int"}, IDENTITY)
    columns = {"x": pa.array([1, 2, 3, 4], pa.int32())}
    table.manifest([write(table, "f", columns, {"x": 2}, partition={"p": 7})])
    table.commit()
    assert read(table, "p = 7") == {"f": (0, 1)}
    assert read(table, "p = 7 AND x = 3") == {"f": (1,)}
    assert read(table, "p = 8") == {}


MAPPING = [
    {"field-id": 1, "names": ["a", "alias"]},
    {"field-id": 2, "names": ["b"], "fields": [{"field-id": 3, "names": ["c"]}]},
]


def test_a_file_without_ids_is_read_by_the_mapped_names(lake):
    inner = {"type": "struct", "fields": [{"id": 3, "name": "z", "required": False, "type": "int"}]}
    properties = {"schema.name-mapping.default": json.dumps(MAPPING)}
    table = lake(
        {"x": "int", "y": {"type": inner, "id": 2}, "w": {"type": "int", "id": 4}},
        more={"properties": properties},
    )
    columns = {
        "alias": pa.array([1, 2, 3, 4], pa.int32()),
        "b": pa.array([{"c": 5}, {"c": 5}, {"c": 9}, {"c": 9}], pa.struct([("c", pa.int32())])),
        "w": pa.array([1, 1, 1, 1], pa.int32()),
    }
    table.manifest([write(table, "f", columns)])
    table.commit()
    assert read(table, "x = 3") == {"f": (1,)}
    assert read(table, "y.z = 5") == {"f": (0,)}
    assert read(table, "w IS NULL") == {"f": (0, 1)}  # Nothing maps to it.


def test_a_file_without_ids_and_without_a_mapping_says_nothing(lake):
    table = lake({"x": "int"})
    table.manifest([write(table, "f", {"x": pa.array([1, 2], pa.int32())})])
    table.commit()
    assert read(table, "x = 9") == read(table, "x IS NULL") == {"f": (0,)}


def test_two_columns_of_one_id_say_nothing(lake):
    table = lake({"x": "int"})
    columns = {"x": pa.array([1, 1], pa.int32()), "y": pa.array([5, 5], pa.int32())}
    table.manifest([write(table, "f", columns, {"x": 1, "y": 1})])
    assert read(table.commit(), "x = 9") == {"f": (0,)}


DEFAULTS = [
    ("int", 7, "c = 7", "c = 8"),
    ("double", 1.5, "c >= 1.5", "c > 1.5"),
    ("float", 0.34234, "c < DOUBLE(0.34234)", "c = DOUBLE(0.34234)"),
    ("string", "x", "c = 'x'", "c = 'y'"),
    ("boolean", True, "c", "NOT c"),
    ("decimal(9,2)", "14.20", "c = 14.2", "c = 14.21"),
    ("date", "2017-11-16", "c = DATE '2017-11-16'", "c = DATE '2017-11-17'"),
    (
        "timestamp",
        "2017-11-16T22:31:08.123456",
        "c = TIMESTAMP_NTZ '2017-11-16 22:31:08.123456'",
        "c > TIMESTAMP_NTZ '2017-11-16 22:31:08.123456'",
    ),
    (
        "timestamptz",
        "2017-11-16T22:31:08.123456+00:00",
        "c = TIMESTAMP '2017-11-16 22:31:08.123456Z'",
        "c < TIMESTAMP '2017-11-16 22:31:08.123456Z'",
    ),
    ("binary", "00ff", "c = X'00ff'", "c = X'00'"),
]


@pytest.mark.parametrize(("kind", "default", "true", "false"), DEFAULTS)
def test_a_file_older_than_a_column_has_its_default(lake, kind, default, true, false):
    added = {"type": kind, "id": 2, "initial-default": default}
    table = lake({"x": "int", "c": added}, version=3)
    table.manifest([write(table, "f", {"x": pa.array([1, 2], pa.int32())}, {"x": 1})])
    table.commit()
    assert read(table, true) == {"f": (0,)}
    assert read(table, false) == {}
    assert read(table, "c IS NULL") == {}
    assert table.kept(false) == ["f"]  # The manifest alone does not know.


def test_a_default_in_a_struct_is_for_rows_that_have_the_struct(lake):
    inner = [
        {"id": 3, "name": "a", "required": False, "type": "int"},
        {"id": 4, "name": "b", "required": False, "type": "int", "initial-default": 5},
    ]
    table = lake(
        {"x": "int", "s": {"type": {"type": "struct", "fields": inner}, "id": 2}}, version=3
    )
    member = pa.field("a", pa.int32(), metadata={"PARQUET:field_id": "3"})
    structs = pa.array([{"a": 1}, None], pa.struct([member]))
    table.manifest(
        [
            write(table, "f", {"x": pa.array([1, 2], pa.int32()), "s": structs}, {"x": 1, "s": 2}),
            write(table, "older", {"x": pa.array([1, 2], pa.int32())}, {"x": 1}),
        ]
    )
    table.commit()
    assert read(table, "s.b = 5") == {"f": (0,), "older": (0,)}
    assert read(table, "s.b = 6") == {"older": (0,)}
    assert read(table, "s.b IS NULL") == {"f": (0,), "older": (0,)}


@pytest.mark.parametrize("kind", ["ORC", "avro"])
def test_other_formats_stay_whole_and_are_counted(lake, kind):
    table = lake({"x": "int"})
    parquet = write(table, "p", {"x": pa.array([1, 2, 3, 4], pa.int32())}, {"x": 1})
    other = table.file("o", {"x": (1, 4)}, {"x": 0}, file_format=kind)
    table.manifest([parquet, other])
    table.commit()
    plan = Table(table.open()).plan("x = 3")
    assert {s.path.rpartition("/")[2]: s.row_groups for s in plan} == {"p": (1,), "o": None}
    why = f"1 of 2 data files are of the format {kind.lower()}"
    assert plan.evidence.unchecked == (("row_groups", why),)


def test_a_missing_file_among_others_stays_whole(lake):
    table = lake({"x": "int"})
    entries = [write(table, n, {"x": pa.array([1, 2, 3, 4], pa.int32())}, {"x": 1}) for n in "ab"]
    table.manifest(entries)
    table.commit()
    (table.folder / "data" / "a").unlink()
    assert read(table, "x = 1") == {"a": None, "b": (0,)}


def test_a_size_that_the_manifest_has_wrong_does_not_matter_on_disk(lake):
    table = lake({"x": "int"})
    entry = write(table, "f", {"x": pa.array([1, 2, 3, 4], pa.int32())}, {"x": 1})
    entry["data_file"]["file_size_in_bytes"] = 3
    table.manifest([entry])
    assert read(table.commit(), "x = 4") == {"f": (1,)}


def test_deleted_rows_are_taken_from_the_row_groups_that_match(lake):
    table = lake({"x": "int"}, version=3)
    entry = write(table, "f", {"x": pa.array([1, 1, 2, 2], pa.int32())}, {"x": 1})
    table.manifest([entry])
    target = entry["data_file"]["file_path"]
    gone = table.file("v", rows=1, content=1, file_format="puffin", referenced_data_file=target)
    table.manifest([gone], content=1, sequence=2)
    table.commit()
    plan = Table(table.open()).plan("x = 1")
    matched = rows_matched(plan.evidence)
    assert (matched.at_least, matched.at_most) == (1, 2)
    everything = rows_matched(Table(table.open()).plan("x > 0").evidence)
    assert (everything.at_least, everything.at_most) == (3, 3)
