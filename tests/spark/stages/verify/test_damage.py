"""What breaks in the middle: a file, a worker, a predicate; everything else is verified."""

from __future__ import annotations

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark.stages.verify.proofs import verified
from spark.stages.verify.test_lies import add, values
from tables.delta.conftest import Lake
from whyscan.spark.stages.verify.rows import NumberedFile, RowReader
from whyscan.spark.stages.verify.truth import RowChecks, counted
from whyscan.tables.column_finder import Naming
from whyscan.tables.file_columns import DataFile
from whyscan.tables.storage.store import local_store

pytestmark = pytest.mark.spark


def test_files_that_cannot_be_read_are_named_and_the_others_verified(spark, tmp_path):
    lake = Lake(tmp_path / "t").create({"x": "long", "s": "string"})
    names = ("good", "cut", "gone", "lying")
    lake.commit(
        *(
            add(lake, f"{name}.parquet", values([n, n + 1]), **({"upper": 3} if n == 3 else {}))
            for n, name in enumerate(names)
        )
    )
    cut = lake.folder / "cut.parquet"
    cut.write_bytes(cut.read_bytes()[:-20])
    (lake.folder / "gone.parquet").unlink()

    verification = verified(spark, lake.folder, "x >= 0")
    (table,) = verification.tables

    assert {one.path for one in table.unreadable} == {"cut.parquet", "gone.parquet"}
    assert (table.files_read, table.rows) == (2, 4)
    assert [lie.path for lie in table.lies] == ["lying.parquet"]
    assert verification.exit_code == 1


def test_a_page_that_cannot_be_decoded_makes_a_file_unreadable_and_the_run_incomplete(
    spark, tmp_path
):
    folder = tmp_path / "t"
    folder.mkdir()
    for n in range(2):
        table = pa.table({"x": pa.array(range(n * 5_000, n * 5_000 + 5_000), pa.int64())})
        pq.write_table(table, folder / f"{n}.parquet", use_dictionary=False)
    whole = bytearray((folder / "1.parquet").read_bytes())
    whole[30:20_000] = b"\xff" * 19_970
    (folder / "1.parquet").write_bytes(whole)

    verification = verified(spark, folder, "x < 10")
    (table,) = verification.tables

    assert [one.path for one in table.unreadable] == ["1.parquet"]
    assert (table.files_read, table.predicates[0].lost) == (1, ())
    assert table.native.why == "some data files cannot be read"
    assert verification.exit_code == 3


def test_predicates_that_cannot_be_evaluated_are_listed_and_stop_no_other(spark, tmp_path):
    pq.write_table(values([1, 2]), tmp_path / "a.parquet")

    verification = verified(spark, tmp_path, "x = 1", "nope = 1", "my_function(x) = 1", "x = ")
    why = [proof.why for proof in verification.tables[0].predicates]

    assert why[0] is None
    assert "nope" in why[1]
    assert "my_function" in why[2]
    assert why[3] is not None
    assert verification.exit_code == 3


def test_a_worker_that_dies_in_the_middle_is_started_again(spark, tmp_path):
    pq.write_table(values([1, 2, 3]), tmp_path / "a.parquet")
    marker = tmp_path / "died"

    def dying(work):
        def once(batches):
            for batch in work(batches):
                if not marker.exists():
                    marker.touch()
                    os._exit(1)
                yield batch

        return once

    class Dying(RowReader, frozen=True):
        def rows(self, tasks):
            return dying(RowReader.rows(self, tasks))

    store = local_store(str(tmp_path))
    file = NumberedFile(0, DataFile(store, "a.parquet"), 1)
    counts = counted(spark, Dying((), (), Naming()), [file], RowChecks(((0, "true"),), ()))

    assert marker.exists()
    assert counts.table["rows"].to_pylist() == [3]
    assert counts.table["true_0"].to_pylist() == [3]


def test_the_session_keeps_its_own_settings(spark, tmp_path):
    pq.write_table(values([1]), tmp_path / "a.parquet")
    before = spark.conf.get("spark.sql.session.timeZone")

    verified(spark, tmp_path, "x = 1", timezone="Asia/Tokyo")

    assert spark.conf.get("spark.sql.session.timeZone") == before
