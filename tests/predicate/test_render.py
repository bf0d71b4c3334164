"""The rendered SQL of an expression binds to the same expression."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from predicate.schemas import EVENTS
from predicate.test_spark_agreement import PREDICATES
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.tree.nodes import Column, Comparator, Comparison, In, Literal, Not
from whyscan.tree.rendering import to_sql
from whyscan.tree.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DecimalType,
    Field,
    Schema,
)

PARIS = Session("spark", "Europe/Paris", 0)


def plain(value):
    """A tree as tuples, because In compares by identity and NaN equals nothing."""
    match value:
        case In():
            return ("In", plain(value.operand), value.values.to_pylist(), value.null, value.nan)
        case tuple():
            return tuple(map(plain, value))
        case Struct():
            parts = (getattr(value, field) for field in value.__struct_fields__)
            return (type(value).__name__, *map(plain, parts))
        case _:
            return repr(value)


@pytest.mark.parametrize("text", PREDICATES)
def test_a_rendered_predicate_binds_to_the_same_tree(text):
    bound = bind(text, EVENTS, PARIS).expression
    rendered = to_sql(bound)
    # A local time that the clocks of Paris show twice stays a call, which another zone evaluates.
    session = PARIS if "2024-10-27 02:30" in text else Session("spark", "Asia/Tokyo", 1)
    again = bind(rendered, EVENTS, session).expression
    assert plain(again) == plain(bound), rendered


INT64 = st.integers(-(2**63), 2**63 - 1)
VALUES = {
    BOOLEAN: st.booleans(),
    INT: st.integers(-(2**31), 2**31 - 1),
    BIGINT: INT64,
    DOUBLE: st.floats(allow_nan=True),
    DecimalType(12, 3): st.integers(-(10**12) + 1, 10**12 - 1).map(lambda n: Decimal(n).scaleb(-3)),
    STRING: st.text(st.characters(codec="utf-8", exclude_characters="\x00")),
    DATE: st.integers(-3_000_000, 3_000_000),
    TIMESTAMP: INT64,
    TIMESTAMP_NTZ: INT64,
}
KINDS = st.sampled_from(list(VALUES))


@st.composite
def comparisons(draw):
    kind = draw(KINDS)
    name = draw(st.text(min_size=1, max_size=8).filter(lambda n: "\x00" not in n and n.strip()))
    literal = Literal(draw(VALUES[kind]), kind)
    return Comparison(draw(st.sampled_from(list(Comparator))), Column((name,), kind), literal)


@given(comparisons())
def test_any_name_and_any_literal_survive(comparison):
    column = comparison.left
    schema = Schema((Field(column.path[0], column.type),))
    rendered = to_sql(Not(comparison))
    assert plain(bind(rendered, schema).expression) == plain(Not(comparison)), rendered


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.0, 1e-300])
def test_doubles_at_the_edge_survive(value):
    comparison = Comparison(Comparator.LESS, Column(("d",), DOUBLE), Literal(value, DOUBLE))
    assert plain(bind(to_sql(comparison), EVENTS).expression) == plain(comparison)
