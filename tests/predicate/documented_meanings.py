# ruff: noqa: E501  a case is a line
"""What expressions of other dialects mean by their documentation, as expressions of DuckDB.

Each line is a dialect, an expression and its meaning; `\\|` is a bar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINES = r"""
trino      | date_trunc('day', d)                     | d
trino      | date_trunc('week', d)                    | CAST(date_trunc('week', d) AS DATE)
trino      | date_trunc('hour', n)                    | date_trunc('hour', n)
trino      | CAST(n AS TIMESTAMP)                     | CAST(date_trunc('milliseconds', n + INTERVAL '500 microseconds') AS TIMESTAMP)
trino      | CAST(n AS TIMESTAMP(0))                  | date_trunc('second', n + INTERVAL '500000 microseconds')
trino      | CAST(s AS CHAR)                          | substr(s, 1, 1)
trino      | TRY_CAST(s AS INTEGER)                   | CASE WHEN regexp_full_match(s, '[+-]?[0-9]+') THEN CAST(s AS INT) END
trino      | replace(s, '', 'x')                      | regexp_replace(s, '', 'x', 'g')
trino      | day_of_week(d)                           | isodow(d)
trino      | EXTRACT(DOW FROM d)                      | isodow(d)
trino      | week(d)                                  | weekofyear(d)
trino      | year(d) * 2000000                        | year(d) * 2000000
trino      | length(s) * 2000000000                   | length(s) * 2000000000
trino      | year(d) / 10                             | year(d) // 10
trino      | date_diff('day', d, e)                   | datediff('day', d, e)
trino      | date_add('month', 1, d)                  | CAST(d + INTERVAL 1 MONTH AS DATE)
trino      | greatest(i, k)                           | CASE WHEN i IS NULL OR k IS NULL THEN NULL ELSE greatest(i, k) END
trino      | i / k                                    | CASE WHEN k = 0 THEN error('zero') ELSE CAST(trunc(i::DECIMAL(18,0) / k) AS INT) END
trino      | date_format(n, '%Y-%m')                  | strftime(n, '%Y-%m')
trino      | power(i, 2)                              | power(i, 2)
trino      | CAST(p AS DECIMAL(10,0))                 | CAST(round(p) AS DECIMAL(10,0))
trino      | CAST(b AS VARCHAR)                       | CAST(b AS VARCHAR)
trino      | CAST(i AS VARCHAR)                       | CAST(i AS VARCHAR)
trino      | CAST(p AS VARCHAR)                       | CAST(p AS VARCHAR)
trino      | CAST(d AS VARCHAR)                       | CAST(d AS VARCHAR)
trino      | CAST(i AS BOOLEAN)                       | CAST(i AS BOOLEAN)
trino      | CAST(n AS DATE)                          | CAST(n AS DATE)
trino      | day_of_year(d)                           | dayofyear(d)
trino      | quarter(n)                               | quarter(n)
trino      | last_day_of_month(d)                     | last_day(d)
trino      | concat(s, u)                             | s \|\| u
trino      | s \|\| u                                 | s \|\| u
trino      | if(b, i, k)                              | if(b, i, k)
trino      | bitwise_and(i, k)                        | i & k
trino      | date(n)                                  | CAST(n AS DATE)
trino      | i % k                                    | CASE WHEN k = 0 THEN error('x') ELSE i % k END
trino      | mod(i, k)                                | CASE WHEN k = 0 THEN error('x') ELSE i % k END
trino      | -i                                       | -i
trino      | abs(i)                                   | abs(i)
trino      | p * p                                    | p * p
trino      | round(p)                                 | round(p)
trino      | round(p, 1)                              | round(p, 1)
trino      | floor(p)                                 | floor(p)
trino      | ceil(p)                                  | ceil(p)
trino      | substr(s, 2)                             | CASE WHEN length(s) < 2 THEN '' ELSE substr(s, 2) END
trino      | substr(s, 1, 2)                          | substr(s, 1, 2)
trino      | strpos(s, u)                             | instr(s, u)
trino      | starts_with(s, u)                        | starts_with(s, u)
trino      | reverse(u)                               | reverse(u)
trino      | length(s)                                | length(s)
trino      | upper(s)                                 | upper(s)
trino      | lower(s)                                 | lower(s)
trino      | regexp_like(s, 'a.*')                    | regexp_matches(s, 'a.*')
trino      | regexp_like(s, '^abc')                   | regexp_matches(s, '^abc')
trino      | date_add('day', 1, n)                    | n + INTERVAL 1 DAY
trino      | date_add('month', 1, n)                  | n + INTERVAL 1 MONTH
trino      | n + INTERVAL '1' MONTH                   | n + INTERVAL 1 MONTH
trino      | n - INTERVAL '1' DAY                     | n - INTERVAL 1 DAY
trino      | d + INTERVAL '1' DAY                     | d + 1
trino      | d - INTERVAL '1' MONTH                   | CAST(d - INTERVAL 1 MONTH AS DATE)
trino      | from_unixtime(l)                         | CASE WHEN abs(l) > 1e11 THEN error('x') ELSE to_timestamp(l) END
trino      | year(ts)                                 | year(ts)
trino      | hour(ts)                                 | hour(ts)
trino      | CAST(ts AS DATE)                         | CAST(ts AS DATE)
trino      | date_trunc('day', ts)                    | date_trunc('day', ts)
trino      | date_trunc('month', d)                   | CAST(date_trunc('month', d) AS DATE)
trino      | date_trunc('quarter', d)                 | CAST(date_trunc('quarter', d) AS DATE)
trino      | date_trunc('year', n)                    | date_trunc('year', n)
trino      | date_trunc('second', n)                  | date_trunc('second', n)
trino      | EXTRACT(WEEK FROM d)                     | weekofyear(d)
trino      | EXTRACT(DAY_OF_YEAR FROM d)              | dayofyear(d)
trino      | EXTRACT(YEAR FROM n)                     | year(n)
trino      | nullif(i, k)                             | nullif(i, k)
trino      | coalesce(i, k)                           | coalesce(i, k)
trino      | exp(k)                                   | exp(k)
trino      | cbrt(i)                                  | cbrt(i)
trino      | f = 0.1                                  | f = 0.1::FLOAT
trino      | f = DOUBLE '0.1'                         | f::DOUBLE = 0.1::DOUBLE
trino      | i = 1.5                                  | i = 1.5
trino      | p = 1.494                                | p = 1.494
trino      | k * 2                                    | CASE WHEN k NOT BETWEEN -16384 AND 16383 THEN error('x') ELSE k::INT * 2 END
trino      | raw = X'61'                              | raw = '\x61'::BLOB
trino      | s < 'b'                                  | s < 'b'
trino      | s LIKE 'a\%'                             | s LIKE 'a\%'
trino      | s LIKE 'a$%' ESCAPE '$'                  | s LIKE 'a$%' ESCAPE '$'
presto     | date_trunc('day', d)                     | d
athena     | date_trunc('day', d)                     | d
postgres   | date_trunc('day', d)                     | CAST(d AS TIMESTAMPTZ)
postgres   | date_trunc('month', n)                   | date_trunc('month', n)
postgres   | EXTRACT(YEAR FROM d) / 10                | year(d) / 10
postgres   | EXTRACT(YEAR FROM d - 738885)            | year(d - 738885) - CASE WHEN year(d - 738885) < 1 THEN 1 ELSE 0 END
postgres   | date_part('year', n)                     | year(n)
postgres   | date_part('month', d) / 2                | month(d) / 2
postgres   | round(i) / 2                             | i / 2
postgres   | EXTRACT(DOW FROM d)                      | dayofweek(d)
postgres   | EXTRACT(ISODOW FROM d)                   | isodow(d)
postgres   | CAST(d + INTERVAL '1 day' AS VARCHAR)    | CAST(CAST(d + INTERVAL 1 DAY AS TIMESTAMP) AS VARCHAR)
postgres   | d - e                                    | d - e
postgres   | d + 1                                    | d + 1
postgres   | CAST(s AS CHAR)                          | substr(s, 1, 1)
postgres   | CAST(s AS BOOLEAN)                       | CASE WHEN lower(trim(s)) IN ('on', 'true', '1') THEN true WHEN s IS NULL THEN NULL ELSE error('no boolean') END
postgres   | concat(s, u)                             | concat(s, u)
postgres   | s \|\| u                                 | s \|\| u
postgres   | power(p, 2)                              | CAST(p AS DECIMAL(18,2)) * CAST(p AS DECIMAL(18,2))
postgres   | CAST(n AS TIMESTAMP(0))                  | date_trunc('second', n + INTERVAL '500000 microseconds')
postgres   | i % k                                    | CASE WHEN k = 0 THEN error('x') ELSE i % k END
postgres   | round(p, 1)                              | round(p, 1)
postgres   | trim(s)                                  | trim(s)
postgres   | ltrim(s)                                 | ltrim(s)
postgres   | btrim(s)                                 | trim(s)
postgres   | substr(s, 2)                             | substr(s, 2)
postgres   | left(s, 2)                               | left(s, 2)
postgres   | strpos(s, u)                             | instr(s, u)
postgres   | to_char(n, 'YYYY-MM')                    | strftime(n, '%Y-%m')
postgres   | to_char(d, 'YYYY-MM-DD')                 | strftime(d, '%Y-%m-%d')
postgres   | octet_length(s)                          | strlen(s)
postgres   | date_trunc('week', n)                    | date_trunc('week', n)
postgres   | EXTRACT(WEEK FROM n)                     | weekofyear(n)
postgres   | greatest(i, k)                           | greatest(i, k)
postgres   | least(x, p)                              | least(x, p)
postgres   | power(i, 2)                              | power(i::DOUBLE, 2)
postgres   | i / k                                    | CASE WHEN k = 0 THEN error('x') ELSE CAST(trunc(i::DECIMAL(18,0) / k) AS BIGINT) END
postgres   | d + INTERVAL '1 day'                     | d + INTERVAL 1 DAY
postgres   | d + INTERVAL '1 month'                   | d + INTERVAL 1 MONTH
postgres   | n - INTERVAL '25 hours'                  | n - INTERVAL 25 HOUR
postgres   | s LIKE 'a\%'                             | s LIKE 'a\%' ESCAPE '\'
postgres   | s LIKE '\_%'                             | s LIKE '\_%' ESCAPE '\'
postgres   | s ~ '^a'                                 | regexp_matches(s, '^a')
postgres   | s ~ 'b'                                  | regexp_matches(s, 'b')
postgres   | s SIMILAR TO 'a%'                        | regexp_full_match(s, 'a.*', 's')
postgres   | s ILIKE 'A%'                             | s ILIKE 'A%'
postgres   | reverse(u)                               | reverse(u)
postgres   | md5(s)                                   | md5(s)
postgres   | concat(s, i)                             | concat(s, i)
postgres   | x = 0.1                                  | x = 0.1::DOUBLE
postgres   | f = 0.1                                  | f::DOUBLE = 0.1::DOUBLE
postgres   | CAST(n AS DATE)                          | CAST(n AS DATE)
postgres   | CAST(b AS INT)                           | CAST(b AS INT)
postgres   | CAST(i AS BOOLEAN)                       | CAST(i AS BOOLEAN)
postgres   | CAST(b AS VARCHAR)                       | CAST(b AS VARCHAR)
postgres   | CAST(p AS VARCHAR)                       | CAST(p AS VARCHAR)
postgres   | CAST(i AS VARCHAR)                       | CAST(i AS VARCHAR)
postgres   | CAST(s AS DATE)                          | CASE WHEN s = '2024-02-29' THEN DATE '2024-02-29' WHEN s='2024/02/29' THEN DATE '2024-02-29' WHEN s IS NULL THEN NULL ELSE error('x') END
postgres   | CAST(s AS INT)                           | CASE WHEN s = '-7' THEN -7 WHEN s=' 7 ' THEN 7 WHEN s='2024' THEN 2024 WHEN s='+5' THEN 5 WHEN s IS NULL THEN NULL ELSE error('x') END
postgres   | sqrt(k)                                  | CASE WHEN k < 0 THEN error('x') ELSE sqrt(k) END
postgres   | ln(k)                                    | CASE WHEN k <= 0 THEN error('x') ELSE ln(k) END
postgres   | k * 2                                    | k::INT * 2
postgres   | i + 1                                    | i + 1
postgres   | nullif(i, k)                             | nullif(i, k)
postgres   | abs(k)                                   | abs(k::INT)
postgres   | d - 1                                    | d - 1
postgres   | EXTRACT(DOY FROM d)                      | dayofyear(d)
postgres   | EXTRACT(HOUR FROM n)                     | hour(n)
postgres   | EXTRACT(QUARTER FROM n)                  | quarter(n)
postgres   | d = n                                    | CAST(d AS TIMESTAMP) = n
postgres   | d < ts                                   | CAST(d AS TIMESTAMPTZ) < ts
bigquery   | date_trunc(d, DAY)                       | d
bigquery   | date_trunc(d, WEEK)                      | d - CAST(dayofweek(d) AS INT)
bigquery   | date_trunc(d, ISOWEEK)                   | CAST(date_trunc('week', d) AS DATE)
bigquery   | EXTRACT(DAYOFWEEK FROM d)                | dayofweek(d) + 1
bigquery   | date_add(d, INTERVAL 1 DAY)              | d + 1
bigquery   | date_diff(d, e, DAY)                     | d - e
bigquery   | CAST(p AS STRING)                        | CASE WHEN p = trunc(p) THEN CAST(CAST(p AS BIGINT) AS VARCHAR) ELSE rtrim(CAST(p AS VARCHAR), '0') END
bigquery   | CAST(d + INTERVAL 1 DAY AS STRING)       | CAST(CAST(d + INTERVAL 1 DAY AS TIMESTAMP) AS VARCHAR)
bigquery   | round(i, -1)                             | round(i::DOUBLE / 10) * 10
bigquery   | i * 2                                    | i::BIGINT * 2
bigquery   | i / k                                    | CASE WHEN k = 0 THEN error('zero') ELSE i / k END
bigquery   | div(i, k)                                | CASE WHEN k = 0 THEN error('x') ELSE CAST(trunc(i::DECIMAL(18,0) / k) AS BIGINT) END
bigquery   | mod(i, k)                                | CASE WHEN k = 0 THEN error('x') ELSE i % k END
bigquery   | left(s, 2)                               | left(s, 2)
bigquery   | right(s, 2)                              | right(s, 2)
bigquery   | strpos(s, u)                             | instr(s, u)
bigquery   | date_sub(d, INTERVAL 1 MONTH)            | CAST(d - INTERVAL 1 MONTH AS DATE)
bigquery   | date_add(d, INTERVAL 1 YEAR)             | CAST(d + INTERVAL 1 YEAR AS DATE)
bigquery   | last_day(d)                              | last_day(d)
bigquery   | unix_date(d)                             | d - DATE '1970-01-01'
bigquery   | format_date('%Y-%m', d)                  | strftime(d, '%Y-%m')
bigquery   | timestamp_trunc(ts, DAY)                 | date_trunc('day', ts)
bigquery   | timestamp_trunc(ts, MONTH)               | date_trunc('month', ts)
bigquery   | datetime_trunc(n, HOUR)                  | date_trunc('hour', n)
bigquery   | timestamp_add(ts, INTERVAL 1 HOUR)       | ts + INTERVAL 1 HOUR
bigquery   | timestamp_sub(ts, INTERVAL 1 DAY)        | ts - INTERVAL 1 DAY
bigquery   | unix_seconds(ts)                         | CAST(floor(epoch_us(ts)::DOUBLE / 1000000) AS BIGINT)
bigquery   | unix_millis(ts)                          | CAST(floor(epoch_us(ts)::DOUBLE / 1000) AS BIGINT)
bigquery   | timestamp_seconds(l)                     | CASE WHEN abs(l) > 1e11 THEN error('x') ELSE to_timestamp(l) END
bigquery   | round(p, 1)                              | round(p, 1)
bigquery   | concat(s, u)                             | s \|\| u
bigquery   | regexp_contains(s, 'a')                  | regexp_matches(s, 'a')
bigquery   | regexp_contains(s, '^a')                 | regexp_matches(s, '^a')
bigquery   | starts_with(s, u)                        | starts_with(s, u)
bigquery   | replace(s, 'b', '')                      | replace(s, 'b', '')
bigquery   | CAST(b AS STRING)                        | CAST(b AS VARCHAR)
bigquery   | CAST(d AS STRING)                        | CAST(d AS VARCHAR)
bigquery   | length(s)                                | length(s)
bigquery   | length(raw)                              | octet_length(raw)
bigquery   | pow(i, 2)                                | power(i, 2)
bigquery   | ln(i)                                    | CASE WHEN i <= 0 THEN error('x') ELSE ln(i) END
bigquery   | sqrt(i)                                  | CASE WHEN i < 0 THEN error('x') ELSE sqrt(i) END
bigquery   | date(ts)                                 | CAST(ts AS DATE)
bigquery   | date(n)                                  | CAST(n AS DATE)
bigquery   | CAST(ts AS DATE)                         | CAST(ts AS DATE)
bigquery   | greatest(i, k)                           | CASE WHEN i IS NULL OR k IS NULL THEN NULL ELSE greatest(i, k) END
bigquery   | EXTRACT(ISOWEEK FROM d)                  | weekofyear(d)
bigquery   | EXTRACT(YEAR FROM ts)                    | year(ts)
bigquery   | EXTRACT(HOUR FROM n)                     | hour(n)
bigquery   | date_trunc(d, MONTH)                     | CAST(date_trunc('month', d) AS DATE)
bigquery   | date_trunc(d, QUARTER)                   | CAST(date_trunc('quarter', d) AS DATE)
bigquery   | date_trunc(d, YEAR)                      | CAST(date_trunc('year', d) AS DATE)
bigquery   | f = 0.1                                  | f::DOUBLE = 0.1::DOUBLE
bigquery   | upper(s)                                 | upper(s)
bigquery   | reverse(u)                               | reverse(u)
bigquery   | i = 1.5                                  | i = 1.5
bigquery   | l + 1                                    | CASE WHEN l = 9223372036854775807 THEN error('x') ELSE l + 1 END
bigquery   | IF(b, i, k)                              | if(b, i, k)
bigquery   | d = '2024-02-29'                         | d = DATE '2024-02-29'
snowflake  | date_trunc('day', d)                     | d
snowflake  | date_trunc('week', d)                    | d - CAST(dayofweek(d) AS INT)
snowflake  | dateadd(day, 1, d)                       | d + 1
snowflake  | dateadd(hour, 1, d)                      | d + INTERVAL 1 HOUR
snowflake  | datediff(day, n, m)                      | datediff('day', n, m)
snowflake  | dayofweekiso(d)                          | isodow(d)
snowflake  | l + 1                                    | l::HUGEINT + 1
snowflake  | l * l                                    | l::DOUBLE * l
snowflake  | abs(l)                                   | abs(l::HUGEINT)
snowflake  | i + 1                                    | i::BIGINT + 1
snowflake  | to_date('2024') = d                      | DATE '1970-01-01' = d
snowflake  | least(i, k)                              | CASE WHEN i IS NULL OR k IS NULL THEN NULL ELSE least(i, k) END
snowflake  | round(x)                                 | round(x)
snowflake  | trim(s)                                  | trim(s)
snowflake  | ltrim(s)                                 | ltrim(s)
snowflake  | left(s, 2)                               | left(s, 2)
snowflake  | right(s, 2)                              | right(s, 2)
snowflake  | mod(i, k)                                | CASE WHEN k = 0 THEN error('x') ELSE i % k END
snowflake  | to_char(d, 'YYYY-MM')                    | strftime(d, '%Y-%m')
snowflake  | dateadd(month, 1, d)                     | CAST(d + INTERVAL 1 MONTH AS DATE)
snowflake  | dateadd(week, 1, d)                      | d + 7
snowflake  | last_day(d)                              | last_day(d)
snowflake  | date_trunc('month', n)                   | date_trunc('month', n)
snowflake  | date_trunc('month', d)                   | CAST(date_trunc('month', d) AS DATE)
snowflake  | iff(b, i, k)                             | if(b, i, k)
snowflake  | nvl2(i, k, 5)                            | if(i IS NULL, 5, k)
snowflake  | decode(i, 1, 'a', NULL, 'b', 'c')        | CASE WHEN i = 1 THEN 'a' WHEN i IS NULL THEN 'b' ELSE 'c' END
snowflake  | equal_null(i, k)                         | i IS NOT DISTINCT FROM k
snowflake  | contains(s, u)                           | contains(s, u)
snowflake  | weekiso(d)                               | weekofyear(d)
snowflake  | power(i, 2)                              | power(i, 2)
snowflake  | sqrt(i)                                  | CASE WHEN i < 0 THEN error('x') ELSE sqrt(i) END
snowflake  | bitand(i, k)                             | i & k
snowflake  | s ILIKE 'A%'                             | s ILIKE 'A%'
snowflake  | s LIKE 'a%'                              | s LIKE 'a%'
snowflake  | concat(s, u)                             | s \|\| u
snowflake  | length(s)                                | length(s)
snowflake  | hour(n)                                  | hour(n)
snowflake  | date_part('month', d)                    | month(d)
snowflake  | second(n)                                | second(n)
snowflake  | upper(s)                                 | upper(s)
snowflake  | reverse(u)                               | reverse(u)
snowflake  | CAST(n AS DATE)                          | CAST(n AS DATE)
snowflake  | CAST(b AS VARCHAR)                       | CAST(b AS VARCHAR)
snowflake  | CAST(i AS VARCHAR)                       | CAST(i AS VARCHAR)
snowflake  | CAST(b AS INT)                           | CAST(b AS INT)
snowflake  | f = 0.1                                  | f::DOUBLE = 0.1::DOUBLE
snowflake  | k * 2                                    | k::INT * 2
snowflake  | -k                                       | -(k::INT)
snowflake  | i % k                                    | CASE WHEN k = 0 THEN error('x') ELSE i % k END
snowflake  | nullif(i, k)                             | nullif(i, k)
snowflake  | d = '2024-02-29'                         | d = DATE '2024-02-29'
snowflake  | d + 1                                    | d + 1
snowflake  | d - e                                    | d - e
snowflake  | n + INTERVAL '1 day'                     | n + INTERVAL 1 DAY
snowflake  | greatest(i, k)                           | CASE WHEN i IS NULL OR k IS NULL THEN NULL ELSE greatest(i, k) END
mysql      | s = 'ABC'                                | lower(s) = 'abc'
mysql      | s LIKE 'AB%'                             | s ILIKE 'AB%'
mysql      | u IN ('A', 'b')                          | lower(u) IN ('a', 'b')
mysql      | i + 1                                    | i::BIGINT + 1
mysql      | CAST(n AS DATETIME)                      | date_trunc('second', n + INTERVAL '500000 microseconds')
mysql      | CAST(b AS CHAR)                          | CASE WHEN b THEN '1' WHEN NOT b THEN '0' END
mysql      | sqrt(x)                                  | CASE WHEN x >= 0 AND NOT isnan(x) THEN sqrt(x) END
tsql       | s = 'ABC'                                | lower(s) = 'abc'
tsql       | s + 'x'                                  | s \|\| 'x'
sqlite     | s LIKE 'AB%'                             | s ILIKE 'AB%'
clickhouse | ln(x)                                    | CASE WHEN x = 0 THEN '-inf'::DOUBLE WHEN x < 0 THEN 'nan'::DOUBLE ELSE ln(x) END
clickhouse | i + 1                                    | i::BIGINT + 1
hive       | i + 1                                    | CASE WHEN i = 2147483647 THEN -2147483648 ELSE i + 1 END
redshift   | date_trunc('day', d)                     | CAST(d AS TIMESTAMP)
oracle     | replace(s, 'a', '')                      | nullif(replace(s, 'a', ''), '')
oracle     | s                                        | nullif(s, '')
oracle     | s <> 'abc'                               | nullif(s, '') <> 'abc'
oracle     | coalesce(s, 'x')                         | coalesce(nullif(s,''), 'x')
oracle     | s IN ('', 'abc')                         | nullif(s,'') IN (NULL, 'abc')
oracle     | s NOT IN ('', 'abc')                     | nullif(s,'') NOT IN (NULL, 'abc')
oracle     | lower(s)                                 | nullif(lower(s),'')
oracle     | s = ''                                   | s = NULL
oracle     | s LIKE '%'                               | nullif(s,'') LIKE '%'
oracle     | nullif(s, 'abc')                         | nullif(nullif(s,''), 'abc')
oracle     | CASE WHEN s = 'abc' THEN '' ELSE 'y' END | CASE WHEN nullif(s,'') = 'abc' THEN NULL ELSE 'y' END
"""


def documented() -> Iterator[tuple[str, ...]]:
    """Each dialect with an expression and its meaning."""
    for line in _LINES.strip().splitlines():
        yield tuple(
            part.replace("\\|", "|").strip() for part in line.replace(" | ", "\0").split("\0")
        )
