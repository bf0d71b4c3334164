"""The predicates of the matrix, in Spark's SQL, by what they are about."""

from __future__ import annotations


def _listed(values: object) -> str:
    return ", ".join(map(str, values))  # type: ignore[call-overload]


def _numbers(count: int, step: int = 2_250) -> str:
    """So many values of i, from the first file to the last; most of them are in no file."""
    return _listed(round(at * step / count) for at in range(count))


def _texts(count: int) -> str:
    return _listed(f"'k{at % 24:02d}-{at // 24:02d}x'" for at in range(count))


def _days(count: int) -> str:
    return _listed(f"DATE '2023-09-{1 + at:02d}'" for at in range(count))


BARE = (
    "i = 606", "i = 607", "606 = i", "i <> 606", "i < 606", "i <= 606", "i > 2000", "i >= 2000",
    "i BETWEEN 606 AND 1212", "i > 606 AND i < 1212", "i = -5", "n = 101", "n > 200", "n < 20",
    "q = 3", "q > 3", "q BETWEEN 1 AND 2", "q <> 3", "p = 'b'", "p <> 'b'", "p > 'b'", "p = 'zz'",
    "s = 'k07-03'", "s >= 'k20'", "s < 'k03-05'", "s <> 'k07-03'", "s BETWEEN 'k05' AND 'k06-99'",
    "p = 'b' AND i > 1000", "p = 'b' AND q = 2 AND i > 500", "i = 606 AND s = 'k06-01'",
    "i > 606 AND n IS NOT NULL", "q = 3 AND ts >= TIMESTAMP '2024-02-01 00:00:00'",
)  # fmt: skip
TYPES = (
    "f = 7.5", "f > 20.0D", "f >= 20.0D", "f < 3.0D", "f <= 3.0D", "f <> 7.5D",
    "f BETWEEN 3.0D AND 5.0D", "f IN (1.0D, 20.5D)", "x = 6.06", "x > 20.00", "x < 1.50",
    "x BETWEEN 3.00 AND 5.00", "x IN (6.06, 12.12)", "x <> 6.06", "x > 20", "x = 6.063",
    "d = DATE '2023-12-01'", "d > DATE '2024-03-01'", "d <= DATE '2023-09-12'",
    "d BETWEEN DATE '2023-12-30' AND DATE '2024-01-20'", "d <> DATE '2023-12-01'",
    "d IN (DATE '2023-09-02', DATE '2024-04-10')",
    "ts = TIMESTAMP '2023-12-01 07:00:00'", "ts > TIMESTAMP '2024-03-01 00:00:00'",
    "ts < TIMESTAMP '2023-09-12 00:00:00'",
    "ts BETWEEN TIMESTAMP '2023-12-30 00:00:00' AND TIMESTAMP '2024-01-20 00:00:00'",
    "ts IN (TIMESTAMP '2023-09-01 07:00:00', TIMESTAMP '2024-04-08 07:00:00')",
    "w = TIMESTAMP_NTZ '2023-12-01 07:00:00'", "w > TIMESTAMP_NTZ '2024-03-01 00:00:00'",
    "w < TIMESTAMP_NTZ '2023-09-12 00:00:00'",
    "w BETWEEN TIMESTAMP_NTZ '2023-12-30 00:00:00' AND TIMESTAMP_NTZ '2024-01-20 00:00:00'",
    "ok", "NOT ok", "ok = TRUE", "ok = FALSE", "ok AND i < 1000", "ok <> TRUE",
    "ok OR i < 300", "ok IN (TRUE)", "ok IS NULL",
    "i > 200.5", "i < 200.5", "n > 150.5", "i = 606.0", "i > CAST(2000 AS INT)", "n = 101L",
    "q = 3L", "f > 20", "i = '606'", "d > '2024-03-01'",
)  # fmt: skip
LISTS = (
    "i IN (606)", "i IN (606, 1212)", "i IN (606, 1212, 5000)", "i IN (606, NULL)",
    "i NOT IN (606, 1212)", "i NOT IN (606, NULL)", "n IN (0, 101, 203)", "n NOT IN (0, 101)",
    "q IN (1, 4)", "q NOT IN (1, 4)", "p IN ('a', 'c')", "p NOT IN ('a', 'c')",
    "s IN ('k01-01', 'k20-05')", "s NOT IN ('k01-01', 'k20-05')",
    f"i IN ({_numbers(9)})", f"i IN ({_numbers(10)})", f"i IN ({_numbers(11)})",
    f"i IN ({_numbers(19)})", f"i IN ({_numbers(20)})", f"i IN ({_numbers(21)})",
    f"i IN ({_numbers(99, 900)})", f"i IN ({_numbers(100, 900)})", f"i IN ({_numbers(101, 900)})",
    f"i IN ({_numbers(200, 900)})", f"i IN ({_numbers(201, 900)})", f"i IN ({_numbers(400, 900)})",
    f"i NOT IN ({_numbers(21)})", f"i NOT IN ({_numbers(201)})",
    f"s IN ({_texts(10)})", f"s IN ({_texts(11)})", f"s IN ({_texts(20)})", f"s IN ({_texts(21)})",
    f"d IN ({_days(10)})", f"d IN ({_days(11)})", f"d IN ({_days(20)})", f"d IN ({_days(21)})",
    f"i IN ({_listed(range(0, 48, 2))})", f"i IN ({_listed(range(600, 1020, 2))}) AND q < 3",
    "i IN (606, 2206) AND p IN ('c')",
)  # fmt: skip
BOOLEANS = (
    "i = 606 OR i = 1212", "i < 100 OR i > 2200", "i = 606 OR s = 'k20-05'", "i < 100 OR n > 200",
    "i = 606 OR n IS NULL", "p = 'a' OR i = 2300", "p = 'a' OR q = 3", "p = 'a' OR p = 'b'",
    "p = 'a' OR s > 'k22'", "(i < 100 AND s < 'k01') OR (i > 2200 AND s > 'k22')",
    "(p = 'a' AND i < 500) OR (p = 'b' AND i > 2000)", "(p = 'a' AND q = 1) OR (p = 'b' AND q = 5)",
    "(i = 606 AND n = 60) OR (i = 1212 AND n = 120)", "(i < 100 OR i > 2200) AND (q < 1 OR q > 4)",
    "NOT (i = 606)", "NOT (i < 2000)", "NOT (i < 2000 OR s < 'k22')",
    "NOT (i >= 100 AND s >= 'k01')", "NOT (i BETWEEN 100 AND 2250)", "NOT (p = 'a')",
    "NOT (p = 'a' OR p = 'b')", "NOT (p = 'a' AND i < 2000)", "NOT (n IS NULL)",
    "NOT (i IN (606, 1212))", "NOT (NOT (i = 606))", "i = 606 OR i = 1212 OR i = 1818",
    "s < 'k01' OR s > 'k22'", "s = 'k01-01' OR s LIKE 'k20%'", "f < 1.0D OR f > 22.0D",
    "x < 0.50 OR x > 22.00", "d < DATE '2023-09-05' OR d > DATE '2024-04-18'",
    "ts < TIMESTAMP '2023-09-03 00:00:00' OR d > DATE '2024-04-18'", "1 = 1 AND i = 606",
    "i = 606 AND 1 = 0",
)  # fmt: skip
NULLS = (
    "n IS NULL", "n IS NOT NULL", "z IS NULL", "z IS NOT NULL", "i IS NULL", "i IS NOT NULL",
    "p IS NULL", "p IS NOT NULL", "z = 'z1'", "z <> 'z1'", "z > 'z0'", "n <=> 101", "n <=> NULL",
    "i <=> 606", "NOT (n <=> 101)", "z <=> 'z1'", "p <=> 'b'", "n IS NULL AND i < 1000",
    "n IS NULL OR n > 200", "i = NULL", "coalesce(n, 0) = 0", "coalesce(n, 5) > 200",
    "z IS NULL AND p = 'b'", "z LIKE 'z1%'",
)  # fmt: skip
COLUMNS = (
    "i < v", "i > v", "i = v", "v <= i", "n = i", "n < i", "i = v AND i < 1000", "p = s", "p < s",
    "i - v > 0", "i + v > 8000", "d = CAST(ts AS DATE)", "i < v AND p = 'a'", "q < n", "q = i",
    "i = st.a", "w < ts",
)  # fmt: skip
PATTERNS = (
    "s LIKE 'k07%'", "s LIKE 'k0%'", "s LIKE '%7-03'", "s LIKE 'k07-03'", "s LIKE 'k_7%'",
    "s LIKE 'k%3'", "s LIKE '%'", "NOT s LIKE 'k0%'", "NOT s LIKE '%x'", "NOT s LIKE 'k07-03'",
    "s ILIKE 'K07%'", "p LIKE 'a%'", "p LIKE '%a'", "NOT p LIKE 'a%'", "startswith(s, 'k07')",
    "endswith(s, '07')", "contains(s, '07-')", "s RLIKE '^k07'", "p LIKE '_'", "s LIKE 'K07%'",
    "s LIKE 'k07%' AND i > 100", "s LIKE 'k07%' OR s LIKE 'k09%'",
)  # fmt: skip
FUNCTIONS = (
    "year(d) = 2024", "year(ts) = 2024", "year(w) = 2024", "year(d) >= 2024", "year(ts) < 2024",
    "month(d) = 12", "month(ts) = 12", "day(d) = 1", "quarter(ts) = 4", "hour(ts) = 7",
    "date_trunc('month', ts) = TIMESTAMP '2024-01-01 00:00:00'",
    "date_trunc('day', ts) = TIMESTAMP '2024-01-09 00:00:00'",
    "date_trunc('year', ts) = TIMESTAMP '2024-01-01 00:00:00'",
    "trunc(d, 'MM') = DATE '2024-01-01'", "to_date(ts) = DATE '2024-01-09'",
    "CAST(ts AS DATE) = DATE '2024-01-09'", "CAST(ts AS DATE) > DATE '2024-03-01'",
    "CAST(ts AS DATE) BETWEEN DATE '2024-01-01' AND DATE '2024-01-20'",
    "CAST(ts AS DATE) IN (DATE '2024-01-09', DATE '2024-01-10')",
    "CAST(w AS DATE) = DATE '2024-01-09'", "CAST(w AS DATE) > DATE '2024-03-01'",
    "CAST(d AS TIMESTAMP) > TIMESTAMP '2024-03-01 00:00:00'", "CAST(i AS STRING) = '606'",
    "CAST(i AS INT) = 606", "CAST(i AS DOUBLE) > 2000.0D", "CAST(s AS STRING) = 'k07-03'",
    "CAST(x AS DOUBLE) > 20.0D", "CAST(f AS INT) = 7", "CAST(q AS BIGINT) = 3",
    "CAST(q AS STRING) = '3'", "i + 1 = 607", "i + 1 > 2000", "i - 1 < 100", "i * 2 = 1212",
    "2 * i > 4000", "i / 2 > 1000", "i % 100 = 6", "-i < -2000", "1000 - i > 900", "f + 1 > 22",
    "x * 2 > 40", "n + 1 > 200", "q + 1 = 4", "d + INTERVAL '1' DAY > DATE '2024-04-01'",
    "date_add(d, 1) > DATE '2024-04-01'", "abs(i) < 100", "floor(f) = 7", "ceil(f) = 7",
    "round(x) = 6", "upper(s) = 'K07-03'", "lower(s) = 'k07-03'", "substring(s, 1, 3) = 'k07'",
    "left(s, 3) = 'k07'", "length(s) > 100", "length(s) = 6", "concat(s, 'x') = 'k07-03x'",
    "trim(s) = 'k07-03'", "upper(p) = 'A'", "lower(p) IN ('a', 'b')", "concat(p, 'x') = 'ax'",
    "upper(g) = 'G07-0'", "concat(g, 'x') = 'g07-0x'", "g NOT IN ('g07-0', 'g08-1')",
    "g <> 'g07-0'",
    "length(p) = 2", "p || 'x' = 'ax'", "CASE WHEN i > 2000 THEN 1 ELSE 0 END = 1",
    "CASE WHEN p = 'a' THEN 1 ELSE 0 END = 1", "nullif(i, 6) = 606", "greatest(i, 5) < 100",
    "datediff(d, DATE '2023-09-01') < 10", "upper(s) = 'K07-03' AND i > 100",
    "upper(s) = 'K07-03' OR i = 100", "year(ts) = 2024 AND p = 'a'", "year(ts) = 2024 OR p = 'a'",
    "ts + INTERVAL '1' HOUR > TIMESTAMP '2024-04-01 00:00:00'", "reverse(s) = '30-70k'",
    "hash(i) = 5", "year(ts) IN (2024)", "if(i > 2000, TRUE, FALSE)",
)  # fmt: skip
STRUCTS = (
    "st.a = 606", "st.a > 2000", "st.a BETWEEN 606 AND 1212", "st.a IN (606, 1212)",
    "st.b = 'b07'", "st.b LIKE 'b07%'", "st.a IS NULL", "st.a IS NOT NULL", "st.a <> 606",
    "st.a = 606 OR st.a = 1212", "st.a = 606 AND i = 606", "st.a + 1 = 607", "st IS NULL",
    "NOT (st.a < 2000)",
)  # fmt: skip

FAMILIES = {
    "bare": BARE,
    "types": TYPES,
    "lists": LISTS,
    "booleans": BOOLEANS,
    "nulls": NULLS,
    "columns": COLUMNS,
    "patterns": PATTERNS,
    "functions": FUNCTIONS,
    "structs": STRUCTS,
}
CASES = tuple(sql for family in FAMILIES.values() for sql in family)
