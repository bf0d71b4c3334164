"""Functions of numbers."""

import math

import pytest
from hypothesis import given

from pruning.functions import scalars
from pruning.functions.containment import check, seeds, some
from whyscan.pruning.functions import apply
from whyscan.pruning.interval import anything, of_literal
from whyscan.tree.nodes import Call, Literal
from whyscan.tree.types import BIGINT, DOUBLE, FLOAT, INT, SMALLINT, STRING, TINYINT, DecimalType
from whyscan.tree.zones import zone

UTC = zone("UTC")
PRICE, FINE, LONG = DecimalType(7, 2), DecimalType(20, 18), DecimalType(38, 20)


def calling(function, kind, *constants):
    """The call with constants behind its arguments."""
    intervals = [of_literal(Literal(c, INT if isinstance(c, int) else DOUBLE)) for c in constants]
    return lambda *arguments: apply(Call(function, (), kind), [*arguments, *intervals], UTC)


# Function, argument, result, constants behind it, what it is on one value, exact on points.
CASES = [
    ("negative", TINYINT, TINYINT, (), scalars.negative, True),
    ("negative", BIGINT, BIGINT, (), scalars.negative, True),
    ("negative", PRICE, PRICE, (), scalars.negative, True),
    ("negative", DOUBLE, DOUBLE, (), scalars.negative, True),
    ("abs", TINYINT, TINYINT, (), scalars.absolute, True),
    ("abs", BIGINT, BIGINT, (), scalars.absolute, True),
    ("abs", LONG, LONG, (), scalars.absolute, False),
    ("negative", LONG, LONG, (), scalars.negative, False),
    ("abs", DOUBLE, DOUBLE, (), scalars.absolute, True),
    ("sign", DOUBLE, DOUBLE, (), scalars.sign, True),
    ("floor", INT, BIGINT, (), scalars.floor, True),
    ("floor", DOUBLE, BIGINT, (), scalars.floor, True),
    ("floor", PRICE, DecimalType(6, 0), (), scalars.floor, True),
    ("floor", FINE, DecimalType(3, 0), (), scalars.floor, True),
    ("ceil", DOUBLE, BIGINT, (), scalars.ceil, True),
    ("ceil", LONG, DecimalType(19, 0), (), scalars.ceil, True),
    ("round", SMALLINT, SMALLINT, (2,), scalars.half_up, True),
    ("round", SMALLINT, SMALLINT, (-2,), scalars.half_up, True),
    ("round", BIGINT, BIGINT, (-1,), scalars.half_up, True),
    ("round", PRICE, DecimalType(7, 1), (1,), scalars.half_up, True),
    ("round", PRICE, DecimalType(6, 0), (-2,), scalars.half_up, True),
    ("round", DecimalType(38, 0), DecimalType(38, 0), (-1,), scalars.half_up, True),
    ("round", DOUBLE, DOUBLE, (0,), scalars.half_up, True),
    ("round", DOUBLE, DOUBLE, (2,), scalars.half_up, False),
    ("round", DOUBLE, DOUBLE, (-3,), scalars.half_up, False),
    ("round", FLOAT, FLOAT, (1,), scalars.half_up, False),
    ("bround", SMALLINT, SMALLINT, (-1,), scalars.half_even, True),
    ("bround", PRICE, DecimalType(7, 1), (1,), scalars.half_even, True),
    ("bround", DOUBLE, DOUBLE, (0,), scalars.half_even, True),
    ("sqrt", DOUBLE, DOUBLE, (), scalars.sqrt, True),
    ("exp", DOUBLE, DOUBLE, (), scalars.exp, False),
    ("ln", DOUBLE, DOUBLE, (), scalars.logarithm(math.log), False),
    ("log10", DOUBLE, DOUBLE, (), scalars.logarithm(math.log10), False),
    ("log2", DOUBLE, DOUBLE, (), scalars.logarithm(math.log2), False),
    ("power", DOUBLE, DOUBLE, (1.5,), scalars.power, False),
    ("power", DOUBLE, DOUBLE, (2.0,), scalars.power, False),
    ("pmod", INT, INT, (7,), scalars.pmod, True),
    ("~", INT, INT, (), scalars.inverted, True),
    ("&", INT, INT, (12,), scalars.bits_and, True),
    ("&", BIGINT, BIGINT, (-8,), scalars.bits_and, True),
    ("|", TINYINT, INT, (12,), scalars.bits_or, True),
    ("^", BIGINT, BIGINT, (7,), scalars.bits_xor, True),
    ("~", BIGINT, BIGINT, (), scalars.inverted, True),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}-{case[3]}")
@some
@given(seed=seeds)
def test_functions_of_numbers(case, seed):
    function, argument, result, constants, scalar, exact = case
    check(
        calling(function, result, *constants),
        scalars.strict(lambda x: scalar(x, *constants, result)),
        (argument,),
        seed,
        exact=exact,
    )


@pytest.mark.parametrize("name", ["&", "|", "^"])
@pytest.mark.parametrize("kind", [TINYINT, BIGINT], ids=str)
@some
@given(seed=seeds)
def test_bits_of_two_columns(name, kind, seed):
    scalar = {"&": scalars.bits_and, "|": scalars.bits_or, "^": scalars.bits_xor}[name]
    check(calling(name, kind), scalars.strict(lambda x, y: scalar(x, y, kind)), (kind, kind), seed)


@some
@given(seed=seeds)
def test_the_other_number_where_one_is_nan(seed):
    def nanvl(a, b):
        return b if a is not None and math.isnan(a) else a

    check(calling("nanvl", DOUBLE), nanvl, (DOUBLE, DOUBLE), seed)


def test_unknown_functions_are_anything_and_may_raise():
    result = calling("no_such_function", INT)(of_literal(Literal(1, INT)))
    assert (result.lower, result.upper, result.raises) == (None, None, True)


@pytest.mark.parametrize("function", ["sqrt", "exp", "ln", "~", "abs", "sign", "floor", "round"])
def test_text_is_no_number(function):
    result = calling(function, DOUBLE)(anything(STRING))
    assert (result.lower, result.upper, result.raises) == (None, None, True)


def test_an_unusual_number_of_arguments_is_anything():
    result = calling("abs", INT, 1)(of_literal(Literal(1, INT)))
    assert (result.lower, result.upper, result.raises) == (None, None, True)
