"""Equalities on a bucketed column: the literal's bucket must be among the container's."""

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whyscan.pruning.containers import Buckets, Containers
from whyscan.pruning.evaluate import evaluate
from whyscan.pruning.interval import Interval
from whyscan.pruning.mask import materialise
from whyscan.pruning.transforms import Bucket, Substring, in_bucket
from whyscan.tree import arrow
from whyscan.tree.nodes import Call, Cast, Column, Comparator, Comparison, In, Literal, Not, Or
from whyscan.tree.types import BIGINT, DATE, DOUBLE, INT, STRING, TIMESTAMP, DecimalType
from whyscan.tree.zones import zone

ID = Column(("id",), BIGINT)
SMALL = Column(("small",), INT)
PRICE = Column(("price",), DecimalType(9, 2))
NAME = Column(("name",), STRING)

# Of 16 buckets: 34 falls into 3, 14.20 into 3, 'iceberg' into 9.
THREE_FIRST = (pa.array([3, 0, 4, None], pa.int32()), pa.array([3, 2, 9, None], pa.int32()))
NINE_FIRST = (pa.array([9, 0, 4, None]), pa.array([9, 2, 9, None]))
BUCKETS = (
    Buckets(ID.path, Bucket(16), *THREE_FIRST),
    Buckets(SMALL.path, Bucket(16), *THREE_FIRST),
    Buckets(PRICE.path, Bucket(16), *THREE_FIRST),
    Buckets(NAME.path, Bucket(16), *NINE_FIRST),
)

BUCKET_NUMBERS = st.integers(0, 3) | st.none()
HIT = [True, False, False, True]
ANY = [True, True, True, True]


def equal(left, right, operator=Comparator.EQUAL):
    return Comparison(operator, left, right)


def within(column, *values):
    return In(column, arrow.array(values, column.type), null=False, nan=False)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (equal(ID, Literal(34, BIGINT)), HIT),
        (equal(Literal(34, BIGINT), ID), HIT),
        (equal(ID, Literal(34, BIGINT), Comparator.NULL_SAFE_EQUAL), HIT),
        (equal(Cast(SMALL, BIGINT), Literal(34, BIGINT)), HIT),
        (equal(PRICE, Literal(Decimal("14.20"), DecimalType(9, 2))), HIT),
        (
            equal(Cast(PRICE, DecimalType(20, 2)), Literal(Decimal("14.20"), DecimalType(20, 2))),
            HIT,
        ),
        (equal(NAME, Literal("iceberg", STRING)), [True, False, True, True]),
        (within(ID, 34), HIT),
        (within(NAME, "iceberg"), [True, False, True, True]),
        (within(ID, *range(1000)), ANY),
        (within(ID), [False, False, False, False]),
    ],
)
def test_an_equality_can_be_true_only_in_the_buckets_of_its_values(expression, expected):
    assert (
        materialise(in_bucket(expression, Containers(4, buckets=BUCKETS)), 4).to_pylist()
        == expected
    )


@pytest.mark.parametrize(
    "expression",
    [
        equal(ID, Literal(None, BIGINT)),
        equal(ID, Literal(None, BIGINT), Comparator.NULL_SAFE_EQUAL),
        equal(ID, Literal(34, BIGINT), Comparator.NOT_EQUAL),
        equal(ID, Literal(34, BIGINT), Comparator.LESS),
        equal(ID, SMALL),
        equal(Column(("other",), BIGINT), Literal(34, BIGINT)),
        equal(Cast(ID, DOUBLE), Literal(34.0, DOUBLE)),
        equal(Cast(ID, DecimalType(20, 2)), Literal(Decimal("34.00"), DecimalType(20, 2))),
        equal(Cast(PRICE, DecimalType(20, 3)), Literal(Decimal("14.200"), DecimalType(20, 3))),
        equal(Cast(ID, STRING), Literal("34", STRING)),
        equal(Call("abs", (ID,), BIGINT), Literal(34, BIGINT)),
        equal(Cast(Column(("day",), DATE), TIMESTAMP), Literal(0, TIMESTAMP)),
        within(Cast(ID, DOUBLE), 1.0),
    ],
)
def test_what_is_no_equality_of_the_column_itself_may_be_true_anywhere(expression):
    assert in_bucket(expression, Containers(4, buckets=BUCKETS)) is True


def test_two_bucket_fields_of_one_column_must_both_agree():
    coarse = Buckets(ID.path, Bucket(16), pa.array([3, 3]), pa.array([3, 3]))
    fine = Buckets(ID.path, Bucket(2), pa.array([0, 1]), pa.array([0, 1]))

    mask = in_bucket(equal(ID, Literal(34, BIGINT)), Containers(2, buckets=(coarse, fine)))

    assert mask.to_pylist() == [False, True], "hash 2017239379 is odd"


def test_an_inequality_can_be_false_only_in_the_buckets_of_its_value():
    unequal = equal(ID, Literal(34, BIGINT), Comparator.NOT_EQUAL)
    containers = Containers(4, pa.array([1, 1, 1, 1]), buckets=BUCKETS)

    truth = evaluate(Not(unequal), containers, zone("UTC"))
    other = evaluate(unequal, containers, zone("UTC"))

    assert materialise(truth.true, 4).to_pylist() == HIT
    assert materialise(other.true, 4).to_pylist() == ANY


@given(st.data())
def test_a_list_keeps_what_the_same_equalities_keep(data):
    ends = st.integers(-50, 50) | st.none()
    lowers, uppers, numbers = (
        data.draw(st.lists(part, min_size=6, max_size=6)) for part in (ends, ends, BUCKET_NUMBERS)
    )
    bounds = [
        (max(low, high), min(low, high)) if None not in (low, high) else (high, low)
        for low, high in zip(lowers, uppers, strict=True)
    ]
    uppers, lowers = ([pair[i] for pair in bounds] for i in (0, 1))
    interval = Interval(BIGINT, arrow.array(lowers, BIGINT), arrow.array(uppers, BIGINT))
    buckets = Buckets(ID.path, Bucket(4), *(pa.array(numbers, pa.int32()),) * 2)
    containers = Containers(6, statistics={ID.path: interval}, buckets=(buckets,))
    values = sorted(data.draw(st.sets(st.integers(-60, 60), min_size=1, max_size=8)))

    listed = evaluate(within(ID, *values), containers, zone("UTC"))
    each = evaluate(
        Or(tuple(equal(ID, Literal(value, BIGINT)) for value in values)), containers, zone("UTC")
    )

    assert materialise(listed.true, 6) == materialise(each.true, 6)


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        (["abcd"], [True, False, True, True]),
        (["ab"], [False, True, True, True]),
        (["a", ""], [False, False, True, False]),
        (["abc", "aéz"], [True, False, True, True]),
        (["azz"], [False, False, True, False]),
    ],
)
def test_a_text_is_looked_for_in_the_partition_of_its_substring(values, kept):
    """`SUBSTRING(name, 2, 2)` is 'bc', 'b', unknown, and from 'b' to 'c'."""
    lower = pa.array([b"bc", b"b", None, b"b"], pa.binary())
    upper = pa.array([b"bc", b"b", None, b"c"], pa.binary())
    containers = Containers(4, buckets=(Buckets(NAME.path, Substring(1, 2), lower, upper),))
    condition = In(NAME, arrow.array(sorted(values), STRING), null=False, nan=False)

    assert materialise(in_bucket(condition, containers), 4).to_pylist() == kept
