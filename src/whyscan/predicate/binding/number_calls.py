"""Number functions whose meaning depends on the dialect or on the types of the arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from whyscan.predicate.binding import arithmetic, casts
from whyscan.predicate.binding.arguments import without_origin
from whyscan.predicate.binding.calls import call
from whyscan.predicate.binding.scope import Uninterpreted
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.tree.nodes import Call, Operation, type_of
from whyscan.tree.types import BIGINT, DecimalType, FloatType, IntegerType

if TYPE_CHECKING:
    from whyscan.predicate.binding.arguments import Arguments
    from whyscan.predicate.binding.scope import Operand, Scope
    from whyscan.tree.nodes import Expression

Builder = Callable[["Arguments"], "Expression"]
"""Builds the expression of one call from its arguments."""


def plain(name: str, *counts: int) -> Builder:
    """A builder for the function of that name. `counts` are the allowed numbers of arguments."""

    def build(arguments: Arguments) -> Expression:
        checked = arguments.expect(*counts) if counts else arguments
        return call(name, checked.operands(), arguments.scope)

    return build


def operated(operation: Operation) -> Builder:
    """A builder for `mod(a, b)` and `div(a, b)`: an operator with a function name."""

    def build(arguments: Arguments) -> Expression:
        first, second = arguments.expect(2).operands()
        return arithmetic.arithmetic(operation, first, second, arguments.scope)

    return build


def signed(bind: Callable[[Operand, Scope], Expression]) -> Builder:
    """A builder for `negative(x)`, `positive(x)` and `abs(x)`."""
    return lambda arguments: bind(arguments.expect(1).operand(0), arguments.scope)


def bits(operator: str, count: int = 2) -> Builder:
    """A builder for `bitwise_and(a, b)` and the like: the bit operator on bigints."""

    def build(arguments: Arguments) -> Expression:
        scope = arguments.scope
        operands = arguments.expect(count).operands()
        if not all(isinstance(type_of(o.expression), IntegerType) for o in operands):
            raise Uninterpreted("bits of what is no integer")
        wide = [without_origin(casts.implicit_cast(operand, BIGINT, scope)) for operand in operands]
        return arithmetic.bits(operator, wide, scope)

    return build


def rounded(arguments: Arguments) -> Expression:
    """`round`, with halves away from zero.

    With a number of places, some dialects turn integers into doubles.
    """
    kind = type_of(arguments.expect(1, 2).operand(0).expression)
    tens = len(arguments) > 1 and isinstance(kind, IntegerType)
    if tens and not arguments.scope.dialect.is_spark:
        raise Uninterpreted("rounding of integers")
    return plain("round")(arguments)


def exact_round(arguments: Arguments) -> Expression:
    """`round` of Postgres, which rounds halves of doubles to the even neighbour."""
    if isinstance(type_of(arguments.expect(1, 2).operand(0).expression), FloatType):
        raise Uninterpreted("rounding halves to even")
    return rounded(arguments)


_EXACT_ROOTS = {DialectFamily.POSTGRES, DialectFamily.BIGQUERY}


def double_function(name: str, count: int) -> Builder:
    """A builder for a function of doubles. Some dialects compute it in decimals for decimals."""

    def build(arguments: Arguments) -> Expression:
        kinds = [type_of(o.expression) for o in arguments.expect(count).operands()]
        exact = any(isinstance(k, DecimalType) for k in kinds)
        floating = any(isinstance(k, FloatType) for k in kinds)
        if exact and not floating and arguments.scope.dialect.family in _EXACT_ROOTS:
            raise Uninterpreted("a root or power of decimals")
        return plain(name, count)(arguments)

    return build


def floor_or_ceil(name: str) -> Builder:
    """A builder for floor or ceil.

    Spark turns integers and floats into bigint; other dialects keep the type.
    """

    def build(arguments: Arguments) -> Expression:
        kind = type_of(arguments.expect(1).operand(0).expression)
        if not (arguments.scope.dialect.is_spark or isinstance(kind, DecimalType)):
            raise Uninterpreted("rounding of what is no decimal")
        return plain(name, 1)(arguments)

    return build


def logarithm(name: str) -> Builder:
    """A builder for a logarithm. It is NULL for numbers that are not positive, as in Spark.

    Other dialects raise an error or give a number.
    """

    def build(arguments: Arguments) -> Expression:
        if arguments.scope.dialect.floats_divide_by_zero:
            raise Uninterpreted("the logarithm of what may be zero")
        return double_function(name, 1)(arguments)

    return build


def log_natural(arguments: Arguments) -> Expression:
    """`log(x)`, the natural logarithm, or `log(base, x)`."""
    name = "ln" if len(arguments.expect(1, 2)) == 1 else "log"
    return call(name, arguments.operands(), arguments.scope)


def pmod(arguments: Arguments) -> Expression:
    """`pmod(a, b)`: the remainder that is not negative."""
    first, second = arguments.expect(2).operands()
    common = casts.cast_to_common_type((first, second), arguments.scope)
    return Call("pmod", common.operands, common.type)
