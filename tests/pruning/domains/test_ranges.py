"""Sets of ranges as sets: every operation against the same operation on their members."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whyscan.pruning.domains.ranges import (
    EVERYTHING,
    FEW,
    NOTHING,
    ValueRange,
    complement,
    exactly,
    intersection,
    successor,
    union,
)
from whyscan.tree.types import BIGINT, BOOLEAN, DATE, DOUBLE, INT, STRING, TIMESTAMP, DecimalType

NUMBERS = range(-1, 12)


@st.composite
def sets_of_ranges(draw):
    ranges = NOTHING
    for _ in range(draw(st.integers(0, 4))):
        low = draw(st.integers(0, 9) | st.none())
        high = draw(st.integers(1, 10) | st.none())
        if low is None or high is None or low < high:
            ranges = union(ranges, (ValueRange(low, high),))
    return ranges


def members(ranges):
    return {
        n
        for n in NUMBERS
        for r in ranges
        if (r.low is None or r.low <= n) and (r.high is None or n < r.high)
    }


def is_normal(ranges):
    """Sorted, none empty, a gap between any two, and open ends only outside."""
    ends = [end for r in ranges for end in (r.low, r.high)]
    inner = ends[1:-1]
    ends_present = [end for end in ends if end is not None]
    return None not in inner and ends_present == sorted(set(ends_present))


@given(sets_of_ranges(), sets_of_ranges())
def test_operations_are_those_of_sets(a, b):
    assert members(union(a, b)) == members(a) | members(b)
    assert members(intersection(a, b)) == members(a) & members(b)
    assert members(complement(a)) == set(NUMBERS) - members(a)
    assert all(map(is_normal, (union(a, b), intersection(a, b), complement(a))))


@given(sets_of_ranges())
def test_a_set_and_its_complement_are_everything_and_share_nothing(a):
    assert union(a, complement(a)) == EVERYTHING
    assert intersection(a, complement(a)) == NOTHING
    assert complement(complement(a)) == a


def test_more_than_a_few_become_one():
    ranges = NOTHING
    for n in range(0, 4 * FEW, 2):
        ranges = union(ranges, exactly(n, INT))

    assert len(ranges) <= FEW
    assert ranges[0].low == 0
    assert ranges[-1].high == 4 * FEW - 1


@pytest.mark.parametrize(
    ("kind", "key", "expected"),
    [
        (INT, 5, 6),
        (BIGINT, 2**63 - 1, None),
        (DATE, 2**31 - 1, None),
        (TIMESTAMP, -1, 0),
        (DecimalType(5, 2), 199, 200),
        (DecimalType(38, 0), 10**38 - 1, None),
        (DOUBLE, -0.0, 5e-324),
        (DOUBLE, math.inf, None),
        (DOUBLE, -math.inf, -1.7976931348623157e308),
        (STRING, b"a", b"a\0"),
        (BOOLEAN, False, True),
        (BOOLEAN, True, None),
    ],
)
def test_every_type_has_a_next_value_but_the_last(kind, key, expected):
    assert successor(key, kind) == expected
