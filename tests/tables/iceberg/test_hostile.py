"""Metadata made to harm: a typed error or an answer, and nothing else.

Tables that are damaged by chance are in tests/fuzz.
"""

from __future__ import annotations

import contextlib
import json
import zlib

import fastavro
import obstore
import pytest
from obstore.store import MemoryStore

from tables.iceberg.by_hand import list_schema
from whyscan.errors import CorruptFile, TableError, TooLarge, WhyscanError
from whyscan.table import Table
from whyscan.tables.avro import containers as avro
from whyscan.tables.iceberg import decoding
from whyscan.tables.iceberg.avro_schemas import layout
from whyscan.tables.iceberg.opening import open_iceberg
from whyscan.tables.storage.store import Store, local_store


def test_a_block_that_inflates_without_end_is_refused(lake, monkeypatch):
    monkeypatch.setenv("WHYSCAN_MEMORY", "1MiB")
    table = lake({"a": "int"})
    table.manifest([table.file("x" * (1 << 17))])
    with pytest.raises(TooLarge, match="inflates to more than 64 KiB"):
        table.commit().live()


@pytest.mark.parametrize("codec", ["deflate", "snappy", "zstandard", "bzip2", "xz", "null"])
def test_every_codec_has_the_limit(codec):
    from whyscan.tables.avro.codecs import Overflow, inflate

    zeros = bytes(1 << 20)
    with pytest.raises(Overflow):
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
    from whyscan.tables.avro.codecs import inflate

    with pytest.raises(CorruptFile, match="'zip', which whyscan cannot read"):
        inflate("zip", b"", 10, "m.avro")


def test_metadata_that_inflates_without_end_is_refused(lake, monkeypatch):
    monkeypatch.setenv("WHYSCAN_MEMORY", "16KiB")
    table = lake({"a": "int"}, more={"comment": " " * (1 << 16)})
    import gzip

    text = json.dumps(table.metadata()).encode()
    (table.folder / "metadata" / "v1.metadata.json").write_bytes(gzip.compress(text))
    with pytest.raises(TooLarge, match="inflates to more than 4 KiB"):
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
    pytest.param(of("null"), "have no integers", id="records of no bytes"),
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
    with pytest.raises(CorruptFile, match=r"bytes are no manifest|which are read whole"):
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


def blocks_of(path):
    """Where each block of a container ends, that of the header first."""
    data = path.read_bytes()
    sync = data[-avro.SYNC_BYTES :]
    ends, at = [], data.find(sync)
    while at >= 0:
        ends.append(at + len(sync))
        at = data.find(sync, at + 1)
    return ends


def test_a_list_cut_behind_its_header_is_refused(lake):
    table = lake({"a": "int"})
    table.manifest([table.file("f")])
    table.commit(summary={"operation": "append", "total-data-files": "1"})
    path = table.folder / "metadata" / "snap-1.avro"
    header, _ = blocks_of(path)
    path.write_bytes(path.read_bytes()[:header])
    with pytest.raises(CorruptFile, match="lists no manifests, and its snapshot counts 1"):
        table.live()


@pytest.mark.parametrize("total", ["0", "-1", "x", None, 7, [], "9" * 30])
def test_an_empty_list_is_an_empty_table_unless_its_snapshot_counts_files(lake, total):
    table = lake({"a": "int"}).commit(summary={"total-data-files": total})
    assert table.live() == []


@pytest.mark.parametrize("remote", [False, True])
def test_a_manifest_cut_behind_a_block_is_refused(lake, remote):
    table = lake({"a": "int"})
    path = table.manifest([table.file("f")])
    table.commit()
    header, _ = blocks_of(path)
    path.write_bytes(path.read_bytes()[:header])
    store = local_store(str(table.folder))
    if remote:
        store = Store(str(table.folder), MemoryStore())
        for file in (table.folder / "metadata").iterdir():
            obstore.put(store.backend, f"metadata/{file.name}", file.read_bytes())
    with pytest.raises(WhyscanError):
        open_iceberg(store).files([])


@pytest.mark.parametrize("left", [b"\0", b"\0" * 40, b"\2", b"x" * 9])
@pytest.mark.parametrize("small", [0, 1 << 20])
def test_a_block_with_bytes_behind_its_records_has_an_end(lake, monkeypatch, left, small):
    import datafusion

    assert datafusion
    monkeypatch.setattr(decoding, "SMALL_FOR_IMPORTED", small)
    table = lake({"a": "int"}, codec="null")
    path = table.manifest([table.file("f")])
    container = avro.Headers().container("m", path.read_bytes())
    whole = [avro.Block(block.count, block.data + left) for block in container.blocks()]
    path.write_bytes(b"".join(avro.joined(container.header.schema, whole)))
    table.manifests[0]["manifest_length"] = path.stat().st_size
    table.commit()
    with pytest.raises(CorruptFile):
        table.live()


@pytest.mark.parametrize("size", [1 << 30, (1 << 63) - 1, -1])
def test_a_declared_size_is_checked_before_it_is_believed(lake, size):
    table = lake({"a": "int"}, codec="null")
    path = table.manifest([table.file("f")])
    header, _ = blocks_of(path)
    head = path.read_bytes()[:header]
    path.write_bytes(head + avro.encoded_number(1) + avro.encoded_number(size) + b"x" * 50)
    table.manifests[0]["manifest_length"] = path.stat().st_size
    table.commit()
    with pytest.raises(CorruptFile, match="cut off, or a length in it is wrong"):
        table.live()


@pytest.mark.parametrize("key", ["manifest-list", "manifests", "summary"])
@pytest.mark.parametrize("value", [7, [7], {"a": 1}, True])
def test_a_snapshot_of_the_wrong_kind_is_refused_or_read(lake, key, value):
    table = lake({"a": "int"})
    table.manifest([table.file("f")])
    table.commit(**{key: value})
    if key == "summary":
        assert table.live() == ["f"]
        return
    if key == "manifests":
        del table.snapshots[0]["manifest-list"]
        table.write()
    with pytest.raises(TableError):
        table.live()


@pytest.mark.parametrize("half", ["\\ud800", "\\udfff", "\\uDBFF x"])
def test_half_a_character_is_refused(lake, half):
    table = lake({"a": "int"})
    table.commit()
    path = table.folder / "metadata" / "v1.metadata.json"
    path.write_text(path.read_text().replace('"name": "a"', f'"name": "{half}"'))
    with pytest.raises(CorruptFile, match="not JSON"):
        table.open()


def test_a_pair_of_halves_is_a_character(lake):
    table = lake({"a": "int"})
    table.commit()
    path = table.folder / "metadata" / "v1.metadata.json"
    path.write_text(path.read_text().replace('"name": "a"', '"name": "\\ud83c\\udf3c"'))
    assert table.open().schema().names() == ("\U0001f33c",)


def test_a_schema_of_ten_thousand_columns_is_read(lake):
    table = lake({f"column_{n}": "int" for n in range(10_000)})
    table.manifest([table.file("f", {"column_9999": (5, 5), "column_0": (1, 1)})])
    table.commit()
    assert table.kept("column_9999 = 5 AND column_0 = 1") == ["f"]
    assert table.kept("column_9999 = 6") == []


NO_FILES = ["a\0b", "\x1b[31mred", "x" * 5000, "\u202e"]


@pytest.mark.parametrize("name", NO_FILES)
def test_a_name_that_no_file_has_is_missing(lake, name):
    table = lake({"a": "int"})
    table.manifest([table.file(f"{table.folder}/data/{name}", {"a": (1, 2)})])
    plan = Table(table.commit().open()).plan("a = 1", depth="row-groups")
    assert plan.evidence.unchecked == (("row_groups", "1 of 1 data files are missing"),)


@pytest.mark.parametrize("name", NO_FILES)
def test_a_manifest_by_a_name_that_no_file_has_is_refused(lake, name):
    table = lake({"a": "int"})
    table.manifest([table.file("f")])
    table.manifests[0]["manifest_path"] = f"{table.folder}/metadata/{name}"
    with pytest.raises(WhyscanError):
        table.commit().live()


@pytest.mark.parametrize("number", [1 << 31, 1 << 64, 10**400, "1", None, 1.5])
def test_a_field_id_that_is_none_is_refused(lake, number):
    table = lake({"a": "int"})
    table.commit()
    path = table.folder / "metadata" / "v1.metadata.json"
    path.write_text(path.read_text().replace('"id": 1,', f'"id": {json.dumps(number)},'))
    with pytest.raises(TableError, match="malformed"):
        table.kept("a = 1")


def numbered(lake, key, number):
    """A table whose metadata has `number` at `key`."""
    part = {"source-id": 1, "field-id": 1000, "name": "a", "transform": "identity"}
    table = lake({"a": "int"}, part)
    table.manifest([table.file("f", partition={"a": 1})])
    table.commit()
    document = table.metadata()
    places = {"spec-id": table.specs, "field-id": table.specs[0]["fields"]}
    places.get(key, table.snapshots)[0][key] = number
    (table.folder / "metadata" / "v1.metadata.json").write_text(json.dumps(document))
    return table


NUMBERS = pytest.mark.parametrize("key", ["spec-id", "snapshot-id", "timestamp-ms", "field-id"])


@pytest.mark.parametrize("number", [False, True, 1 << 64, -(1 << 70), "0", None])
@NUMBERS
def test_a_number_that_is_none_is_refused(lake, key, number):
    with pytest.raises(TableError):
        numbered(lake, key, number).kept("a = 1")


@NUMBERS
def test_a_number_above_63_bits_is_planned_or_refused(lake, key):
    with contextlib.suppress(TableError):
        assert len(numbered(lake, key, 1 << 63).kept("a = 1")) == 1


def test_a_manifest_that_a_list_names_twice_is_read_once_and_counted_twice(lake, monkeypatch):
    table = lake({"a": "int"})
    table.manifest([table.file("f", {"a": (0, 1)}), table.file("g", {"a": (5, 9)})])
    table.manifest([table.file("h", {"a": (0, 9)})])
    table.manifests = [table.manifests[at] for at in (0, 1, 0)]
    read = []
    blocks = avro.Container.blocks
    monkeypatch.setattr(
        avro.Container, "blocks", lambda self: read.append(self.path) or blocks(self)
    )
    table.commit()
    assert table.live() == ["f", "g", "h", "f", "g"]
    assert len(read) == 3  # the list, and each manifest
    assert table.kept("a = 7") == ["g", "h", "g"]


def test_a_manifest_of_many_blocks_is_decoded_in_batches(lake, monkeypatch):
    monkeypatch.setattr(decoding, "FULL", 1 << 10)
    table = lake({"a": "int"})
    names = [f"f{n}" for n in range(2_000)]
    table.manifest([table.file(name, {"a": (n, n)}) for n, name in enumerate(names)])
    table.manifest([table.file("last", {"a": (7, 7)})])
    table.commit()
    assert table.live() == [*names, "last"]
    assert table.kept("a = 7") == ["f7", "last"]


def test_records_that_take_more_than_the_limit_are_refused(lake, monkeypatch):
    table = lake({"a": "int"})
    table.manifest([table.file(f"f{n}", {"a": (n, n)}) for n in range(20_000)])
    table.commit()
    monkeypatch.setenv("WHYSCAN_MEMORY", "3MiB")
    with pytest.raises(TooLarge, match=r"m0\.avro: it"):
        table.live()
