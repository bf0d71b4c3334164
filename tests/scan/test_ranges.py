"""Files of a store by ranges: the right bytes, each fetched once, and let go when they are read."""

from __future__ import annotations

import io
import random

import pytest

from whyscan.errors import CorruptFile, TableError
from whyscan.scan.ranges import RangeFile
from whyscan.tables.storage.store import local_store

SIZE = 1 << 20
CONTENT = random.Random(3).randbytes(SIZE)
# Near enough to be one request.
CHUNKS = [(100, 5_000), (6_000, 9_000)]


@pytest.fixture
def store(tmp_path):
    (tmp_path / "a").write_bytes(CONTENT)
    return local_store(str(tmp_path))


def read(file, start, end):
    file.seek(start)
    return file.read(end - start)


def requests(store):
    return store.meter.traffic().bytes


def test_any_part_is_the_same_as_of_the_whole(store):
    file = RangeFile(store, "a")
    file.fetch(CHUNKS)
    dice = random.Random(7)
    for _ in range(300):
        start = dice.choice([dice.randrange(SIZE), dice.randrange(12_000), SIZE - 1])
        end = start + dice.choice([0, 1, 10, 4_000, SIZE])
        assert read(file, start, end) == CONTENT[start:end]
    file.seek(-10, io.SEEK_END)
    assert (file.tell(), file.read(), file.read()) == (SIZE - 10, CONTENT[-10:], b"")


def test_what_is_fetched_is_asked_for_once_and_let_go_together(store):
    file = RangeFile(store, "a")
    file.fetch(CHUNKS)
    before = requests(store)
    file.fetch(CHUNKS)
    for chunk in CHUNKS:
        assert read(file, *chunk) == CONTENT[slice(*chunk)]
    assert requests(store) == before

    file.release(CHUNKS)

    assert read(file, *CHUNKS[0]) == CONTENT[slice(*CHUNKS[0])]
    assert requests(store) == before + 4_900


def test_a_file_that_shrank_is_named(store, tmp_path):
    file = RangeFile(store, "a")
    (tmp_path / "a").write_bytes(CONTENT[:1_000])

    with pytest.raises((CorruptFile, TableError), match=f"{tmp_path}/a"):
        read(file, 500, 5_000)


def test_a_file_that_is_not_there_is_named(store):
    with pytest.raises(TableError, match="b is missing, and the plan reads it"):
        RangeFile(store, "b")
