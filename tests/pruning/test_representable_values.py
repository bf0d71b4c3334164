"""Literals between the values of a type: nothing equals them, wherever the bounds are."""

from __future__ import annotations

from decimal import Decimal

import pytest

from soundness.files import ALL, NONE, SOME, column
from whyscan.tree.types import FLOAT, INT, DecimalType

WHOLE = column(INT, [1, 9])
PRICES = column(DecimalType(9, 2), [Decimal("1.25"), Decimal("9.75")])
CASES = [
    (WHOLE, "x = 5.5", NONE),
    (WHOLE, "5.5D <=> x", NONE),
    (WHOLE, "x <> 5.5", ALL),
    (WHOLE, "x = 5.0", SOME),
    (WHOLE, "x < 5.5", SOME),
    (WHOLE, "x IN (5.5, 6.5)", NONE),
    (WHOLE, "x IN (5.5, 1)", SOME),
    (WHOLE, "x NOT IN (5.5, 6.5)", ALL),
    (WHOLE, "x IN (5.5, NULL)", NONE),
    (WHOLE, "x NOT IN (5.5, NULL)", NONE),
    (WHOLE, "try_cast(x AS DOUBLE) = CAST('NaN' AS DOUBLE)", NONE),
    (PRICES, "x = 5.255", NONE),
    (PRICES, "x = 5.2500", SOME),
    (PRICES, "x IN (5.255)", NONE),
    (PRICES, "x = 5.25D", SOME),
]


@pytest.mark.parametrize(("file", "sql", "expected"), CASES, ids=[sql for _, sql, _ in CASES])
def test_a_literal_beside_the_grid_equals_nothing(file, sql, expected):
    assert file.verdict(sql) is expected


def test_a_float_is_not_held_to_the_grid():
    """In DuckDB 5.2::FLOAT = 5.2."""
    assert column(FLOAT, [1.5, 9.5]).verdict("x = 5.2") is SOME
