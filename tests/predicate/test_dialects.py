# ruff: noqa: E501  a case is a line
"""Expressions in six dialects and their meaning as Spark SQL; `?` stands for opaque."""

import pytest

from predicate.schemas import EVENTS
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.tree.nodes import Opaque
from whyscan.tree.rendering import to_sql

SIX = ("spark", "trino", "duckdb", "postgres", "bigquery", "snowflake")

# Expressions with the same meaning in all dialects.
SHARED = r"""
id = 5                              | id = 5
id <> 5 AND name = 'x'              | id <> 5 AND name = 'x'
id IN (1, 2)                        | id IN (1, 2)
id BETWEEN 1 AND 5                  | id BETWEEN 1 AND 5
name IS NOT NULL                    | name IS NOT NULL
id IS DISTINCT FROM 5               | NOT (id <=> 5)
day = DATE '2024-03-01'             | day = DATE '2024-03-01'
ts >= '2024-03-01'                  | ts >= TIMESTAMP '2024-03-01 00:00:00Z'
name LIKE 'a%' AND name NOT LIKE '%b' | name LIKE 'a%' AND name NOT LIKE '%b'
name LIKE 'a!_%' ESCAPE '!'         | name LIKE 'a!_%' ESCAPE '!'
CAST(ts AS DATE) = '2024-03-01'     | CAST(ts AS DATE) = DATE '2024-03-01'
CASE WHEN id = 1 THEN 'x' END = 'x' | CASE WHEN id = 1 THEN 'x' END = 'x'
coalesce(name, 'x') = 'y'           | coalesce(name, 'x') = 'y'
EXTRACT(MONTH FROM ts) = 3          | month(ts) = 3
lower(name) = 'x' AND abs(id) = 1   | lower(name) = 'x' AND abs(id) = 1
substr(name, 2, 3) = 'x'            | substring(name, 2, 3) = 'x'
name || 'x' = 'y'                   | concat(name, 'x') = 'y'
big % 3000000000 = 1                | big % 3000000000L = 1
d / 2 = 1                           | d / 2.0D = 1.0D
current_date > day                  | DATE '2024-03-01' > day
a.b.c = 1                           | a.b.c = 1
my_udf(id) = 1                      | ?
id = 1 OR my_udf(id) = 1            | id = 1 OR (my_udf(id) = 1)
"""

# Expressions with different meanings: the text, then one line per dialect.
OWN = r"""
TIMESTAMP '2024-03-01 00:00:00' <= ntz
  spark      TIMESTAMP '2024-03-01 00:00:00Z' <= CAST(ntz AS TIMESTAMP)
  bigquery   TIMESTAMP '2024-03-01 00:00:00Z' <= CAST(ntz AS TIMESTAMP)
  trino      TIMESTAMP_NTZ '2024-03-01 00:00:00' <= ntz
  duckdb     TIMESTAMP_NTZ '2024-03-01 00:00:00' <= ntz
  postgres   TIMESTAMP_NTZ '2024-03-01 00:00:00' <= ntz
  snowflake  TIMESTAMP_NTZ '2024-03-01 00:00:00' <= ntz
day - INTERVAL '7' DAY > '2024-01-01'
  spark      day - INTERVAL '7' DAY > DATE '2024-01-01'
  trino      day - INTERVAL '7' DAY > DATE '2024-01-01'
  snowflake  day - INTERVAL '7' DAY > DATE '2024-01-01'
  duckdb     CAST(day - INTERVAL '7' DAY AS TIMESTAMP_NTZ) > TIMESTAMP_NTZ '2024-01-01 00:00:00'
  postgres   CAST(day - INTERVAL '7' DAY AS TIMESTAMP_NTZ) > TIMESTAMP_NTZ '2024-01-01 00:00:00'
  bigquery   CAST(day - INTERVAL '7' DAY AS TIMESTAMP_NTZ) > TIMESTAMP_NTZ '2024-01-01 00:00:00'
EXTRACT(YEAR FROM ts) = 2024
  spark      year(ts) = 2024
  trino      year(ts) = 2024
  duckdb     year(ts) = 2024
  bigquery   year(ts) = 2024
  snowflake  year(ts) = 2024
  postgres   CASE WHEN year(ts) < 1 THEN year(ts) - 1 ELSE year(ts) END = 2024
name LIKE 'a\_b'
  spark      name LIKE 'a\\_b'
  postgres   name LIKE 'a\\_b'
  trino      name LIKE 'a\\\\_b'
  duckdb     name LIKE 'a\\\\_b'
  mysql      ?
name RLIKE 'a'
  spark      name RLIKE 'a'
  mysql      ?
  snowflake  ?
name LIKE 'a\bc'
  postgres   name LIKE 'abc'
id / 2 = 1
  spark      CAST(id AS DOUBLE) / 2.0D = 1.0D
  duckdb     CAST(id AS DOUBLE) / 2.0D = 1.0D
  bigquery   CAST(CAST(id AS BIGINT) AS DOUBLE) / 2.0D = 1.0D
  trino      id div 2 = 1
  postgres   id div 2 = 1
  snowflake  ?
id / big = 1
  duckdb     ?
  trino      id div big = 1
id // big = 1
  duckdb     id div nullif(big, 0L) = 1
d / big = 1
  spark      d / CAST(big AS DOUBLE) = 1.0D
  postgres   d / CAST(big AS DOUBLE) = 1.0D
  trino      ?
  duckdb     ?
d % 0 = 1
  trino      ?
  duckdb     ?
id % 2 = 1
  trino      id % 2 = 1
  bigquery   CAST(id AS BIGINT) % 2L = 1
id + 2147483647 > 5
  trino      id + 2147483647 > 5
  bigquery   CAST(id AS BIGINT) + 2147483647L > 5
  snowflake  CAST(id AS BIGINT) + 2147483647L > 5
CAST(big AS INT) = 5
  spark      CAST(big AS INT) = 5
  bigquery   big = 5
  snowflake  big = 5
CAST(d AS INT) = 2
  spark      CAST(d AS INT) = 2
  trino      ?
  duckdb     ?
  postgres   ?
  bigquery   ?
  snowflake  ?
CAST(price AS INT) = 2
  spark      CAST(price AS INT) = 2
  duckdb     ?
CAST(2.5 AS INT) = id
  spark      2 = id
  trino      ?
CAST(d AS DECIMAL(5,2)) = 1.01
  duckdb     ?
CAST(ntz AS VARCHAR) = '2024'
  trino      ?
TRY_CAST(name AS DATE) IS NULL
  spark      TRY_CAST(name AS DATE) IS NULL
  trino      ?
  duckdb     ?
TRY_CAST('2.5' AS INT) = id
  spark      NULL = id
  duckdb     ?
CAST(name AS DATE) = '2024-03-01'
  trino      CAST(name AS DATE) = DATE '2024-03-01'
  duckdb     CAST(name AS DATE) = DATE '2024-03-01'
CAST('\x61b' AS BLOB) = CAST('\x6162' AS BLOB)
  duckdb     X'6162' = X'613632'
CAST('\y61' AS BLOB) = CAST(name AS BLOB)
  duckdb     ?
CAST('\x6162' AS BYTEA) = CAST('\x61' AS BYTEA)
  postgres   X'6162' = X'61'
ln(d) IS NULL
  spark      ln(d) IS NULL
  postgres   ln(d) IS NULL
  trino      ?
  duckdb     ?
is_nan(d)
  trino      CASE WHEN d IS NULL THEN CAST(NULL AS BOOLEAN) ELSE isnan(d) END
  bigquery   CASE WHEN d IS NULL THEN CAST(NULL AS BOOLEAN) ELSE isnan(d) END
isnan(d)
  spark      isnan(d)
  duckdb     CASE WHEN d IS NULL THEN CAST(NULL AS BOOLEAN) ELSE isnan(d) END
f = 0.1
  spark      f = 0.1D
  postgres   f = 0.1D
  trino      f = CAST('0.10000000149011612' AS FLOAT)
  duckdb     f = CAST('0.10000000149011612' AS FLOAT)
f + 0.1 = 1
  trino      ?
floor(d) = 1
  spark      floor(d) = 1
  trino      ?
  postgres   ?
floor(price) = 1
  trino      floor(price) = CAST(1 AS DECIMAL(10,0))
ltrim(name) = 'x'
  spark      ltrim(name) = 'x'
  duckdb     ltrim(name) = 'x'
  trino      ?
  bigquery   ?
length(name) = 2
  duckdb     length(name) = 2
  mysql      ?
md5(name) = 'x'
  duckdb     md5(name) = 'x'
  trino      ?
  bigquery   ?
CAST(d AS FLOAT) = 0.1
  snowflake  d = 0.1D
  postgres   d = 0.1D
price / 2 = 1
  spark      price / 2BD = CAST(1.000000 AS DECIMAL(16,6))
  duckdb     CAST(price AS DOUBLE) / 2.0D = 1.0D
  trino      ?
  snowflake  ?
date_trunc('month', ts) = '2024-03-01'
  spark      date_trunc('month', ts) = TIMESTAMP '2024-03-01 00:00:00Z'
  trino      date_trunc('month', ts) = TIMESTAMP '2024-03-01 00:00:00Z'
  duckdb     date_trunc('month', ts) = TIMESTAMP '2024-03-01 00:00:00Z'
  postgres   date_trunc('month', ts) = TIMESTAMP '2024-03-01 00:00:00Z'
  snowflake  date_trunc('month', ts) = TIMESTAMP '2024-03-01 00:00:00Z'
date_trunc('month', day) = '2024-03-01'
  spark      date_trunc('month', CAST(day AS TIMESTAMP)) = TIMESTAMP '2024-03-01 00:00:00Z'
  trino      trunc(day, 'month') = DATE '2024-03-01'
  duckdb     CAST(trunc(day, 'month') AS TIMESTAMP_NTZ) = TIMESTAMP_NTZ '2024-03-01 00:00:00'
  postgres   CAST(trunc(day, 'month') AS TIMESTAMP) = TIMESTAMP '2024-03-01 00:00:00Z'
  snowflake  trunc(day, 'month') = DATE '2024-03-01'
date_trunc('day', day) = '2024-03-01'
  spark      date_trunc('day', CAST(day AS TIMESTAMP)) = TIMESTAMP '2024-03-01 00:00:00Z'
  trino      day = DATE '2024-03-01'
  presto     day = DATE '2024-03-01'
  athena     day = DATE '2024-03-01'
  snowflake  day = DATE '2024-03-01'
  databricks date_trunc('day', CAST(day AS TIMESTAMP)) = TIMESTAMP '2024-03-01 00:00:00Z'
  duckdb     CAST(day AS TIMESTAMP_NTZ) = TIMESTAMP_NTZ '2024-03-01 00:00:00'
  postgres   CAST(day AS TIMESTAMP) = TIMESTAMP '2024-03-01 00:00:00Z'
  redshift   ?
date_trunc('hour', day) = '2024-03-01'
  trino      ?
  duckdb     ?
date_trunc(day, DAY) = '2024-03-01'
  bigquery   day = DATE '2024-03-01'
date_trunc('month', ntz) = '2024-03-01'
  spark      date_trunc('month', CAST(ntz AS TIMESTAMP)) = TIMESTAMP '2024-03-01 00:00:00Z'
  trino      date_trunc('month', ntz) = TIMESTAMP_NTZ '2024-03-01 00:00:00'
  duckdb     date_trunc('month', ntz) = TIMESTAMP_NTZ '2024-03-01 00:00:00'
date_trunc('week', ts) = ts
  trino      date_trunc('week', ts) = ts
  snowflake  ?
date_trunc(day, MONTH) = '2024-03-01'
  bigquery   trunc(day, 'month') = DATE '2024-03-01'
timestamp_trunc(ts, WEEK) = ts
  bigquery   ?
timestamp_trunc(ts, ISOWEEK) = ts
  bigquery   date_trunc('week', ts) = ts
EXTRACT(DOW FROM ts) = 1
  spark      dayofweek(ts) = 1
  trino      weekday(ts) + 1 = 1
  duckdb     dayofweek(ts) - 1 = 1
  postgres   dayofweek(ts) - 1 = 1
EXTRACT(WEEK FROM ts) = 1
  spark      weekofyear(ts) = 1
  trino      weekofyear(ts) = 1
  bigquery   ?
  snowflake  ?
EXTRACT(SECOND FROM ts) = 1
  spark      ?
  postgres   ?
  trino      second(ts) = 1
date_add('day', 7, day) > '2024-01-01'
  trino      day + INTERVAL '7' DAY > DATE '2024-01-01'
date_add(day, INTERVAL 7 DAY) > '2024-01-01'
  bigquery   day + INTERVAL '7' DAY > DATE '2024-01-01'
  duckdb     CAST(day + INTERVAL '7' DAY AS TIMESTAMP_NTZ) > TIMESTAMP_NTZ '2024-01-01 00:00:00'
dateadd(month, -1, ts) > '2024-01-01'
  snowflake  ts + INTERVAL '-1' MONTH > TIMESTAMP '2024-01-01 00:00:00Z'
  spark      ts + INTERVAL '-1' MONTH > TIMESTAMP '2024-01-01 00:00:00Z'
  trino      ?
date_diff('day', day, DATE '2024-03-01') > 1
  trino      datediff(DATE '2024-03-01', day) > 1
  duckdb     datediff(DATE '2024-03-01', day) > 1
date_diff('day', ts, DATE '2024-03-01') > 1
  trino      ?
  duckdb     datediff(DATE '2024-03-01', CAST(ts AS DATE)) > 1
date_diff(DATE '2024-03-01', day, DAY) > 1
  bigquery   datediff(DATE '2024-03-01', day) > 1
day - DATE '2024-01-01' > 5
  postgres   datediff(day, DATE '2024-01-01') > 5
  duckdb     datediff(day, DATE '2024-01-01') > 5
  spark      ?
  trino      ?
concat(name, Country) = 'x'
  spark      concat(name, Country) = 'x'
  trino      concat(name, Country) = 'x'
  duckdb     concat(coalesce(name, ''), coalesce(Country, '')) = 'x'
  postgres   concat(coalesce(name, ''), coalesce(Country, '')) = 'x'
least(id, big) = 1
  spark      least(id, big) = 1
  duckdb     least(id, big) = 1
  trino      CASE WHEN id IS NULL OR big IS NULL THEN CAST(NULL AS BIGINT) ELSE least(id, big) END = 1
substr(name, -2) = 'x'
  spark      substring(name, -2, 2147483647) = 'x'
  trino      ?
  duckdb     ?
"$path" = 'x'
  trino      _metadata.file_path = 'x'
"ID" = 5
  trino      id = 5
  snowflake  id = 5
  postgres   id = 5
date_format(ts, '%Y-%m') = '2024-03'
  trino      date_format(ts, 'yyyy-MM') = '2024-03'
to_char(ts, 'YYYY-MM') = '2024-03'
  postgres   date_format(ts, 'yyyy-MM') = '2024-03'
  snowflake  date_format(ts, 'yyyy-MM') = '2024-03'
  trino      ?
to_char(ts, 'Mon YYYY') = 'Mar 2024'
  postgres   ?
to_char(id, '999') = '5'
  postgres   ?
  snowflake  ?
day = to_date('2024-03-05', 'YYYY-MM-DD')
  postgres   day = DATE '2024-03-05'
  snowflake  day = DATE '2024-03-05'
day = to_date('20240305', 'yyyymmdd')
  postgres   day = DATE '2024-03-05'
day = to_date('2024-3-5', 'YYYY-MM-DD')
  postgres   ?
day = to_date('5 Mar 2024', 'DD Mon YYYY')
  postgres   ?
ts = to_timestamp('2024-03-05 06:07', 'YYYY-MM-DD HH24:MI')
  postgres   ts = TIMESTAMP '2024-03-05 06:07:00Z'
ntz = to_timestamp_ntz('2024-03-05 06:07', 'YYYY-MM-DD HH24:MI')
  snowflake  ntz = TIMESTAMP_NTZ '2024-03-05 06:07:00'
ts = to_timestamp(big)
  postgres   ?
date_trunc(name, ts) = ts
  duckdb     ?
  trino      ?
date_trunc(month, ts) = '2024-03-01'
  snowflake  date_trunc('month', ts) = TIMESTAMP '2024-03-01 00:00:00Z'
  duckdb     ?
a:b.c = 1
  snowflake  a.b.c = 1
  databricks ?
a:B.c = 1
  snowflake  ?
name:b = 1
  snowflake  ?
day >= make_date(2024, 3, 1)
  spark      day >= DATE '2024-03-01'
  duckdb     day >= DATE '2024-03-01'
  postgres   ?
big >= unix_timestamp('2024-03-01 12:34:56')
  spark      big >= 1709296496
strftime(ts, '%Y-%m-%d') = '2024-03-01'
  duckdb     date_format(ts, 'yyyy-MM-dd') = '2024-03-01'
format_date('%Y', day) = '2024'
  bigquery   date_format(CAST(day AS TIMESTAMP), 'yyyy') = '2024'
from_unixtime(big) > ts
  trino      timestamp_seconds(big) > ts
  duckdb     ?
CAST(name AS NUMERIC) = 1
  trino      CAST(name AS DECIMAL(38,0)) = CAST(1 AS DECIMAL(38,0))
  postgres   ?
CAST(name AS VARCHAR(3)) = 'x'
  spark      name = 'x'
  trino      ?
(id, name) = (1, 'x')
  spark      id <=> 1 AND name <=> 'x'
  duckdb     id <=> 1 AND name <=> 'x'
  trino      id = 1 AND name = 'x'
name ~ '^a'
  postgres   name RLIKE '^a'
  duckdb     name RLIKE '^a' AND (REGEXP_MATCHES(name, '^a'))
name SIMILAR TO 'a.*'
  duckdb     name RLIKE '^(?:a.*)$'
  postgres   ?
id & 12 = 4
  spark      (id & 12) = 4
  duckdb     (id & 12) = 4
  trino      ?
bitwise_and(id, 12) = 4
  trino      (id & 12L) = 4
bitand(id, 12) = 4
  snowflake  (id & 12L) = 4
regexp_like(name, '^a')
  trino      name RLIKE '^a'
  snowflake  ?
SAFE_CAST(name AS INT64) = 5
  bigquery   ?
name = E'a\'b'
  postgres   name = 'a\'b'
name = "x"
  bigquery   name = 'x'
  spark      name = 'x'
"""


def shown(text, dialect):
    session = Session(dialect, "UTC", 1_709_294_400_000_000)
    conjuncts = bind(text, EVENTS, session).conjuncts
    expressions = [c.expression for c in conjuncts]
    if any(isinstance(expression, Opaque) for expression in expressions):
        return "?"
    return " AND ".join(map(to_sql, expressions))


def shared_cases():
    return [tuple(p.strip() for p in line.split(" | ")) for line in SHARED.strip().splitlines()]


def own_cases():
    text = None
    for line in OWN.strip().splitlines():
        if line.startswith("  "):
            dialect, expected = line.split(None, 1)
            yield text, dialect, expected
        else:
            text = line


@pytest.mark.parametrize("dialect", SIX)
@pytest.mark.parametrize(("text", "expected"), shared_cases())
def test_all_dialects_agree(text, expected, dialect):
    assert shown(text, dialect) == expected


@pytest.mark.parametrize(("text", "dialect", "expected"), list(own_cases()))
def test_a_dialect_keeps_its_own_meaning(text, dialect, expected):
    assert shown(text, dialect) == expected


ON_A_CLOCK = [
    "CAST(ts AS DATE) = DATE '2024-03-01'",
    "date_trunc('day', ts) = ts",
    "EXTRACT(HOUR FROM ts) = 5",
    "ts + INTERVAL '1' MONTH > ts",
]


def is_opaque(text, zone):
    conjunct = bind(text, EVENTS, Session("trino", zone, 0)).conjuncts[0]
    return isinstance(conjunct.expression, Opaque)


@pytest.mark.parametrize("text", ON_A_CLOCK)
def test_an_instants_day_is_utcs_in_trino_whatever_the_sessions_zone(text):
    opaque = {zone: is_opaque(text, zone) for zone in ("UTC", "+00:00", "Asia/Tokyo", "+09:00")}
    assert opaque == {"UTC": False, "+00:00": False, "Asia/Tokyo": True, "+09:00": True}


@pytest.mark.parametrize("text", ["ts = ntz", "ts = day", "ts > TIMESTAMP '2024-03-01 00:00:00'"])
def test_a_wall_clocks_time_becomes_an_instant_in_the_sessions_zone(text):
    assert not is_opaque(text, "Asia/Tokyo")


def test_what_stays_as_it_was_written_is_nothing_to_warn_of(caplog):
    assert shown("EXTRACT(EPOCH FROM CAST(ts AS TIMESTAMPTZ)) > 3", "duckdb") == "?"
    assert caplog.records == []
