"""What a version says of the table: protocol, features, clustering, and when it was."""

from __future__ import annotations

import json
import os

import pytest

from whyscan.errors import TableError


def features(*reader, writer=()):
    return {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": list(reader),
        "writerFeatures": [*reader, *writer],
    }


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        ({"minReaderVersion": 4, "minWriterVersion": 7}, "reader version 4"),
        (features("timeTravelling"), "knows timeTravelling"),
        (features("catalogManaged"), "managed by a catalog"),
        (features("catalogOwned-preview"), "managed by a catalog"),
        ({"minWriterVersion": 7}, "no reader version"),
        (features(7), "no list of readerFeatures"),
        (features(writer=[None]), "no list of writerFeatures"),
        (features() | {"readerFeatures": "deletionVectors"}, "no list of readerFeatures"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(lake, protocol, message):
    lake.create({"a": "long"}, protocol=protocol)

    with pytest.raises(TableError, match=message):
        lake.open()


def test_an_unknown_writer_feature_is_a_note(lake):
    lake.create({"a": "long"}, protocol=features("deletionVectors", writer=["teleport"]))

    assert lake.open().notes == ("unknown writer features: teleport",)


def test_clustering_is_reported_by_logical_names_until_it_is_removed(lake):
    lake.create(
        {"a": "long"},
        protocol=features("columnMapping", writer=["clustering", "domainMetadata"]),
        properties={"delta.columnMapping.mode": "name"},
        about={"a": {"delta.columnMapping.physicalName": "col-1"}},
    )
    domain = {"domain": "delta.clustering", "removed": False}
    columns = json.dumps({"clusteringColumns": [["col-1"]]})
    lake.commit({"domainMetadata": domain | {"configuration": columns}})
    lake.commit({"domainMetadata": domain | {"configuration": columns, "removed": True}})

    assert lake.open(version=1).notes == ("clustered by a",)
    assert lake.open(version=2).notes == ()


def test_partition_columns_are_found_in_any_case(lake):
    lake.create({"id": "long", "Part": "integer"}, ("part",))
    lake.commit(lake.add("f", partition={"part": "1"}), lake.add("g", partition={"Part": "2"}))

    assert lake.kept("PART = 2") == ["g"]


@pytest.mark.parametrize(
    ("engine", "operation", "kept"),
    [
        ("Apache-Spark/4.1.0 Delta-Lake/4.1.0", "WRITE", []),
        ("Apache-Spark/4.1.0 Delta-Lake/4.1.0", "RESTORE", ["f"]),
        ("delta-rs:py-1.5.0", "WRITE", ["f"]),
        (None, "WRITE", ["f"]),
    ],
)
def test_nan_is_absent_only_from_what_spark_wrote_itself(lake, bounds, engine, operation, kept):
    lake.create({"x": "double"})
    lake.commit(
        {"commitInfo": {"engineInfo": engine, "operation": operation}},
        lake.add("f", bounds("x", 1.0, 2.0)),
    )

    assert lake.kept("x > 5") == kept
    assert lake.kept("x > 5", assume_no_nan=True) == []


def test_a_maximum_of_nan_says_that_nan_is_there(lake, bounds):
    lake.create({"x": "double"})
    lake.commit(
        {"commitInfo": {"engineInfo": "Apache-Spark/4.1.0", "operation": "WRITE"}},
        lake.add("f", bounds("x", 1.0, "NaN")),
    )

    assert lake.verdicts("x > 5") == (["f"], [])


def at(lake, version, seconds):
    os.utime(lake.log / f"{version:020}.json", (seconds, seconds))


def test_time_travel_takes_the_newest_version_that_is_not_later(lake):
    lake.create({"a": "long"})
    lake.commit(lake.add("f"))
    lake.commit(lake.add("g"))
    for version, seconds in enumerate((100, 200, 300)):
        at(lake, version, seconds)

    versions = [lake.open(timestamp=s * 1_000_000).version for s in (100, 199, 200, 10_000)]

    assert versions == [0, 0, 1, 2]
    with pytest.raises(TableError, match="as old as 1970-01-01T00:01:39"):
        lake.open(timestamp=99 * 1_000_000)


def test_files_copied_out_of_order_do_not_turn_time_back(lake):
    lake.create({"a": "long"})
    lake.commit(lake.add("f"))
    at(lake, 0, 200)
    at(lake, 1, 100)

    assert lake.open(timestamp=200_000_000).version == 0
    assert lake.open(timestamp=200_001_000).version == 1


TIMED = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["inCommitTimestamp"]}


def test_a_commits_own_time_counts_more_than_its_files_age(lake):
    lake.create({"a": "long"}, protocol=TIMED)
    lake.commit({"commitInfo": {"inCommitTimestamp": 500_000}}, lake.add("f"))
    at(lake, 0, 100)
    at(lake, 1, 200)

    assert lake.open(timestamp=499_000_000).version == 0
    assert lake.open(timestamp=500_000_000).version == 1


def test_commits_with_times_of_their_own_are_not_moved_by_the_files_of_older_commits(lake):
    """A copied table: all files are younger than the times that its newer commits record."""
    lake.create({"a": "long"}, protocol=TIMED)
    lake.commit(lake.add("f"))
    lake.commit({"commitInfo": {"inCommitTimestamp": 500_000}}, lake.add("g"))
    lake.commit({"commitInfo": {"inCommitTimestamp": 600_000}}, lake.add("h"))
    for version in range(4):
        at(lake, version, 10_000 + version)

    versions = [lake.open(timestamp=s * 1_000_000).version for s in (500, 599, 600, 20_000)]

    assert versions == [2, 2, 3, 3]
    with pytest.raises(TableError, match="as old as 1970-01-01T00:08:19"):
        lake.open(timestamp=499 * 1_000_000)


def test_times_that_commits_recorded_before_it_was_switched_off_do_not_count(lake):
    lake.create({"a": "long"}, protocol=TIMED)
    lake.commit({"commitInfo": {"inCommitTimestamp": 500_000}}, lake.add("f"))
    lake.commit(lake.add("g"))
    for version in range(3):
        at(lake, version, 100 + version)

    versions = [lake.open(timestamp=s * 1_000_000).version for s in (100, 101, 102, 10_000)]

    assert versions == [0, 1, 2, 2]
