"""Conjuncts on one column: what no single value can satisfy is ruled out, and nothing else."""

import math
from decimal import Decimal
from itertools import chain, product

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.predicates import in_list
from oracle.rows import evaluate_row
from oracle.tables import World, exact
from oracle.values import NANOS, NARROW, WIDE, neighbours, pool
from whyscan.pruning.containers import Containers
from whyscan.pruning.domains import may_satisfy_together
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.interval import Interval
from whyscan.pruning.mask import materialise
from whyscan.pruning.transforms import of_partition_values
from whyscan.tree import arrow
from whyscan.tree.nodes import (
    And,
    Between,
    Call,
    Cast,
    Column,
    Comparator,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    columns_of,
)
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    DecimalType,
    OtherType,
)
from whyscan.tree.zones import zone

X = Column(("x",), INT)
D = Column(("d",), DOUBLE)
S = Column(("s",), STRING)
P = Column(("p",), DecimalType(5, 2))
B = Column(("b",), BOOLEAN)

OPERATORS = {operator.value: operator for operator in Comparator}


def ask(column, operator, value):
    return Comparison(OPERATORS[operator], column, Literal(value, column.type))


def listed(column, *values, null=False):
    return in_list(column, column.type, list(values), null=null)


def like(pattern, escape="\\"):
    return Like(S, pattern, escape, ignore_case=False)


def holding(column, *containers):
    """Containers of rows, with exact statistics."""
    world = World(
        {column.path: column.type},
        tuple(tuple({column.path: row} for row in rows) for rows in containers),
        tuple({column.path: exact(column.type, rows)} for rows in containers),
        (True,) * len(containers),
        "UTC",
    )
    return world.containers()


def satisfiable(operands, containers):
    return materialise(may_satisfy_together(operands, containers), containers.count).to_pylist()


def true_of(predicate, containers):
    return materialise(
        evaluate(predicate, containers, zone("UTC")).true, containers.count
    ).to_pylist()


IMPOSSIBLE = [
    ([listed(X, 1, 9), ask(X, ">", 5)], (0, 6)),
    ([listed(X, 1, 9), ask(X, "<", 5)], (2, 9)),
    ([ask(X, "=", 1), ask(X, "=", 2)], (0, 6)),
    ([ask(X, ">", 5), ask(X, "<", 6)], (0, 9)),
    ([ask(X, ">=", 5), ask(X, "<=", 5), ask(X, "<>", 5)], (0, 9)),
    ([ask(X, ">", 5), ask(X, "<", 3)], (0, 9)),
    ([ask(X, ">", 2**31 - 2), ask(X, "<>", 2**31 - 1)], (0, 2**31 - 1)),
    ([IsNull(X), ask(X, "=", 1)], (1, None)),
    ([IsNull(X), Not(IsNull(X))], (1, None)),
    ([ask(X, "<=>", None), Not(IsNull(X))], (1, None)),
    ([ask(X, "=", None), ask(X, "=", 1)], (1, None)),
    ([Not(listed(X, 1, null=True)), ask(X, ">", 1)], (0, 9)),
    ([Not(listed(X, 3, 4, 5)), Between(X, Literal(3, INT), Literal(5, INT))], (0, 9)),
    ([Or((ask(X, "<", 2), ask(X, ">", 7))), Between(X, Literal(3, INT), Literal(6, INT))], (0, 9)),
    ([Not(And((ask(X, ">=", 2), ask(X, "<=", 7)))), ask(X, "=", 4)], (0, 9)),
    ([ask(D, ">", 5.0), ask(D, "<", 3.0)], (0.0, 9.0, math.nan)),
    ([ask(D, ">", 1.0), ask(D, "<", math.nextafter(1.0, 2))], (0.0, 9.0)),
    ([ask(D, ">", 5.0), ask(D, "<>", math.nan)], (0.0, math.nan)),
    ([ask(D, "=", math.nan), ask(D, "<", math.inf)], (0.0, math.nan)),
    ([like("ab%"), ask(S, ">", "b")], ("a", "z")),
    ([like("ab%"), Not(like("a%"))], ("a", "z")),
    ([like("ab%z"), ask(S, "<", "ab")], ("a", "z")),
    ([like("ab"), ask(S, "<>", "ab")], ("a", "z")),
    ([like(r"a\_%"), ask(S, ">", "a`")], ("a", "z")),
    ([ask(S, ">", "a"), ask(S, "<", "a\0")], ("a", "z")),
    ([ask(P, ">", Decimal("1.10")), ask(P, "<", Decimal("1.11"))], (Decimal(0), Decimal(2))),
    ([B, Not(B)], (True, False)),
    ([ask(Column(("x",), INT), ">", 1), Comparison(
        Comparator.LESS, Cast(X, BIGINT), Literal(2, BIGINT))], (0, 9)),
    ([Comparison(Comparator.LESS, Literal(5, INT), X), ask(X, "<", 6)], (0, 9)),
]  # fmt: skip


@pytest.mark.parametrize(("operands", "rows"), IMPOSSIBLE)
def test_what_no_value_satisfies_is_ruled_out(operands, rows):
    [column] = {column for operand in operands for column in columns_of(operand)}

    assert satisfiable(operands, holding(column, rows)) == [False]


POSSIBLE = [
    ([listed(X, 1, 6), ask(X, ">", 5)], (0, 6)),
    ([ask(X, ">", 5), ask(X, "<", 7)], (0, 9)),
    ([ask(D, ">", 5.0), ask(D, ">", 6.0)], (0.0, math.nan)),
    ([ask(D, ">=", 5.0), ask(D, "<>", 6.0)], (0.0, math.nan)),
    ([Not(ask(D, "<", 5.0)), Not(listed(D, 6.0))], (0.0, math.nan)),
    ([ask(D, ">=", 0.0), ask(D, "<=", -0.0)], (-1.0, 1.0)),
    ([listed(D, *map(float, range(-40, 0)), -0.0), ask(D, "=", 0.0)], (0.0, 0.0)),
    ([Not(ask(X, "<=>", 1)), ask(X, "<=>", None)], (1, None)),
    ([like(r"a\%%"), ask(S, ">=", "a%")], ("a", "b")),
    ([like("ab%"), Not(like("ab%_"))], ("ab", "ab")),
    ([like("a|b%", escape=None), ask(S, ">", "a|")], ("a", "b")),
    ([Like(S, "AB%", None, ignore_case=True), ask(S, ">", "ab")], ("a", "b")),
    ([ask(X, "=", 1), Comparison(Comparator.EQUAL, Call("abs", (X,), INT), Literal(2, INT))], (1,)),
    ([ask(X, "=", 1), Comparison(Comparator.EQUAL, X, Column(("y",), INT))], (1,)),
    ([Comparison(Comparator.EQUAL, Cast(X, STRING), Literal("2", STRING)), ask(X, "=", 1)], (1, 2)),
]


@pytest.mark.parametrize(("operands", "rows"), POSSIBLE)
def test_what_may_be_satisfied_is_kept(operands, rows):
    column = columns_of(operands[0])[0]

    assert satisfiable(operands, holding(column, rows)) == [True]


@pytest.mark.parametrize(
    "operands",
    [
        [ask(X, "=", 1), ask(S, "=", "a")],
        [ask(X, "=", 1)],
        [],
        [ask(X, ">", 9), Comparison(Comparator.LESS, Call("abs", (X,), INT), Literal(1, INT))],
    ],
)
def test_columns_named_once_are_left_to_their_conjunct(operands):
    assert may_satisfy_together(operands, Containers(3)) is True


def test_each_column_must_be_satisfied():
    low, high = pa.array([0, 10, 0]), pa.array([5, 15, 15])
    containers = Containers(
        3,
        statistics={
            X.path: Interval(INT, low, high, null=False),
            ("y",): Interval(INT, high, high, null=False),
        },
    )
    other = Column(("y",), INT)

    operands = (ask(X, ">", 1), ask(X, "<", 8), ask(other, ">", 5), ask(other, "<>", 15))

    assert true_of(And(operands), containers) == [False, False, False]
    assert true_of(And(operands[:3]), containers) == [False, False, True]


def test_unknown_bounds_and_unordered_types_keep_the_container():
    anywhere = Column(("m",), OtherType("map"))
    unknown = Containers(2, statistics={X.path: Interval(INT, pa.nulls(2, pa.int64()), None)})

    assert satisfiable([ask(X, ">", 1), ask(X, "<", 8)], unknown) == [True, True]
    assert satisfiable([ask(X, ">", 1), ask(X, "<", 8)], Containers(1)) == [True]
    assert satisfiable([IsNull(anywhere), Not(IsNull(anywhere))], Containers(1)) == [False]


def test_a_list_of_thousands_is_met_value_by_value():
    evens = In(X, pa.array(range(0, 100_000, 2)), null=False, nan=False)
    thirds = In(X, pa.array(range(0, 100_000, 3)), null=False, nan=False)
    containers = Containers(
        4, statistics={X.path: Interval(INT, pa.array([1, 6, 8, 7]), pa.array([1, 6, 9, 12]))}
    )

    assert satisfiable([evens, thirds], containers) == [False, True, False, True]
    assert satisfiable([evens, ask(X, ">", 11)], containers) == [False, False, False, True]
    assert satisfiable([Or((evens, thirds)), ask(X, "<", 7)], containers)[:2] == [False, True]
    assert satisfiable([Or((evens, ask(X, "=", -5))), ask(X, "<", 0)], containers) == [False] * 4
    assert true_of(And((Not(evens), ask(X, "<", 7))), containers) == [True, False, False, False]


def test_more_ranges_than_are_kept_apart_are_a_superset():
    holes = [ask(X, "<>", n) for n in range(0, 200, 2)]
    containers = holding(X, (4, 4))

    assert satisfiable([*holes, ask(X, ">", 200)], containers) == [False]
    assert satisfiable([*holes, ask(X, "<", 100)], containers) == [True], "safe, and not tight"


# Generated conjunctions over one column, judged row by row.

KINDS = (INT, BIGINT, DOUBLE, FLOAT, NARROW, WIDE, STRING, BINARY, BOOLEAN, DATE, TIMESTAMP, NANOS)


def hard_values(kind):
    """The pool's values and their neighbours, each once."""
    near = [n for value in pool(kind) for n in neighbours(value, kind)]
    return list({repr(n): n for n in near}.values())


def values_of(kind):
    return st.sampled_from(hard_values(kind))


def leaves(column):
    literals = (values_of(column.type) | st.none()).map(lambda v: Literal(v, column.type))
    questions = st.tuples(st.sampled_from(Comparator), literals)
    compared = questions.map(lambda q: Comparison(q[0], column, q[1]))
    flipped = questions.map(lambda q: Comparison(q[0], q[1], column))
    members = st.builds(
        lambda listed, null: in_list(column, column.type, listed, null=null),
        st.lists(values_of(column.type), max_size=6),
        st.booleans(),
    )
    parts = [
        compared,
        flipped,
        members,
        st.tuples(literals, literals).map(lambda ends: Between(column, *ends)),
        st.just(IsNull(column)),
    ]
    if column.type == STRING:
        patterns = st.sampled_from(
            ["a%", "ab", "ab%", "%", "a%_", "", "foo\\_%", "foo\\_bar", "app%%"]
        )
        parts.append(patterns.map(lambda p: Like(column, p, "\\", ignore_case=False)))
    if column.type == BOOLEAN:
        parts.append(st.just(column))
    return st.one_of(parts)


def predicates(column):
    return st.recursive(
        leaves(column),
        lambda inner: st.one_of(
            inner.map(Not),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts))),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: And(tuple(parts))),
        ),
        max_leaves=4,
    )


def satisfies(operands, column, row):
    return all(evaluate_row(operand, {column.path: row}) is True for operand in operands)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=25)
@given(data=st.data())
def test_of_one_known_value_the_domain_is_exact(kind, data):
    column = Column(("c",), kind)
    operands = data.draw(st.lists(predicates(column), min_size=2, max_size=3))
    rows = [*hard_values(kind), None]
    points = of_partition_values(kind, arrow.array(rows, kind))

    possible = true_of(And(tuple(operands)), Containers(len(rows), partition={column.path: points}))

    assert possible == [satisfies(operands, column, row) for row in rows]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=15)
@given(data=st.data())
def test_no_satisfying_row_is_lost_and_no_conjunct_alone_does_better(kind, data):
    column = Column(("c",), kind)
    operands = data.draw(st.lists(predicates(column), min_size=2, max_size=3))
    pairs = list(product([*hard_values(kind)[::2], None], repeat=2))
    containers = holding(column, *pairs)

    kept = true_of(And(tuple(operands)), containers)

    good = {repr(row) for row in {*chain(*pairs)} if satisfies(operands, column, row)}
    lost = [
        pair for pair, k in zip(pairs, kept, strict=True) if not k and good & {*map(repr, pair)}
    ]
    assert lost == []
    for operand in operands:
        alone = true_of(operand, containers)
        looser = [pair for pair, k, a in zip(pairs, kept, alone, strict=True) if k > a]
        assert looser == [], f"{operand} alone rules them out"
