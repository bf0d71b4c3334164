"""Rows out of a bucket: those of the disk, by the ranges that are needed, or an error."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import ColumnProperties, WriterProperties, write_deltalake

import whyscan
from scan.same_rows import difference
from support import commands
from tables.storage.faults import Fault, Kind
from tables.storage.lakes_to_upload import QUESTIONS
from tables.storage.seaweed import BUCKET, SECRET
from whyscan.errors import StorageError

pytestmark = pytest.mark.xdist_group("s3")

TAIL = 1 << 16
IMPATIENT = {"max_retries": "1", "retry_timeout": "2"}


@pytest.mark.parametrize("sql", [None, "true"], ids=["question", "everything"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_bucket_holds_the_rows_of_the_folder(s3, lake, name, sql):
    predicate = QUESTIONS[name] if sql is None else sql

    there = whyscan.open(f"s3://{BUCKET}/{name}").plan(predicate).to_arrow()
    local_rows = whyscan.open(str(lake / name)).plan(predicate).to_arrow()

    assert local_rows.num_rows > 0
    assert there.schema == local_rows.schema
    assert difference(there, local_rows) == ""


def test_only_the_chunks_of_the_columns_and_row_groups_that_are_needed_are_asked_for(
    s3, server, tmp_path
):
    noise = np.random.default_rng(1)
    count = 80_000
    rows = pa.table(
        {
            "first": noise.integers(0, 1 << 60, count),
            "key": np.arange(count),
            "wide": [noise.bytes(40) for _ in range(count)],
            "asked": noise.random(count),
        }
    )
    pq.write_table(rows, tmp_path / "a.parquet", row_group_size=count // 4, use_dictionary=False)
    server.upload(tmp_path, "ranges")
    plan = whyscan.open(f"s3://{BUCKET}/ranges").plan(
        f"key >= {count * 3 // 4 - 100}", select=["asked"]
    )
    s3.reset()

    actual = plan.to_arrow()

    assert actual.column("asked").equals(rows.column("asked")[count * 3 // 4 - 100 :])
    footer, size = pq.read_metadata(tmp_path / "a.parquet"), (tmp_path / "a.parquet").stat().st_size
    chunks = [chunk(footer.row_group(group).column(leaf)) for group in (2, 3) for leaf in (1, 3)]
    ranges = [span(header) for path, header in s3.ranges if "a.parquet" in path]
    for first, last in ranges:
        inside = any(
            start <= first and last <= end for start, end in [*chunks, (size - TAIL, size)]
        )
        assert inside, (first, last, chunks)
    needed = sum(end - start for start, end in chunks)
    assert sum(last - first for first, last in ranges) <= needed + TAIL < size / 3


def uploaded(server, folder, rows, name):
    """A Delta table of three files with page indexes, in the bucket."""
    for file in range(3):
        some = rows.slice(file * FILE_ROWS, FILE_ROWS)
        options = WriterProperties(
            data_page_row_count_limit=2_000,
            write_batch_size=1_000,
            default_column_properties=ColumnProperties(dictionary_enabled=False),
        )
        write_deltalake(str(folder / "t"), some, mode="append", writer_properties=options)
    server.upload(folder / "t", name)
    return f"s3://{BUCKET}/{name}"


FILE_ROWS = 40_000


@pytest.fixture
def numbers():
    noise = np.random.default_rng(2).integers(0, 1 << 60, 3 * FILE_ROWS)
    return pa.table({"id": np.arange(3 * FILE_ROWS), "noise": noise})


def test_the_footers_of_the_plan_are_not_requested_again(s3, server, tmp_path, numbers):
    place = uploaded(server, tmp_path, numbers, "footers")
    plan = whyscan.open(place).plan(f"id >= {FILE_ROWS - 10}")
    s3.reset()

    assert plan.to_arrow().num_rows == 2 * FILE_ROWS + 10
    assert len([path for path, _ in s3.ranges if path.endswith(".parquet")]) == 3


def test_pages_that_stay_take_one_request_for_their_index_and_a_few_for_their_bytes(
    s3, server, tmp_path, numbers
):
    place = uploaded(server, tmp_path, numbers, "pages")
    plan = whyscan.open(place).plan("id BETWEEN 50000 AND 50100", depth="pages")
    s3.reset()

    rows = plan.to_arrow().sort_by("id")

    assert rows.equals(numbers.slice(50_000, 101))
    spans = [span(header) for path, header in s3.ranges if path.endswith(".parquet")]
    assert len(spans) <= 3
    assert sum(last - first for first, last in spans) < 3 * 16_000


def test_a_file_that_was_written_again_after_the_plan_is_an_error(s3, server, tmp_path, numbers):
    place = uploaded(server, tmp_path, numbers, "again")
    plan = whyscan.open(place).plan("id >= 0")
    for file in (tmp_path / "t").glob("*.parquet"):
        pq.write_table(numbers.slice(0, 7), file)
    server.upload(tmp_path / "t", "again")

    with pytest.raises(StorageError, match="was written again while it was read"):
        plan.to_arrow()


def chunk(column):
    return column.data_page_offset, column.data_page_offset + column.total_compressed_size


def span(header):
    first, _, last = header.removeprefix("bytes=").partition("-")
    return int(first), int(last) + 1


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.SLOW])
@pytest.mark.parametrize("name", ["delta", "hive"])
def test_a_fault_that_passes_changes_no_row(s3, lake, name, kind):
    plan = whyscan.open(f"s3://{BUCKET}/{name}").plan(QUESTIONS[name])
    s3.faults.append(Fault(kind, times=1, match=".parquet"))

    there = plan.to_arrow()

    assert s3.faults[0].times == 0
    assert difference(there, whyscan.open(str(lake / name)).plan(QUESTIONS[name]).to_arrow()) == ""


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.SLOW])
def test_a_fault_that_stays_is_a_typed_error_that_names_the_file(s3, kind):
    table = whyscan.open(f"s3://{BUCKET}/delta", storage=IMPATIENT)
    plan = table.plan(QUESTIONS["delta"])
    s3.faults.append(Fault(kind, match="part-0"))

    with pytest.raises(StorageError, match=rf"cannot read s3://{BUCKET}/delta/k=b/") as error:
        plan.to_arrow()

    assert "Credential=" not in str(error.value)


def test_the_command_leaves_no_file_where_the_store_fails(s3, tmp_path):
    s3.faults.append(Fault(Kind.CUT, match="part-0"))
    more = [word for pair in IMPATIENT.items() for word in ("--option", "=".join(pair))]

    done = commands.whyscan(
        *("scan", f"s3://{BUCKET}/delta", "-w", "x > 150", "-o", "out.parquet", *more), cwd=tmp_path
    )

    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"error: cannot read s3://{BUCKET}/delta/"), done.err
    assert SECRET not in done.err
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(("out", ".out"))]
