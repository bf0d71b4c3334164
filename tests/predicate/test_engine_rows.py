# ruff: noqa: SIM905  a case is a line, words are words
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

from predicate.documented_meanings import documented
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
CAST(make_date(i, k, 2) AS VARCHAR)
"""


@pytest.mark.parametrize("expression", ONCE_WRONG.strip().splitlines())
def test_what_was_lost_once_is_not_lost_in_duckdbs_dialect(engine, expression):
    assert lost(expression, engine) == []


@pytest.mark.parametrize(("dialect", "expression", "meaning"), list(documented()))
def test_no_row_is_lost_by_the_documented_meaning_of_a_dialect(
    engine, dialect, expression, meaning
):
    assert engine.values(meaning) is not None
    assert lost(expression, engine, dialect, meaning) == []
