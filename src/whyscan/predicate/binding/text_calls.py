"""Text functions whose meaning depends on the dialect or on their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.predicate.binding import casts
from whyscan.predicate.binding.arguments import without_origin
from whyscan.predicate.binding.calls import call
from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.tree.nodes import Coalesce, Literal, type_of
from whyscan.tree.types import INT, STRING, BinaryType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.predicate.binding.arguments import Arguments
    from whyscan.predicate.binding.number_calls import Builder
    from whyscan.tree.nodes import Expression

_MAX_LENGTH = Literal(2**31 - 1, INT)
_EMPTY = Literal("", STRING)


def concat(arguments: Arguments) -> Expression:
    """`concat(a, b)`: NULL if an operand is NULL. Some dialects skip NULLs instead.

    Spark's concat() is the empty text.
    """
    operands = arguments.operands()
    if not operands and arguments.scope.dialect.is_spark:
        return _EMPTY
    if arguments.scope.dialect.concat_skips_null:
        operands = tuple(_or_empty(o, arguments.scope) for o in operands)
    return concatenate(operands, arguments.scope)


def _or_empty(operand: Operand, scope: Scope) -> Operand:
    text = casts.implicit_cast(operand, STRING, scope)
    if isinstance(text, Literal):
        return without_origin(_EMPTY) if text.value is None else without_origin(text)
    return without_origin(Coalesce((text, _EMPTY), STRING))


def concatenate(operands: Sequence[Operand], scope: Scope) -> Expression:
    """`a || b || c`: NULL if an operand is NULL."""
    if any(isinstance(type_of(o.expression), BinaryType) for o in operands):
        raise Uninterpreted("joining of bytes")
    return call("concat", operands, scope)


def replace_text(arguments: Arguments) -> Expression:
    """`replace(s, old, new)`. If `old` is empty, Trino puts `new` between all letters."""
    operands = arguments.expect(3).operands()
    if not arguments.scope.dialect.is_spark:
        match operands[1].expression:
            case Literal(str() as old, _) if old:
                pass
            case _:
                raise Uninterpreted("the replacement of what may be nothing")
    return call("replace", operands, arguments.scope)


def substring(arguments: Arguments) -> Expression:
    """`substring(s, position, length)`. Outside of Spark the position must be positive."""
    operands = list(arguments.expect(2, 3).operands())
    if len(operands) == 2:  # noqa: PLR2004
        operands.append(without_origin(_MAX_LENGTH))
    if not arguments.scope.dialect.is_spark:
        _expect_at_least(1, operands[1])
        _expect_at_least(0, operands[2])
    return call("substring", operands, arguments.scope)


def side(name: str) -> Builder:
    """A builder for `left(s, n)` or `right(s, n)`. Outside of Spark n must not be negative."""

    def build(arguments: Arguments) -> Expression:
        operands = arguments.expect(2).operands()
        if not arguments.scope.dialect.is_spark:
            _expect_at_least(0, operands[1])
        return call(name, operands, arguments.scope)

    return build


def _expect_at_least(least: int, operand: Operand) -> None:
    match operand.expression:
        case Literal(int() as number, _) if number >= least:
            return
        case _:
            raise Uninterpreted("a position that dialects count differently")


def regexp_extract(arguments: Arguments) -> Expression:
    """`regexp_extract(s, pattern, group)`. Without a group it is the first."""
    operands = list(arguments.expect(2, 3).operands())
    if len(operands) == 2:  # noqa: PLR2004
        operands.append(without_origin(Literal(1, INT)))
    return call("regexp_extract", operands, arguments.scope)


def trim(side: str, operand: Operand, characters: Operand | None, scope: Scope) -> Expression:
    """`TRIM(LEADING FROM s)`: only spaces are trimmed."""
    if characters is not None:
        raise Uninterpreted("trimming of other characters than blanks")
    name = {"": "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}[side.upper()]
    return trimmed(name, operand, scope)


def trimmed(name: str, operand: Operand, scope: Scope) -> Expression:
    """`trim`, `ltrim` or `rtrim` of spaces. In some dialects they trim all white space."""
    if scope.dialect.family in {DialectFamily.BIGQUERY, DialectFamily.TRINO, DialectFamily.OTHER}:
        raise Uninterpreted("trimming of all white space")
    return call(name, [operand], scope)
