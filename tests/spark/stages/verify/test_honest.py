"""Tables that tell the truth: nothing is lost, nothing lies, and Spark's own reader agrees."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark.stages.verify.proofs import proven

pytestmark = pytest.mark.spark

ROWS = """SELECT id, CAST(id AS INT) AS small, CONCAT('n', id) AS name,
  IF(id = 7, DOUBLE('NaN'), DOUBLE(id)) AS d, IF(id % 3 = 0, NULL, id / 2) AS half,
  DATE '2024-01-01' + CAST(id % 3 AS INT) AS day,
  TIMESTAMP '2024-01-01 00:00:00' + MAKE_DT_INTERVAL(0, CAST(id AS INT)) AS at,
  CAST(id AS DECIMAL(12, 2)) AS price,
  NAMED_STRUCT('x', id, 'y', NAMED_STRUCT('z', CONCAT('z', id))) AS nested FROM RANGE({}, {})"""
PREDICATES = (
    "id < 20",
    "day = '2024-01-03' AND half IS NOT NULL",
    "nested.y.z = 'z7' OR nested.x > 70",
    "d > 50",
    "at >= '2024-01-02 03:00:00' AND at < '2024-01-03'",
    "price BETWEEN 3 AND 9.5 OR name LIKE 'n4%'",
    "NOT (small <> 5)",
)


@pytest.fixture(scope="module")
def delta(spark, tmp_path_factory):
    """Deletion vectors, mapped names, wider types, columns that came and went."""
    folder = tmp_path_factory.mktemp("verify") / "delta"
    name = f"delta.`{folder}`"
    spark.sql(
        f"CREATE TABLE {name} USING delta PARTITIONED BY (day) TBLPROPERTIES ("
        "'delta.enableDeletionVectors' = 'true', 'delta.columnMapping.mode' = 'name', "
        f"'delta.enableTypeWidening' = 'true') AS {ROWS.format(0, 60)}"
    )
    spark.sql(f"DELETE FROM {name} WHERE id IN (3, 17, 18) OR name = 'n41'")
    spark.sql(f"ALTER TABLE {name} ALTER COLUMN small TYPE BIGINT")
    spark.sql(f"ALTER TABLE {name} ADD COLUMN (late STRING)")
    spark.sql(f"INSERT INTO {name} SELECT *, name FROM ({ROWS.format(60, 80)})")
    return folder


def test_delta_with_deletion_vectors_and_an_evolved_schema(spark, delta):
    verification = proven(spark, delta, *PREDICATES, "late > 'n7' OR late IS NULL", select=["*"])

    assert (verification.rows, verification.live, verification.native.rows) == (80, 76, 76)
    assert verification.predicates[0].planned.files_kept < verification.files_total
    assert [p.rows_true for p in verification.predicates] == [
        p.native for p in verification.predicates
    ]
    assert verification.predicates[0].rows_true == 17
    assert {"id", "nested.y.z", "late", "price"} <= set(verification.columns)


def test_an_older_version_is_verified_as_it_was(spark, delta):
    import whyscan
    from whyscan.spark import verify

    table = whyscan.open(str(delta), version=0)
    verification = verify(spark, table, "id < 20", engines=[]).tables[0]

    assert (
        verification.version,
        verification.rows,
        verification.live,
        verification.native.rows,
    ) == (0, 60, 60, 60)


def test_iceberg_with_position_deletes_and_an_evolved_schema(spark):
    spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.verify")
    spark.sql(
        "CREATE TABLE ice.verify.honest USING iceberg PARTITIONED BY (days(at), bucket(2, id)) "
        "TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read') "
        f"AS {ROWS.format(0, 60)}"
    )
    spark.sql("DELETE FROM ice.verify.honest WHERE id IN (3, 17, 18) OR name = 'n41'")
    spark.sql("ALTER TABLE ice.verify.honest RENAME COLUMN half TO halves")
    spark.sql("ALTER TABLE ice.verify.honest ADD COLUMN late STRING")
    spark.sql("ALTER TABLE ice.verify.honest ADD PARTITION FIELD truncate(1, name)")
    spark.sql(f"INSERT INTO ice.verify.honest SELECT *, name FROM ({ROWS.format(60, 80)})")
    folder = Path(spark.conf.get("spark.sql.catalog.ice.warehouse"), "verify", "honest")

    predicates = [p.replace("half", "halves") for p in PREDICATES]
    verification = proven(spark, folder, *predicates, "late > 'n7'", select=["*"])

    assert (verification.rows, verification.live, verification.native.rows) == (80, 76, 76)
    assert verification.predicates[0].planned.files_kept < verification.files_total
    assert [p.rows_true for p in verification.predicates] == [
        p.native for p in verification.predicates
    ]


def test_hive_folders(spark, tmp_path):
    rows = spark.sql(ROWS.format(0, 60)).coalesce(1).sortWithinPartitions("day", "id")
    rows.write.partitionBy("day").option("parquet.block.size", "1000").parquet(str(tmp_path / "h"))

    verification = proven(spark, tmp_path / "h", *PREDICATES, "cast(name AS INT) = 4", select=["*"])

    assert (verification.format, verification.rows, verification.native.rows) == ("hive", 60, 60)
    assert [p.raised for p in verification.predicates] == [0] * len(PREDICATES) + [60]
