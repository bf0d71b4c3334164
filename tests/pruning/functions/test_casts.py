"""`cast` and `try_cast` between numbers, booleans and text."""

import math

import pytest
from hypothesis import given

from pruning.functions import scalars
from pruning.functions.containment import check, seeds, some
from whyscan.pruning.functions.casts import plain_cast
from whyscan.pruning.interval import anything, of_literal, only_null
from whyscan.tree.nodes import CastFailure, Literal
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    STRING,
    TINYINT,
    DecimalType,
)

PRICE, SHORT, FINE, LONG = (DecimalType(*d) for d in ((7, 2), (3, 1), (38, 25), (38, 6)))
NUMBERS = (TINYINT, INT, BIGINT, PRICE, SHORT, FINE, LONG, FLOAT, DOUBLE)
PAIRS = [
    *((a, b) for a in NUMBERS for b in NUMBERS if a != b),
    *((BOOLEAN, kind) for kind in (*NUMBERS, STRING)),
    *((kind, BOOLEAN) for kind in (*NUMBERS, STRING)),
    *((STRING, kind) for kind in NUMBERS),
    *((kind, STRING) for kind in (BIGINT, PRICE, SHORT)),
]


def is_exact(source, target) -> bool:
    """Points of text may be unread; a double's decimal text is not looked at."""
    text = source == STRING
    rounded = source in (FLOAT, DOUBLE) and isinstance(target, DecimalType)
    twice = source in (FINE, LONG) and target in (TINYINT, INT, FLOAT, DOUBLE)
    narrow = isinstance(source, DecimalType) and target == FLOAT
    return not (text or rounded or twice or narrow)


def on_values(source, target, failure):
    def converted(value):
        try:
            return scalars.cast(value, source, target)
        except scalars.Raised:
            if failure is CastFailure.NULL:
                return None
            raise

    return scalars.strict(converted)


@pytest.mark.parametrize("failure", CastFailure)
@pytest.mark.parametrize(("source", "target"), PAIRS, ids=str)
@some
@given(seed=seeds)
def test_casts(source, target, failure, seed):
    check(
        lambda x: plain_cast(x, target, failure),
        on_values(source, target, failure),
        (source,),
        seed,
        exact=is_exact(source, target),
    )


def test_a_bare_null_becomes_a_null_of_the_target():
    interval = plain_cast(only_null(NULL), INT, CastFailure.RAISE)
    assert (interval.type, interval.value, interval.null, interval.raises) == (
        INT,
        False,
        True,
        False,
    )


def test_text_and_binary_share_their_bytes():
    text = anything(STRING)
    assert plain_cast(text, BINARY, CastFailure.RAISE).type == BINARY


def test_infinities_and_nan_become_null_decimals():
    assert scalars.cast(math.inf, DOUBLE, PRICE) is None


@pytest.mark.parametrize(
    "target", [DecimalType(38, 10), LONG, FINE, PRICE, DecimalType(23, 0)], ids=str
)
@pytest.mark.parametrize("number", [1e300, -1e300, 1e38])
def test_a_double_beyond_the_decimal_is_an_error(number, target):
    outcome = plain_cast(of_literal(Literal(number, DOUBLE)), target, CastFailure.RAISE)

    assert (outcome.value, outcome.raises) == (False, True)


WORDS = {
    "yes": (True, True, False),
    " F ": (False, True, False),
    "": (None, False, True),
    "B c": (None, False, True),
    "\u00fc": (None, False, True),
    # Spark cuts control characters off: what follows them is not looked at.
    "\x01t": (None, True, True),
}


@pytest.mark.parametrize("text", WORDS)
def test_a_word_that_is_no_boolean_is_an_error_and_never_a_value(text):
    interval = plain_cast(of_literal(Literal(text, STRING)), BOOLEAN, CastFailure.RAISE)
    lower = None if interval.lower is None else interval.lower.as_py()
    assert (lower, interval.value, interval.raises) == WORDS[text]
