# ruff: noqa: SIM905  a case is a line, words are words
"""Constants at the limits of their types raise no errors other than those of whyscan.

A predicate that the binder accepts can be rendered and evaluated.
"""

import itertools

import pytest

from predicate.engine_rows import COLUMNS, bound, is_opaque, verdicts
from whyscan.errors import WhyscanError
from whyscan.predicate.binding import dialect_calls
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.tree.rendering import to_sql

EXTREMES = """
NULL
CAST('NaN' AS DOUBLE)
CAST('Infinity' AS DOUBLE)
CAST('-Infinity' AS FLOAT)
1.7976931348623157e308
-4.9e-324
0
-1
2147483647
-2147483648
9223372036854775807
-9223372036854775808
99999999999999999999999999999999999999
-0.00000000000000000000000000000000000001
CAST('99999999999999999999999999999999999.999' AS DECIMAL(38,3))
''
'a'
'9999999999999999999999999999999999999999999'
'0000-01-01'
'294247-01-10T04:00:54.775807Z'
DATE '0000-01-01'
DATE '9999-12-31'
CAST('5881580-07-11' AS DATE)
CAST('-5877641-06-23' AS DATE)
CAST('9999999-01-01' AS DATE)
TIMESTAMP '9999-12-31 23:59:59.999999'
TIMESTAMP '294247-01-10 04:00:54.775807'
TIMESTAMP '-290308-12-21 19:59:05.224192'
timestamp_micros(9223372036854775807)
true
X''
INTERVAL '1' DAY
INTERVAL '178956970-7' YEAR TO MONTH
INTERVAL '106751991 04:00:54.775807' DAY TO SECOND
""".strip().splitlines()
TYPES = (
    "BOOLEAN TINYINT INT BIGINT FLOAT DOUBLE DECIMAL(38,38) STRING DATE TIMESTAMP BINARY".split()
)
DIALECTS = {"spark": DialectFamily.SPARK, "duckdb": DialectFamily.DUCKDB}


def escaped(predicate, dialect):
    """The predicate and its error, if the error is not one of whyscan; else None."""
    try:
        bound_predicate = bound(predicate, dialect, "America/New_York")
        if not is_opaque(bound_predicate):
            assert [to_sql(conjunct.expression) for conjunct in bound_predicate.conjuncts]
            list(verdicts(bound_predicate, "America/New_York"))
    except WhyscanError:
        return None
    except Exception as error:  # noqa: BLE001  the test looks for any other error
        return predicate, repr(error)
    return None


def names(dialect):
    return sorted({*dialect_calls._OF_FAMILY[DIALECTS[dialect]], *dialect_calls._COMMON})


def cases():
    for dialect in DIALECTS:
        for extreme in EXTREMES:
            yield f"{dialect} columns {extreme}", dialect, [f"{c} < {extreme}" for c in COLUMNS]
            texts = [f"s = CAST(CAST({extreme} AS {kind}) AS STRING)" for kind in TYPES]
            yield f"{dialect} casts {extreme}", dialect, texts
            called = [f"{name}({extreme}) IS NULL" for name in names(dialect)]
            yield f"{dialect} calls {extreme}", dialect, called
            others = EXTREMES[len(extreme) % 3 :: 3]
            pairs = itertools.product(("+", "*", "/", "%"), others)
            folded = [f"{extreme} {operator} {other} IS NULL" for operator, other in pairs]
            yield f"{dialect} arithmetic {extreme}", dialect, folded


CASES = {name: (dialect, predicates) for name, dialect, predicates in cases()}
ONCE_RAISED = """
floor(CAST('NaN' AS DOUBLE)) > i
ceil(CAST('Infinity' AS DOUBLE)) > i
CAST(1.7976931348623157e308 AS TIMESTAMP) IS NULL
date_from_unix_date(9223372036854775807) = d
concat_ws(NULL) = s
127Y * 99999999999999999999999999999999999999 IS NULL
l * 99999999999999999999999999999999999999 > 1
-1 / -0.00000000000000000000000000000000000001 IS NULL
""".strip().splitlines()


@pytest.mark.parametrize("case", CASES)
def test_no_foreign_error_escapes_the_binder_or_the_evaluator(case):
    dialect, predicates = CASES[case]

    assert [error for predicate in predicates if (error := escaped(predicate, dialect))] == []


@pytest.mark.parametrize("predicate", ONCE_RAISED)
def test_what_raised_once_does_not(predicate):
    assert escaped(predicate, "spark") is None


def test_division_by_text_is_opaque_in_duckdbs_dialect():
    assert is_opaque(bound("-0.0 % s IS NULL", "duckdb"))
