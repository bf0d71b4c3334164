"""`+ - * / div %` on integers, decimals and floats."""

import pytest
from hypothesis import given

from pruning.functions import scalars
from pruning.functions.containment import check, seeds, some
from whyscan.pruning.functions.numbers.arithmetic import numeric
from whyscan.tree.nodes import Operation
from whyscan.tree.types import BIGINT, DOUBLE, FLOAT, INT, TINYINT, DecimalType

WHOLE = [operation for operation in Operation if operation is not Operation.DIVIDE]
FRACTIONAL = [operation for operation in Operation if operation is not Operation.QUOTIENT]
PRICE, RATE, LONG = DecimalType(7, 2), DecimalType(4, 3), DecimalType(38, 10)
RESULTS = {
    Operation.ADD: DecimalType(9, 3),
    Operation.SUBTRACT: DecimalType(9, 3),
    Operation.MULTIPLY: DecimalType(12, 5),
    Operation.DIVIDE: DecimalType(15, 7),
    Operation.QUOTIENT: BIGINT,
    Operation.REMAINDER: DecimalType(4, 3),
}


def holds(operation, kinds, kind, seed, **claims):
    check(
        lambda a, b: numeric(operation, a, b, kind),
        scalars.strict(lambda a, b: scalars.calculate(operation, a, b, kind)),
        kinds,
        seed,
        **claims,
    )


@pytest.mark.parametrize("operation", WHOLE)
@pytest.mark.parametrize("kind", [TINYINT, INT, BIGINT], ids=str)
@some
@given(seed=seeds)
def test_integers(operation, kind, seed):
    holds(operation, (kind, kind), kind, seed)


@pytest.mark.parametrize("operation", FRACTIONAL)
@pytest.mark.parametrize("kind", [FLOAT, DOUBLE], ids=str)
@some
@given(seed=seeds)
def test_floats(operation, kind, seed):
    holds(operation, (kind, kind), kind, seed)


@pytest.mark.parametrize("operation", Operation)
@some
@given(seed=seeds)
def test_decimals(operation, seed):
    holds(operation, (PRICE, RATE), RESULTS[operation], seed)


@pytest.mark.parametrize("operation", [Operation.ADD, Operation.SUBTRACT, Operation.REMAINDER])
@some
@given(seed=seeds)
def test_decimals_at_the_limit_of_precision(operation, seed):
    exact = operation is not Operation.REMAINDER
    holds(operation, (LONG, LONG), LONG, seed, exact=exact)
