"""What a predicate makes of rows, against brute force: the same, or an error, never a guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from oracle.cases import Example, examples
from oracle.dice import tried
from whyscan.errors import EvaluationProblem
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.scan.rows import FileRows, matching
from whyscan.tree import arrow
from whyscan.tree.nodes import And, Column
from whyscan.tree.types import DATE, DOUBLE, INT, STRING, Field, Schema
from whyscan.tree.zones import zone

if TYPE_CHECKING:
    from collections.abc import Sequence


def rows_of(columns: dict[Column, Sequence], name: str = "UTC") -> FileRows:
    arrays = {column: arrow.array(values, column.type) for column, values in columns.items()}
    return FileRows(len(next(iter(arrays.values()))), arrays, {}, zone(name))


def conjuncts(expression):
    return expression.operands if isinstance(expression, And) else (expression,)


def answers(example: Example):
    """Whether each row matches, None where somebody has to say that he cannot tell."""
    everything = [row for container in example.world.rows for row in container]
    columns = {
        Column(path, kind): [row[path] for row in everything]
        for path, kind in example.world.schema.items()
    }
    if not everything:
        return []
    rows = rows_of(columns, example.world.zone)
    try:
        return matching(conjuncts(example.predicate), rows).tolist()
    except EvaluationProblem:
        return None


@tried(600)
@given(examples())
def test_a_row_matches_only_if_the_predicate_can_be_true_of_it_and_stays_out_only_if_it_can_not(
    example,
):
    outcomes = answers(example)
    if outcomes is None:
        return
    allowed = [may for container in example.possible() for may in container]
    for matches, may in zip(outcomes, allowed, strict=True):
        # An empty set: the oracle does not know the function.
        assert not may or (True in may if matches else may - {True}), (matches, may)


DECIDED = {
    "s IN ('b', 'zz', NULL)": [False, False, True, False],
    "NOT s IN ('b', 'zz')": [True, False, False, True],
    "s LIKE '%é%'": [False, False, False, True],
    "upper(s) = 'A'": [True, False, False, False],
    "length(s) = 2": [False, False, False, True],
    "s RLIKE '^[ab]$' AND n > 0": [True, False, False, False],
    "year(d) = 1970 AND d < '1970-01-03'": [True, True, False, False],
    "n % 2 = 1": [True, False, False, False],
    "n <> 0 AND 10 / n > 4": [True, False, False, False],
    "10 / n > 4 AND n <> 0": [True, False, False, False],
    "n = 0 OR 10 / n > 4": [True, False, True, False],
    "x > 1": [False, True, False, True],
    "x = double('NaN')": [False, True, False, False],
    "s IS NULL OR rand() < 0": None,
    "10 / n > 4": None,
    "s IS NULL OR (s = 'a' AND n = 1)": [True, True, False, False],
}
COLUMNS = {
    Column(("s",), STRING): ["a", None, "b", "dé"],
    Column(("n",), INT): [1, None, 0, -4],
    Column(("x",), DOUBLE): [1.0, float("nan"), None, 2.5],
    Column(("d",), DATE): [0, 1, 400, None],
}
SCHEMA = Schema(tuple(Field(column.path[0], column.type) for column in COLUMNS))


@pytest.mark.parametrize("dialect", ["trino", "bigquery"])
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("x > 1", [False, False, False, True]),
        ("NOT (x > 1)", [True, True, False, False]),
        ("x <> 1", [False, True, False, True]),
        ("x = x", [True, False, False, True]),
        ("NOT (x BETWEEN 2 AND 3)", [True, True, False, False]),
    ],
)
@pytest.mark.parametrize("times", [1, 5000])
def test_rows_with_nan_match_as_where_nan_is_unordered(sql, expected, dialect, times):
    rows = rows_of({column: values * times for column, values in COLUMNS.items()})
    conditions = [c.expression for c in bind(sql, SCHEMA, Session(dialect)).conjuncts]

    assert matching(conditions, rows).tolist() == expected * times


@pytest.mark.parametrize(("sql", "expected"), DECIDED.items())
@pytest.mark.parametrize("times", [1, 5000])
def test_rows_match_as_in_spark_or_are_said_to_be_undecided(sql, expected, times):
    rows = rows_of({column: values * times for column, values in COLUMNS.items()})
    conditions = [conjunct.expression for conjunct in bind(sql, SCHEMA).conjuncts]

    if expected is None:
        with pytest.raises(EvaluationProblem, match="cannot evaluate"):
            matching(conditions, rows)
    else:
        assert matching(conditions, rows).tolist() == expected * times


def test_the_error_names_the_part_that_cannot_be_evaluated():
    rows = rows_of(COLUMNS)
    conditions = [c.expression for c in bind("n > -9 AND (s = 'a' OR 1 / n > 4)", SCHEMA).conjuncts]

    with pytest.raises(EvaluationProblem, match=r"1.0D / CAST\(n AS DOUBLE\) > 4.0D on the"):
        matching(conditions, rows)


@tried(200)
@given(examples(certain=True))
def test_looking_at_distinct_values_once_changes_nothing(example):
    """Thousands of the same rows are judged as one of each."""
    once = answers(example)
    everything = [row for container in example.world.rows for row in container]
    if not everything:
        return
    columns = {
        Column(path, kind): [row[path] for row in everything] * (5000 // len(everything) + 1)
        for path, kind in example.world.schema.items()
    }
    try:
        matched = matching(conjuncts(example.predicate), rows_of(columns, example.world.zone))
    except EvaluationProblem:
        assert once is None
    else:
        assert matched[: len(everything)].tolist() == once
