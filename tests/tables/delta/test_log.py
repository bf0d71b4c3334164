"""Which files of a log's folder one version is made from."""

from __future__ import annotations

import pyarrow as pa
import pytest

from whyscan.errors import TableError
from whyscan.tables.delta.log import read_log
from whyscan.tables.storage.store import LISTING

UUID = "3a0d65cd-4056-49b8-937b-95f9e3ee90e5"


def log(*names):
    """The log of a listing; a name may end with `!` for a file without bytes."""
    paths = [f"_delta_log/{name.removesuffix('!')}" for name in names]
    sizes = [0 if name.endswith("!") else 1 for name in names]
    return read_log(pa.table([paths, sizes, [0] * len(names)], schema=LISTING))


def commit(version):
    return f"{version:020}.json"


def part(version, ordinal, count):
    return f"{version:020}.checkpoint.{ordinal:010}.{count:010}.parquet"


@pytest.mark.parametrize(
    ("checkpoint", "used"),
    [
        ([f"{1:020}.checkpoint.parquet"], 1),
        ([f"{1:020}.checkpoint.{UUID}.parquet"], 1),
        ([f"{1:020}.checkpoint.{UUID}.json"], 1),
        ([part(1, 1, 2), part(1, 2, 2)], 1),
        ([part(1, 1, 2)], None),
        ([part(1, 1, 3), part(1, 3, 3)], None),
        ([part(1, 1, 2), part(1, 2, 2) + "!"], None),
        ([f"{1:020}.checkpoint.parquet!"], None),
        ([f"{1:020}.checkpoint.parquet.crc", f".{1:020}.checkpoint.parquet"], None),
    ],
)
def test_a_checkpoint_counts_once_it_is_complete(checkpoint, used):
    segment = log(*(commit(v) for v in range(3)), *checkpoint).segment()

    assert (None if segment.checkpoint is None else segment.checkpoint.version) == used
    assert [c.version for c in segment.commits] == ([2] if used else [0, 1, 2])


def test_the_longest_compacted_file_is_taken_that_does_not_pass_the_version():
    names = [f"{1:020}.{last:020}.compacted.json" for last in (2, 3, 9)]
    segment = log(*(commit(v) for v in range(6)), *names).segment(4)

    assert [(c.first, c.version) for c in segment.commits] == [(0, 0), (1, 3), (4, 4)]


def test_a_cleaned_up_log_opens_from_its_checkpoint_and_no_earlier():
    cleaned = log(f"{5:020}.checkpoint.parquet", commit(5), commit(6))

    assert [c.version for c in cleaned.segment().commits] == [6]
    with pytest.raises(TableError, match="commit 0 of the log is missing"):
        cleaned.segment(4)
