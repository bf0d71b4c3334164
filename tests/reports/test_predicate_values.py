"""What a predicate asks of a column, said as people would."""

from dataclasses import replace

import pytest

from support.lakes import one_file
from support.memory_table import RowGroup
from support.reports import explain
from whyscan.reports.predicate_values import domain_in_words
from whyscan.tree.types import BINARY, BOOLEAN, DATE, DOUBLE, INT, STRING, TIMESTAMP, DecimalType

LISTED = ", ".join(map(str, range(0, 80, 2)))
BOUNDS = {DATE: (0, 9), INT: (0, 9), TIMESTAMP: (0, 9), DOUBLE: (0.0, 9.0), BOOLEAN: (False, True)}


@pytest.mark.parametrize(
    ("kind", "predicate", "said"),
    [
        (INT, "x = 5", "5"),
        (INT, "x > 40", "at least 41"),
        (INT, "x < 40", "at most 39"),
        (INT, "x BETWEEN 3 AND 7 OR x = 9", "at least 3 and at most 7 or 9"),
        (INT, "x <> 3", "at most 2 or at least 4"),
        (INT, "x > 5 AND x < 3", "no value at all"),
        (INT, "x IS NULL", "NULL"),
        (INT, "x IS NULL OR x = 1", "1 or NULL"),
        (INT, "x IS NOT NULL", "any value"),
        (DOUBLE, "x > 1.5", "above 1.5 or NaN"),
        (DOUBLE, "x <= 400", "at most 400"),
        (DOUBLE, "x < 400", "below 400"),
        (DecimalType(9, 2), "x > 1.5", "at least 1.51"),
        (DATE, "x > '2024-02-01'", "at least 2024-02-02"),
        (DATE, "x < '2024-03-01'", "at most 2024-02-29"),
        (TIMESTAMP, "x < '2024-03-01'", "below 2024-03-01T00:00:00Z"),
        (TIMESTAMP, "x <= '2024-03-01'", "at most 2024-03-01T00:00:00Z"),
        (STRING, "x = 'DE'", "'DE'"),
        (STRING, "x > 'DE'", "above 'DE'"),
        (STRING, "x <= 'DE'", "at most 'DE'"),
        (STRING, "x LIKE 'a%'", "what starts with 'a'"),
        (STRING, "x LIKE '%'", "any value"),
        (STRING, "x = '\u202e'", "'\\u202e'"),
        (BINARY, "x = X'ff00'", "ff00"),
        (BOOLEAN, "x", "true"),
        (BOOLEAN, "NOT x", "false"),
        (INT, f"x IN ({LISTED})", "0 or 2 or 4 or 6 or 8 or 10 or 34 more"),
    ],
)
def test_a_domain_is_said_in_few_words(kind, predicate, said):
    bounds = {"x": BOUNDS[kind]} if kind in BOUNDS else {}
    table = replace(one_file(kind, RowGroup(1, bounds)), footers_describe_files=False)

    (column,) = explain(table, predicate, verbose=True).listing.ranges

    assert domain_in_words(column.domain) == said
