"""The catalogue of functions, one record each (see function.py), and the laws of operators."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from whyscan.pruning.functions.casts import plain_cast
from whyscan.pruning.functions.conditional import CONDITIONAL, coalesced
from whyscan.pruning.functions.numbers.arithmetic import numeric as of_numbers
from whyscan.pruning.functions.numbers.numeric import NUMERIC
from whyscan.pruning.functions.rules import unevaluated
from whyscan.pruning.functions.text.like import like
from whyscan.pruning.functions.text.strings import TEXT
from whyscan.pruning.functions.time.arithmetic import temporal_arithmetic
from whyscan.pruning.functions.time.casts import temporal_cast
from whyscan.pruning.functions.time.fields import TEMPORAL
from whyscan.pruning.interval import Interval, anything
from whyscan.tree.nodes import CastFailure, Operation
from whyscan.tree.types import StringType
from whyscan.tree.zones import Zone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.pruning.functions.function import ScalarFunction
    from whyscan.tree.nodes import Arithmetic, Call, Cast

__all__ = [
    "FUNCTIONS",
    "Zone",
    "apply",
    "arithmetic",
    "cast",
    "coalesced",
    "folding",
    "function",
    "like",
    "rules",
    "text",
    "time",
]

# Spark tests other operations for NULL: it evaluates them and so raises their error.
_NEVER_NULL = {Operation.ADD, Operation.SUBTRACT, Operation.MULTIPLY}

FUNCTIONS: Mapping[str, ScalarFunction] = MappingProxyType(
    {function.name: function for function in (*NUMERIC, *TEXT, *TEMPORAL, *CONDITIONAL)}
)


def apply(call: Call, arguments: Sequence[Interval], zone: Zone) -> Interval:
    """A function call. Without a law, or with other arguments, it may have any value or raise."""
    function = FUNCTIONS.get(call.function)
    if (
        function is None
        or function.law is None
        or not function.least <= len(arguments) <= function.most
    ):
        return anything(call.type, raises=True)
    return function.law(call, arguments, zone)


def arithmetic(expression: Arithmetic, left: Interval, right: Interval, zone: Zone) -> Interval:
    """An operation with two operands, times or numbers."""
    temporal = temporal_arithmetic(expression, left, right, zone)
    if temporal is not None:
        return temporal
    outcome = of_numbers(
        expression.operation, left, right, expression.type, may_exceed=expression.may_exceed
    )
    return unevaluated(outcome) if expression.operation in _NEVER_NULL else outcome


def cast(interval: Interval, expression: Cast, zone: Zone) -> Interval:
    """The interval cast to another type."""
    temporal = temporal_cast(interval, expression.type, expression.failure, zone)
    if temporal is not None:
        return temporal
    outcome = plain_cast(interval, expression.type, expression.failure)
    if expression.failure is CastFailure.NULL or isinstance(interval.type, StringType):
        return outcome
    return unevaluated(outcome)
