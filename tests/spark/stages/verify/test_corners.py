"""Tables without rows, parts of tables, other types, other dialects."""

from __future__ import annotations

import uuid
from datetime import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from spark.stages.verify.proofs import proven, rendered, verified
from spark.stages.verify.test_lies import add, values
from tables.delta.conftest import Lake
from tables.iceberg.by_hand import Lake as IcebergLake
from whyscan.errors import UnknownColumn
from whyscan.spark import verify
from whyscan.spark.stages.verify import truth
from whyscan.spark.versions import version_of

pytestmark = pytest.mark.spark


def test_a_table_without_rows_holds(spark, tmp_path):
    Lake(tmp_path / "t").create({"x": "long", "s": "string"})

    verification = proven(spark, tmp_path / "t", "x = 1", select=["*"])

    assert (verification.files_total, verification.rows, verification.predicates[0].rows_true) == (
        0,
        0,
        0,
    )


def test_some_of_the_files_are_read_and_that_is_said(spark, tmp_path):
    lake = Lake(tmp_path / "t").create({"x": "long", "s": "string"})
    lake.commit(*(add(lake, f"{n}.parquet", values([n])) for n in range(6)))

    verification = verified(spark, lake.folder, "x < 2", files=3)
    (table,) = verification.tables

    assert (table.files_read, table.files_total, table.rows) == (3, 6, 3)
    assert table.unchecked == ("3 of 6 data files were read, by chance",)
    assert table.native.why == "only some of the data files were read"
    assert (table.predicates[0].rows_true, verification.exit_code) == (None, 0)


def test_partition_columns_have_the_types_that_were_given(spark, tmp_path):
    for month in ("01", "02", "10"):
        folder = tmp_path / f"month={month}"
        folder.mkdir()
        pq.write_table(values([int(month)]), folder / "a.parquet")
    table = whyscan.open(tmp_path, partition_types={"month": "string"})

    verification = verify(
        spark, table, ["month LIKE '0%'", "month = '10'"], engines=["spark-parquet"]
    )
    rendered(verification)

    assert verification.exit_code == 0
    assert [proof.native for proof in verification.tables[0].predicates] == [2, 1]


def test_predicates_of_another_dialect_are_asked_in_sparks_words(spark, tmp_path):
    pq.write_table(values([1, 2, 3]), tmp_path / "a.parquet")

    verification = proven(spark, tmp_path, "\"x\" = 2 AND \"s\" || 'x' = 'sx'", dialect="trino")

    assert verification.predicates[0].rows_true == 1


def test_structs_uuids_and_times_of_day(spark, tmp_path):
    if version_of(spark) < (4, 1):
        pytest.skip("Spark has times of day from 4.1 on")
    ids = sorted(uuid.UUID(int=n << 90) for n in (1, 5, 9))
    columns = {"u": "uuid", "o": {"type": "struct", "fields": []}, "clock": "time"}
    columns["o"]["fields"] = [{"id": 10, "name": "y", "required": False, "type": "long"}]
    lake = IcebergLake(tmp_path / "t", columns)
    (lake.folder / "data").mkdir()

    def field(name, kind, number):
        return pa.field(name, kind, metadata={"PARQUET:field_id": str(number)})

    inner = pa.struct([field("y", pa.int64(), 10)])
    schema = pa.schema(
        [field("u", pa.binary(16), 1), field("o", inner, 2), field("clock", pa.time64("us"), 3)]
    )
    rows = [
        {"u": one.bytes, "o": None if n else {"y": n}, "clock": time(n)}
        for n, one in enumerate(ids)
    ]
    path = lake.folder / "data" / "a.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
    size = path.stat().st_size
    lake.manifest([lake.file("a.parquet", rows=3, file_size_in_bytes=size)])
    lake.commit()

    verification = proven(spark, lake.folder, f"u = '{ids[1]}'", "o IS NULL", "clock > '01:00:00'")

    assert [proof.rows_true for proof in verification.predicates] == [1, 2, 1]


def test_very_many_predicates_are_judged_some_at_a_time(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(truth, "PREDICATES_A_PASS", 2)
    pq.write_table(values([1, 2, 3, None]), tmp_path / "a.parquet", row_group_size=2)

    verification = proven(spark, tmp_path, *(f"x >= {n}" for n in range(5)))

    assert [proof.rows_true for proof in verification.predicates] == [3, 3, 2, 1, 0]


def test_a_column_that_is_not_there(spark, tmp_path):
    pq.write_table(values([1]), tmp_path / "a.parquet")

    with pytest.raises(UnknownColumn, match="nope"):
        verified(spark, tmp_path, "x = 1", select=["nope"])
