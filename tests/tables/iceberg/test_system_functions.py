"""Iceberg's transforms as functions of a predicate: partitions of the same one decide them."""

from __future__ import annotations

import pytest

from tables.iceberg.test_soundness_cases import part

# The type, the transform, the partition values, the predicate, the files it keeps.
CASES = [
    ("timestamp", "day", [19_782, 19_783, 19_784], "{}.days(x) = DATE '2024-03-01'", [19_783]),
    ("timestamptz", "day", [19_782, 19_783], "{}.days(x) >= DATE '2024-03-01'", [19_783]),
    ("timestamp", "hour", [1, 2, 3], "{}.hours(x) = 2", [2]),
    ("timestamp", "hour", [47, 48, 49], "{}.days(x) = DATE '1970-01-03'", [48, 49]),
    ("timestamp", "month", [649, 650, 651], "{}.months(x) < 650", [649]),
    ("date", "year", [53, 54, 55], "{}.years(x) IN (54, 55)", [54, 55]),
    ("long", "bucket[16]", [0, 3, 15], "{}.bucket(16, x) = 3", [3]),
    ("long", "bucket[16]", [0, 3, 15], "{}.bucket(16, x) <> 3", [0, 15]),
    ("string", "bucket[4]", [0, 1, 2], "{}.bucket(4, x) IN (1, 2)", [1, 2]),
    ("int", "truncate[10]", [0, 10, 20], "{}.truncate(10, x) = 10", [10]),
    ("string", "truncate[2]", ["ab", "ac"], "{}.truncate(2, x) = 'ab'", ["ab"]),
]


@pytest.mark.parametrize("schema", ["system", "ice.system", "ICE.System"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[3])
def test_a_partition_of_the_transform_decides_it(lake, schema, case):
    kind, transform, values, predicate, kept = case
    table = lake({"x": kind}, part(1, transform, "p"))
    table.manifest([table.file(str(value), partition={"p": value}) for value in values])
    table.commit()
    expected = [str(value) for value in kept]

    question = predicate.format(schema)
    assert sorted(table.kept(question)) == sorted(expected)
    assert sorted(table.every(f"x IS NOT NULL AND {question}")) == sorted(expected)


def test_another_number_of_buckets_says_nothing(lake):
    table = lake({"x": "long"}, part(1, "bucket[16]", "p"))
    table.manifest([table.file(str(value), partition={"p": value}) for value in (0, 3)])
    table.commit()

    assert sorted(table.kept("system.bucket(8, x) = 3")) == ["0", "3"]
    assert table.kept("system.bucket(8, x) = 8") == []


def test_before_1970_a_day_may_be_the_one_before(lake):
    table = lake({"x": "timestamp"}, part(1, "day", "p"))
    table.manifest([table.file(str(value), partition={"p": value}) for value in (-2, -1, 1)])
    table.commit()

    assert "-1" in table.kept("system.days(x) = DATE '1969-12-31'")
    assert table.every("system.days(x) = DATE '1969-12-31'") == []


@pytest.mark.parametrize("call", ["other.days(x)", "system.weeks(x)", "system.days(x, 1)"])
def test_a_function_of_another_name_keeps_everything(lake, call):
    table = lake({"x": "timestamp"}, part(1, "day", "p"))
    table.manifest([table.file("f", partition={"p": 1})])
    table.commit()

    assert table.kept(f"{call} = DATE '2024-03-01'") == ["f"]
