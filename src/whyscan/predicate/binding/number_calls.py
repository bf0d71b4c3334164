"""Calls about numbers whose meaning depends on the dialect or on the types of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from whyscan.predicate.binding import arithmetic, casts
from whyscan.predicate.binding.arguments import without_origin
from whyscan.predicate.binding.scope import Uninterpreted
from whyscan.predicate.binding.signatures import call
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.tree.nodes import Operation, type_of
from whyscan.tree.types import BIGINT, DecimalType, FloatType, IntegerType

if TYPE_CHECKING:
    from whyscan.predicate.binding.arguments import Arguments
    from whyscan.tree.nodes import Expression

Builder = Callable[["Arguments"], "Expression"]
"""Makes the expression of one call."""


def plain(name: str, *counts: int) -> Builder:
    """The function of that name, with as many arguments."""

    def build(arguments: Arguments) -> Expression:
        checked = arguments.expect(*counts) if counts else arguments
        return call(name, checked.operands(), arguments.scope)

    return build


def remainder(arguments: Arguments) -> Expression:
    first, second = arguments.expect(2).operands()
    return arithmetic.arithmetic(Operation.REMAINDER, first, second, arguments.scope)


def quotient(arguments: Arguments) -> Expression:
    first, second = arguments.expect(2).operands()
    return arithmetic.arithmetic(Operation.QUOTIENT, first, second, arguments.scope)


def negative(arguments: Arguments) -> Expression:
    return arithmetic.negative(arguments.expect(1).operand(0), arguments.scope)


def positive(arguments: Arguments) -> Expression:
    """`positive(x)`: x, a number."""
    return arithmetic.positive(arguments.expect(1).operand(0), arguments.scope)


def bits(operator: str, count: int = 2) -> Builder:
    """`bitwise_and(a, b)`: what elsewhere is an operator, of bigints."""

    def build(arguments: Arguments) -> Expression:
        scope = arguments.scope
        operands = arguments.expect(count).operands()
        if not all(isinstance(type_of(o.expression), IntegerType) for o in operands):
            raise Uninterpreted("bits of what is no integer")
        wide = [without_origin(casts.implicit_cast(operand, BIGINT, scope)) for operand in operands]
        return arithmetic.bits(operator, wide, scope)

    return build


def rounded(arguments: Arguments) -> Expression:
    """Halves away from zero. To tens and hundreds integers become doubles in some dialects."""
    kind = type_of(arguments.expect(1, 2).operand(0).expression)
    tens = len(arguments) > 1 and isinstance(kind, IntegerType)
    if tens and not arguments.scope.dialect.is_spark:
        raise Uninterpreted("rounding of integers")
    return plain("round")(arguments)


def exact_round(arguments: Arguments) -> Expression:
    """Postgres' round, which takes halves of doubles to the even neighbour."""
    if isinstance(type_of(arguments.expect(1, 2).operand(0).expression), FloatType):
        raise Uninterpreted("rounding halves to even")
    return rounded(arguments)


def absolute(arguments: Arguments) -> Expression:
    return arithmetic.absolute(arguments.expect(1).operand(0), arguments.scope)


_EXACT_ROOTS = {DialectFamily.POSTGRES, DialectFamily.BIGQUERY}


def double_function(name: str, count: int) -> Builder:
    """Spark's, which makes doubles of decimals: some dialects compute them in decimals."""

    def build(arguments: Arguments) -> Expression:
        kinds = [type_of(o.expression) for o in arguments.expect(count).operands()]
        exact = any(isinstance(k, DecimalType) for k in kinds)
        floating = any(isinstance(k, FloatType) for k in kinds)
        if exact and not floating and arguments.scope.dialect.family in _EXACT_ROOTS:
            raise Uninterpreted("a root or power of decimals")
        return plain(name, count)(arguments)

    return build


def floor_or_ceil(name: str) -> Builder:
    """Spark's, which makes a bigint of what is no decimal: elsewhere it stays what it is."""

    def build(arguments: Arguments) -> Expression:
        kind = type_of(arguments.expect(1).operand(0).expression)
        if not (arguments.scope.dialect.is_spark or isinstance(kind, DecimalType)):
            raise Uninterpreted("rounding of what is no decimal")
        return plain(name, 1)(arguments)

    return build


def logarithm(name: str) -> Builder:
    """Spark's, which is NULL for what is not positive: elsewhere that raises, or is a number."""

    def build(arguments: Arguments) -> Expression:
        if arguments.scope.dialect.floats_divide_by_zero:
            raise Uninterpreted("the logarithm of what may be zero")
        return double_function(name, 1)(arguments)

    return build
