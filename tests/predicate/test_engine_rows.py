# ruff: noqa: E501, SIM905  a case is a line, words are words
"""No matching row is lost and no `all` is wrong for the calls of a dialect on rows of every type.

DuckDB computes the expected rows. For another dialect the case has the documented meaning as an
expression of DuckDB. The cases are generated: calls from the tables of the binder, arguments of
every type, comparisons with the values that DuckDB computes.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
import random
from decimal import Decimal

import pytest

from predicate.engine_rows import COLUMNS, RAISED, Engine, bound, is_opaque, wrong
from whyscan.errors import WhyscanError
from whyscan.predicate.binding import dialect_calls
from whyscan.predicate.syntax.dialects import DialectFamily

UNITS = """
year quarter month week isoweek day hour minute second millisecond microsecond decade century
millennium dow doy isodow isoyear epoch era dayofweek dayofyear yearweek days hours weeks mon y d
""".split()
LITERALS = (
    """
NULL|''|'abc'|'a'|' '|'1.494'|'2024-02-29'|'2024-02-29 12:00:00'|-1|0|1|2|1.5|-2.5|1e300|true
DATE '2024-02-29'|TIMESTAMP '2024-02-29 12:30:00.5'|3000000000
""".strip()
    .replace("\n", "|")
    .split("|")
)
INTERVALS = [
    f"INTERVAL '{count}' {unit}"
    for count in (1, -13)
    for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "SECOND", "MICROSECOND")
] + [
    "INTERVAL '25 hours'",
    "INTERVAL 1.5 DAY",
    "INTERVAL '1 month 1 day'",
    "INTERVAL '1 day 2 hours'",
]
FORMATS = ("%Y", "%Y-%m", "%Y-%m-%d %H:%M:%S", "%F", "%y", "%j", "%-d")
TYPES = """
BOOLEAN SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL(10,2) DECIMAL(5,0) VARCHAR CHAR DATE TIMESTAMP
TIMESTAMPTZ TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS BLOB
""".split()
TIMES = ("d", "ts", "n", "s")
PATTERNS = ("a%", "A%", "%b_", "\\_%", "Ä%", "[a-z]%", "a.*", "(a|abc)")
AROUND = (
    "({}) * 2000000000",
    "({}) / 2",
    "CAST(({}) AS VARCHAR)",
    "({}) || ''",
    "date_trunc('day', ({}))",
    "({}) - DATE '2024-01-01'",
)
A_GROUP = 3
DRAWS = 40
"""A test draws DRAWS expressions of a group and checks A_GROUP of them."""


def groups():
    """The expressions of DuckDB's dialect, grouped by function or operator."""
    names = sorted({*dialect_calls._OF_FAMILY[DialectFamily.DUCKDB], *dialect_calls._COMMON})
    clocks = {"now", "current_timestamp", "current_date", "today"}
    for name in names:
        if name not in clocks:
            yield name, list(_calls(name))
    for operator in ("+", "-", "*", "/", "//", "%", "||", "=", "<", "IS DISTINCT FROM", "~"):
        pairs = itertools.product(COLUMNS, [*COLUMNS, *LITERALS])
        yield operator, [f"{a} {operator} {b}" for a, b in pairs]
    yield "interval", [f"{c} {o} {i}" for c in TIMES[:3] for o in "+-" for i in INTERVALS]
    yield "extract", [f"EXTRACT({unit} FROM {c})" for unit in UNITS for c in TIMES]
    yield (
        "overflow",
        [
            f"({e.format(c)}) {operator} {limit}"
            for e in ("{} + 7", "7 - {}", "{} * 6", "-{}", "({} + 7) - 9", "({} - 3) * 2 + 5")
            for c, limits in (("l", (2**63 - 1, -(2**63))), ("i", (2**31 - 1, -(2**31))))
            for limit in (*limits, limits[0] - 2, limits[1] + 2)
            for operator in ("=", "<>", "<", ">", "<=", ">=", "IS DISTINCT FROM")
        ],
    )
    for kind in TYPES:
        yield f"cast {kind}", [f"CAST({c} AS {kind})" for c in [*COLUMNS, *LITERALS]]
        yield f"try_cast {kind}", [f"TRY_CAST({c} AS {kind})" for c in COLUMNS]
    for operator in ("LIKE", "ILIKE", "NOT LIKE", "SIMILAR TO", "~", "GLOB"):
        yield f"pattern {operator}", [f"{c} {operator} '{p}'" for c in "su" for p in PATTERNS]


def _calls(name):
    one = [f"{name}({a})" for a in [*COLUMNS, *LITERALS]]
    two = [f"{name}({a}, {b})" for a, b in itertools.product(COLUMNS, [*COLUMNS, *LITERALS])]
    units = [f"{name}('{unit}', {c})" for unit in UNITS for c in TIMES]
    between = [f"{name}('{u}', {a}, {b})" for u in UNITS for a, b in (("d", "e"), ("n", "m"))]
    later = [f"{name}({c}, {interval})" for c in TIMES for interval in INTERVALS]
    written = [f"{name}({c}, '{f}')" for c in TIMES for f in FORMATS]
    three = [
        f"{name}({a}, {b}, {c})"
        for a, b, c in itertools.product(
            ("s", "i", "x", "b"), ("1", "0", "-1", "k", "'a'", "''", "u"), ("2", "-1", "'b'", "s")
        )
    ]
    return [*one, *two, *units, *between, *later, *written, *three]


def written(value):
    """The literal of a value of DuckDB; None if there is no simple literal."""
    match value:
        case bool():
            return str(value).lower()
        case float() if math.isfinite(value):
            return f"{value!r}::DOUBLE"
        case int():
            return str(value)
        case Decimal():
            return f"{value:f}"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case dt.datetime() if value.tzinfo is not None:
            return f"TIMESTAMPTZ '{value.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S.%f}+00'"
        case dt.datetime():
            return f"TIMESTAMP '{value:%Y-%m-%d %H:%M:%S.%f}'"
        case dt.date():
            return f"DATE '{value:%Y-%m-%d}'"
        case _:
            return None


def conditions(expression, values):
    """Comparisons of an expression with some of its values."""
    yield f"({expression}) IS NULL"
    present = [v for v in values if v is not None and v is not RAISED]
    if present and isinstance(present[0], bool):
        yield from (expression, f"NOT ({expression})")
        return
    literals = dict.fromkeys(filter(None, map(written, present)))
    for literal in [*literals][:2]:
        yield f"({expression}) = {literal}"
        yield f"({expression}) > {literal}"
        yield f"({expression}) IS DISTINCT FROM {literal}"


def bound_or_none(predicate, dialect):
    """The bound predicate; None if it is refused or opaque, because then it prunes nothing."""
    try:
        bound_predicate = bound(predicate, dialect)
    except WhyscanError:
        return None
    return None if is_opaque(bound_predicate) else bound_predicate


def lost(expression, engine, dialect="duckdb", meaning=None):
    """Conditions on the expression for which a container gets a wrong verdict."""
    meaning = meaning or expression
    if bound_or_none(f"({expression}) IS NULL", dialect) is None:
        return []
    values = engine.values(meaning)
    problems = []
    for condition, meant in zip(
        conditions(expression, values or []), conditions(meaning, values or []), strict=True
    ):
        predicate = bound_or_none(condition, dialect)
        answers = None if predicate is None or values is None else engine.values(meant)
        if answers is not None:
            problems += [(condition, problem) for problem in wrong(predicate, answers)[:1]]
    return problems


@pytest.fixture(scope="module")
def engine():
    return Engine()


GROUPS = dict(groups())


@pytest.mark.parametrize("group", GROUPS)
def test_no_row_is_lost_in_duckdbs_dialect(engine, group):
    dice = random.Random(group)
    some = dice.sample(GROUPS[group], min(DRAWS, len(GROUPS[group])))
    interpreted = (e for e in some if bound_or_none(f"({e}) IS NULL", "duckdb") is not None)
    drawn = list(itertools.islice(interpreted, A_GROUP))
    drawn += [dice.choice(AROUND).format(expression) for expression in drawn]

    assert [problem for e in drawn for problem in lost(e, engine)] == []


# Each of these expressions once lost a row or had a wrong `all`.
ONCE_WRONG = r"""
date_trunc('day', d)
date_trunc('days', e)
concat('x', ts)
ts || n
CAST(n AS TIMESTAMP_MS)
CAST(n AS TIMESTAMP_S)
TRY_CAST(ts AS TIMESTAMP_MS)
date_add(d, INTERVAL 1.5 DAY)
n - INTERVAL 1.5 DAY
CAST(d + INTERVAL 1 DAY AS VARCHAR)
CAST(date_trunc('month', d) AS VARCHAR)
year(d) * 2000000
length(s) * 2000000000
p = '1.494'
raw = '\x61'
CAST(s AS BOOLEAN)
floor(w) <> w
-i >= 6
-l <> 5
w BETWEEN floor(w) AND 0.00000000001
coalesce(floor(w), w)
(l + 7) NOT BETWEEN 9 AND 9223372036854775807
9223372036854775807 <> 3 - l
NOT ((l - (-6)) = 9223372036854775807)
((l + 7) - 9) <> 9223372036854775798
(l * 6) <> 9223372036854775807
l * 2147483648 < -9223372036854775808
l + 7 NOT IN (9223372036854775807)
i + 7 <> 2147483647
NOT (CASE l - 7 WHEN -9223372036854775808 THEN true ELSE false END)
NOT (9223372036854775807 >= l + 32767)
"""


@pytest.mark.parametrize("expression", ONCE_WRONG.strip().splitlines())
def test_what_was_lost_once_is_not_lost_in_duckdbs_dialect(engine, expression):
    assert lost(expression, engine) == []


# dialect | expression | its documented meaning as an expression of DuckDB
DOCUMENTED = r"""
trino     | date_trunc('day', d)              | d
trino     | date_trunc('week', d)             | CAST(date_trunc('week', d) AS DATE)
trino     | date_trunc('hour', n)             | date_trunc('hour', n)
presto    | date_trunc('day', d)              | d
athena    | date_trunc('day', d)              | d
trino     | CAST(n AS TIMESTAMP)              | CAST(date_trunc('milliseconds', n + INTERVAL '500 microseconds') AS TIMESTAMP)
trino     | CAST(n AS TIMESTAMP(0))           | date_trunc('second', n + INTERVAL '500000 microseconds')
trino     | CAST(s AS CHAR)                   | substr(s, 1, 1)
trino     | TRY_CAST(s AS INTEGER)            | CASE WHEN regexp_full_match(s, '[+-]?[0-9]+') THEN CAST(s AS INT) END
trino     | replace(s, '', 'x')               | regexp_replace(s, '', 'x', 'g')
trino     | day_of_week(d)                    | isodow(d)
trino     | EXTRACT(DOW FROM d)               | isodow(d)
trino     | week(d)                           | weekofyear(d)
trino     | year(d) * 2000000                 | year(d) * 2000000
trino     | length(s) * 2000000000            | length(s) * 2000000000
trino     | year(d) / 10                      | year(d) // 10
trino     | date_diff('day', d, e)            | datediff('day', d, e)
trino     | date_add('month', 1, d)           | CAST(d + INTERVAL 1 MONTH AS DATE)
trino     | greatest(i, k)                    | CASE WHEN i IS NULL OR k IS NULL THEN NULL ELSE greatest(i, k) END
trino     | i / k                             | CASE WHEN k = 0 THEN error('zero') ELSE CAST(trunc(i::DECIMAL(18,0) / k) AS INT) END
postgres  | date_trunc('day', d)              | CAST(d AS TIMESTAMPTZ)
postgres  | date_trunc('month', n)            | date_trunc('month', n)
postgres  | EXTRACT(YEAR FROM d) / 10         | year(d) / 10
postgres  | date_part('month', d) / 2         | month(d) / 2
postgres  | round(i) / 2                      | i / 2
postgres  | EXTRACT(DOW FROM d)               | dayofweek(d)
postgres  | EXTRACT(ISODOW FROM d)            | isodow(d)
postgres  | CAST(d + INTERVAL '1 day' AS VARCHAR) | CAST(CAST(d + INTERVAL 1 DAY AS TIMESTAMP) AS VARCHAR)
postgres  | d - e                             | d - e
postgres  | d + 1                             | d + 1
postgres  | CAST(s AS CHAR)                   | substr(s, 1, 1)
postgres  | CAST(s AS BOOLEAN)                | CASE WHEN lower(trim(s)) IN ('on', 'true', '1') THEN true WHEN s IS NULL THEN NULL ELSE error('no boolean') END
postgres  | concat(s, u)                      | concat(s, u)
postgres  | s \|\| u                          | s \|\| u
postgres  | power(p, 2)                       | CAST(p AS DECIMAL(18,2)) * CAST(p AS DECIMAL(18,2))
postgres  | CAST(n AS TIMESTAMP(0))           | date_trunc('second', n + INTERVAL '500000 microseconds')
bigquery  | date_trunc(d, DAY)                | d
bigquery  | date_trunc(d, WEEK)               | d - CAST(dayofweek(d) AS INT)
bigquery  | date_trunc(d, ISOWEEK)            | CAST(date_trunc('week', d) AS DATE)
bigquery  | EXTRACT(DAYOFWEEK FROM d)         | dayofweek(d) + 1
bigquery  | date_add(d, INTERVAL 1 DAY)       | d + 1
bigquery  | date_diff(d, e, DAY)              | d - e
bigquery  | CAST(p AS STRING)                 | CASE WHEN p = trunc(p) THEN CAST(CAST(p AS BIGINT) AS VARCHAR) ELSE rtrim(CAST(p AS VARCHAR), '0') END
bigquery  | CAST(d + INTERVAL 1 DAY AS STRING) | CAST(CAST(d + INTERVAL 1 DAY AS TIMESTAMP) AS VARCHAR)
bigquery  | round(i, -1)                      | round(i::DOUBLE / 10) * 10
bigquery  | i * 2                             | i::BIGINT * 2
bigquery  | i / k                             | CASE WHEN k = 0 THEN error('zero') ELSE i / k END
snowflake | date_trunc('day', d)              | d
snowflake | date_trunc('week', d)             | d - CAST(dayofweek(d) AS INT)
snowflake | dateadd(day, 1, d)                | d + 1
snowflake | dateadd(hour, 1, d)               | d + INTERVAL 1 HOUR
snowflake | datediff(day, n, m)               | datediff('day', n, m)
snowflake | dayofweekiso(d)                   | isodow(d)
snowflake | l + 1                             | l::HUGEINT + 1
snowflake | l * l                             | l::DOUBLE * l
snowflake | abs(l)                            | abs(l::HUGEINT)
snowflake | i + 1                             | i::BIGINT + 1
snowflake | to_date('2024') = d               | DATE '1970-01-01' = d
snowflake | least(i, k)                       | CASE WHEN i IS NULL OR k IS NULL THEN NULL ELSE least(i, k) END
mysql     | s = 'ABC'                         | lower(s) = 'abc'
mysql     | s LIKE 'AB%'                      | s ILIKE 'AB%'
mysql     | u IN ('A', 'b')                   | lower(u) IN ('a', 'b')
mysql     | i + 1                             | i::BIGINT + 1
mysql     | CAST(n AS DATETIME)               | date_trunc('second', n + INTERVAL '500000 microseconds')
mysql     | CAST(b AS CHAR)                   | CASE WHEN b THEN '1' WHEN NOT b THEN '0' END
mysql     | sqrt(x)                           | CASE WHEN x >= 0 AND NOT isnan(x) THEN sqrt(x) END
tsql      | s = 'ABC'                         | lower(s) = 'abc'
tsql      | s + 'x'                           | s \|\| 'x'
sqlite    | s LIKE 'AB%'                      | s ILIKE 'AB%'
clickhouse | ln(x)                            | CASE WHEN x = 0 THEN '-inf'::DOUBLE WHEN x < 0 THEN 'nan'::DOUBLE ELSE ln(x) END
clickhouse | i + 1                            | i::BIGINT + 1
hive      | i + 1                             | CASE WHEN i = 2147483647 THEN -2147483648 ELSE i + 1 END
redshift  | date_trunc('day', d)              | CAST(d AS TIMESTAMP)
oracle    | replace(s, 'a', '')               | nullif(replace(s, 'a', ''), '')
"""


def documented():
    for line in DOCUMENTED.strip().splitlines():
        yield tuple(
            part.replace("\\|", "|").strip() for part in line.replace(" | ", "\0").split("\0")
        )


@pytest.mark.parametrize(("dialect", "expression", "meaning"), list(documented()))
def test_no_row_is_lost_by_the_documented_meaning_of_a_dialect(
    engine, dialect, expression, meaning
):
    assert engine.values(meaning) is not None
    assert lost(expression, engine, dialect, meaning) == []
