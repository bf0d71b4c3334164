"""The cache: whole entries or none, bounded, and shared by processes without locks."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support import commands
from whyscan.errors import UsageError
from whyscan.tables.storage import object_versions
from whyscan.tables.storage.disk_cache import Cache, location, users_cache
from whyscan.tables.storage.store import ByteRange, Store

MIB = 1 << 20


def put(cache, key, content):
    cache.put(key, memoryview(content))


def entries(cache, *keys):
    return [key for key in keys if cache.get(key) is not None]


def files(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "c", MIB)


@pytest.mark.parametrize("content", [b"", b"x", bytes(range(256)) * 100])
def test_what_was_put_comes_back(cache, content):
    put(cache, "k", content)

    assert cache.get("k").to_pybytes() == content
    assert cache.get("other") is None


DAMAGES = {
    "cut off": lambda content: content[:-1],
    "emptied": lambda _: b"",
    "a bit flipped": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    "grown": lambda content: content + b"!",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_is_none_and_gone(cache, damage):
    put(cache, "k", b"the content")
    entry = next(path for path in files(cache.folder) if path.name != "written")
    entry.write_bytes(damage(entry.read_bytes()))

    assert cache.get("k") is None
    assert not entry.exists()


def test_an_entry_under_another_name_is_none(cache):
    put(cache, "a", b"of a")
    put(cache, "b", b"of b")
    cache._path("a").replace(cache._path("b"))

    assert cache.get("b") is None


def test_the_least_recently_used_goes_first(cache):
    for number in range(10):
        put(cache, f"old {number}", bytes(20_000))
        os.utime(cache._path(f"old {number}"), (number + 1, number + 1))
    cache.get("old 0")
    for number in range(45):
        put(cache, f"new {number}", bytes(20_000))

    assert entries(cache, "old 0", "old 1", "old 2") == ["old 0"]
    assert entries(cache, "new 44") == ["new 44"]


def test_the_bound_holds_whatever_is_put(cache):
    for number in range(300):
        put(cache, str(number), bytes(number * 50))
        assert cache.usage().bytes <= MIB


def test_many_small_entries_count_by_the_blocks_they_take(cache):
    for number in range(400):
        put(cache, str(number), b"x")

    assert 0 < cache.usage().entries <= MIB // 4096


def test_one_large_object_does_not_push_out_all_others(cache):
    put(cache, "small", b"x")
    put(cache, "large", bytes(MIB // 2))

    assert entries(cache, "small", "large") == ["small"]


def test_what_killed_processes_left_is_swept(cache):
    put(cache, "k", b"x")
    shelf = cache._path("k").parent
    abandoned, fresh = shelf / "tmp-old", shelf / "tmp-new"
    abandoned.touch()
    fresh.touch()
    os.utime(abandoned, (time.time() - 7200,) * 2)

    cache.sweep()

    assert (abandoned.exists(), fresh.exists(), entries(cache, "k")) == (False, True, ["k"])


def test_a_cache_that_cannot_be_written_is_an_empty_one(tmp_path):
    (tmp_path / "c").write_text("a file where the folder should be")
    cache = Cache(tmp_path / "c", MIB)

    put(cache, "k", b"x")

    assert (cache.get("k"), cache.usage().entries, cache.clear().entries) == (None, 0, 0)


def test_entries_are_their_owners_alone(cache):
    put(cache, "k", b"x")

    entry = cache._path("k")
    assert entry.stat().st_mode & 0o077 == 0
    assert entry.parent.stat().st_mode & 0o077 == 0


WORKER = """
import sys
from pathlib import Path
from whyscan.tables.storage.disk_cache import Cache
cache = Cache(Path(sys.argv[1]), 1 << 20)
for round in range(150):
    for number in range(round, round + 4):
        key = str(number % 60)
        content = (key * 9000).encode()
        found = cache.get(key)
        assert found is None or found.to_pybytes() == content, key
        cache.put(key, memoryview(content))
    if round % 50 == int(sys.argv[2]):
        cache.clear()
"""


def test_processes_share_it_without_ever_seeing_half_an_entry(tmp_path):
    run = [sys.executable, "-c", WORKER, str(tmp_path / "c")]
    workers = [subprocess.Popen([*run, str(n)], stderr=subprocess.PIPE) for n in range(4)]
    errors = [worker.communicate()[1].decode() for worker in workers]

    assert [worker.returncode for worker in workers] == [0, 0, 0, 0], errors
    assert not [path for path in files(tmp_path) if path.name.startswith("tmp-")]


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("_delta_log/00000000000000000003.json", True),
        ("_delta_log/00000000000000000003.checkpoint.parquet", True),
        ("_delta_log/00000000000000000003.checkpoint.0000000001.0000000002.parquet", True),
        ("_delta_log/00000000000000000001.00000000000000000003.compacted.json", True),
        ("_delta_log/_sidecars/0.parquet", True),
        ("_delta_log/_last_checkpoint", False),
        ("metadata/v3.metadata.json", True),
        ("metadata/v3.gz.metadata.json", True),
        ("metadata/00003-x.metadata.json.gz", True),
        ("metadata/snap-1.avro", True),
        ("metadata/version-hint.text", False),
        ("data/part-0.parquet", False),
        ("x_delta_log/00000000000000000003.json", False),
    ],
)
def test_only_metadata_that_is_never_written_again_is_kept(path, kept):
    assert object_versions.is_metadata(path) is kept


class Objects:
    """A store in memory that was written at one time."""

    def __init__(self, **objects):
        from obstore.store import MemoryStore

        self.backend = MemoryStore()
        for path, content in objects.items():
            self.backend.put(path, content)

    def open(self, cache, identity="here"):
        return Store("memory://", self.backend, identity=identity, cache=cache)


UNIQUE = "m-0188c3a1-1b2c-4d5e-8f90-0123456789ab.avro"


@pytest.mark.parametrize(("name", "again"), [(UNIQUE, 1), ("m0.avro", 0), ("data.parquet", 0)])
def test_an_object_that_was_not_listed_is_kept_only_by_a_name_that_is_used_once(cache, name, again):
    objects = Objects(**{name: b"content"})
    for _ in range(2):
        store = objects.open(cache)
        assert bytes(store.read(name, 0, 7)) == b"content"

    assert store.meter.traffic().from_cache == again


@pytest.mark.parametrize(
    ("name", "again"), [(UNIQUE.replace("avro", "parquet"), 1), ("part-0.parquet", 0)]
)
def test_a_footer_that_was_not_listed_is_kept_only_by_a_name_that_is_used_once(cache, name, again):
    objects = Objects(**{name: b"rows and footer"})
    for _ in range(2):
        store = objects.open(cache)
        list(store.read_many([ByteRange(name, 0, 15)], keep=lambda end: end[-6:]))

    assert store.meter.traffic().from_cache == again


def test_what_was_listed_is_kept_under_its_tag(cache):
    objects = Objects(**{"m0.avro": b"content"})
    for _ in range(2):
        store = objects.open(cache)
        store.list()
        store.read("m0.avro", 0, 7)
    assert store.meter.traffic().from_cache == 1

    objects.backend.put("m0.avro", b"another")
    later = objects.open(cache)
    later.find("m0.avro")
    assert bytes(later.read("m0.avro", 0, 7)) == b"another"


def test_an_object_written_again_after_its_listing_is_not_kept(cache):
    objects = Objects(**{"m0.avro": b"content"})
    store = objects.open(cache)
    store.list()
    objects.backend.put("m0.avro", b"another")

    assert bytes(store.read("m0.avro", 0, 7)) == b"another"
    assert cache.usage().entries == 0


def test_stores_of_one_name_at_two_endpoints_share_nothing(cache):
    Objects(**{UNIQUE: b"content"}).open(cache, "here").read(UNIQUE, 0, 7)
    there = Objects(**{UNIQUE: b"another"}).open(cache, "there")

    assert bytes(there.read(UNIQUE, 0, 7)) == b"another"


def test_ranges_of_one_object_are_kept_apart(cache):
    objects = Objects(**{UNIQUE: b"0123456789"})
    for _ in range(2):
        contents = objects.open(cache).read_many([ByteRange(UNIQUE, 0, 3), ByteRange(UNIQUE, 3, 7)])
        assert [bytes(piece) for piece in contents] == [b"012", b"3456789"]


def test_the_folder_is_the_users_by_the_rules_of_xdg(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert location() == tmp_path / "x" / "whyscan"

    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert location() == tmp_path / ".cache" / "whyscan"


def test_its_size_is_the_environments(monkeypatch):
    monkeypatch.setenv("WHYSCAN_CACHE_SIZE", "2MiB")
    assert users_cache().bound == 2 * MIB

    monkeypatch.setenv("WHYSCAN_CACHE_SIZE", "much")
    with pytest.raises(UsageError, match="much"):
        users_cache()


def test_the_command_says_what_is_kept_and_clears_it(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    put(users_cache(), "k", b"x")

    said = commands.whyscan("cache", cwd=tmp_path).out
    cleared = commands.whyscan("cache", "clear", cwd=tmp_path).out
    after = commands.whyscan("cache", cwd=tmp_path).out

    assert said == f"{tmp_path}/whyscan: 1 object, 4.1 kB of 1.1 GB\n"
    assert cleared == "removed 1 object, 4.1 kB\n"
    assert after == f"{tmp_path}/whyscan: 0 objects, 0 B of 1.1 GB\n"
