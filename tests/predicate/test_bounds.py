# ruff: noqa: E501  a case is a line
"""Long predicates bind, deep predicates raise SyntaxProblem, and no predicate crashes."""

import pytest

from predicate.schemas import EVENTS
from whyscan.errors import SyntaxProblem
from whyscan.predicate.binding.bind import bind
from whyscan.tree.nodes import And, In, Or
from whyscan.tree.rendering import to_sql

MANY = 50_000

DEEP = {
    "parentheses": "(" * 10_000 + "flag" + ")" * 10_000,
    "parentheses left open": "(" * 10_000,
    "NOT": "NOT " * 10_000 + "flag",
    "exclamation marks": "!" * 10_000 + "flag",
    "minus signs": "- " * 10_000 + "id = 1",
    "calls": "abs(" * 10_000 + "id" + ")" * 10_000 + " = 1",
    "CASE": "CASE WHEN flag THEN " * 10_000 + "1" + " END" * 10_000 + " = 1",
    "casts": "id" + "::int" * 10_000 + " = 1",
    "IS NULL": "id" + " IS NULL" * 10_000,
    "comparisons": "flag" + " = flag" * 10_000,
    "brackets": "tags" + "[0]" * 10_000 + " = 1",
    "intervals": "INTERVAL " * 10_000 + "1 DAY = 1",
    "types": "CAST(id AS " + "array<" * 10_000 + "int" + ">" * 10_000 + ") = 1",
    "subqueries": "id = " + "(SELECT " * 10_000 + "1" + ")" * 10_000,
    "sums of columns": "id" + " + id" * 10_000 + " = 1",
    "NOT in parentheses": "NOT (" * 10_000 + "flag" + ")" * 10_000,
    "ANDs and ORs in turn": "(flag AND (id = 1 OR " * 120 + "flag" + "))" * 120,
    "sums to the right": "id + (" * 200 + "id" + ")" * 200 + " = 1",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_ten_thousand_levels_are_a_typed_error(text):
    with pytest.raises(SyntaxProblem):
        bind(text, EVENTS)


NESTED = {
    "parentheses": "(" * 240 + "flag" + ")" * 240,
    "leaning ORs": "(" * 240 + "flag" + " OR id = 1)" * 240,
    "NOT": "NOT " * 240 + "flag",
    "calls": "abs(" * 90 + "id" + ")" * 90 + " = 1",
    "CASE": "CASE WHEN flag THEN " * 90 + "1" + " END" * 90 + " = 1",
    "coalesce": "coalesce(" * 90 + "id" + ", 1)" * 90 + " = 1",
    "sums": "id" + " + id" * 90 + " = 1",
    "ANDs and ORs in turn": "(flag AND (id = 1 OR " * 45 + "flag" + "))" * 45,
    "ANDs and NOTs in turn": "NOT (flag AND " * 45 + "flag" + ")" * 45,
    "brackets in strings": "name = '" + "(" * 10_000 + "'",
    "brackets in comments": "flag /* " + "(" * 10_000 + " */",
    "brackets in names": "flag OR `a.b` = '" + "[" * 10_000 + "'",
    "constants": "1" + " + 1" * 20_000 + " = id",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED.keys())
def test_what_people_nest_binds(text):
    rendered = to_sql(bind(text, EVENTS).expression)
    assert to_sql(bind(rendered, EVENTS).expression) == rendered


CHAINS = {
    "OR": (" OR ".join(f"id > {i}" for i in range(20_000)), Or),
    "AND": (" AND ".join(f"id = {i}" for i in range(20_000)), And),
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "kind"), CHAINS.values(), ids=CHAINS.keys())
def test_long_chains_are_flat(text, kind):
    expression = bind(text, EVENTS).expression
    assert isinstance(expression, kind)
    assert len(expression.operands) == 20_000


LISTS = {
    "integers": "id IN (" + ", ".join(map(str, range(MANY))) + ")",
    "strings": "name IN (" + ", ".join(f"'k{i}'" for i in range(MANY)) + ")",
    "dates": "day IN (" + ", ".join(f"DATE '{1900 + i // 336}-{1 + i // 28 % 12}-{1 + i % 28}'" for i in range(MANY)) + ")",
    "decimals": "price IN (" + ", ".join(f"{i}.25" for i in range(MANY)) + ")",
    "timestamps": "ts NOT IN (" + ", ".join(f"'2024-01-01 {i // 3600:02}:{i // 60 % 60:02}:{i % 60:02}'" for i in range(MANY)) + ")",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS.keys())
def test_fifty_thousand_values_are_one_list(text):
    expression = bind(text, EVENTS).expression
    expression = expression if isinstance(expression, In) else expression.operand
    assert len(expression.values) == MANY


def test_a_text_beyond_the_limit_is_refused_before_it_is_read():
    with pytest.raises(SyntaxProblem, match="longer than 10,000,000 characters"):
        bind("name = '" + "x" * 10_000_000 + "'", EVENTS)
