"""Functions that choose among their arguments."""

import math

import pytest
from hypothesis import given

from pruning.functions import scalars
from pruning.functions.containment import check, seeds, some
from whyscan.pruning.functions import apply, coalesced
from whyscan.tree.nodes import Call
from whyscan.tree.types import BOOLEAN, DOUBLE, INT, STRING, DecimalType
from whyscan.tree.zones import zone

UTC = zone("UTC")
KINDS = [INT, DOUBLE, STRING, DecimalType(7, 2)]


def calling(function, kind):
    return lambda *arguments: apply(Call(function, (), kind), arguments, UTC)


def first_present(*values):
    return next((v for v in values if v is not None), None)


def nullif(a, b):
    if a is None or b is None:
        return a
    same = a == b or (a != a and b != b)  # noqa: PLR0124
    return None if same else a


def nanvl(a, b):
    return b if a is not None and math.isnan(a) else a


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize(
    ("function", "scalar", "count"),
    [
        ("least", scalars.least, 2),
        ("least", scalars.least, 3),
        ("greatest", scalars.greatest, 2),
        ("greatest", scalars.greatest, 3),
        ("nullif", nullif, 2),
    ],
)
@some
@given(seed=seeds)
def test_choices_among_values(function, scalar, count, kind, seed):
    check(calling(function, kind), scalar, (kind,) * count, seed)


@some
@given(seed=seeds)
def test_nan_and_null(seed):
    check(calling("isnan", BOOLEAN), lambda x: x is not None and math.isnan(x), (DOUBLE,), seed)
    check(calling("nanvl", DOUBLE), nanvl, (DOUBLE, DOUBLE), seed)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("count", [2, 3])
@some
@given(seed=seeds)
def test_coalesce_of_the_tree(kind, count, seed):
    check(lambda *xs: coalesced(xs), first_present, (kind,) * count, seed)
