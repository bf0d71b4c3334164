"""Corners of honest tables: nothing that writers do with values is called a lie."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark.stages.verify.proofs import proven, verified
from support import spark_sessions

pytestmark = pytest.mark.spark

OLD = """SELECT * FROM VALUES
  (1, DATE '0001-01-01', TIMESTAMP '0001-01-01 00:00:00'),
  (2, DATE '1582-10-04', TIMESTAMP '1582-10-04 23:59:59.999999'),
  (3, DATE '1582-10-15', TIMESTAMP '1582-10-15 00:00:00'),
  (4, DATE '1899-12-31', TIMESTAMP '1899-12-31 23:59:59.5'),
  (5, DATE '1969-12-31', TIMESTAMP '1969-12-31 23:59:59.999999'),
  (6, DATE '2024-02-29', TIMESTAMP '2024-02-29 12:00:00.000001'),
  (7, DATE '9999-12-31', TIMESTAMP '9999-12-31 23:59:59.999999'),
  (8, NULL, NULL) AS t(id, d, t)"""
PREDICATES = (
    "d < DATE '1582-10-15'",
    "d = DATE '0001-01-01'",
    "t <= TIMESTAMP '1582-10-04 23:59:59.999999'",
    "t > TIMESTAMP '1900-01-01'",
    "year(d) = 1582",
)
FORMS = ("TIMESTAMP_MICROS", "TIMESTAMP_MILLIS", "INT96")


def written(spark, folder, rebase, form):
    settings = {
        "spark.sql.parquet.datetimeRebaseModeInWrite": rebase,
        "spark.sql.parquet.int96RebaseModeInWrite": rebase,
        "spark.sql.parquet.outputTimestampType": form,
    }
    with spark_sessions.settings(spark, settings):
        spark.sql(OLD).repartitionByRange(3, "id").write.parquet(str(folder))
    return folder


@pytest.mark.parametrize("form", FORMS)
def test_old_dates_as_spark_writes_them(spark, tmp_path, form):
    verification = proven(
        spark, written(spark, tmp_path / "t", "CORRECTED", form), *PREDICATES, select=["*"]
    )

    assert verification.live == verification.native.rows == 8
    assert [p.rows_true for p in verification.predicates] == [
        p.native for p in verification.predicates
    ]


def test_old_dates_of_another_calendar_are_no_lie_and_spark_reads_others(spark, tmp_path):
    """Only Spark counts them again: both keep the files, and the report says so."""
    folder = written(spark, tmp_path / "t", "LEGACY", "TIMESTAMP_MICROS")

    verification = verified(
        spark, folder, "d = DATE '1582-10-04'", "d > DATE '2024-01-01'", select=["*"]
    )
    old, new = verification.tables[0].predicates

    assert (verification.tables[0].lies, old.lost, new.lost) == ((), (), ())
    assert (old.rows_true, old.native, old.disputed, new.disputed) == (0, 1, True, False)
    assert (old.planned.files_kept, new.planned.files_kept) == (1, 2)
    assert verification.exit_code == 1


def test_values_at_the_edges_of_their_types(spark, tmp_path):
    edges = {
        "zero": pa.array([-0.0, 0.0, -0.0], pa.float32()),
        "nan": pa.array([float("nan"), float("-inf"), None], pa.float64()),
        "u8": pa.array([0, 200, 255], pa.uint8()),
        "u32": pa.array([0, 3_000_000_000, 4_294_967_295], pa.uint32()),
        "text": pa.array(["\U0010ffff" * 40, "\ud7ff" * 40, "z" * 40]),
        "bytes": pa.array([b"\xff" * 40, b"", b"\x00"]),
        "money": pa.array([Decimal("-0.01"), Decimal("99999999999999999999.99"), None]),
        "deep": pa.array([{"a": {"b": -1}}, {"a": None}, None]),
        "flag": pa.array([True, True, None]),
    }
    pq.write_table(pa.table(edges), tmp_path / "a.parquet", row_group_size=2)

    verification = proven(
        spark,
        tmp_path,
        "zero = 0",
        "zero < 0",
        "nan > 5",
        "u8 > 127",
        "u32 > 2147483647",
        "text > 'z'",
        "money >= 0",
        "deep.a.b IS NULL",
        select=["*"],
    )

    assert [p.rows_true for p in verification.predicates] == [3, 0, 1, 2, 2, 3, 1, 2]


def test_renamed_and_widened_columns(spark, tmp_path):
    name = f"delta.`{tmp_path}/t`"
    properties = "'delta.columnMapping.mode' = 'id', 'delta.enableTypeWidening' = 'true'"
    spark.sql(
        f"CREATE TABLE {name} (i SMALLINT, m DECIMAL(5, 2), d DATE, f FLOAT) USING delta "
        f"TBLPROPERTIES ({properties}, 'delta.feature.timestampNtz' = 'supported')"
    )
    spark.sql(
        f"INSERT INTO {name} VALUES (-5, 1.25, DATE '1850-01-01', 0.1), (7, NULL, NULL, -0.0)"
    )
    spark.sql(f"ALTER TABLE {name} ALTER COLUMN i TYPE INT")
    spark.sql(f"ALTER TABLE {name} ALTER COLUMN m TYPE DECIMAL(12, 4)")
    spark.sql(f"ALTER TABLE {name} ALTER COLUMN d TYPE TIMESTAMP_NTZ")
    spark.sql(f"ALTER TABLE {name} ALTER COLUMN f TYPE DOUBLE")
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN i TO number")
    spark.sql(
        f"INSERT INTO {name} VALUES "
        "(2000000000, 1.2505, TIMESTAMP_NTZ '2024-01-01 12:00:00.000999', 0.1)"
    )

    verification = proven(
        spark,
        tmp_path / "t",
        "number > 100",
        "m > 1.25",
        "d < TIMESTAMP_NTZ '1900-01-01'",
        "f = 0.1",
        select=["*"],
    )

    assert [p.rows_true for p in verification.predicates] == [1, 1, 1, 1]
    assert verification.native.rows == 3
