"""Casts: implicit ones where Spark converts types, explicit ones where the text has CAST."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.errors import NoCondition, TypeProblem
from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted
from whyscan.predicate.binding.shared_casts import require_shared
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.tree.coercion import common_type_of, is_numeric
from whyscan.tree.literals import Inconvertible, ShownTwice, convert, exact_decimal
from whyscan.tree.nodes import Cast, CastFailure, Literal, type_of
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    DOUBLE,
    FLOAT,
    NULL,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    UUID,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    NullType,
    OtherType,
    StringType,
    StructType,
    TimestampType,
    TimeUnit,
    Type,
    UuidType,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tree.nodes import Expression


def implicit_cast(operand: Operand, target: Type, scope: Scope) -> Expression:
    """The operand as type `target`: a literal is converted, another expression gets a cast.

    There is no cast if the representation of the values is the same.
    """
    expression = operand.expression
    source = type_of(expression)
    if target == BINARY and isinstance(source, StringType) and not scope.dialect.is_spark:
        return _bytes_of(expression, scope.dialect.family)
    if isinstance(expression, Literal):
        converted = _folded(operand, expression, target, scope)
        if converted is not None:
            _check_meaning(expression, target, CastFailure.RAISE, scope)
            return converted
    if _has_same_representation(source, target):
        return expression
    if not castable(source, target):
        raise scope.problem(f"cannot use {source} as {target}", operand)
    _check_meaning(expression, target, CastFailure.RAISE, scope)
    _check_clock(source, target, scope)
    return Cast(expression, target)


def _check_meaning(
    expression: Expression, target: Type, failure: CastFailure, scope: Scope
) -> None:
    """Raise Uninterpreted for a cast whose meaning in the dialect may differ from Spark's."""
    if not scope.dialect.is_spark:
        require_shared(expression, target, failure, scope.dialect.family)


def _check_clock(source: Type, target: Type, scope: Scope) -> None:
    """Raise Uninterpreted for the local time of an instant if dialect and session zones differ."""
    is_local = isinstance(target, DateType | StringType) or target == TIMESTAMP_NTZ
    if scope.clock_differs and source == TIMESTAMP and is_local:
        raise Uninterpreted("a clock in UTC, which is not the session's")


def explicit_cast(operand: Operand, target: Type, failure: CastFailure, scope: Scope) -> Expression:
    """`CAST(operand AS target)`, or TRY_CAST. `failure` says what a failing cast does."""
    expression = operand.expression
    source = type_of(expression)
    if not castable(source, target):
        raise scope.problem(f"cannot cast {source} to {target}", operand)
    if target == BINARY and isinstance(source, StringType) and not scope.dialect.is_spark:
        return _bytes_of(expression, scope.dialect.family)
    _check_meaning(expression, target, failure, scope)
    if isinstance(expression, Literal):
        try:
            converted = convert(expression, target, scope.clock)
        except Inconvertible as error:
            if not scope.dialect.is_spark:
                # DuckDB reads '2.5' as an integer, Postgres reads 'epoch' as a time.
                raise Uninterpreted("a text that Spark cannot read so") from error
            if failure is CastFailure.NULL:
                return Literal(None, target)
            raise _inconvertible(operand, expression, target, error, scope) from error
        if converted is not None:
            return converted
    if source == target:
        return expression
    # Arithmetic overflows by the types of its operands, so a widening cast stays in the tree.
    if _has_same_representation(source, target):
        return Cast(expression, target)
    _check_clock(source, target, scope)
    if scope.dialect.family is DialectFamily.OTHER:
        raise Uninterpreted("a cast whose failures this dialect may turn to NULL")
    return Cast(expression, target, failure)


def require_fraction(operand: Operand, digits: int) -> None:
    """Raise Uninterpreted for a cast that rounds seconds to `digits` places."""
    match operand.expression:
        case Literal(str() as text, _):
            fraction = re.search(r"\.([0-9]+)", text)
            finest = len(fraction[1]) if fraction else 0
        case expression:
            match type_of(expression):
                case DateType() | NullType():
                    finest = 0
                case TimestampType(unit=TimeUnit.MICROSECOND) | StringType():
                    finest = 6
                case _:
                    finest = 9
    if finest > digits:
        raise Uninterpreted("a cast that rounds timestamps")


_ESCAPED = re.compile(r"\\x([0-9A-Fa-f]{2})")
_DIGITS = re.compile(r"\\x((?:[0-9A-Fa-f]{2})*)")


def _bytes_of(expression: Expression, family: DialectFamily) -> Literal:
    r"""The bytes of `'\x61b'::BLOB` in DuckDB or `'\x6162'::BYTEA` in Postgres."""
    match expression:
        case Literal(str() as text, _) if family is DialectFamily.DUCKDB and text.isascii():
            if "\\" not in _ESCAPED.sub("", text):
                unescaped = _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), text)
                return Literal(unescaped.encode("latin-1"), BINARY)
        case Literal(str() as text, _) if family is DialectFamily.POSTGRES:
            if digits := _DIGITS.fullmatch(text):
                return Literal(bytes.fromhex(digits[1]), BINARY)
    raise Uninterpreted("text as bytes, which dialects write in different ways")


class CommonTypeOperands(Struct, frozen=True):
    """Operands after the casts to their common type.

    Widening casts that keep the representation are left out, so an operand's type may be narrower.
    """

    operands: tuple[Expression, ...]
    type: Type


def cast_pair(left: Operand, right: Operand, scope: Scope) -> tuple[Expression, Expression]:
    """Both operands, cast to the type in which Spark compares them."""
    first, second = cast_to_common_type((left, right), scope).operands
    return first, second


def cast_to_common_type(operands: Sequence[Operand], scope: Scope) -> CommonTypeOperands:
    """All operands, cast to the type in which Spark compares them."""
    if not scope.dialect.is_spark:
        operands = _texts_as_decimals(operands)
    target = _common_type(operands, scope)
    try:
        return _in_type(operands, target, scope)
    except TypeProblem:
        if not (isinstance(target, TimestampType) and target.unit is TimeUnit.NANOSECOND):
            raise
        # Nanoseconds cover 1677 to 2262. Other literals are compared in microseconds.
        return _in_type(operands, TimestampType(target.instant), scope)


def _texts_as_decimals(operands: Sequence[Operand]) -> Sequence[Operand]:
    """The operands with strings as decimals if one operand is a decimal.

    Spark compares a decimal with a string as doubles, other dialects compare them as decimals.
    The scale depends on the dialect, so the string must not have more places than the decimal.
    """
    kinds = [type_of(operand.expression) for operand in operands]
    places = min((k.scale for k in kinds if isinstance(k, DecimalType)), default=None)
    if places is None or not any(isinstance(kind, StringType) for kind in kinds):
        return operands
    return [_text_as_decimal(operand, places) for operand in operands]


def _text_as_decimal(operand: Operand, places: int) -> Operand:
    match operand.expression:
        case Literal(str() as text, _) if re.fullmatch(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?", text):
            number = exact_decimal(Decimal(text))
            if isinstance(number.type, DecimalType) and number.type.scale <= places:
                return Operand(number, operand.origin)
        case expression if not isinstance(type_of(expression), StringType):
            return operand
        case _:
            pass
    raise Uninterpreted("text beside a decimal")


def _in_type(operands: Sequence[Operand], target: Type, scope: Scope) -> CommonTypeOperands:
    return CommonTypeOperands(
        tuple(
            _without_widening_cast(implicit_cast(operand, target, scope)) for operand in operands
        ),
        target,
    )


def _without_widening_cast(expression: Expression) -> Expression:
    """`int_column` for `CAST(int_column AS BIGINT)`: the values are the same."""
    match expression:
        case Cast(inner, target) if _has_same_representation(type_of(inner), target):
            return inner
        case _:
            return expression


def _common_type(operands: Sequence[Operand], scope: Scope) -> Type:
    kinds = [type_of(operand.expression) for operand in operands]
    for kind in kinds:
        if isinstance(kind, StructType | OtherType | IntervalType):
            raise Uninterpreted(f"values of type {kind} are not compared")
    target = common_type_of(kinds)
    if target is None:
        raise _incomparable(operands, kinds, scope)
    if isinstance(target, StringType):
        require_case(scope)
    if isinstance(target, DecimalType):
        if _all_integers(operands):
            return BIGINT
        _require_places(kinds, target, scope)
    if target == DOUBLE and scope.dialect.narrow_floats and FLOAT in kinds and DOUBLE not in kinds:
        return FLOAT
    if target == UUID and not _strings_are_literals(operands):
        return STRING
    return target


def _require_places(kinds: Sequence[Type], target: DecimalType, scope: Scope) -> None:
    """Raise Uninterpreted if the common decimal has fewer places than one of the operands.

    Spark rounds such an operand before it compares; other dialects compare exactly or raise.
    """
    places = max((kind.scale for kind in kinds if isinstance(kind, DecimalType)), default=0)
    if places > target.scale and not scope.dialect.is_spark:
        raise Uninterpreted("decimals of more digits than 38")


def require_case(scope: Scope) -> None:
    """Raise Uninterpreted in a dialect in which 'a' may equal 'A'."""
    if scope.dialect.text_ignores_case:
        raise Uninterpreted("text that is compared without regard to case")


def _incomparable(operands: Sequence[Operand], kinds: Sequence[Type], scope: Scope) -> Exception:
    at = next((o for o in reversed(operands) if o.span is not None), operands[0])
    names = " with ".join(dict.fromkeys(str(kind) for kind in kinds))
    hint = "cast one of them to the type you mean"
    return scope.problem(f"cannot compare {names}", at, hint=hint)


def _all_integers(operands: Sequence[Operand]) -> bool:
    """Whether integers are compared with decimal literals such as `5.0` that fit in a bigint.

    Decimal operands that are not literals need a decimal comparison.
    """
    return all(
        isinstance(type_of(o.expression), IntegerType | NullType)
        or _is_integer_literal(o.expression)
        for o in operands
    ) and not all(isinstance(o.expression, Literal) for o in operands)


def _is_integer_literal(expression: Expression) -> bool:
    match expression:
        case Literal(value, DecimalType()) if value is not None:
            return value == int(value) and BIGINT.least <= value <= BIGINT.greatest
        case _:
            return False


def _strings_are_literals(operands: Sequence[Operand]) -> bool:
    return all(
        isinstance(o.expression, Literal)
        for o in operands
        if isinstance(type_of(o.expression), StringType)
    )


def of_wall(wall: int, target: Type, scope: Scope) -> Literal | None:
    """The literal of a wall time in microseconds; None if there is none."""
    at = Literal(wall, TIMESTAMP_NTZ)
    return _folded(Operand(at, None), at, target, scope)


def _folded(operand: Operand, literal: Literal, target: Type, scope: Scope) -> Literal | None:
    try:
        return convert(literal, target, scope.clock)
    except ShownTwice as error:
        raise Uninterpreted("a time that the clock shows twice") from error
    except Inconvertible as error:
        raise _inconvertible(operand, literal, target, error, scope) from error


def _inconvertible(
    operand: Operand, literal: Literal, target: Type, error: Inconvertible, scope: Scope
) -> Exception:
    value_text = repr(literal.value) if isinstance(literal.value, str) else str(literal.value)
    return scope.problem(f"cannot read {value_text} as {target}: {error}", operand)


def _has_same_representation(source: Type, target: Type) -> bool:
    """Whether every value of `source` is a value of `target` with the same Arrow value."""
    match (source, target):
        case (IntegerType(), IntegerType()):
            return source.bits <= target.bits
        case (FloatType(), FloatType()):
            return source.bits <= target.bits
        case (DecimalType(), DecimalType()):
            return source.scale == target.scale and source.precision <= target.precision
        case (StringType(), BinaryType()):
            return True
        case _:
            return source == target


def castable(source: Type, target: Type) -> bool:
    """Whether Spark's ANSI CAST allows the types."""
    match (source, target):
        case (NullType(), _):
            return True
        case (StructType() | OtherType() | IntervalType(), _):
            raise Uninterpreted(f"a cast from {source}")
        case (_, StringType()) | (StringType(), BooleanType() | BinaryType() | UuidType()):
            return True
        case (StringType() | TimestampType() | DateType(), DateType() | TimestampType()):
            return True
        case (StringType() | BooleanType(), _) if is_numeric(target):
            return True
        case (_, BooleanType() | TimestampType(instant=True)) if is_numeric(source):
            return True
        case (TimestampType(instant=True), _) if is_numeric(target):
            return True
        case _:
            return source == target or (is_numeric(source) and is_numeric(target))


def as_condition(operand: Operand, scope: Scope) -> Expression:
    """The operand as a condition. Only booleans, strings and NULL can be one."""
    kind = type_of(operand.expression)
    if isinstance(kind, BooleanType | StringType) or kind == NULL:
        return implicit_cast(operand, BooleanType(), scope)
    raise no_condition(operand, scope)


def no_condition(operand: Operand, scope: Scope) -> NoCondition:
    """The error for an operand that is not a boolean."""
    kind = type_of(operand.expression)
    return scope.no_condition(f"a condition is boolean, this is {kind}", operand)
