"""A long chain of equalities becomes an IN list, which is evaluated much faster."""

from __future__ import annotations

from whyscan.predicate.binding.bind import bind
from whyscan.predicate.binding.comparisons import LONG_DISJUNCTION
from whyscan.tree.nodes import Comparison, In, Or
from whyscan.tree.types import BIGINT, STRING, Field, Schema

SCHEMA = Schema((Field("i", BIGINT), Field("s", STRING)))


def test_a_long_chain_of_equalities_is_a_list() -> None:
    expression = bind(" OR ".join(f"i = {n}" for n in range(LONG_DISJUNCTION)), SCHEMA).expression
    assert isinstance(expression, In)
    assert expression.values.to_pylist() == list(range(LONG_DISJUNCTION))
    assert not expression.null


def test_null_in_the_chain_is_null_in_the_list() -> None:
    chain = [*(f"i = {n}" for n in range(LONG_DISJUNCTION)), "i = NULL"]
    expression = bind(" OR ".join(chain), SCHEMA).expression
    assert isinstance(expression, In)
    assert expression.null


def test_other_branches_stay_beside_the_list() -> None:
    chain = [*(f"i = {n}" for n in range(LONG_DISJUNCTION)), "s = 'a'", "i > 100"]
    expression = bind(" OR ".join(chain), SCHEMA).expression
    assert isinstance(expression, Or)
    assert sorted(type(part).__name__ for part in expression.operands) == [
        "Comparison",
        "Comparison",
        "In",
    ]


def test_a_short_chain_stays_as_written() -> None:
    expression = bind("i = 1 OR i = 2", SCHEMA).expression
    assert isinstance(expression, Or)
    assert all(isinstance(part, Comparison) for part in expression.operands)
