# ruff: noqa: E501  a case is a line
"""Binding gives the same results as Spark: literals, common types, types, predicates."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from decimal import Decimal

import pytest

from predicate.schemas import EVENTS
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.tree import coercion, literals, zones
from whyscan.tree.clock import Clock
from whyscan.tree.nodes import IsNull, Literal, Opaque, Operation, type_of
from whyscan.tree.rendering import to_sql
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    DecimalType,
    Schema,
)

pytestmark = pytest.mark.spark

NOT_IN_SPARK = {"ns", "key", "a", "a.b", "tags"}
PARIS = Session("spark", "Europe/Paris", 1_710_000_000_000_000)


@contextmanager
def zone_of(spark, name):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", name)
    try:
        yield
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def texts_of(spark, texts, *columns):
    """Expressions for a table with one text per row."""
    rows = ", ".join("(X'" + text.encode().hex() + "')" for text in texts)
    return spark.sql(
        f"SELECT s, {', '.join(columns)} FROM (SELECT string(b) s FROM VALUES {rows} t(b))"
    )


def converted(text, target):
    clock = Clock(zones.zone(PARIS.timezone), PARIS.now)
    try:
        return literals.convert(Literal(text, STRING), target, clock).value
    except literals.Inconvertible:
        return None


TIMES = """\
2024
2024-3
2024-03
2024-03-
2024-03-01
2024-3-1
 2024-03-01\t
2024-03-01T
2024-03-01 12
2024-03-01 12:
2024-03-01 1:2
2024-03-01 12:00
2024-03-01 12:00Z
2024-03-01 12:00+01:00
2024-03-01Z
2024-03-01 12:00:00
2024-03-01T12:00:00
2024-03-01t12:00:00
2024-03-01T12:00:00.
2024-03-01T12:00:00.1
2024-03-01T12:00:00.123456
2024-03-01T12:00:00.123456789
2024-03-01T12:00:00Z
2024-03-01T12:00:00.5Z
2024-03-01T12:00:00 Z
2024-03-01 12:00:00+01:00
2024-03-01 12:00:00-1:00
2024-03-01 12:00:00+1:5
2024-03-01 12:00:00+0130
2024-03-01 12:00:00+01
2024-03-01 12:00:00+1
2024-03-01 12:00:00 UTC
2024-03-01 12:00:00UTC+3
2024-03-01 12:00:00 GMT-03:30
2024-03-01 12:00:00 UT+1
2024-03-01 12:00:00 Europe/Berlin
2024-03-01 12:00:00 europe/berlin
2024-03-01 12:00:00 America/St_Johns
2024-03-01 12:00:00 PST
2024-03-01 12:00:00 EST
2024-03-01 12:00:00 CEST
2024-03-01 12:00:00+18:00
2024-03-01 12:00:00+18:01
2024-03-01 12:00:00 Mars/Base
2024-03-01 24:00:00
2024-03-01 23:59:60
2024-03-01 12:60:00
2024-02-29
2023-02-29
2024-13-01
2024-00-01
2024-03-00
2024-03-32
24-03-01
0024-03-01
0000-01-01
-0044-03-15
+2024-03-01
10000-01-01
+10000-01-01
99999-12-31
294247-01-10 04:00:54.775807Z
294247-01-10 04:00:54.775808Z
300000-01-01
-290308-12-21 19:59:05.224192Z
1234567-01-01
12345678-01-01
1582-10-10
1500-02-29
1900-01-01
1850-06-01 12:00:00
2024-03-31 02:30:00
2024-10-27 02:30:00
2024-10-27 01:59:59.999999
2024-03-01 12:00:00 abc
2024-03-01x
2024/03/01
20240301
abc

-
""".splitlines()


def test_text_becomes_the_date_and_the_timestamp_that_spark_reads(spark):
    wall = "unix_micros(cast(try_cast(s as timestamp_ntz) as timestamp)) as wall"
    day = "unix_date(try_cast(s as date)) as day"
    instant = "unix_micros(try_cast(s as timestamp)) as instant"
    with zone_of(spark, "UTC"):
        walls = {row["s"]: row["wall"] for row in texts_of(spark, TIMES, wall).collect()}
    with zone_of(spark, PARIS.timezone):
        rows = texts_of(spark, TIMES, day, instant).collect()
    theirs = {row["s"]: (row["day"], row["instant"], walls[row["s"]]) for row in rows}
    ours = {
        text: (converted(text, DATE), converted(text, TIMESTAMP), converted(text, TIMESTAMP_NTZ))
        for text in TIMES
    }
    assert ours == theirs


NUMBERS = """\
5
 5\t
+5
-5
5.0
5.5
.5
5.
5e1
5E-1
1e400
5d
5f
5L
0x1F
NaN
nan
Infinity
-inf
+Infinity
inf
9223372036854775807
9223372036854775808
-9223372036854775808
99999999.99
99999999.995
99999999.994
1_000
1,000
true
T
yes
0
2
abc

''
""".splitlines()


def test_text_becomes_the_number_that_spark_reads(spark):
    targets = {"bigint": BIGINT, "int": INT, "double": DOUBLE, "float": FLOAT, "boolean": BOOLEAN}
    targets["decimal(10,2)"] = DecimalType(10, 2)
    columns = [f"try_cast(s as {name}) as `{name}`" for name in targets]
    rows = texts_of(spark, NUMBERS, *columns).collect()
    theirs = {(row["s"], name): repr(row[name]) for row in rows for name in targets}
    ours = {(s, name): repr(converted(s, kind)) for s in NUMBERS for name, kind in targets.items()}
    assert ours == theirs


ATOMS = (
    BOOLEAN,
    TINYINT,
    SMALLINT,
    INT,
    BIGINT,
    FLOAT,
    DOUBLE,
    DecimalType(10, 2),
    DecimalType(38, 18),
    DecimalType(38, 2),
    DecimalType(5, 5),
    STRING,
    BINARY,
    DATE,
    TIMESTAMP,
    TIMESTAMP_NTZ,
)


def analysed(spark, sql):
    """The type of an expression in Spark; None if Spark refuses it."""
    from pyspark.errors import AnalysisException

    try:
        return spark.sql(f"SELECT {sql} AS x").schema[0].dataType.simpleString()
    except AnalysisException:
        return None


def typed(kind):
    return f"CAST(NULL AS {kind})"


def test_two_types_meet_where_they_meet_in_spark(spark):
    met = {pair: coercion.common_type(*pair) for pair in itertools.combinations(ATOMS, 2)}
    ours = {pair: str(kind) for pair, kind in met.items() if kind is not None}
    columns = [f"coalesce({typed(a)}, {typed(b)}) AS c{i}" for i, (a, b) in enumerate(ours)]
    schema = spark.sql("SELECT " + ", ".join(columns)).schema
    assert ours == {pair: f.dataType.simpleString() for pair, f in zip(ours, schema, strict=True)}


@pytest.mark.parametrize("a", [BOOLEAN, DATE, BINARY], ids=str)
@pytest.mark.parametrize("b", [BIGINT, DecimalType(10, 2)], ids=str)
def test_types_that_do_not_meet_are_refused_by_spark_too(spark, a, b):
    assert coercion.common_type(a, b) is None
    assert analysed(spark, f"coalesce({typed(a)}, {typed(b)})") is None


def test_decimal_arithmetic_has_the_digits_that_spark_gives_it(spark):
    kinds = [DecimalType(*digits) for digits in ((10, 2), (38, 18), (38, 0), (5, 5), (20, 10))]
    cases = list(itertools.product(kinds, [*kinds, INT, BIGINT, TINYINT], Operation))
    columns = [f"{typed(a)} {op.value} {typed(b)} AS c{i}" for i, (a, b, op) in enumerate(cases)]
    schema = spark.sql("SELECT " + ", ".join(columns)).schema
    theirs = {case: f.dataType.simpleString() for case, f in zip(cases, schema, strict=True)}
    assert {case: str(coercion.arithmetic_type(case[2], *case[:2])) for case in cases} == theirs


VALUES = """\
id + 1
id + big
tiny + tiny
id * 2.5
price * 2
price / 3
price + 1e0
id / 2
id div 2
id % 3
-id
price % 2
f + 1
f * d
'5' + 1
day + 7
day - 7
day + interval 1 month
day + interval 1 hour
ts + interval 1 day
ntz - interval 1 hour
floor(price)
ceil(d)
round(price, 1)
round(price)
round(price, -1)
round(d, 1)
round(id)
abs(tiny)
sign(id)
sqrt(id)
power(id, 2)
pmod(id, 3)
year(ts)
hour(ts)
weekday(day)
date_trunc('month', ts)
date_trunc('month', day)
date_trunc('month', ntz)
trunc(ts, 'MM')
last_day(ts)
add_months(day, 1)
date_add(ts, 1)
datediff(ts, day)
unix_timestamp(ts)
unix_micros(ts)
unix_date(day)
timestamp_seconds(big)
timestamp_millis(big)
from_unixtime(big)
date_format(day, 'yyyy')
to_date(name)
to_timestamp(name)
length(name)
octet_length(name)
substring(name, 2)
left(name, 2)
concat(name, id)
name || 'x'
replace(name, 'a', 'b')
instr(name, 'a')
coalesce(id, big)
coalesce(id, price)
coalesce(name, 'x')
if(flag, id, price)
case when flag then id end
nullif(id, 5)
least(id, price, 7)
nvl2(name, id, big)
md5(name)
hash(id, name)
isnan(d)
""".splitlines()


def bound_value(text):
    (conjunct,) = bind(f"({text}) IS NULL", EVENTS, PARIS).conjuncts
    assert isinstance(conjunct.expression, IsNull), conjunct.expression
    return conjunct.expression.operand


def rows_of(spark):
    rows = """
      (true, 1Y, 2S, 3, 4L, 1.5F, 2.5D, 10.50BD, DATE'2024-03-01',
       TIMESTAMP'2024-03-01 12:34:56.789Z', TIMESTAMP_NTZ'2024-03-01 12:34:56', 'apple', 'DE', X'1F'),
      (false, -1Y, -2S, -3, -4L, -0.0F, double('NaN'), -0.01BD, DATE'1969-12-31',
       TIMESTAMP'2024-10-27 00:30:00Z', TIMESTAMP_NTZ'2024-03-31 02:30:00', 'a_b%c', 'it''s', X''),
      (null, null, null, null, null, null, null, null, null, null, null, null, null, null),
      (true, 127Y, 32767S, 1000000000, 9007199254740993L, 0.1F, 0.1D, 99999999.99BD,
       DATE'9999-12-31', TIMESTAMP'1900-01-01 00:00:00Z', TIMESTAMP_NTZ'2024-03-08 00:00:00',
       '5', 'foo_bar', X'616263')
    """
    names = [f.name for f in EVENTS.fields if f.name not in NOT_IN_SPARK]
    return spark.sql(f"SELECT * FROM VALUES {rows} AS t({', '.join(names)})")


def test_a_value_has_the_type_that_spark_gives_it(spark):
    rows_of(spark).createOrReplaceTempView("events")
    schema = spark.sql(
        "SELECT " + ", ".join(f"{text} AS c{i}" for i, text in enumerate(VALUES)) + " FROM events"
    ).schema
    theirs = {text: f.dataType.simpleString() for text, f in zip(VALUES, schema, strict=True)}
    assert {text: str(type_of(bound_value(text))) for text in VALUES} == theirs


CONSTANTS = """\
next_day(DATE '2024-03-01', 'MON')
next_day(DATE '2024-03-01', 'friday')
next_day('1969-12-31', 'We')
next_day(NULL, 'MON')
make_timestamp(2024, 3, 31, 2, 30, 0)
make_timestamp(2024, 10, 27, 2, 30, 15.5)
make_timestamp(1969, 12, 31, 23, 59, 59.999999)
make_timestamp(2024, 3, 31, 2, 30, 0, 'America/St_Johns')
make_timestamp_ltz(2024, 2, 29, 0, 0, 0)
make_timestamp_ntz(2024, 2, 29, 23, 59, 59)
from_utc_timestamp(TIMESTAMP '2024-03-31 02:30:00', 'America/New_York')
from_utc_timestamp('2024-10-27 02:30:00', '+05:30')
from_utc_timestamp(TIMESTAMP_NTZ '2024-03-31 02:30:00', 'Europe/Paris')
to_utc_timestamp(TIMESTAMP '2024-03-31 02:30:00', 'America/New_York')
to_utc_timestamp(DATE '2011-12-30', 'Pacific/Apia')
to_timestamp('2024-03-01 12:00:00.123', 'yyyy-MM-dd HH:mm:ss.SSS')
to_timestamp('2024-03-01 12:00:00.1', 'yyyy-MM-dd HH:mm:ss.SSS')
to_timestamp_ntz('1969-12-31 23:59:59.999999', 'yyyy-MM-dd HH:mm:ss.SSSSSS')
to_timestamp('2024-03-01 12:00:00,123456789', 'yyyy-MM-dd HH:mm:ss,SSSSSSSSS')
unix_timestamp(TIMESTAMP '1969-12-31 23:59:59.5')
unix_timestamp(TIMESTAMP_NTZ '1969-12-31 23:59:59.5')
unix_timestamp(TIMESTAMP_NTZ '2024-03-01 12:00:00')
unix_timestamp(DATE '1969-12-31')
dateadd(HOUR, 24, TIMESTAMP '2024-03-31 01:00:00')
dateadd(HOUR, -24, TIMESTAMP '2024-10-27 04:00:00')
dateadd(MINUTE, 1500, TIMESTAMP_NTZ '2024-03-31 01:00:00')
dateadd(DAY, 1, TIMESTAMP '2024-03-30 02:30:00')
lpad('7', 2, '0')
lpad('2024', 2, '0')
lpad('a', 5, '')
rpad('ab', 5, 'xy')
lpad('7', -1, '0')
repeat('ab', 3)
right('2024', 2)
right('2024', 9)
replace('2024-03-01', '-', '')
replace('abc', '', 'x')
translate('abcab', 'aba', 'x')
reverse('aé😀')
length('aé😀')
concat_ws('-', '2024', '03')
format_string('%04d-%02d', 2024, 3)
format_string('%s/%d%s', 'a', -5L, 7)
"""


def test_a_function_of_constants_is_the_constant_that_spark_computes(spark):
    texts = CONSTANTS.splitlines()
    columns = [f"string({text}), typeof({text})" for text in texts]
    with zone_of(spark, "Europe/Paris"):
        row = spark.sql("SELECT " + ", ".join(columns)).collect()[0]
    clock = Clock(zones.zone("Europe/Paris"), 0)
    for text, theirs, kind in zip(texts, row[::2], row[1::2], strict=True):
        folded = bind(f"({text}) IS NULL", EVENTS, PARIS).expression.operand
        assert isinstance(folded, Literal), text
        ours = literals.convert(folded, STRING, clock)
        assert (ours.value, str(folded.type)) == (theirs, kind), text


PREDICATES = """\
ts >= '2024-03-01'
ts = '2024-03-01 13:34:56.789'
ts < TIMESTAMP '2024-10-27 02:30:00'
ts < '2024-10-27'
ts >= DATE '2024-03-01'
ntz >= '2024-03-01 12:34:56'
ntz < ts
ntz <= '2024-03-31 02:30:00 UTC'
ts > ntz
day = '2024-03-01'
day < '2024-03-01 12:00'
day < TIMESTAMP '2024-03-01 12:00:00'
day >= ts
day BETWEEN '2024' AND '2024-12-31'
price < 10.50
price < 10.505
price = 10.5
price < '10.5'
price < 1e1
price > id
id = '3'
id < 5.5
id = 3.0
id < 3000000000
id < 99999999999999999999
tiny < 1000
small > -40000
big = 9223372036854775807
big < 9223372036854775808
big = 9223372036854775807.0
f < 0.1
f = 0.1D
f >= 0.1F
f = -0.0
d > 5
d = double('NaN')
d IN (0.1, 2.5, double('NaN'))
id IN (1, 2, 3)
id IN (1, 3.0, NULL)
id NOT IN (1, NULL)
id NOT IN (1, 2.5)
name IN ('apple', 'x')
tiny IN (1, 300)
price IN (10.5, 11)
day IN ('2024-03-01', DATE '1969-12-31')
id IN (1, big, 3)
(id, name) IN ((3, 'apple'), (1, 'x'))
(id, name) = (3, 'apple')
id <=> NULL
id IS DISTINCT FROM 3
flag IS NOT TRUE
flag IS FALSE
flag = 'true'
NOT flag
name LIKE 'a%'
name LIKE 'a\\_b\\%c'
name LIKE 'a\\\\_b%'
name LIKE 'a!_b!%c' ESCAPE '!'
name LIKE '%\\_%'
name ILIKE 'APP%'
name NOT LIKE 'a%'
name LIKE ANY ('app%', 'x%')
name LIKE ALL ('a%', '%e')
id LIKE '3%'
name RLIKE '^a.p'
name = "apple"
Country = 'it\\'s'
country = 'it''s'
COUNTRY < 'e'
name > 'a\\u0070'
id + 1 > 3.5
id * -2 = -6
id / 2 = 1.5
id % 2 = 1
-id = -3
price * 2 = 21.0
price / 3 > 3.5
id + 1 - 1 = 3
- - id = 3
1 + 1 = 2
10 / 4 = 2.5
7 div 2 = 3
-7 % 3 = -1
1.10 + 2.205 = 3.305
ts + INTERVAL 1 DAY > '2024-03-02 13:00'
ts - INTERVAL '1 02:00:00' DAY TO SECOND < '2024-03-01'
TIMESTAMP '2024-03-30 02:30:00' + INTERVAL 1 DAY = TIMESTAMP '2024-03-31 03:30:00'
TIMESTAMP '2024-03-30 02:30:00' + INTERVAL 24 HOURS = TIMESTAMP '2024-03-31 03:30:00'
DATE '2024-01-31' + INTERVAL 1 MONTH = DATE '2024-02-29'
TIMESTAMP '2024-01-31 10:00:00' + INTERVAL '0-1' YEAR TO MONTH = '2024-02-29 10:00:00'
day + INTERVAL 7 DAYS > '2024-03-07'
day - 1 = '2024-02-29'
DATE '2024-03-01' - 1 = DATE '2024-02-29'
date_sub(DATE '2024-03-01', 1) = day
date_add(day, 1) = '2024-03-02'
add_months(DATE '2024-01-31', 1) = DATE '2024-02-29'
last_day(day) = '2024-03-31'
datediff(ts, day) = 0
datediff(DATE '2024-03-01', DATE '2024-02-01') = 29
date_trunc('MONTH', ts) = '2024-03-01'
date_trunc('week', ts) = '2024-02-26'
date_trunc('hour', TIMESTAMP '2024-10-27 02:30:00') = '2024-10-27 02:00:00'
date_trunc('month', ntz) = '2024-03-01'
date_trunc('hour', ntz) = TIMESTAMP_NTZ '2024-03-31 03:00:00'
date_trunc('hour', ntz) >= TIMESTAMP '2024-03-31 01:00:00Z'
date_trunc('hour', TIMESTAMP_NTZ '2024-03-31 02:30:00') = TIMESTAMP '2024-03-31 01:00:00Z'
date_trunc('day', ntz) < ts
trunc(day, 'quarter') = '2024-01-01'
trunc(DATE '2024-03-15', 'week') = '2024-03-11'
year(ts) = 2024
year(DATE '1969-12-31') = 1969
quarter(day) = 1
month(ts) = 3
dayofweek(DATE '2024-03-03') = 1
weekday(DATE '2024-03-03') = 6
dayofyear(DATE '2024-12-31') = 366
weekofyear(DATE '2021-01-03') = 53
weekofyear(DATE '2024-12-30') = 1
hour(ts) = 13
minute(ts) = 34
EXTRACT(DOW FROM day) = 6
EXTRACT(DOW_ISO FROM day) = 5
date_part('week', ts) = 9
to_date(ts) = '2024-03-01'
date(ts) = '2024-03-01'
CAST(ts AS DATE) = '2024-10-27'
to_date('01/03/2024', 'dd/MM/yyyy') = day
to_timestamp('2024-03-01 13', 'yyyy-MM-dd HH') < ts
unix_timestamp(ts) = 1709296496
unix_timestamp(DATE '2024-03-01') = 1709247600
unix_timestamp('2024-03-01 12:34:56') = 1709292896
unix_timestamp('01/03/2024', 'dd/MM/yyyy') = 1709247600
to_unix_timestamp('2024-10-27 02:30:00') = big
unix_timestamp(ts, 'yyyy') = 1709296496
make_date(2024, 2, 29) < day
make_date(year(DATE '2023-03-01'), 1, 1) < day
make_date(24, 2, 29) < day
unix_millis(ts) = 1709296496789
unix_date(day) = -1
timestamp_seconds(1709296496) < ts
timestamp_millis(big) > '1970-01-01'
from_unixtime(big) > '1970'
from_unixtime(price) > '1970'
months_between(ts, day, false) > 1
price IS DISTINCT FROM CAST(CAST('NaN' AS FLOAT) AS DECIMAL(10,2))
date_format(ts, 'yyyy-MM') = '2024-03'
CAST('2024-03-01' AS TIMESTAMP) <= ts
CAST('2024-03-01 00:00:00' AS DATE) = day
CAST(id AS STRING) = '3'
CAST(10.5 AS STRING) = '10.5'
CAST(DATE '2024-03-01' AS STRING) < name
CAST(2.5 AS INT) = 2
CAST(2.345 AS DECIMAL(3,2)) = 2.35
CAST(id AS BIGINT) = big - 1 OR id = 3
TRY_CAST(name AS INT) = 5
TRY_CAST('x' AS INT) IS NULL
try_cast(id AS TINYINT) = 3
coalesce(id, 0) = 0
coalesce(id, big, 5) > 4
nvl(name, 'none') = 'none'
nvl2(name, 1, 2) = 2
nullif(id, 3) IS NULL
nullif(price, 10.5) IS NULL
if(flag, id, price) > 5
CASE WHEN id > 2 THEN 'big' WHEN id < 0 THEN 'neg' END = 'big'
CASE id WHEN 3 THEN 1 WHEN 4.0 THEN 2 ELSE 3.5 END > 1
decode(id, 3, 'x', NULL, 'y', 'z') = 'y'
least(id, 5) = 3
greatest(id, big, 2.5) = 4
lower(name) = 'apple'
upper('abc') = 'ABC'
trim('  x ') = 'x'
length(name) = 5
substring(name, 2, 3) = 'ppl'
substring(name, -2, 1) = 'l'
substring('apple', 0, 2) = 'ap'
substr(name, 2) = 'pple'
left(name, 2) = 'ap'
right(name, 2) = 'le'
concat(name, '-', id) = 'apple-3'
name || Country = 'appleDE'
startswith(name, 'ap')
endswith(name, 'le')
contains(name, 'pp')
instr(name, 'p') = 2
locate('p', name) = 2
replace(name, 'p', 'b') = 'abble'
raw = X'1F'
raw = 'abc'
raw > X'00'
floor(price) = 10
ceil(2.5) = 3
floor(-2.5D) = -3
round(price) = 11
abs(id) = 3
abs(-2.5) = 2.5
pmod(id, 2) = 1
isnan(d)
isnull(id)
id IS NULL OR name IS NOT NULL AND flag
NOT (id = 3 OR name = 'x')
id BETWEEN 1 AND 5.5
id NOT BETWEEN 1 AND 2
price BETWEEN '1' AND 20
NULL
id = NULL
id = NULL OR flag
true
flag AND 'true'
1 = 1
""".splitlines()


def test_a_predicate_bound_and_rendered_selects_what_it_selected(spark):
    schema = Schema(tuple(f for f in EVENTS.fields if f.name not in NOT_IN_SPARK))
    bound = {text: bind(text, schema, PARIS).expression for text in PREDICATES}
    assert [text for text, expression in bound.items() if isinstance(expression, Opaque)] == []
    texts = [*PREDICATES, *map(to_sql, bound.values())]
    with zone_of(spark, PARIS.timezone):
        rows = rows_of(spark).selectExpr(*(f"boolean({text})" for text in texts)).collect()
    results = [[row[i] for row in rows] for i in range(len(texts))]
    written = dict(zip(PREDICATES, results[: len(PREDICATES)], strict=True))
    rendered = dict(zip(PREDICATES, results[len(PREDICATES) :], strict=True))
    assert rendered == written


def test_decimal_literals_keep_their_digits(spark):
    texts = ("0.01", "10.50", "00.5", "1.", ".5", "12345678901234567890.123456789")
    theirs = [analysed(spark, text) for text in texts]
    assert [str(literals.exact_decimal(Decimal(text)).type) for text in texts] == theirs
