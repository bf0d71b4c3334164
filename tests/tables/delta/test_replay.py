"""Replay: which files are live, whatever the log is made of."""

from __future__ import annotations

import json

import pytest

from whyscan.errors import CorruptFile, TableError
from whyscan.tables import duckdb_engine


def vector(name, cardinality=1, offset=1):
    return {
        "storageType": "u",
        "pathOrInlineDv": name,
        "offset": offset,
        "sizeInBytes": 1,
        "cardinality": cardinality,
    }


def test_a_removed_file_is_gone_and_an_added_one_is_back(lake):
    lake.create({"a": "long"})
    lake.commit(lake.add("f"), lake.add("g"))
    lake.commit(lake.remove("f"))
    lake.commit(lake.add("f"))

    assert [lake.live(version) for version in (1, 2, 3)] == [["f", "g"], ["g"], ["f", "g"]]


def test_a_deletion_vector_makes_another_file_of_the_same_path(lake):
    lake.create({"a": "long"})
    lake.commit(lake.add("f", {"numRecords": 10}))
    lake.commit(lake.remove("f"), lake.add("f", {"numRecords": 10}, deletionVector=vector("v", 4)))
    files = lake.open().files([])

    assert (files.paths.to_pylist(), files.deleted.to_pylist()) == (["f"], [4])


def test_removing_one_deletion_vector_leaves_the_other(lake):
    lake.create({"a": "long"})
    lake.commit(lake.add("f", deletionVector=vector("v", offset=1)))
    lake.commit(
        lake.remove("f", deletionVector=vector("v", offset=1)),
        lake.add("f", deletionVector=vector("v", 7, offset=9)),
    )

    assert lake.open().files([]).deleted.to_pylist() == [7]


@pytest.mark.parametrize(
    ("added", "removed"),
    [
        ("/a/b", "file:/a/b"),
        ("/a/b", "file:///a/b"),
        ("a%20b", "a b"),
        ("k=x%2520y/f", "k=x%20y/f"),
    ],
)
def test_spellings_of_one_path_are_one_file(lake, added, removed):
    lake.create({"a": "long"})
    lake.commit(lake.add(added))
    lake.commit(lake.remove(removed.replace("%", "%25") if "%20y" in removed else removed))

    assert lake.live() == []


@pytest.mark.parametrize(
    ("recorded", "shown"),
    [("a%20b", "a b"), ("a+b", "a+b"), ("a%2520b", "a%20b"), ("100%", "100%"), ("%FF", "%FF")],
)
def test_a_path_is_decoded_once(lake, recorded, shown):
    lake.create({"a": "long"})
    lake.commit(lake.add(recorded))

    assert lake.live() == [shown]


def added_twice(lake):
    """A commit with a file three times among others; before and after it comes once."""
    lake.create({"a": "long"})
    lake.commit(lake.add("b%20c", size=1), lake.add("e", size=2))
    lake.commit(
        lake.add("b%20c", size=10),
        lake.add("d", size=20),
        lake.add("b%20c", size=30),
        *(lake.add(f"f{number}", size=1000) for number in range(3000)),
        lake.add("b%20c", size=40),
    )
    return lake


def test_a_file_that_one_commit_adds_twice_is_there_once_by_its_last_line(lake):
    files = added_twice(lake).open().files([])

    sizes = dict(zip(files.paths.to_pylist(), files.bytes.to_pylist(), strict=True))
    assert (sizes["b c"], sizes["d"], sizes["e"]) == (40, 20, 2)
    assert files.count == len(sizes) == 3003


def test_with_another_deletion_vector_it_is_another_file(lake):
    lake.create({"a": "long"})
    lake.commit(lake.add("f"), lake.add("f", deletionVector=vector("v")), lake.add("g"))

    assert lake.live() == ["f", "f", "g"]


def test_two_spellings_of_one_path_are_one_file_that_is_added_twice(lake):
    lake.create({"a": "long"})
    lake.commit(lake.add("file:/a/b", size=1), lake.add("/a/b", size=2), lake.add("c%20d", size=3))

    assert lake.open().files([]).bytes.to_pylist() == [2, 3]


def test_a_file_that_is_added_twice_and_then_removed_is_gone(lake):
    lake.create({"a": "long"})
    lake.commit(lake.add("f"), lake.add("f"), lake.add("g"), lake.add("g"))
    lake.commit(lake.remove("f"))

    assert lake.live() == ["g"]


@pytest.mark.spark
def test_spark_counts_a_file_that_is_added_twice_once(lake, spark):
    files = added_twice(lake).open().files([])

    detail = spark.sql(f"DESCRIBE DETAIL delta.`{lake.folder}`").first()
    assert (detail.numFiles, detail.sizeInBytes) == (files.count, sum(files.bytes.to_pylist()))


def test_a_log_that_one_thread_must_read_leaves_the_next_one_all_threads(lake):
    with duckdb_engine.connection() as connection:
        every = connection.execute("SELECT current_setting('threads')").fetchall()
    added_twice(lake).open().files([])
    with duckdb_engine.connection() as connection:
        assert connection.execute("SELECT current_setting('threads')").fetchall() == every


def test_a_compacted_file_stands_for_its_commits_even_if_they_are_gone(lake):
    lake.create({"a": "long"})
    lake.commit(lake.add("f"))
    lake.commit(lake.remove("f"), lake.add("g"))
    lines = [lake.remove("f"), lake.add("g")]
    name = f"{1:020}.{2:020}.compacted.json"
    (lake.log / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    (lake.log / f"{1:020}.json").unlink()

    assert lake.live() == ["g"]


def test_in_a_compacted_file_that_cancels_nothing_out_the_first_line_wins(lake):
    lake.create({"a": "long"})
    lake.commit()
    lake.commit()
    lines = [lake.remove("f"), lake.add("f"), lake.add("g"), lake.remove("g")]
    name = f"{1:020}.{2:020}.compacted.json"
    (lake.log / name).write_text("".join(json.dumps(line) + "\n" for line in lines))

    assert lake.live() == ["g"]


def test_files_come_in_the_order_of_the_log_every_time(lake):
    lake.create({"a": "long"})
    for version in range(12):
        lake.commit(lake.add(f"{version:02}-b"), lake.add(f"{version:02}-a"))

    orders = {tuple(lake.open().files([]).paths.to_pylist()) for _ in range(5)}

    assert orders == {tuple(f"{v:02}-{x}" for v in range(12) for x in "ab")}


@pytest.mark.parametrize("hint", [None, "", "{cut", '{"version": 99}'])
def test_the_last_checkpoint_hint_changes_nothing(lake, hint):
    lake.create({"a": "long"})
    lake.commit(lake.add("f"))
    if hint is not None:
        (lake.log / "_last_checkpoint").write_text(hint)

    assert lake.live() == ["f"]


def test_a_missing_commit_is_named(lake):
    lake.create({"a": "long"})
    lake.commit(lake.add("f"))
    lake.commit(lake.add("g"))
    (lake.log / f"{1:020}.json").unlink()

    with pytest.raises(TableError, match="commit 1 of the log is missing"):
        lake.open()


def test_a_version_that_is_not_there_says_which_is_the_newest(lake):
    lake.create({"a": "long"})

    with pytest.raises(TableError, match="no version 7") as caught:
        lake.open(version=7)
    assert caught.value.hint == "the newest is 0"


@pytest.mark.parametrize("text", ['{"add":{"path":"f"', '{"add":{"path":"f","size":"x"}}\n'])
def test_a_commit_that_cannot_be_read_is_named(lake, text):
    lake.create({"a": "long"})
    lake.commit(lake.add("f"))
    (lake.log / f"{1:020}.json").write_text(text)

    with pytest.raises(CorruptFile) as caught:
        lake.live()
    assert caught.value.path == f"_delta_log/{1:020}.json"


@pytest.mark.parametrize("add", [{}, {"path": None, "size": 1, "partitionValues": {}}])
def test_a_file_that_is_added_without_a_path_is_refused(lake, add):
    lake.create({"a": "long"})
    lake.commit(lake.add("f"), {"add": add})

    with pytest.raises(CorruptFile, match="without a path") as caught:
        lake.live()
    assert caught.value.path == f"_delta_log/{1:020}.json"


def test_an_action_that_is_null_is_none(lake):
    lake.create({"a": "long"})
    lake.commit(lake.add("f"), {"add": None, "txn": {"appId": "x", "version": 1}})

    assert lake.live() == ["f"]


def test_a_size_below_zero_is_refused(lake):
    lake.create({"a": "long"})
    add = lake.add("f")
    lake.commit({"add": {**add["add"], "size": -5}})

    with pytest.raises(CorruptFile, match="a file of -5 bytes"):
        lake.live()


def test_a_checkpoint_that_is_no_parquet_is_named(lake):
    lake.create({"a": "long"})
    (lake.log / f"{0:020}.checkpoint.parquet").write_text("no")

    with pytest.raises(CorruptFile, match=r"checkpoint\.parquet"):
        lake.open()


def test_wildcards_and_keys_in_the_folders_name_read_only_this_table(tmp_path, lake):
    lake.folder = tmp_path / "day=1" / "t[ab]*"
    lake.create({"a": "long"})
    lake.commit(lake.add("mine"))
    other = tmp_path / "day=1" / "ta"
    (other / "_delta_log").mkdir(parents=True)
    (other / "_delta_log" / f"{1:020}.json").write_text(json.dumps(lake.add("theirs")) + "\n")

    assert lake.live() == ["mine"]
    assert lake.open().schema().names() == ("a",)
