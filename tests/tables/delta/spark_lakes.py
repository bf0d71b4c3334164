"""Delta tables as Spark writes them: each is the statements that make it, on `{t}`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from support.spark_sessions import settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

TYPES = """
  id BIGINT, b TINYINT, h SMALLINT, i INT, f FLOAT, x DOUBLE, m DECIMAL(9,2), w DECIMAL(38,10),
  s STRING, long STRING, raw BINARY, y BOOLEAN, d DATE, t TIMESTAMP, n TIMESTAMP_NTZ,
  st STRUCT<a: INT, b: STRING, c: STRUCT<e: DATE>>"""
# Loosely clustered by id. `long` is cut in the statistics, in the middle of what is no ASCII.
VALUES = """
  id, CAST(id DIV 4 AS TINYINT), CAST(id * 3 - 150 AS SMALLINT), IF(id % 7 = 0, NULL, INT(id - 20)),
  CASE WHEN id BETWEEN 41 AND 43 THEN float('NaN') WHEN id = 60 THEN float('-Infinity')
       ELSE float(id / 8) END,
  CASE WHEN id = 47 THEN double('NaN') WHEN id = 75 THEN double('Infinity')
       WHEN id BETWEEN 20 AND 39 THEN NULL ELSE id / 10D - 2 END,
  CAST(id * 1.25 - 30 AS DECIMAL(9,2)), CAST(id AS DECIMAL(38,10)) * 98765432101234567.0123456789,
  concat('k', lpad(id, 3, '0')),
  concat(repeat(IF(id % 2 = 0, 'ä', 'z'), 30), IF(id % 3 = 0, '\\U0001F33C', 'é'), 'tail', id),
  CAST(concat('r', id) AS BINARY), id % 40 < 20, DATE '2024-01-01' + INT(id),
  TIMESTAMP '2024-01-01 00:00:00Z' + make_dt_interval(0, id * 6, 0, id * 0.001001),
  TIMESTAMP_NTZ '1969-12-20 00:00:00' + make_dt_interval(id DIV 4, id % 4, 0, id * 0.000001),
  IF(id % 9 = 0, NULL, named_struct('a', INT(100 - id), 'b', concat('in', id),
     'c', named_struct('e', DATE '2020-02-27' + INT(id))))"""


@dataclass(frozen=True)
class SparkLake:
    """`asked` are questions besides those that are made from the rows.

    `settings` hold while the statements run. `instants`: it has columns generated from instants.
    """

    statements: tuple[str, ...]
    predicates: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    instants: bool = False


def insert(start: int, end: int, values: str = VALUES) -> str:
    """One file of the rows from `start` to `end`, where nothing partitions them."""
    return f"INSERT INTO {{t}} SELECT {values} FROM range({start}, {end}, 1, 1)"


LAKES = {
    "every type, checkpoints, deletion vectors": SparkLake(
        (
            f"""CREATE TABLE {{t}} ({TYPES}, va VARIANT) USING delta TBLPROPERTIES (
                'delta.enableDeletionVectors' = true, 'delta.enableRowTracking' = true,
                'delta.enableInCommitTimestamps' = true, 'delta.checkpointInterval' = 4)""",
            *(
                insert(a, a + 20, f"""{VALUES}, parse_json('{{{{"a": ' || id || '}}}}')""")
                for a in (0, 20, 40, 60)
            ),
            "DELETE FROM {t} WHERE id % 20 > 15 OR id BETWEEN 5 AND 7",
            "UPDATE {t} SET s = 'zz', i = NULL WHERE id = 33",
        ),
        ("va IS NULL", "va IS NOT NULL AND id > 70", "variant_get(va, '$.a', 'int') = 5"),
    ),
    "partitions of text and numbers": SparkLake(
        (
            """CREATE TABLE {t} (id BIGINT, p STRING, q INT, r DECIMAL(5,1), f DOUBLE)
               USING delta PARTITIONED BY (p, q, r)""",
            *(
                f"""INSERT INTO {{t}} SELECT id,
                   element_at(array('a', 'B c', 'ü/=%', '', NULL, '100%', 'x:?#'), INT(id % 7) + 1),
                   IF(id % 5 = 0, NULL, INT(id DIV 30) - 1), id DIV 40 - 0.5, id / 7D
                   FROM range({a}, {a + 40}, 1, 1)"""
                for a in (0, 40)
            ),
            "OPTIMIZE {t} WHERE q = 0",
        ),
        ("p = ''", "p IS NULL OR q IS NULL", "upper(p) IN ('B C', 'Ü/=%')", "length(p) > 3"),
    ),
    "partitions of times": SparkLake(
        (
            """CREATE TABLE {t} (id BIGINT, day DATE, at TIMESTAMP, wall TIMESTAMP_NTZ, y BOOLEAN)
               USING delta PARTITIONED BY (day, at, wall, y)""",
            *(
                f"""INSERT INTO {{t}} SELECT id,
                   IF(id % 6 = 0, NULL, DATE '1969-12-31' + INT(id DIV 10)),
                   IF(id % 6 = 1, NULL, TIMESTAMP '2024-03-10 09:59:59.999999Z'
                                        + make_dt_interval(0, id DIV 20)),
                   IF(id % 6 = 2, NULL, TIMESTAMP_NTZ '1969-12-31 23:59:59.999999'
                                        + make_dt_interval(0, 0, 0, id DIV 10)), id DIV 20 = 1
                   FROM range({a}, {a + 20}, 1, 1)"""
                for a in (0, 20)
            ),
        ),
        ("year(day) = 1970", "date_trunc('HOUR', wall) = TIMESTAMP_NTZ '1970-01-01'", "y"),
    ),
    "generated from dates": SparkLake(
        (
            """CREATE TABLE {t} (id BIGINT, d DATE, s STRING,
                 y INT GENERATED ALWAYS AS (YEAR(d)), mo INT GENERATED ALWAYS AS (MONTH(d)),
                 p STRING GENERATED ALWAYS AS (SUBSTRING(s, 1, 2)))
               USING delta PARTITIONED BY (y, mo, p)
               TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = 1)""",
            """INSERT INTO {t} (id, d, s) SELECT id, IF(id % 11 = 0, NULL,
               DATE '1969-11-20' + INT(id * 3)), IF(id % 13 = 0, NULL, concat('k', id DIV 20))
               FROM range(0, 50, 1, 1)""",
        ),
    ),
    "generated from instants": SparkLake(
        (
            """CREATE TABLE {t} (id BIGINT, t TIMESTAMP, n TIMESTAMP_NTZ,
                 day DATE GENERATED ALWAYS AS (CAST(t AS DATE)),
                 wall DATE GENERATED ALWAYS AS (CAST(n AS DATE)))
               USING delta PARTITIONED BY (day, wall)
               TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'id')""",
            """INSERT INTO {t} (id, t, n) SELECT id, IF(id % 11 = 0, NULL,
               TIMESTAMP '2024-03-09 20:00:00Z' + make_dt_interval(0, id)), IF(id % 13 = 0, NULL,
               TIMESTAMP_NTZ '1969-12-30 22:00:00' + make_dt_interval(0, id, 0, 0.000001))
               FROM range(0, 60, 1, 1)""",
        ),
        ("CAST(t AS DATE) = DATE '2024-03-10'", "date_trunc('DAY', n) = TIMESTAMP_NTZ'1970-01-01'"),
        settings={"spark.sql.session.timeZone": "America/Los_Angeles"},
        instants=True,
    ),
    "mapped by name: renamed, dropped, added, widened": SparkLake(
        (
            """CREATE TABLE {t} (id INT, a STRING, gone INT, f FLOAT, m DECIMAL(6,2), d DATE,
                 st STRUCT<k: INT, l: STRING>, p STRING)
               USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'name',
                 'delta.enableTypeWidening' = true, 'delta.enableDeletionVectors' = true,
                 'delta.feature.timestampNtz' = 'supported')""",
            *(
                f"""INSERT INTO {{t}} SELECT INT(id), concat('a', id), INT(id), float(id / 10),
                   id * 1.5, DATE '2024-01-01' + INT(id),
                   named_struct('k', INT(id - 30), 'l', concat('l', id)), IF(id % 2 = 0, 'e', 'o')
                   FROM range({a}, {a + 20}, 1, 1)"""
                for a in (0, 20)
            ),
            "ALTER TABLE {t} RENAME COLUMN a TO `b c`",
            "ALTER TABLE {t} RENAME COLUMN st.k TO z",
            "ALTER TABLE {t} RENAME COLUMN p TO part",
            "ALTER TABLE {t} DROP COLUMN gone",
            "ALTER TABLE {t} ADD COLUMN (gone STRING, st.new INT)",
            """ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT, f TYPE DOUBLE, m TYPE DECIMAL(10,4),
               d TYPE TIMESTAMP_NTZ""",
            """INSERT INTO {t} SELECT id, concat('a', id), id / 10D, id * 1.2345,
               TIMESTAMP_NTZ '2024-01-01 12:00:00.000001' + make_dt_interval(INT(id)),
               named_struct('z', INT(id - 30), 'l', concat('l', id), 'new', INT(id)),
               IF(id % 2 = 0, 'e', 'o'), concat('g', id) FROM range(40, 60, 1, 1)""",
            "DELETE FROM {t} WHERE id = 5 OR id = 55",
        ),
        ("`b c` IS NULL", "gone IS NULL", "gone = 'g50'", "st.new IS NOT NULL"),
    ),
    "mapped by id": SparkLake(
        (
            """CREATE TABLE {t} (id BIGINT, s STRING, st STRUCT<a: INT>) USING delta
               TBLPROPERTIES ('delta.columnMapping.mode' = 'id')""",
            """INSERT INTO {t} SELECT id, concat('s', id), named_struct('a', INT(id))
               FROM range(0, 10, 1, 1)""",
            "ALTER TABLE {t} RENAME COLUMN s TO `t,x`",
            "ALTER TABLE {t} ADD COLUMN (later DATE)",
            """INSERT INTO {t} SELECT id, concat('s', id), named_struct('a', INT(id)),
               DATE '2024-01-01' + INT(id) FROM range(10, 30, 1, 1)""",
        ),
        ("later IS NULL", "later IS NOT NULL", "`t,x` LIKE 's1%'"),
    ),
    "clustered, merged and checkpointed anew": SparkLake(
        (
            """CREATE TABLE {t} (id BIGINT, k INT, s STRING, void VOID) USING delta CLUSTER BY (k)
               TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = 2,
                              'delta.dataSkippingStatsColumns' = 'id,k')""",
            "INSERT INTO {t} SELECT id, INT(id * 7 % 60), concat('s', id), NULL FROM range(60)",
            "OPTIMIZE {t}",
            "INSERT INTO {t} SELECT id, INT(id), 'new', NULL FROM range(100, 120, 1, 1)",
            """MERGE INTO {t} USING (SELECT id, INT(id) k FROM range(110, 130, 1, 1)) u
               ON {t}.id = u.id WHEN MATCHED THEN UPDATE SET k = 500, s = NULL
               WHEN NOT MATCHED THEN INSERT (id, k, s) VALUES (u.id, u.k, 'merged')""",
        ),
        ("void IS NULL", "s = 'merged'", "void IS NOT NULL OR k > 400"),
    ),
}


def write(spark: SparkSession, lake: SparkLake, folder: Path) -> str:
    """The table's folder, once Spark has run every statement."""
    with settings(spark, lake.settings):
        for statement in lake.statements:
            spark.sql(statement.format(t=f"delta.`{folder}`"))
    return str(folder)
