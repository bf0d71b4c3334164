"""Conditions without a position in the text are shown in a form close to the original."""

import pytest
import sqlglot

from whyscan.predicate.syntax.parse import sql_of

CASES = [
    ("spark", "x >= DATE '2024-03-01'", "x >= DATE '2024-03-01'"),
    ("spark", "x < TIMESTAMP '2024-03-01 12:00:00'", "x < TIMESTAMP '2024-03-01 12:00:00'"),
    ("spark", "x < TIMESTAMP_NTZ '2024-03-01'", "x < TIMESTAMP_NTZ '2024-03-01'"),
    ("spark", "x >= CAST('2024-03-01' AS DATE)", "x >= CAST('2024-03-01' AS DATE)"),
    ("spark", "CAST(x AS DATE) = DATE '2024-03-01'", "CAST(x AS DATE) = DATE '2024-03-01'"),
    ("spark", "x IN (DATE '2024-03-01', NULL)", "x IN (DATE '2024-03-01', NULL)"),
    ("trino", "x >= DATE '2024-03-01'", "x >= DATE '2024-03-01'"),
    ("trino", "x < TIMESTAMP '2024-03-01 12:00:00'", "x < TIMESTAMP '2024-03-01 12:00:00'"),
    ("duckdb", "x >= DATE '2024-03-01'", "x >= DATE '2024-03-01'"),
    ("snowflake", "x >= DATE '2024-03-01'", "x >= DATE '2024-03-01'"),
    ("postgres", "x > DATE '2024-03-01' AND y = 'it''s'", "x > DATE '2024-03-01' AND y = 'it''s'"),
]


@pytest.mark.parametrize(("dialect", "text", "shown"), CASES)
def test_a_typed_literal_is_shown_as_one(dialect, text, shown):
    assert sql_of(sqlglot.parse_one(text, read=dialect), dialect) == shown
