"""Tables that Spark writes with Delta: the rows that Spark reads."""

from __future__ import annotations

import pytest

import whyscan
from scan.same_rows import difference

pytestmark = pytest.mark.spark

ROWS = """SELECT id, CAST(id AS INT) AS small, CONCAT('n', id) AS name,
  IF(id % 3 = 0, NULL, id / 2) AS half, DATE '2024-01-01' + CAST(id % 5 AS INT) AS day,
  TIMESTAMP '2024-01-01 00:00:00' + MAKE_DT_INTERVAL(0, CAST(id AS INT)) AS at,
  CAST(id AS DECIMAL(12, 2)) AS price, ARRAY(id, NULL) AS list, MAP('k', id) AS map,
  NAMED_STRUCT('x', id, 'y', NAMED_STRUCT('z', CONCAT('z', id))) AS nested FROM RANGE({}, {})"""
PREDICATES = ["true", "id < 20", "day = '2024-01-03' AND half IS NOT NULL", "nested.y.z = 'z7'"]


def check(spark, name, folder, predicates=PREDICATES):
    """Whole tables and a projection, by predicates that prune and ones that do not."""
    table = whyscan.open(str(folder))
    for sql in predicates:
        theirs = spark.sql(f"SELECT * FROM {name} WHERE {sql}").toArrow()
        assert difference(table.plan(sql).to_arrow(), theirs) == "", sql


def test_delta_with_deletion_vectors_mapped_names_and_wider_types(spark, tmp_path):
    folder = tmp_path / "delta"
    name = f"delta.`{folder}`"
    spark.sql(
        f"CREATE TABLE {name} USING delta PARTITIONED BY (day) TBLPROPERTIES ("
        "'delta.enableDeletionVectors' = 'true', 'delta.columnMapping.mode' = 'name', "
        f"'delta.enableTypeWidening' = 'true') AS {ROWS.format(0, 60)}"
    )
    spark.sql(f"DELETE FROM {name} WHERE id IN (3, 17, 18) OR name = 'n41'")
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN half TO halves")
    spark.sql(f"ALTER TABLE {name} ALTER COLUMN small TYPE BIGINT")
    spark.sql(f"ALTER TABLE {name} ADD COLUMN (late STRING, nested.w INT)")
    spark.sql(f"ALTER TABLE {name} DROP COLUMN price")

    check(
        spark,
        name,
        folder,
        ["true", "id < 20", "halves > 9 AND day = '2024-01-03'", "late IS NULL"],
    )
