"""Functions that choose: COALESCE, CASE and what is short for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.predicate.binding import casts
from whyscan.predicate.binding.arguments import Arguments, made
from whyscan.predicate.binding.comparisons import any_of, compare
from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted
from whyscan.predicate.binding.signatures import call
from whyscan.tree.nodes import (
    Call,
    Case,
    Coalesce,
    Comparator,
    Comparison,
    IsNull,
    Literal,
    Not,
    type_of,
)
from whyscan.tree.types import DOUBLE, FLOAT, NULL, StringType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tree.nodes import Expression

NOTHING = Operand(Literal(None, NULL), None)


def coalesce(arguments: Arguments) -> Expression:
    operands = arguments.operands()
    if len(operands) == 1:
        return operands[0].expression
    met = casts.together(operands, arguments.scope)
    return Coalesce(met.operands, met.type)


def case(
    branches: Sequence[tuple[Expression, Operand]], otherwise: Operand, scope: Scope
) -> Expression:
    """CASE over bound conditions; its values meet in one type."""
    met = casts.together([*(value for _, value in branches), otherwise], scope)
    *results, last = met.operands
    pairs = zip((condition for condition, _ in branches), results, strict=True)
    return Case(tuple(pairs), last, met.type)


def choose(arguments: Arguments) -> Expression:
    """`if(condition, a, b)`."""
    arguments.expect(2, 3)
    asked, scope = arguments.operand(0), arguments.scope
    if scope.dialect.is_spark and isinstance(type_of(asked.expression), StringType):
        raise casts.no_condition(asked, scope)
    condition = casts.as_condition(asked, scope)
    otherwise = arguments.operand(2) if len(arguments) > 2 else NOTHING  # noqa: PLR2004
    return case([(condition, arguments.operand(1))], otherwise, arguments.scope)


def decode(arguments: Arguments) -> Expression:
    """`decode(x, a, 1, b, 2, 3)`: NULL finds NULL."""
    if len(arguments) < 3:  # noqa: PLR2004  fewer is decode(bytes, charset)
        raise Uninterpreted("decode of bytes")
    subject, *rest = arguments.operands()
    otherwise = rest.pop() if len(rest) % 2 else NOTHING
    branches = [
        (compare(Comparator.NULL_SAFE_EQUAL, subject, wanted, arguments.scope), result)
        for wanted, result in zip(rest[::2], rest[1::2], strict=True)
    ]
    return case(branches, otherwise, arguments.scope)


def nvl2(arguments: Arguments) -> Expression:
    """`nvl2(x, there, missing)`."""
    subject, there, missing = arguments.expect(3).operands()
    return case([(Not(IsNull(subject.expression)), there)], missing, arguments.scope)


def nullif(arguments: Arguments) -> Expression:
    """`nullif(a, b)`: NULL where they are equal."""
    first, second = arguments.expect(2).operands()
    parts = casts.meet(first, second, arguments.scope)
    if parts[0] is not first.expression:
        equal = Comparison(Comparator.EQUAL, *parts)
        return case([(equal, NOTHING)], first, arguments.scope)
    return Call("nullif", parts, type_of(first.expression))


def is_null(arguments: Arguments) -> Expression:
    return IsNull(arguments.expect(1).operand(0).expression)


def is_not_null(arguments: Arguments) -> Expression:
    return Not(is_null(arguments))


def is_nan(arguments: Arguments) -> Expression:
    """`is_nan(x)` elsewhere than in Spark: NULL for NULL."""
    operand = arguments.expect(1).operand(0)
    found = call("isnan", [operand], arguments.scope)
    return case([(IsNull(operand.expression), NOTHING)], made(found), arguments.scope)


def nanvl(arguments: Arguments) -> Expression:
    """`nanvl(a, b)`: a, or b where a is NaN; doubles unless both are floats."""
    operands, scope = arguments.expect(2).operands(), arguments.scope
    if not all(type_of(operand.expression) == FLOAT for operand in operands):
        operands = tuple(made(casts.implicit(o, DOUBLE, scope)) for o in operands)
    first, second = (operand.expression for operand in operands)
    return Call("nanvl", (first, second), type_of(first))


def equal_null(arguments: Arguments) -> Expression:
    first, second = arguments.expect(2).operands()
    return compare(Comparator.NULL_SAFE_EQUAL, first, second, arguments.scope)


def least(arguments: Arguments) -> Expression:
    return _extreme("least", arguments)


def greatest(arguments: Arguments) -> Expression:
    return _extreme("greatest", arguments)


def _extreme(name: str, arguments: Arguments) -> Expression:
    """The least or greatest. Spark skips NULLs; where a dialect does not, CASE says so."""
    met = casts.together(arguments.operands(), arguments.scope)
    result = Call(name, met.operands, met.type)
    if arguments.scope.dialect.extremes_skip_null:
        return result
    missing = any_of([IsNull(part) for part in met.operands])
    return case([(missing, NOTHING)], made(result), arguments.scope)
