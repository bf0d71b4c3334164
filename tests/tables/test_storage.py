"""Where the bytes are: listings, ranges, and errors that keep secrets."""

from __future__ import annotations

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from obstore.store import MemoryStore

from whyscan.errors import StorageError, TableError, UsageError
from whyscan.tables import open_snapshot
from whyscan.tables.storage.locations import find, glob_regex, parse
from whyscan.tables.storage.store import ByteRange, Store, local_store

ODD_NAMES = ["a b", "a%20b", "é", "100%", "a#b", "a?b", "[x]", "a*b", "x:y", "..x", "%2E%2E", "a+b"]


def touch(root, *paths):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


def listed(root, *named):
    paths = find([str(root / name) for name in named] or [str(root)], {}, lambda _: True)
    return paths.store.uri.removeprefix(str(root)), paths.objects["path"].to_pylist()


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_listed_and_read_as_they_are(tmp_path, name):
    touch(tmp_path, f"k={name}/f")
    store = local_store(str(tmp_path))

    assert store.list()["path"].to_pylist() == [f"k={name}/f"]
    assert bytes(store.read(f"k={name}/f", 0, 2)) == b"k="


def test_ranges_come_in_order_and_are_counted(tmp_path):
    touch(tmp_path, *(f"{i:03}" for i in range(200)))
    store = local_store(str(tmp_path))

    contents = [bytes(b) for b in store.read_many([ByteRange(f"{i:03}", 1, 2) for i in range(200)])]

    assert contents == [f"{i:03}".encode()[1:] for i in range(200)]
    assert (len(store.meter.paths), store.meter.bytes) == (200, 400)


def test_an_object_store_is_listed_below_its_prefix():
    memory = MemoryStore()
    for path in ("lake/t/k=1/a", "lake/t/k=2/b", "lake/tt/c"):
        memory.put(path, path.encode())
    store = Store("memory://lake/t", memory, prefix="lake/t")

    assert sorted(store.list()["path"].to_pylist()) == ["k=1/a", "k=2/b"]
    assert store.list("k=1")["path"].to_pylist() == ["k=1/a"]
    assert bytes(store.read("k=1/a", 0, 4)) == b"lake"
    assert len(list(store.read_many([ByteRange("k=1/a", 0, 4)] * 3))) == 3
    assert (store.holds("k=1"), store.holds("k=3")) == (True, False)
    assert (store.find("k=2/b").num_rows, store.find("k=2/c").num_rows) == (1, 0)


@pytest.mark.parametrize(
    ("named", "root", "files"),
    [
        ([], "", ["a.parquet", "k=1/b.parquet", "k=1/j=2/c.parquet", "k=2/d.txt"]),
        (["k=1"], "/k=1", ["b.parquet", "j=2/c.parquet"]),
        (["*.parquet"], "", ["a.parquet"]),
        (["**/*.parquet"], "", ["a.parquet", "k=1/b.parquet", "k=1/j=2/c.parquet"]),
        (["k=*"], "", ["k=1/b.parquet", "k=1/j=2/c.parquet", "k=2/d.txt"]),
        (["k=[!1]/*"], "", ["k=2/d.txt"]),
        (["k={1,2}/?.*"], "", ["k=1/b.parquet", "k=2/d.txt"]),
        (["k=1/*/c.parquet"], "", ["k=1/j=2/c.parquet"]),
        (["k=1/b.parquet"], "", ["k=1/b.parquet"]),
        (["k=1/b.parquet", "k=2"], "", ["k=1/b.parquet", "k=2/d.txt"]),
        (["k=1", "k=1/b.parquet"], "", ["k=1/b.parquet", "k=1/j=2/c.parquet"]),
    ],
)
def test_folders_files_globs_and_lists(tmp_path, named, root, files):
    touch(tmp_path, "a.parquet", "k=1/b.parquet", "k=1/j=2/c.parquet", "k=2/d.txt")

    assert listed(tmp_path, *named) == (root, files)


def test_a_name_with_wildcards_that_exists_is_no_glob(tmp_path):
    touch(tmp_path, "a[1]/x", "a1/y")

    assert listed(tmp_path, "a[1]") == ("/a[1]", ["x"])


def test_relative_paths_home_and_file_addresses(tmp_path, monkeypatch):
    touch(tmp_path, "t a/f")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))

    spelled = ["t a", "./t a/", "~/t a", f"file://{tmp_path}/t%20a", f"file:{tmp_path}/t a"]

    assert {parse(text).path for text in spelled} == {str(tmp_path / "t a")}


def test_a_missing_folder_hints_at_its_neighbour(tmp_path):
    touch(tmp_path, "events/f")

    with pytest.raises(TableError) as raised:
        listed(tmp_path, "evnts")

    assert raised.value.hint == f"did you mean {tmp_path}/events?"


def test_links_are_followed_but_not_in_circles(tmp_path):
    touch(tmp_path, "t/k=1/f", "elsewhere/g")
    (tmp_path / "t/k=2").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "t/k=1/up").symlink_to(tmp_path / "t")
    (tmp_path / "t/broken").symlink_to(tmp_path / "nowhere")

    assert listed(tmp_path, "t")[1] == ["k=1/f", "k=2/g"]


def test_a_pipe_is_never_opened(tmp_path):
    touch(tmp_path, "t/f")
    os.mkfifo(tmp_path / "t/pipe")

    assert listed(tmp_path, "t")[1] == ["f"]
    with pytest.raises(TableError, match="not a regular file"):
        listed(tmp_path, "t/pipe")


def test_a_name_that_is_not_unicode_is_refused_by_name(tmp_path):
    (tmp_path / os.fsdecode(b"k=\xff")).mkdir()
    (tmp_path / os.fsdecode(b"k=\xff/f")).write_text("")

    with pytest.raises(TableError, match="not Unicode"):
        listed(tmp_path)


@pytest.mark.parametrize(
    "address",
    ["s3://KEY:canary@bucket/t", "https://host/t?sig=canary", "abfss://u:canary@host/t"],
)
def test_credentials_in_an_address_are_refused_and_not_repeated(address):
    with pytest.raises(UsageError) as raised:
        parse(address)

    assert "canary" not in f"{raised.value} {raised.value.hint}"


def test_a_refused_option_does_not_show_its_value():
    with pytest.raises(StorageError) as raised:
        find(["s3://bucket/t"], {"no_such_option": "canary"}, lambda _: True)

    assert "canary" not in f"{raised.value} {raised.value.hint} {raised.value.__cause__}"


def test_an_unknown_scheme_is_a_typed_error():
    with pytest.raises(StorageError, match="no client for nowhere:// storage"):
        find(["nowhere://bucket/t"], {}, lambda _: True)


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_name_is_the_callers_mistake(empty):
    with pytest.raises(UsageError):
        parse(empty)


def test_different_stores_are_not_one_table(tmp_path):
    with pytest.raises(UsageError, match="different stores"):
        find([str(tmp_path), "s3://bucket/t"], {}, lambda _: True)


@pytest.mark.parametrize(
    ("pattern", "regex"),
    [("*.p", r"[^/]*\.p"), ("**/a", "(?:[^/]*/)*a"), ("a**", "a.*"), ("[!a]", "[^a]")],
)
def test_globs(pattern, regex):
    assert glob_regex(pattern) == regex


def test_an_empty_folder_says_so(tmp_path):
    touch(tmp_path, "_SUCCESS")

    with pytest.raises(TableError, match="holds no Parquet files"):
        open_snapshot([str(tmp_path)], {}, {})


def test_files_of_no_bytes_are_not_read(tmp_path):
    pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").touch()

    assert open_snapshot([str(tmp_path)], {}, {}).files([]).paths.to_pylist() == ["a.parquet"]
