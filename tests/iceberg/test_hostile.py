"""Metadata that was cut, flipped or made to harm: a typed error or an answer, and nothing else."""

from __future__ import annotations

import json
import random
import time
import zlib

import fastavro
import pytest

from iceberg.by_hand import list_schema, summary
from whyscan.errors import CorruptFile, TableError, WhyscanError
from whyscan.tables.iceberg import avro, decoding, metadata
from whyscan.tables.iceberg.layouts import layout

PART = {"source-id": 1, "field-id": 1000, "name": "n", "transform": "identity"}
SECONDS_AT_MOST = 5
MUTANTS = 130


@pytest.fixture
def victim(lake):
    """A table with everything in it, uncompressed, so that damage reaches the decoders."""
    table = lake({"n": "int", "s": "string", "t": "timestamp"}, PART, codec="null")
    files = [
        table.file(f"f{n}", {"s": ("a", "z"), "t": (0, n)}, {"s": 1}, partition={"n": n})
        for n in range(3)
    ]
    table.manifest(files, summaries=[summary(bytes(4), b"\x02\0\0\0")])
    gone = table.file("d", rows=1, content=1, partition={"n": 1})
    table.manifest([gone], content=1, sequence=2)
    return table.commit()


def mutants(data, seed):
    """Cut off, bits flipped, bytes replaced, doubled or taken out."""
    dice = random.Random(seed)
    for _ in range(MUTANTS):
        at = dice.randrange(len(data))
        match dice.randrange(5):
            case 0:
                yield data[:at]
            case 1:
                yield data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]
            case 2:
                yield data[:at] + dice.randbytes(4) + data[at + 4 :]
            case 3:
                yield data[:at] + data[max(at - 9, 0) :]
            case _:
                yield data[:at] + data[at + dice.randrange(1, 9) :]


@pytest.mark.parametrize("name", ["v1.metadata.json", "snap-1.avro", "m0.avro", "m1.avro"])
@pytest.mark.parametrize("fast", [False, True])
def test_damage_is_a_typed_error_or_an_answer(victim, monkeypatch, name, fast):
    if fast:
        import datafusion

        assert datafusion
        monkeypatch.setattr(decoding, "SMALL_FOR_IMPORTED", 0)
    path = victim.folder / "metadata" / name
    whole = path.read_bytes()
    outcomes = {"answers": 0, "errors": 0}
    for mutant in mutants(whole, seed=len(name) + fast):
        path.write_bytes(mutant)
        begin = time.perf_counter()
        try:
            plan = victim.plan("n = 1 AND s > 'b' AND t < TIMESTAMP_NTZ '2020-01-01'")
            assert plan.summary.files_kept <= plan.summary.files_total
            outcomes["answers"] += 1
        except WhyscanError:
            outcomes["errors"] += 1
        assert time.perf_counter() - begin < SECONDS_AT_MOST
    assert outcomes["errors"] > MUTANTS // 10, outcomes


def test_a_block_that_inflates_without_end_is_refused(lake, monkeypatch):
    monkeypatch.setattr(avro, "LARGEST", 1 << 16)
    table = lake({"a": "int"})
    table.manifest([table.file("x" * (1 << 17))])
    with pytest.raises(CorruptFile, match="inflates to more than 65536 bytes"):
        table.commit().live()


@pytest.mark.parametrize("codec", ["deflate", "snappy", "zstandard", "bzip2", "xz", "null"])
def test_every_codec_has_the_limit(codec):
    from whyscan.tables.iceberg.codecs import inflate

    zeros = bytes(1 << 20)
    with pytest.raises(CorruptFile, match="inflates to more than 1000 bytes"):
        inflate(codec, _compressed(codec, zeros), 1000, "m.avro")
    assert inflate(codec, _compressed(codec, zeros), len(zeros), "m.avro") == zeros


def _compressed(codec, data):
    import bz2
    import lzma

    import cramjam
    from backports import zstd

    checksum = zlib.crc32(data).to_bytes(4, "big")
    return {
        "deflate": lambda: zlib.compress(data)[2:-4],
        "snappy": lambda: bytes(cramjam.snappy.compress_raw(data)) + checksum,
        "zstandard": lambda: zstd.compress(data),
        "bzip2": lambda: bz2.compress(data),
        "xz": lambda: lzma.compress(data),
        "null": lambda: data,
    }[codec]()


def test_an_unknown_codec_is_refused():
    from whyscan.tables.iceberg.codecs import inflate

    with pytest.raises(CorruptFile, match="'zip', which nobody here knows"):
        inflate("zip", b"", 10, "m.avro")


def test_metadata_that_inflates_without_end_is_refused(lake, monkeypatch):
    monkeypatch.setattr(metadata, "LARGEST", 1 << 10)
    table = lake({"a": "int"}, more={"comment": " " * (1 << 16)})
    import gzip

    text = json.dumps(table.metadata()).encode()
    (table.folder / "metadata" / "v1.metadata.json").write_bytes(gzip.compress(text))
    with pytest.raises(CorruptFile, match="inflates to more than 1024 bytes"):
        table.open()


@pytest.mark.parametrize("count", [-1, 1 << 40])
def test_a_block_that_counts_more_than_it_holds_is_refused(count):
    block = avro.Block(count, b"\0\0")
    data = b"".join(avro.joined({"type": "record", "name": "r", "fields": []}, [block]))
    container = avro.Headers().container("m.avro", data)
    with pytest.raises(CorruptFile, match="a block of 2 bytes counts"):
        list(container.blocks())


LOOP = {"type": "record", "name": "r", "fields": [{"name": "next", "type": ["null", "r"]}]}


def laughs(depth):
    """Each record holds the one before twice."""
    kind = {"type": "record", "name": "r0", "fields": [{"name": "x", "type": "int"}]}
    for n in range(1, depth):
        fields = [{"name": "a", "type": kind}, {"name": "b", "type": f"r{n - 1}"}]
        kind = {"type": "record", "name": f"r{n}", "fields": fields}
    return {"type": "record", "name": "top", "fields": [{"name": "x", "type": kind}]}


def of(kind):
    return {"type": "record", "name": "top", "fields": [{"name": "x", "type": kind}]}


ENDLESS = [
    pytest.param(of(LOOP), "has no end", id="a record in itself"),
    pytest.param(laughs(20), "has no end", id="doubled twenty times"),
    pytest.param(of({"type": "array", "items": "null"}), "a list of nothing", id="many nulls"),
    pytest.param(
        of({"type": "array", "items": {"type": "record", "name": "e", "fields": []}}),
        "a list of nothing",
        id="many empty records",
    ),
    pytest.param(of("null"), "take no bytes", id="records of no bytes"),
    pytest.param(of({"type": "zebra"}), "is not a type", id="no type"),
    pytest.param({"type": "record"}, "no fields", id="no fields"),
    pytest.param([], "no fields", id="no record"),
    pytest.param({"fields": [{"name": 3, "type": "int"}]}, "no name", id="no name"),
]


@pytest.mark.parametrize(("schema", "why"), ENDLESS)
def test_a_schema_without_end_or_sense_is_refused(schema, why):
    with pytest.raises(CorruptFile, match=why):
        layout("m.avro", schema)


@pytest.mark.parametrize(
    "path", ["{}/../../etc/passwd", "/etc/passwd", "s3://other/f", "{}-evil/f"]
)
def test_data_files_outside_of_the_table_stay_closed(lake, path):
    table = lake({"a": "int"})
    table.manifest([table.file(path.format(table.folder), {"a": (1, 2)})])
    table.commit()
    from whyscan.table import Table

    plan = Table(table.open()).plan("a = 1", depth="row-groups")
    assert plan.evidence.unchecked == (
        ("row_groups", "1 of 1 data files are outside of the table's folder"),
    )
    assert [scan.row_groups for scan in plan] == [None]


@pytest.mark.parametrize(
    "path", ["{}/../secret.avro", "{}/metadata/../../secret.avro", "/secret.avro"]
)
def test_a_manifest_outside_of_the_table_is_not_followed(lake, path, tmp_path):
    table = lake({"a": "int"})
    secret = table.manifest([table.file("f")])
    secret.rename(tmp_path / "secret.avro")
    table.manifests[0]["manifest_path"] = path.format(table.folder)
    with pytest.raises(WhyscanError):
        table.commit().live()


@pytest.mark.parametrize("size", [-1, 0, 1 << 40])
def test_a_manifest_of_an_impossible_size_is_refused(lake, size):
    table = lake({"a": "int"})
    table.manifest([table.file("f")], manifest_length=size)
    with pytest.raises(CorruptFile, match="bytes are no manifest"):
        table.commit().live()


def test_a_manifest_that_is_longer_than_recorded_is_refused(lake):
    table = lake({"a": "int"})
    table.manifest([table.file("f")], manifest_length=1000)
    with pytest.raises(WhyscanError):
        table.commit().live()


def test_a_spec_that_is_not_there_is_named(lake):
    table = lake({"a": "int"})
    table.manifest([table.file("f")], partition_spec_id=7)
    with pytest.raises(TableError, match="partition spec 7"):
        table.commit().live()


def test_a_list_without_paths_is_corrupt(lake):
    table = lake({"a": "int"})
    table.commit()
    fields = [f for f in list_schema()["fields"] if f["name"] != "manifest_path"]
    schema = fastavro.parse_schema({"type": "record", "name": "l", "fields": fields})
    table.manifest([table.file("f")])
    with (table.folder / "metadata" / "snap-1.avro").open("wb") as file:
        fastavro.writer(file, schema, table.manifests)
    with pytest.raises(CorruptFile, match="has no manifest_path"):
        table.live()


DOCUMENTS = [b"", b"[]", b"{", b"\x1f\x8b\x08", b'{"format-version": 2}', b"[" * 100_000, b"\xff"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_metadata_that_is_none_is_refused(lake, document):
    table = lake({"a": "int"})
    table.write()
    (table.folder / "metadata" / "v0.metadata.json").write_bytes(document)
    with pytest.raises(TableError):
        table.open()


WRONG = {
    "location": 3,
    "schemas": [{"schema-id": 0, "fields": "x"}],
    "current-schema-id": 9,
    "partition-specs": [{"spec-id": 0, "fields": [{"name": "x"}]}],
    "snapshots": [{"snapshot-id": "1"}],
    "refs": {"main": 3},
    "snapshot-log": [1],
    "properties": 7,
    "default-spec-id": None,
}


@pytest.mark.parametrize("key", WRONG)
def test_a_value_of_the_wrong_kind_is_refused(lake, key):
    table = lake({"a": "int"}, more={key: WRONG[key]})
    table.write()
    with pytest.raises(TableError):
        table.kept("a = 1")


def test_a_schema_nested_without_end_is_refused(lake):
    kind = "int"
    for n in range(300):
        kind = {
            "type": "struct",
            "fields": [{"id": n + 2, "name": "x", "required": False, "type": kind}],
        }
    table = lake({"a": {"type": kind, "id": 1}})
    table.write()
    with pytest.raises(TableError, match="deeper than"):
        table.open()
