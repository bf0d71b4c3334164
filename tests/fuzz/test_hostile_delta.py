"""Delta logs made to harm: each value a typed error, or less is known; nothing else happens."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fuzz.delta_victims import CHECKPOINT, SIDECAR, UUID, vector
from support.formats import text
from tables.delta.conftest import Lake, bounds
from whyscan.errors import TableError, TooLarge
from whyscan.reports.document import to_json
from whyscan.tables import duckdb_engine

DEEP = 100_000
NESTED = "[" * DEEP + "]" * DEEP


@pytest.fixture
def lake(tmp_path):
    return Lake(tmp_path / "t")


def raw_commit(lake, line):
    """A line that json does not write."""
    lake.version += 1
    (lake.log / f"{lake.version:020}.json").write_text(line + "\n")


ELSEWHERE = [
    "../secret.parquet",
    "%2e%2e/secret.parquet",
    "k=1/../../secret.parquet",
    "/secret.parquet",
    "file:///etc/passwd",
    "file:/etc/passwd",
    "s3://other/f.parquet",
]


@pytest.mark.parametrize("path", ELSEWHERE)
def test_data_files_outside_of_the_table_stay_closed(lake, tmp_path, path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "secret.parquet")
    lake.create({"a": "long"})
    lake.commit(lake.add(path, bounds("a", 1, 2)))
    plan = lake.table().plan("a = 1", depth="row-groups")
    assert plan.evidence.unchecked == (
        ("row_groups", "1 of 1 data files are outside of the table's folder"),
    )


NO_NAMES = ["", ".", "%00", "a%00b.parquet", "x" * 5000, "\x1b[31mf", "\u202e"]


@pytest.mark.parametrize("path", NO_NAMES)
def test_a_name_that_no_file_has_is_missing_and_inert(lake, path):
    lake.create({"a": "long"})
    lake.commit(lake.add(path, bounds("a", 1, 2)))
    report = lake.table().explain("a = 1", depth="row-groups", verbose=True)
    assert [(u.level, u.why) for u in report.unchecked] == [
        ("row_groups", "1 of 1 data files are missing")
    ]
    assert "\x1b" not in text(report) + to_json(report)


@pytest.mark.parametrize("path", ["..", "", ".", "../", "%2e%2e", "a/.."])
def test_a_sidecar_that_is_no_file_is_refused(lake, path):
    lake.create({"a": "long"})
    named = {"sidecar": {"path": path, "sizeInBytes": 10, "modificationTime": 1}}
    (lake.log / f"{0:020}.checkpoint.{UUID}.json").write_text(json.dumps(named))
    with pytest.raises(TableError, match="a sidecar that cannot be"):
        lake.open()


@pytest.mark.parametrize("path", ["../../../secret.parquet", "/etc/passwd", "%2e%2e%2fs", "a\0b"])
@pytest.mark.parametrize("size", [10, 1 << 40])
def test_a_sidecar_outside_of_its_folder_is_not_followed(lake, tmp_path, path, size):
    lake.create({"a": "long"})
    pq.write_table(pa.table({"add": [{"path": "f"}]}), tmp_path / "secret.parquet")
    rows = [{"sidecar": {"path": path, "sizeInBytes": size, "modificationTime": 1}}]
    lake.checkpoint(
        rows, pa.schema({"sidecar": pa.struct(SIDECAR)}), f"{0:020}.checkpoint.{UUID}.parquet"
    )
    with pytest.raises(TableError):
        lake.open()


DEEP_LINES = {
    "an action": f'{{"add":{NESTED}}}',
    "an action that nobody knows": f'{{"xyz":{NESTED}}}',
    "a path": f'{{"add":{{"path":{NESTED}}}}}',
    "partition values": f'{{"add":{{"path":"f","partitionValues":{{"k":{NESTED}}}}}}}',
    "statistics": f'{{"add":{{"path":"f","size":1,"stats":{json.dumps(NESTED)}}}}}',
    "members of statistics": f'{{"add":{{"path":"f","size":1,"stats":'
    f"{json.dumps(chr(123) + chr(34) + 'minValues' + chr(34) + ':' + NESTED + chr(125))}}}}}",
    "a commit's own words": f'{{"commitInfo":{NESTED}}}',
    "a domain": f'{{"domainMetadata":{{"domain":"delta.clustering",'
    f'"configuration":{json.dumps(NESTED)}}}}}',
}


@pytest.mark.parametrize("where", DEEP_LINES)
def test_deep_json_is_an_error_or_less_is_known(lake, watch, where):
    lake.create({"a": "long", "k": "string"}, ("k",))
    raw_commit(lake, DEEP_LINES[where])
    outcome = watch.ask(lake.folder, "a = 1 AND k = 'x'")
    assert outcome.why is None
    if "statistics" in where:
        assert outcome.word == "answer"


@pytest.mark.parametrize("schema", [NESTED, '{"type":"struct","fields":' * DEEP])
def test_a_deep_schema_is_refused(lake, schema):
    about = {"id": "t", "schemaString": schema, "partitionColumns": []}
    lake.commit({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": about})
    with pytest.raises(TableError, match="schema cannot be read"):
        lake.open()


@pytest.mark.parametrize(
    "about",
    [
        {"configuration": "x"},
        {"configuration": [1]},
        {"partitionColumns": 7},
        {"partitionColumns": [None]},
        {"partitionColumns": {"a": 1}, "configuration": 3},
        {"schemaString": 7},
        {"schemaString": '{"fields":[7]}'},
        {"schemaString": '{"fields":[{"name":7,"type":"long"}]}'},
        {"schemaString": '{"fields":[{"name":"a","type":7}]}'},
        {"schemaString": '{"fields":[{"name":"a","type":"long","metadata":7}]}'},
    ],
    ids=str,
)
def test_a_table_described_by_other_types_is_refused(lake, about):
    fields = '{"type":"struct","fields":[{"name":"a","type":"long"}]}'
    whole = {"id": "t", "schemaString": fields, "partitionColumns": []} | about
    lake.commit({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": whole})
    with pytest.raises(TableError):
        lake.open()


@pytest.mark.parametrize("kind", ["protocol", "metaData"])
@pytest.mark.parametrize("value", ["7", '"x"', "[]", "true", NESTED])
def test_a_newer_description_that_cannot_be_read_does_not_give_way_to_an_older(lake, kind, value):
    lake.create({"a": "long"})
    raw_commit(lake, f'{{"{kind}":{value}}}')
    with pytest.raises(TableError):
        lake.open()


def test_a_table_partitioned_by_what_has_no_order_opens(lake):
    padded = {"c": {"__CHAR_VARCHAR_TYPE_STRING": "char(3)"}}
    lake.create({"a": "long", "c": "string", "v": "void"}, ("c", "v"), about=padded)
    lake.commit(lake.add("f", bounds("a", 1, 2), partition={"c": "x", "v": None}))
    assert lake.kept("a = 1 AND c = 'y'") == ["f"]
    assert lake.open().files([]).partition.to_pylist() == [{"c": "x", "v": None}]


@pytest.mark.parametrize("rows", [-1, -(1 << 63), 1 << 60, (1 << 63) - 1])
def test_a_row_count_that_cannot_be_is_not_known(lake, rows):
    lake.create({"a": "long"})
    lake.commit(*(lake.add(name, bounds("a", 1, 2, rows=rows)) for name in "fg"))
    report = lake.table().explain("a = 1", verbose=True)
    assert lake.kept("a = 1") == ["f", "g"]
    level = report.to_dict()["levels"][0]
    assert (level["rows_total"], level["rows_kept"]) == (None, None)


@pytest.mark.parametrize("cardinality", [-1, 11, 1 << 60, (1 << 63) - 1])
def test_a_deletion_vector_that_contradicts_its_file_hides_nothing(lake, cardinality):
    lake.create({"a": "long"})
    lake.commit(lake.add("f", bounds("a", 1, 1), deletionVector=vector(cardinality)))
    report = lake.table().explain("a = 1", verbose=True).to_dict()
    assert lake.kept("a = 1") == ["f"]
    assert report["rows_matched"] == {"at_least": 0, "at_most": 10}
    assert report["contradictory_statistics"] == 1


@pytest.mark.parametrize("cardinality", ["9223372036854775808", "1e300", '"x"', "NaN"])
def test_a_deletion_vector_of_more_rows_than_can_be_counted_is_refused(lake, watch, cardinality):
    lake.create({"a": "long"})
    vector = (
        f'"deletionVector":{{"storageType":"u","pathOrInlineDv":"v","cardinality":{cardinality}}}'
    )
    raw_commit(lake, f'{{"add":{{"path":"f","size":1,{vector}}}}}')
    outcome = watch.ask(lake.folder, "a = 1")
    assert outcome.word.startswith("CorruptFile")


def test_a_schema_of_ten_thousand_columns_is_read(lake, watch):
    names = [f"column_{n}" for n in range(10_000)]
    lake.create(dict.fromkeys(names, "long"))
    ends = {name: n for n, name in enumerate(names)}
    statistics = {
        "numRecords": 1,
        "minValues": ends,
        "maxValues": ends,
        "nullCount": dict.fromkeys(names, 0),
    }
    lake.commit(lake.add("f", statistics), lake.add("g", statistics))
    assert lake.kept("column_9999 = 9999 AND column_0 = 0") == ["f", "g"]
    assert lake.kept("column_9999 = 9998") == []
    assert watch.ask(lake.folder, "column_5000 = 5000").word == "answer"


def test_a_line_of_a_hundred_megabytes_is_refused(lake, watch):
    lake.create({"a": "long"})
    with (lake.log / f"{1:020}.json").open("wb") as file:
        file.write(b'{"commitInfo":{"text":"')
        for _ in range(100):
            file.write(b"x" * 1_000_000)
        file.write(b'"}}\n')
    assert watch.ask(lake.folder, "a = 1").word.startswith("CorruptFile")


def test_a_checkpoint_that_inflates_without_end_is_refused(lake, monkeypatch):
    monkeypatch.setattr(duckdb_engine, "LITTLE", 16_000_000)
    monkeypatch.setenv("WHYSCAN_MEMORY", "32MB")
    lake.create({"a": "long"})
    described = [json.loads(line) for line in (lake.log / f"{0:020}.json").read_text().splitlines()]
    rows = [*described, lake.add("f", " " * 60_000_000)]
    checkpoint = lake.log / f"{0:020}.checkpoint.parquet"
    pq.write_table(
        pa.Table.from_pylist(rows, pa.schema(CHECKPOINT)), checkpoint, compression="zstd"
    )
    assert checkpoint.stat().st_size < 100_000
    with pytest.raises(TooLarge, match="more memory than"):
        lake.kept("a = 1")


@pytest.mark.parametrize("name", ["path", "add", "minReaderVersion", "schemaString"])
def test_a_name_that_is_not_unicode_is_refused(lake, name):
    lake.create({"a": "long"})
    described = [json.loads(line) for line in (lake.log / f"{0:020}.json").read_text().splitlines()]
    lake.checkpoint([*described, lake.add("f")], pa.schema(CHECKPOINT))
    checkpoint = lake.log / f"{0:020}.checkpoint.parquet"
    whole = checkpoint.read_bytes()
    checkpoint.write_bytes(whole.replace(name.encode(), b"\xff" * len(name)))
    with pytest.raises(TableError):
        lake.live()
