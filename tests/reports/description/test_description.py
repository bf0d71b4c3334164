"""What `describe` says of tables of each format, against what was written."""

from __future__ import annotations

import json
import os

import pytest
from jsonschema import Draft202012Validator

from support.commands import whyscan
from support.formats import text
from support.lakes import empty, users
from support.memory_table import DataFile, MemoryTable, RowGroup
from tables.delta.conftest import Lake as DeltaTable
from tables.delta.conftest import bounds
from tables.iceberg.by_hand import Lake as IcebergTable
from whyscan.reports.description import describe
from whyscan.table import Table
from whyscan.tree.types import INT

DAY = {"source-id": 1, "field-id": 1000, "name": "day", "transform": "day"}
TARGET_SIZE = "write.target-file-size-bytes"


def iceberg_orders(folder):
    """Two snapshots, a tag on the older one, a sort order and two properties."""
    order = {"order-id": 1, "fields": [{"source-id": 2, "transform": "identity"}]}
    table = IcebergTable(
        folder,
        {"ts": "timestamp", "id": "long"},
        [DAY],
        more={
            "properties": {TARGET_SIZE: "1000", "owner": "me"},
            "sort-orders": [order],
            "default-sort-order-id": 1,
            "refs": {
                "main": {"snapshot-id": 2, "type": "branch"},
                "audited": {"snapshot-id": 1, "type": "tag"},
            },
        },
    )
    table.manifest([table.file("a", {"id": (1, 9), "ts": (0, 5)}, partition={"day": 0})])
    counts = {"operation": "append", "added-data-files": "1", "total-data-files": "1"}
    table.commit(1, summary={**counts, "total-files-size": "1000", "total-records": "10"})
    table.manifest([table.file("b", {"ts": (0, 5)}, partition={"day": 0})], sequence=2)
    table.commit(2, summary={"operation": 7, "added-data-files": "many", "total-records": None})
    return table


def delta_clicks(folder):
    """A commit of two files, then one that replaces one of them."""
    table = DeltaTable(folder).create(
        {"day": "date", "id": "long"},
        ("day",),
        properties={"delta.dataSkippingNumIndexedCols": "1", "owner": "me"},
    )
    table.commit(
        {"commitInfo": {"operation": "WRITE"}},
        *(
            table.add(f"f{n}", bounds("id", n, n), partition={"day": "2026-01-01"}, size=100)
            for n in (1, 2)
        ),
    )
    table.commit(
        {"commitInfo": {"operation": "DELETE"}},
        table.add("f3", bounds("id", 3, 3), partition={"day": "2026-01-01"}, size=50),
        {"remove": {"path": "f1", "dataChange": True}},
    )
    for version in range(3):
        os.utime(table.log / f"{version:020}.json", (1000 + version, 1000 + version))
    return table


def test_an_iceberg_table_has_its_snapshots_newest_first_with_what_their_summaries_say(tmp_path):
    described = describe(iceberg_orders(tmp_path / "orders").open())

    newest, oldest = described.versions
    assert (newest.version, newest.opened, oldest.version, oldest.opened) == (2, True, 1, False)
    assert (oldest.operation, oldest.added_files, oldest.files) == ("append", 1, 1)
    assert (oldest.bytes, oldest.rows, str(oldest.time)) == (1000, 10, "1970-01-01 00:00:01+00:00")
    # What no writer may write is unknown, and no error.
    assert (newest.operation, newest.added_files, newest.rows) == (None, None, None)


def test_an_iceberg_table_has_ids_specs_order_settings_and_references(tmp_path):
    described = describe(iceberg_orders(tmp_path / "orders").open())

    assert [(c.name, c.field_id, c.files_with_bounds) for c in described.columns] == [
        ("ts", 1, 2),
        ("id", 2, 1),
    ]
    assert [c.name for c in described.columns if c.partitioned] == ["ts"]
    assert [spec.fields for spec in described.table.specs] == [("day(ts)",)]
    assert described.order == "sorted by id"
    assert [(p.name, p.value) for p in described.properties] == [(TARGET_SIZE, "1000")]
    assert described.other_properties == 1
    assert [(r.name, r.kind, r.version) for r in described.references] == [
        ("audited", "tag", 1),
        ("main", "branch", 2),
    ]


def test_a_delta_table_has_its_commits_with_the_files_that_they_change(tmp_path):
    described = describe(delta_clicks(tmp_path / "clicks").open())

    assert [(v.version, v.operation) for v in described.versions] == [
        (2, "DELETE"),
        (1, "WRITE"),
        (0, None),
    ]
    assert [(v.added_files, v.removed_files, v.added_bytes) for v in described.versions] == [
        (1, 1, 50),
        (2, 0, 200),
        (0, 0, 0),
    ]
    assert [v.time.timestamp() for v in described.versions] == [1002, 1001, 1000]
    assert (described.files, described.bytes) == (2, 150)
    assert [p.name for p in described.properties] == ["delta.dataSkippingNumIndexedCols"]


def test_the_described_version_is_marked_and_only_the_newest_are_read(tmp_path):
    table = delta_clicks(tmp_path / "clicks")

    described = describe(table.open(1), versions=2)

    assert [(v.version, v.opened) for v in described.versions] == [(2, False), (1, True)]
    assert (described.version_count, described.files) == (3, 2)
    assert describe(table.open(), versions=0).versions == ()


@pytest.mark.parametrize(
    ("ends", "line"),
    [
        ([(0, 9), (5, 8)], "bounds of 1 of 1 column in every file"),
        ([(0, 9), None], "bounds of 0 of 1 column in every file; n in some"),
        ([None, None], "bounds of 0 of 1 column in every file; n in none"),
    ],
    ids=["every", "some", "none"],
)
def test_statistics_are_one_line(ends, line):
    files = [
        DataFile(f"f{at}", {}, [RowGroup(4, {} if pair is None else {"n": pair})])
        for at, pair in enumerate(ends)
    ]
    table = MemoryTable({"n": INT}, files, footers_describe_files=False)

    assert f"statistics  {line}" in text(describe(table))


def test_a_table_without_versions_or_files_says_so():
    described = describe(empty())

    assert (described.version_count, described.protocol) == (None, None)
    assert "none: the table has no files" in text(described)
    assert "version" not in text(describe(users()))


def test_the_command_prints_the_document_of_its_schema(tmp_path):
    iceberg_orders(tmp_path / "orders")

    done = whyscan("describe", "orders", "--format", "json", cwd=tmp_path)

    schema = json.loads(whyscan("schema", "describe", cwd=".").out)
    document = json.loads(done.out)
    assert list(Draft202012Validator(schema).iter_errors(document)) == []
    assert document["versions"][1]["time"] == "1970-01-01T00:00:01Z"


def test_credentials_in_settings_are_masked(tmp_path):
    table = IcebergTable(
        tmp_path / "t",
        {"id": "long"},
        more={"properties": {"write.object-storage.path": "s3://u:planted@b/x"}},
    ).commit()

    described = Table(table.open()).describe()

    assert "planted" not in described.to_json()
    assert "planted" not in described.redacted().to_text()
