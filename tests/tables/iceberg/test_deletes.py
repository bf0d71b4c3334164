"""Deleted rows: which delete file applies to which data file, and how many rows are left."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tables.iceberg.by_hand import summary
from whyscan.reports.levels import rows_matched
from whyscan.tables.iceberg.deletes import FILE_PATH_ID
from whyscan.tree.zones import zone

PARTITIONED = {"source-id": 1, "field-id": 1000, "name": "p", "transform": "identity"}
POSITIONS, EQUALITY = 1, 2


def data(table, *names, sequence=1, partition=None, rows=10):
    table.manifest(
        [table.file(n, {"x": (5, 5)}, {"x": 0}, rows, partition) for n in names], sequence=sequence
    )


def deletes(table, *entries, sequence=2, **listed):
    table.manifest(list(entries), content=1, sequence=sequence, **listed)


def path(table, name):
    return f"{table.folder}/data/{name}"


def vector(table, name, rows, **more):
    return table.file(
        f"{name}.puffin",
        rows=rows,
        content=POSITIONS,
        file_format="PUFFIN",
        referenced_data_file=path(table, name),
        **more,
    )


def hidden(table):
    files = table.commit().open().files([])
    return list(zip(files.deleted.to_pylist(), files.maybe_deleted.to_pylist(), strict=True))


def matched(table, predicate="x = 5"):
    matched = rows_matched(table.plan(predicate).evidence)
    return matched.at_least, matched.at_most


@pytest.fixture
def plain(lake):
    return lake({"p": "int", "x": "int"}, version=3)


@pytest.fixture
def partitioned(lake):
    return lake({"p": "int", "x": "int"}, PARTITIONED)


def test_a_vector_hides_exactly_what_it_counts(plain):
    data(plain, "a", "b")
    deletes(plain, vector(plain, "a", 3))
    assert hidden(plain) == [(3, 0), (0, 0)]
    assert matched(plain) == (17, 17)


def test_a_vector_older_than_its_file_does_not_apply(plain):
    data(plain, "a", sequence=5)
    deletes(plain, vector(plain, "a", 3), sequence=4)
    assert hidden(plain) == [(0, 0)]


def test_a_file_whose_rows_are_all_hidden_matches_nothing(plain):
    data(plain, "a")
    deletes(plain, vector(plain, "a", 10))
    plain.commit()
    assert plain.kept("x = 5") == []
    assert matched(plain) == (0, 0)


@pytest.mark.parametrize("count", [11, -1, 1 << 60])
def test_a_vector_that_counts_more_than_there_is_says_nothing(plain, count):
    data(plain, "a")
    deletes(plain, vector(plain, "a", count), added_rows_count=0)
    assert hidden(plain) == [(0, None)]
    assert matched(plain) == (0, 10)


def test_two_vectors_of_one_file_say_nothing(plain):
    data(plain, "a")
    deletes(plain, vector(plain, "a", 3), vector(plain, "a", 4))
    assert hidden(plain) == [(0, None)]


def test_position_deletes_of_one_file_hide_at_most_as_many(plain):
    data(plain, "a", "b")
    one = (path(plain, "a"), path(plain, "a"))
    deletes(plain, plain.file("d", {FILE_PATH_ID: one}, rows=4, content=POSITIONS))
    assert hidden(plain) == [(0, 4), (0, 0)]
    assert matched(plain) == (16, 20)


def test_m18_paths_cut_to_one_prefix_may_be_any_of_them(plain):
    data(plain, "a", "b")
    cut = (str(plain.folder)[:16], str(plain.folder)[:15] + "\x7f")
    deletes(plain, plain.file("d", {FILE_PATH_ID: cut}, rows=4, content=POSITIONS))
    assert hidden(plain) == [(0, 4), (0, 4)]


def test_a_vector_replaces_the_position_deletes_of_its_file(plain):
    data(plain, "a")
    deletes(plain, plain.file("d", rows=4, content=POSITIONS), vector(plain, "a", 6))
    assert hidden(plain) == [(6, 0)]


def test_position_deletes_apply_within_their_partition(partitioned):
    data(partitioned, "a", partition={"p": 1})
    data(partitioned, "b", partition={"p": 2})
    data(partitioned, "null", partition={"p": None})
    deletes(partitioned, partitioned.file("d", rows=4, partition={"p": 2}, content=POSITIONS))
    assert hidden(partitioned) == [(0, 0), (0, 4), (0, 0)]


def test_position_deletes_reach_files_of_their_own_commit_and_equality_deletes_do_not(partitioned):
    data(partitioned, "a", sequence=2, partition={"p": 1})
    deletes(partitioned, partitioned.file("d", rows=4, partition={"p": 1}, content=POSITIONS))
    assert hidden(partitioned) == [(0, 4)]
    deletes(partitioned, partitioned.file("e", rows=1, partition={"p": 1}, content=EQUALITY))
    assert hidden(partitioned) == [(0, 4)]
    data(partitioned, "older", sequence=1, partition={"p": 1})
    assert hidden(partitioned) == [(0, 4), (0, None)]


@pytest.mark.parametrize("content", [POSITIONS, EQUALITY])
def test_plan_and_scan_apply_deletes_of_a_partition_that_was_promoted(partitioned, content):
    data(partitioned, "a", partition={"p": 1})
    data(partitioned, "b", partition={"p": 2})
    partitioned.fields[0]["avro"] = "long"
    deletes(
        partitioned,
        partitioned.file("d", rows=1, partition={"p": 1}, content=content, equality_ids=[2]),
    )
    snapshot = partitioned.commit().open()

    files = snapshot.files([])
    reading = snapshot.reading(files, pa.array([0, 1]), zone("UTC"))

    assert [len(file.deletes) for file in reading.files] == [1, 0]
    assert files.maybe_deleted.to_pylist() == ([1, 0] if content == POSITIONS else [None, 0])


def test_equality_deletes_without_a_partition_apply_everywhere(partitioned):
    partitioned.specs.append({"spec-id": 1, "fields": []})
    data(partitioned, "a", partition={"p": 1})
    deletes(partitioned, partitioned.file("e", rows=1, content=EQUALITY), spec=1)
    assert hidden(partitioned) == [(0, None)]
    assert matched(partitioned) == (0, 10)


def test_equality_deletes_of_a_dropped_partition_field_apply_everywhere(lake):
    table = lake({"p": "int", "x": "int"}, {**PARTITIONED, "transform": "void"}, version=2)
    table.specs.append({"spec-id": 1, "fields": [{**PARTITIONED, "field-id": 1001, "name": "q"}]})
    table.manifest([table.file("a", {"x": (5, 5)}, {"x": 0}, 10, {"q": 3})], spec=1)
    deletes(table, table.file("e", rows=1, partition={"p": None}, content=EQUALITY))
    assert hidden(table) == [(0, None)]


def test_a_delete_file_without_a_number_of_its_own_takes_its_manifests(plain):
    data(plain, "a", sequence=3)
    deletes(plain, plain.file("d", rows=4, content=POSITIONS, sequence_number=2), sequence=9)
    assert hidden(plain) == [(0, 0)]


def test_deleted_delete_files_are_gone(plain):
    data(plain, "a")
    deletes(plain, plain.file("d", rows=4, content=POSITIONS, status=2))
    assert hidden(plain) == [(0, 0)]


def test_deletes_do_not_make_a_false_all(plain):
    data(plain, "a")
    deletes(plain, vector(plain, "a", 3))
    plain.commit()
    assert plain.every("x = 5") == ["a"]
    assert plain.every("x = 6") == []


def test_delete_manifests_are_no_data_manifests(partitioned):
    data(partitioned, "a", partition={"p": 1})
    one = summary(b"\x07\0\0\0", b"\x07\0\0\0")
    deletes(
        partitioned,
        partitioned.file("d", rows=4, content=POSITIONS, partition={"p": 7}),
        summaries=[one],
    )
    partitioned.commit()
    assert partitioned.open().manifests().count == 1
    assert partitioned.live() == ["a"]
