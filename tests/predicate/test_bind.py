# ruff: noqa: E501  a case is a line
"""Predicates of Spark and the SQL of their bound trees, which shows casts and types."""

import pyarrow as pa
import pytest

from predicate.schemas import EVENTS
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.tree.nodes import Column, Comparison, In, Literal, Opaque, type_of
from whyscan.tree.rendering import to_sql
from whyscan.tree.types import BIGINT, INT, STRING

NOON = Session("spark", "UTC", 1_709_294_400_000_000)  # 2024-03-01 12:00:00

CASES = r"""
ts >= '2024-03-01'                              | ts >= TIMESTAMP '2024-03-01 00:00:00Z'
ts >= '2024-03-01 01:00:00+02:00'               | ts >= TIMESTAMP '2024-02-29 23:00:00Z'
ntz >= '2024-03-01 01:00:00+02:00'              | ntz >= TIMESTAMP_NTZ '2024-03-01 01:00:00'
ns >= '2024-03-01 00:00:00.123456789'           | ns >= '2024-03-01 00:00:00.123456789Z'
ns >= '3000-01-01'                              | CAST(ns AS TIMESTAMP) >= TIMESTAMP '3000-01-01 00:00:00Z'
day = DATE '2024-03-01'                         | day = DATE '2024-03-01'
day < ts                                        | CAST(day AS TIMESTAMP) < ts
price < 10.50                                   | price < 10.50
price < 10.505                                  | CAST(price AS DECIMAL(11,3)) < 10.505
id = '5'                                        | id = 5L
id < 5.5                                        | CAST(id AS DECIMAL(11,1)) < 5.5
id = 5.0                                        | id = 5L
id = 3000000000                                 | id = 3000000000
tiny < 1000                                     | tiny < 1000
id < 99999999999999999999                       | true
id >= 99999999999999999999                      | false
id = 99999999999999999999                       | CAST(id AS DECIMAL(20,0)) = 99999999999999999999BD
name = 5                                        | CAST(name AS BIGINT) = 5
name > 5.5                                      | CAST(name AS DOUBLE) > 5.5D
f < 0.1                                         | f < 0.1D
5 < id                                          | 5 < id
key = '123E4567-e89b-12d3-a456-426614174000'    | key = '123e4567-e89b-12d3-a456-426614174000'
a.b.c = 1                                       | a.b.c = 1
A.B.`D E` = 'x'                                 | a.b.`d e` = 'x'
a.b['c'] = 1                                    | a.b.c = 1
`a.b` = 'x'                                     | `a.b` = 'x'
events.COUNTRY = 'DE'                           | Country = 'DE'
db.events.a.b.c = 1                             | a.b.c = 1
_metadata.file_path LIKE '%/x/%'                | _metadata.file_path LIKE '%/x/%'
_FILE = 'x'                                     | _metadata.file_path = 'x'
_metadata.file_size > 5                         | _metadata.file_size > 5
id IS DISTINCT FROM 5                           | NOT (id <=> 5)
id IS NOT DISTINCT FROM 5                       | id <=> 5
flag IS UNKNOWN                                 | flag IS NULL
flag IS NOT TRUE                                | NOT (flag <=> true)
NOT NOT flag                                    | flag
id != 5                                         | id <> 5
id NOT IN (1, 2)                                | id NOT IN (1, 2)
id IN (2, NULL, 1, 2.0)                         | id IN (1, 2, NULL)
id IN (1, 2.5)                                  | CAST(id AS DECIMAL(11,1)) IN (1.0, 2.5)
id IN (1, big)                                  | id = 1L OR id = big
d IN (-0.0, 0, 'NaN')                           | d IN (0.0D, CAST('NaN' AS DOUBLE))
(id, name) IN ((1, 'x'), (2, 'y'))              | (id <=> 1 AND name <=> 'x') OR (id <=> 2 AND name <=> 'y')
id BETWEEN 1 AND 2.5                            | id >= 1 AND CAST(id AS DECIMAL(11,1)) <= 2.5
id BETWEEN SYMMETRIC 5 AND 1                    | id BETWEEN 5 AND 1 OR id BETWEEN 1 AND 5
name LIKE 'foo\_%'                              | name LIKE 'foo\\_%'
name NOT ILIKE 'x!%' ESCAPE '!'                 | name NOT ILIKE 'x!%' ESCAPE '!'
name LIKE ANY ('a%', 'b%')                      | name LIKE 'a%' OR name LIKE 'b%'
id LIKE '1%'                                    | CAST(id AS STRING) LIKE '1%'
id / 2 = 1                                      | CAST(id AS DOUBLE) / 2.0D = 1.0D
price * 2 > 21                                  | price * 2BD > 21.00
-id = 5                                         | negative(id) = 5
id = -5                                         | id = -5
big = -9223372036854775808                      | big = -9223372036854775808
1 + 2 * 3 = id                                  | 7 = id
id = 1 / 0                                      | CAST(id AS DOUBLE) = 1.0D / 0.0D
ts > now() - INTERVAL 7 DAYS                    | ts > TIMESTAMP '2024-02-23 12:00:00Z'
day >= current_date() - 7                       | day >= DATE '2024-02-23'
day >= date_sub(current_date, 7)                | day >= DATE '2024-02-23'
day = 'yesterday'                               | day = DATE '2024-02-29'
ts < CAST('2024-03-01' AS DATE)                 | ts < TIMESTAMP '2024-03-01 00:00:00Z'
to_date('2024-03-01') = day                     | DATE '2024-03-01' = day
day + INTERVAL 7 HOURS > ts                     | CAST(day AS TIMESTAMP) + INTERVAL '7' HOUR > ts
EXTRACT(YEAR FROM ts) = 2024                    | year(ts) = 2024
date_trunc('MON', day) = '2024-03-01'           | date_trunc('month', CAST(day AS TIMESTAMP)) = TIMESTAMP '2024-03-01 00:00:00Z'
if(flag, id, big) = 1                           | CASE WHEN flag THEN id ELSE big END = 1
CASE id WHEN 1 THEN 'x' END = 'x'               | CASE WHEN id = 1 THEN 'x' END = 'x'
nvl(name, 'x') = 'y'                            | coalesce(name, 'x') = 'y'
name || 'a' || name = 'b'                       | concat(name, 'a', name) = 'b'
instr(name, 'ab') = 1                           | startswith(name, 'ab')
1 <> position('ab' IN name)                     | NOT startswith(name, 'ab')
instr(name, '') = 1                             | instr(name, '') = 1
instr(name, 'ab') = 2                           | instr(name, 'ab') = 2
name = 'it''s' AND Country = 'a' 'b'            | name = 'it\'s' AND Country = 'ab'
raw = 'abc'                                     | raw = X'616263'
TRY_CAST(name AS INT) = 5                       | TRY_CAST(name AS INT) = 5
CAST(id AS BIGINT) = 5                          | id = 5L
CAST(id AS BIGINT) + 1 = 5                      | CAST(id AS BIGINT) + 1 = 5
CAST(big AS INT) = 5                            | CAST(big AS INT) = 5
flag = 'yes'                                    | flag = true
(flag = true) = (id = 1)                        | (flag = true) = (id = 1)
"""


def cases(table):
    return [
        tuple(part.strip() for part in line.rsplit(" | ", 1)) for line in table.strip().splitlines()
    ]


def shown(text, session=NOON):
    return " AND ".join(to_sql(c.expression) for c in bind(text, EVENTS, session).conjuncts)


@pytest.mark.parametrize(("text", "expected"), cases(CASES))
def test_spark_binds_as(text, expected):
    assert shown(text) == expected


def test_the_session_zone_places_literals_without_one():
    assert shown("ts >= '2024-03-01'", Session("spark", "Europe/Paris")) == (
        "ts >= TIMESTAMP '2024-02-29 23:00:00Z'"
    )


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2024-03-31 02:30:00", "2024-03-31 01:30:00Z"),  # in the gap: an hour on
        ("2024-10-27 02:30:00", "2024-10-27 00:30:00Z"),  # in the overlap: the earlier one
    ],
)
def test_literals_in_a_gap_or_an_overlap_are_read_as_java_reads_them(text, instant):
    paris = Session("spark", "Europe/Paris")
    assert shown(f"ts = '{text}'", paris) == f"ts = TIMESTAMP '{instant}'"


def test_now_is_reported_only_where_the_text_asks_for_it():
    assert bind("ts < now()", EVENTS, NOON).now == NOON.now
    assert bind("ts < 'today'", EVENTS, NOON).now == NOON.now
    assert bind("ts < '2024-03-01'", EVENTS, NOON).now is None


def test_conjuncts_are_flat_and_keep_their_text():
    predicate = bind(
        "id = 1 AND (name = 'x' AND (day BETWEEN '2024-01-01' AND '2024-02-01'))\n"
        "  AND (flag OR id > 5) AND CASE WHEN flag AND id = 1 THEN true END /* hint */",
        EVENTS,
    )
    assert [c.sql for c in predicate.conjuncts] == [
        "id = 1",
        "name = 'x'",
        "(day BETWEEN '2024-01-01' AND '2024-02-01')",
        "(flag OR id > 5)",
        "CASE WHEN flag AND id = 1 THEN true END",
    ]


def test_a_list_is_sorted_and_distinct_in_the_type_of_its_column():
    (conjunct,) = bind("id IN (3, 1, 2, 3, NULL)", EVENTS).conjuncts
    expression = conjunct.expression
    assert isinstance(expression, In)
    assert (expression.values.to_pylist(), expression.values.type) == ([1, 2, 3], pa.int64())
    assert (expression.null, expression.nan) == (True, False)


@pytest.mark.parametrize("literal", ["{}", "'k{}'", "DATE '2024-01-{:02}'", "-{}", "{}.25"])
def test_a_long_list_binds_like_a_short_one(literal):
    column = {"'": "name", "D": "day"}.get(literal[0], "price" if "." in literal else "id")
    values = [literal.format(1 + i % 28) for i in range(40)]
    longer = bind(f"{column} IN ({', '.join(values)})", EVENTS).expression
    shorter = bind(" OR ".join(f"{column} IN ({v})" for v in values), EVENTS).expression
    each = [part.values for part in shorter.operands]
    assert longer.values.to_pylist() == sorted({v for a in each for v in a.to_pylist()})
    assert longer.values.type == each[0].type


def test_types_are_kept_on_literals_and_columns():
    (conjunct,) = bind("id = '5'", EVENTS).conjuncts
    match conjunct.expression:
        case Comparison(_, Column(("id",), kind), Literal(value, literal_kind)):
            assert (kind, value, literal_kind) == (INT, 5, BIGINT)
        case other:
            pytest.fail(f"not a comparison: {other}")


OPAQUE = """\
my_udf(id) = 1                      | the function my_udf is not known    | id
id IN (SELECT x FROM t)             | a subquery                          | id
EXISTS (SELECT 1 FROM t)            | EXISTS                              |
id = (SELECT max(x) FROM t)         | a subquery                          | id
tags[0] = 'x'                       | a member of something computed      | tags
tags = tags                         | values of type array<string> are not compared | tags
rand() < 0.5                        | rand is not deterministic           |
exists(tags, t -> t = name)         | EXISTS                              | tags, name
name LIKE Country                   | a pattern that is not a string literal | name, Country
name COLLATE utf8_lcase = 'x'       | a collation                         | name
ts - ts > INTERVAL 1 DAY            | arithmetic on times other than with an interval | ts
unix_timestamp(name, 'yyyy') = 1    | a time read by a format             | name
make_date(2024, 2, 30) = day        | a date that is none                 | day
id & 1 ^ 2 = 1                      | operators on bits whose order is not written | id
id << 1 = 2                         | bitwiseleftshift is not supported   | id
timestampdiff(HOUR, ts, ts) = 1     | the function timestampdiff is not known | ts
_metadata.file_block_start = 0      | where in its file a split begins    |
(id, big) < (1, 2)                  | an order of tuples                  | id, big
""".splitlines()


@pytest.mark.parametrize("line", OPAQUE)
def test_an_unknown_expression_is_opaque_with_its_columns(line):
    text, why, columns = (part.strip() for part in line.split("|"))
    (conjunct,) = bind(text, EVENTS).conjuncts
    expression = conjunct.expression
    assert isinstance(expression, Opaque)
    assert expression.reason == why
    assert ", ".join(".".join(c.path) for c in expression.columns) == columns


def test_only_the_smallest_condition_is_opaque():
    text = "id = 1 OR (flag AND NOT my_udf(name) = 'x') OR CASE WHEN my_udf(id) THEN flag END"
    assert shown(text) == (
        "id = 1 OR (flag AND NOT (my_udf(name) = 'x')) OR CASE WHEN my_udf(id) THEN flag END"
    )


def test_functions_carry_their_type():
    (conjunct,) = bind("lower(name) > 'a'", EVENTS).conjuncts
    assert type_of(conjunct.expression.left) == STRING


@pytest.mark.parametrize(
    "text", ["regexp_replace(name, 'a', 'b', 1) = 'x'", "to_date(id) > day", "to_date(price) = day"]
)
def test_a_call_that_spark_accepts_is_opaque_and_not_refused(text):
    (conjunct,) = bind(text, EVENTS).conjuncts

    assert isinstance(conjunct.expression, Opaque)
