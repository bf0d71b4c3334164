"""A part of a table in a bucket is refused as one on disk is."""

from __future__ import annotations

import pytest

import whyscan
from tables.storage.faults import Fault, Kind
from tables.storage.seaweed import BUCKET
from whyscan.errors import StorageError, TableError

pytestmark = pytest.mark.xdist_group("s3")

MARKS = ("_delta_log", ".hoodie", "metadata")
PARTS = {
    "a partition of Delta": ("delta/k=a", "delta"),
    "a glob in Delta": ("delta/*/*.parquet", "delta"),
    "a glob over the bucket": ("del*/k=b/*.parquet", "delta"),
    "the data of Iceberg": ("iceberg/data", "iceberg"),
}


@pytest.mark.parametrize(("named", "table"), PARTS.values(), ids=PARTS)
def test_a_part_of_a_table_in_a_bucket_is_refused(s3, named, table):
    with pytest.raises(TableError) as error:
        whyscan.open(f"s3://{BUCKET}/{named}")
    assert error.value.message.endswith(f"table s3://{BUCKET}/{table}")


def test_a_file_of_a_table_in_a_bucket_is_refused_and_opened_as_a_file(s3, lake):
    file = next((lake / "delta").glob("k=a/*.parquet")).relative_to(lake)
    with pytest.raises(TableError, match=f"Delta table s3://{BUCKET}/delta"):
        whyscan.open(f"s3://{BUCKET}/{file}")
    opened = whyscan.open(f"s3://{BUCKET}/{file}", as_files=True)
    assert opened.plan("true").to_arrow().num_rows == 20


@pytest.mark.parametrize("named", ["hive", "hive/country=DE", "hive/*/*.parquet"])
def test_files_beside_tables_of_a_bucket_are_opened_with_few_questions(s3, named):
    whyscan.open(f"s3://{BUCKET}/{named}")
    listings = [path for path in s3.seen if "list-type=2" in path]
    assert len(listings) <= 13, listings


def test_a_bucket_that_may_not_be_listed_above_the_files_gives_no_answer(s3):
    refused = [f"{above}{mark}%2F" for above in ("", "hive%2F") for mark in MARKS]
    s3.faults += [
        Fault(Kind.UNAVAILABLE, match=f"prefix={prefix}", status=403) for prefix in refused
    ]
    opened = whyscan.open(f"s3://{BUCKET}/hive/country=DE")
    assert opened.plan("true").to_arrow().num_rows > 0
    for prefix in refused:
        assert any(f"prefix={prefix}" in path for path in s3.seen), s3.seen


def test_a_bucket_that_is_out_of_order_is_an_error_and_no_answer(s3):
    s3.faults.append(Fault(Kind.UNAVAILABLE, match="prefix=delta%2F_delta_log"))
    with pytest.raises(StorageError):
        whyscan.open(f"s3://{BUCKET}/delta/k=a", storage={"max_retries": "0"})
