"""Functions that choose one of their arguments: COALESCE, CASE, IF, NULLIF, LEAST and others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.predicate.binding import casts
from whyscan.predicate.binding.arguments import Arguments, without_origin
from whyscan.predicate.binding.calls import call
from whyscan.predicate.binding.comparisons import any_of, compare, compared
from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted
from whyscan.tree.nodes import (
    Call,
    Case,
    Coalesce,
    Comparator,
    IsNull,
    Literal,
    Not,
    type_of,
)
from whyscan.tree.types import DOUBLE, FLOAT, NULL, FloatType, StringType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whyscan.tree.nodes import Expression

NULL_OPERAND = Operand(Literal(None, NULL), None)


def coalesce(arguments: Arguments) -> Expression:
    operands = arguments.operands()
    if len(operands) == 1:
        return operands[0].expression
    common = casts.cast_to_common_type(operands, arguments.scope)
    return Coalesce(common.operands, common.type)


def case(
    branches: Sequence[tuple[Expression, Operand]], otherwise: Operand, scope: Scope
) -> Expression:
    """CASE with bound conditions. Its values are cast to their common type."""
    common = casts.cast_to_common_type([*(value for _, value in branches), otherwise], scope)
    *results, last = common.operands
    pairs = zip((condition for condition, _ in branches), results, strict=True)
    return Case(tuple(pairs), last, common.type)


def if_else(arguments: Arguments) -> Expression:
    """`if(condition, a, b)`."""
    arguments.expect(2, 3)
    first, scope = arguments.operand(0), arguments.scope
    if scope.dialect.is_spark and isinstance(type_of(first.expression), StringType):
        raise casts.no_condition(first, scope)
    condition = casts.as_condition(first, scope)
    otherwise = arguments.operand(2) if len(arguments) > 2 else NULL_OPERAND  # noqa: PLR2004
    return case([(condition, arguments.operand(1))], otherwise, arguments.scope)


def decode(arguments: Arguments) -> Expression:
    """`decode(x, a, 1, b, 2, 3)`. NULL equals NULL."""
    if len(arguments) < 3:  # noqa: PLR2004  fewer is decode(bytes, charset)
        raise Uninterpreted("decode of bytes")
    subject, *rest = arguments.operands()
    otherwise = rest.pop() if len(rest) % 2 else NULL_OPERAND
    branches = [
        (compare(Comparator.NULL_SAFE_EQUAL, subject, candidate, arguments.scope), result)
        for candidate, result in zip(rest[::2], rest[1::2], strict=True)
    ]
    return case(branches, otherwise, arguments.scope)


def nvl2(arguments: Arguments) -> Expression:
    """`nvl2(x, if_value, if_null)`."""
    subject, if_value, if_null = arguments.expect(3).operands()
    return case([(Not(IsNull(subject.expression)), if_value)], if_null, arguments.scope)


def nullif(arguments: Arguments) -> Expression:
    """`nullif(a, b)`: NULL if a equals b, else a."""
    first, second = arguments.expect(2).operands()
    pair = casts.cast_pair(first, second, arguments.scope)
    equal = compared(Comparator.EQUAL, *pair, arguments.scope)
    if pair[0] is not first.expression or equal.nan_unordered:
        return case([(equal, NULL_OPERAND)], first, arguments.scope)
    return Call("nullif", pair, type_of(first.expression))


def is_null(arguments: Arguments) -> Expression:
    return IsNull(arguments.expect(1).operand(0).expression)


def is_nan(arguments: Arguments) -> Expression:
    """`is_nan(x)` of other dialects than Spark: NULL for NULL."""
    operand = arguments.expect(1).operand(0)
    nan_test = call("isnan", [operand], arguments.scope)
    return case(
        [(IsNull(operand.expression), NULL_OPERAND)], without_origin(nan_test), arguments.scope
    )


def nanvl(arguments: Arguments) -> Expression:
    """`nanvl(a, b)`: b if a is NaN, else a. It gives doubles unless both are floats."""
    operands, scope = arguments.expect(2).operands(), arguments.scope
    if not all(type_of(operand.expression) == FLOAT for operand in operands):
        operands = tuple(without_origin(casts.implicit_cast(o, DOUBLE, scope)) for o in operands)
    first, second = (operand.expression for operand in operands)
    return Call("nanvl", (first, second), type_of(first))


def equal_null(arguments: Arguments) -> Expression:
    first, second = arguments.expect(2).operands()
    return compare(Comparator.NULL_SAFE_EQUAL, first, second, arguments.scope)


def extreme(name: str) -> Callable[[Arguments], Expression]:
    """A builder for LEAST or GREATEST. Spark skips NULLs; a CASE gives NULL in other dialects."""

    def build(arguments: Arguments) -> Expression:
        common = casts.cast_to_common_type(arguments.operands(), arguments.scope)
        if isinstance(common.type, FloatType) and not arguments.scope.dialect.nan_is_greatest:
            # Trino skips NaN, BigQuery returns it, and older Presto raises an error.
            raise Uninterpreted(f"{name} of numbers that may be NaN")
        result = Call(name, common.operands, common.type)
        if arguments.scope.dialect.extremes_skip_null:
            return result
        any_null = any_of([IsNull(part) for part in common.operands])
        return case([(any_null, NULL_OPERAND)], without_origin(result), arguments.scope)

    return build
