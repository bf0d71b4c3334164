"""What follows from constants holds of every combination of rows of which the conditions hold."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from oracle.dice import tried
from oracle.rows import evaluate_row
from whyscan.statements.placement.facts import Fact, spread
from whyscan.tree.nodes import (
    Arithmetic,
    Between,
    Column,
    Comparator,
    Comparison,
    Literal,
    Operation,
    Or,
)
from whyscan.tree.types import INT

COLUMNS = [Column((key, name), INT) for key, name in ("ax", "ay", "bx", "cx")]
VALUES = (None, 0, 1, 2)
ROWS = [
    {column.path: value for column, value in zip(COLUMNS, values, strict=True)}
    for values in itertools.product(VALUES, repeat=len(COLUMNS))
]

columns = st.sampled_from(COLUMNS)
literals = st.integers(0, 2).map(lambda value: Literal(value, INT))
signs = st.sampled_from([Operation.ADD, Operation.SUBTRACT])
sums = st.tuples(signs, columns, st.one_of(literals, columns)).map(lambda p: Arithmetic(*p, INT))
operands = st.one_of(columns, columns, literals, sums)
comparisons = st.tuples(st.sampled_from(Comparator), operands, operands).map(
    lambda parts: Comparison(*parts)
)
constants = st.tuples(columns, literals).map(lambda p: Comparison(Comparator.EQUAL, *p))
ranges = st.tuples(columns, operands, operands).map(lambda parts: Between(*parts))
either = st.tuples(comparisons, comparisons).map(Or)
conditions = st.lists(
    st.one_of(constants, constants, comparisons, ranges, either), min_size=2, max_size=5
)


@tried(150)
@given(conditions)
def test_what_follows_is_true_wherever_the_conditions_are(written):
    facts = [Fact(expression, str(at)) for at, expression in enumerate(written)]
    derived = [fact.expression for fact in spread(facts, lambda _: ())[len(facts) :]]
    for row in ROWS:
        if all(evaluate_row(expression, row, "UTC") is True for expression in written):
            wrong = [e for e in derived if evaluate_row(e, row, "UTC") is not True]
            assert not wrong, f"{wrong} does not hold of {row}"
