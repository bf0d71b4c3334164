"""Which metadata, which snapshot, which schema; what is found elsewhere, encrypted or not there."""

from __future__ import annotations

import gzip
import json
import shutil

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from tables.iceberg.by_hand import schema
from whyscan.errors import CorruptFile, TableError
from whyscan.table import Table
from whyscan.tables.bounded_cache import BoundedCache, count
from whyscan.tables.iceberg import manifests
from whyscan.tables.iceberg.opening import open_iceberg
from whyscan.tables.storage.store import local_store


@pytest.fixture
def history(lake):
    """Three snapshots; the second renames `a`, and a branch and a tag stay at the first."""
    table = lake({"a": "int"})
    table.manifest([table.file("one", {"a": (1, 1)}, {"a": 0})])
    table.commit(1)
    table.schemas.append(schema({"b": "int"}, 1))
    table.manifest([table.file("two", {"b": (2, 2)}, {"b": 0})])
    table.commit(2)
    table.manifest([table.file("three", {"b": (3, 3)}, {"b": 0})])
    table.more["refs"] = {
        "main": {"snapshot-id": 3, "type": "branch"},
        "audit": {"snapshot-id": 1, "type": "branch"},
        "release": {"snapshot-id": 1, "type": "tag"},
    }
    return table.commit(3)


VERSIONS = [
    ({}, ["one", "two", "three"], "b", 3),
    ({"snapshot": 1}, ["one"], "a", 1),
    ({"snapshot": 2}, ["one", "two"], "b", 2),
    ({"ref": "main"}, ["one", "two", "three"], "b", 3),
    ({"ref": "audit"}, ["one"], "b", 1),
    ({"ref": "release"}, ["one"], "a", 1),
    ({"as_of": 2_000_000}, ["one", "two"], "b", 2),
    ({"as_of": 2_999_999}, ["one", "two"], "b", 2),
    ({"as_of": 1_000_000}, ["one"], "a", 1),
]


@pytest.mark.parametrize(("travel", "files", "column", "version"), VERSIONS)
def test_a_version_has_its_files_and_its_schema(history, travel, files, column, version):
    snapshot = history.open(**travel)
    assert history.live(**travel) == files
    assert snapshot.schema().names() == (column,)
    assert snapshot.version == version


WRONG = [
    ({"snapshot": 9}, "there is no snapshot 9", "its snapshots: 1 "),
    ({"ref": "relase"}, "no branch or tag 'relase'", "did you mean release"),
    ({"ref": "zzz"}, "no branch or tag 'zzz'", "its branches and tags: audit, main, release"),
    ({"as_of": 999_999}, "no snapshot at 1970-01-01 00:00:00.999", "begins 1970-01-01 00:00:01"),
]


@pytest.mark.parametrize(("travel", "message", "hint"), WRONG)
def test_a_version_that_is_not_there_is_named_with_those_that_are(history, travel, message, hint):
    with pytest.raises(TableError, match=message) as caught:
        history.open(**travel)
    assert hint in caught.value.hint


def test_a_rollback_is_in_the_log_and_not_among_the_ancestors(history):
    history.more["snapshot-log"] = [
        {"snapshot-id": n, "timestamp-ms": t} for n, t in ((1, 1000), (2, 2000), (1, 5000))
    ]
    history.write()
    assert history.live(as_of=6_000_000) == ["one"]


def test_without_a_log_the_ancestors_serve(history):
    for record, parent in zip(history.snapshots, (None, 1, 2), strict=True):
        record["parent-snapshot-id"] = parent
    history.more["snapshot-log"] = []
    history.write()
    assert history.live(as_of=2_500_000) == ["one", "two"]


def test_without_a_hint_the_highest_number_is_opened_and_said_so(history):
    (history.folder / "metadata" / "version-hint.text").unlink()
    (history.folder / "metadata" / "v10.metadata.json").write_text(json.dumps(history.metadata()))
    snapshot = history.open()
    assert snapshot.metadata.path.endswith("v10.metadata.json")
    assert snapshot.notes == (
        "no version hint: opened metadata/v10.metadata.json, the newest metadata file",
    )


def test_a_file_without_a_number_is_opened_where_it_is_the_newest(history):
    (history.folder / "metadata" / "version-hint.text").unlink()
    document = history.metadata() | {"last-updated-ms": 99}
    (history.folder / "metadata" / "vfinal.metadata.json").write_text(json.dumps(document))
    assert history.open().metadata.path.endswith("vfinal.metadata.json")


def test_a_file_that_may_be_the_newest_and_is_cut_off_gives_way_to_no_other(history):
    (history.folder / "metadata" / "version-hint.text").unlink()
    whole = json.dumps(history.metadata())
    (history.folder / "metadata" / "vfinal.metadata.json").write_text(whole[:-1])
    with pytest.raises(CorruptFile, match="vfinal"):
        history.open()


def test_a_hint_beats_a_higher_number(history):
    (history.folder / "metadata" / "version-hint.text").write_text("1\n")
    assert history.open().metadata.path.endswith("v1.metadata.json")


@pytest.mark.parametrize("hint", ["", "77", "../../x", "\x00", "v" * 5000])
def test_a_hint_that_names_nothing_is_none(history, hint):
    (history.folder / "metadata" / "version-hint.text").write_text(hint)
    assert history.live() == ["one", "two", "three"]


@pytest.mark.parametrize("name", ["v3.gz.metadata.json", "v3.metadata.json.gz"])
def test_compressed_metadata(history, name):
    plain = history.folder / "metadata" / "v3.metadata.json"
    (plain.parent / name).write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert history.live() == ["one", "two", "three"]


def test_one_metadata_file_is_a_table(history):
    store = local_store(str(history.folder))
    snapshot = open_iceberg(store, file="metadata/v1.metadata.json")
    assert snapshot.version == 1
    assert snapshot.notes == ()


def test_a_moved_table_is_read_where_it_is_and_says_so(history, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.move(history.folder, moved)
    snapshot = open_iceberg(local_store(str(moved)))
    assert snapshot.files([]).count == 3
    assert snapshot.notes == (f"moved: the metadata records it at {history.folder}",)


def test_a_copy_of_the_metadata_folder_alone_is_enough_to_plan(history, tmp_path):
    shutil.copytree(history.folder / "metadata", tmp_path / "copy" / "metadata")
    plan = Table(open_iceberg(local_store(str(tmp_path / "copy")))).plan("b = 2")
    assert [scan.path.rpartition("/")[2] for scan in plan] == ["two"]
    assert [scan.row_groups for scan in plan] == [None]
    assert plan.evidence.unchecked == (("row_groups", "1 of 1 data files are missing"),)


def test_an_empty_table_has_no_files(lake):
    table = lake({"a": "int"})
    table.write()
    assert table.live() == []
    assert table.open().version is None
    assert table.kept("a = 1") == []


@pytest.mark.parametrize("version", [0, 4, "2", None, True])
def test_another_format_version_is_refused(lake, version):
    table = lake({"a": "int"}, more={"format-version": version})
    table.write()
    with pytest.raises(TableError, match="is not supported"):
        table.open()


def test_version_1_with_manifests_and_no_list(lake):
    table = lake({"a": "int"}, version=1)
    paths = [table.manifest([table.file(name, {"a": (n, n)})]) for n, name in enumerate("xy")]
    record = {"snapshot-id": 1, "timestamp-ms": 1, "manifests": [str(path) for path in paths]}
    table.snapshots.append(record)
    table.write()
    assert table.live() == ["x", "y"]
    assert table.kept("a = 1") == ["y"]


def test_version_1_metadata_with_one_schema_and_one_spec(lake):
    table = lake({"a": "int"}, version=1)
    table.specs[0]["fields"] = [
        {"source-id": 1, "field-id": 1000, "name": "a", "transform": "identity"}
    ]
    table.manifest([table.file("f", partition={"a": 3})])
    table.commit()
    document = table.metadata()
    document["schema"] = document.pop("schemas")[0]
    field = {"source-id": 1, "name": "a", "transform": "identity"}
    document["partition-spec"] = [field]
    del document["partition-specs"], document["current-schema-id"]
    (table.folder / "metadata" / "v1.metadata.json").write_text(json.dumps(document))
    assert table.every("a = 3") == ["f"]


def test_added_existing_and_deleted_entries(lake):
    table = lake({"a": "int"})
    statuses = {"existing": 0, "added": 1, "deleted": 2}
    table.manifest([table.file(name, status=status) for name, status in statuses.items()])
    table.commit()
    assert table.live() == ["existing", "added"]


def test_an_entry_of_an_unknown_status_is_corrupt(lake):
    table = lake({"a": "int"})
    table.manifest([table.file("f", status=3)])
    with pytest.raises(CorruptFile, match="neither existing nor added nor deleted"):
        table.commit().live()


def test_encrypted_metadata_is_refused(lake):
    table = lake({"a": "int"})
    table.manifest([table.file("f")], key_metadata=b"key")
    with pytest.raises(TableError, match="is encrypted"):
        table.commit().live()


def test_an_encrypted_manifest_list_is_refused(lake):
    table = lake({"a": "int"}, version=3)
    table.manifest([table.file("f")])
    with pytest.raises(TableError, match="is encrypted"):
        table.commit(**{"key-id": "k1"}).live()


def test_a_missing_manifest_list_is_named(history):
    (history.folder / "metadata" / "snap-3.avro").unlink()
    with pytest.raises(TableError, match=r"snap-3\.avro is missing"):
        history.live()


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"])
def test_every_codec(lake, codec):
    table = lake({"a": "int"}, codec=codec)
    table.manifest([table.file("f", {"a": (1, 2)}, {"a": 0})])
    table.commit()
    assert table.kept("a = 1") == ["f"]
    assert table.kept("a = 3") == []


def test_a_folder_is_iceberg_by_its_metadata_files(history, tmp_path):
    assert whyscan.open(history.folder).format == "iceberg"
    folder = tmp_path / "files"
    (folder / "metadata").mkdir(parents=True)
    (folder / "metadata" / ".v1.metadata.json.crc").write_text("")
    pq.write_table(pa.table({"a": [1]}), folder / "metadata" / "f.parquet")
    assert whyscan.open(folder).format == "parquet"
    with pytest.raises(TableError, match="has no Iceberg metadata"):
        open_iceberg(local_store(str(folder)))


def test_manifests_ruled_out_stay_closed(lake):
    table = lake(
        {"n": "int"}, {"source-id": 1, "field-id": 1000, "name": "n", "transform": "identity"}
    )
    for n in range(3):
        end = n.to_bytes(4, "little")
        partition_summary = {"contains_null": False, "lower_bound": end, "upper_bound": end}
        table.manifest([table.file(f"f{n}", partition={"n": n})], summaries=[partition_summary])
    table.commit()
    for n in (0, 2):
        (table.folder / "metadata" / f"m{n}.avro").unlink()
    plan = table.plan("n = 1")
    assert plan.summary.manifests_kept == 1
    assert plan.summary.files_total == 3
    assert [scan.path.rpartition("/")[2] for scan in plan] == ["f1"]


def test_the_path_of_a_file_is_a_constant_of_it(lake):
    table = lake({"n": "int"})
    table.manifest([table.file("a"), table.file("b")])
    table.commit()
    assert table.every(f"_file = '{table.folder}/data/b'") == ["b"]
    assert table.kept("_metadata.file_name = 'a'") == ["a"]
    assert table.kept("_metadata.file_size > 1000") == []


def test_mangled_names_in_avro_are_no_names(lake):
    field = {"source-id": 1, "field-id": 1000, "name": "part.of", "transform": "identity"}
    table = lake({"n": "int"}, field)
    table.manifest([table.file("f", partition={"part_x2Eof": 4})])
    table.commit()
    assert table.every("n = 4") == ["f"]
    assert table.open().files([]).partition.to_pylist() == [{"part.of": 4}]


def test_a_manifest_of_many_entries_goes_through_the_fast_decoder(lake):
    table = lake(
        {"n": "int", "s": "string"},
        {"source-id": 1, "field-id": 1000, "name": "n", "transform": "identity"},
    )
    many = [
        table.file(f"f{n}", {"s": (f"k{n:05}", f"k{n:05}")}, {"s": 0}, partition={"n": n})
        for n in range(8000)
    ]
    path = table.manifest(many)
    with path.open("rb") as file:
        assert sum(1 for _ in fastavro.reader(file)) == 8000
    table.commit()
    assert table.kept("s = 'k00777'") == ["f777"]
    assert table.every("n = 7999") == ["f7999"]


def test_a_manifest_list_is_decoded_once_and_anew_when_its_bytes_change(history, monkeypatch):
    decoded = []
    decode = manifests._decode_list
    monkeypatch.setattr(manifests, "_lists", BoundedCache())
    monkeypatch.setattr(manifests, "_decode_list", lambda c: decoded.append(c.path) or decode(c))
    for _ in range(3):
        assert history.live() == ["one", "two", "three"]
    assert len(decoded) == 1

    history.manifest([history.file("four", {"b": (4, 4)}, {"b": 0})])
    history.more["refs"]["main"]["snapshot-id"] = 4
    history.commit(4)
    assert history.live() == ["one", "two", "three", "four"]
    assert len(decoded) == 2


def test_few_manifest_lists_are_kept_and_no_large_ones(history, monkeypatch):
    monkeypatch.setattr(manifests, "_lists", BoundedCache(2, count))
    for number in (1, 2, 1, 3):
        history.live(snapshot=number)
    assert [len(table) for table in manifests._lists.values()] == [1, 3]

    monkeypatch.setattr(manifests, "_lists", BoundedCache(1))
    assert history.live() == ["one", "two", "three"]
    assert not len(manifests._lists)
