"""The functions of the tree by their Spark names, with the types of arguments and results.

The names that other dialects use are in `dialect_calls.py`. This table also has functions that
pruning does not interpret: a call only needs a type.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.predicate.binding import casts
from whyscan.predicate.binding.folding import fold
from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted
from whyscan.tree.coercion import fitted_decimal, is_numeric
from whyscan.tree.nodes import Call, Literal, type_of
from whyscan.tree.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    BinaryType,
    DateType,
    DecimalType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tree.nodes import Expression

Result = Type | Callable[[tuple["Expression", ...]], Type]


class Argument(Enum):
    """The type that a function expects of one argument. Another type is cast to it."""

    ANY = "anything"
    NUMBER = "a number"
    DOUBLE = "double"
    INT = "int"
    BIGINT = "bigint"
    STRING = "string"
    BYTES = "string or binary"
    DATE = "date"
    TIMESTAMP = "timestamp"
    MOMENT = "date or timestamp"


class Signature(Struct, frozen=True):
    """The arguments and the result of a function.

    It takes `least` to `most` arguments; the last of `parameters` repeats.
    """

    parameters: tuple[Argument, ...]
    result: Result
    least: int
    most: int


def call(name: str, operands: Sequence[Operand], scope: Scope) -> Expression:
    """Bind `name(operands)`: cast the arguments, and compute the call if all are literals."""
    signature = SIGNATURES[name]
    if not signature.least <= len(operands) <= signature.most:
        at = operands[0] if operands else Operand(Literal(None, NULL))
        raise scope.problem(f"{name} does not take {len(operands)} arguments", at)
    parameters = signature.parameters + signature.parameters[-1:] * (
        len(operands) - len(signature.parameters)
    )
    arguments = tuple(
        _cast_argument(operand, parameter, scope)
        for operand, parameter in zip(operands, parameters, strict=False)
    )
    if scope.clock_differs and name not in _OF_INSTANTS and TIMESTAMP in map(type_of, arguments):
        raise Uninterpreted("a clock in UTC, which is not the session's")
    result = signature.result
    kind = result(arguments) if callable(result) else result
    node = Call(name, arguments, kind)
    return fold(node, scope.clock) or node


def _cast_argument(operand: Operand, parameter: Argument, scope: Scope) -> Expression:
    kind = type_of(operand.expression)
    target = _target(kind, parameter)
    if target is None:
        raise scope.problem(f"this must be {parameter.value}, it is {kind}", operand)
    return operand.expression if target == kind else casts.implicit_cast(operand, target, scope)


def _target(kind: Type, parameter: Argument) -> Type | None:
    match parameter:
        case Argument.ANY:
            return kind
        case Argument.NUMBER:
            return kind if is_numeric(kind) else _if_string_or_null(kind, DOUBLE)
        case Argument.DOUBLE:
            return DOUBLE if is_numeric(kind) else _if_string_or_null(kind, DOUBLE)
        case Argument.INT:
            return kind if isinstance(kind, IntegerType) else _if_string_or_null(kind, INT)
        case Argument.BIGINT:
            return kind if isinstance(kind, IntegerType) else _if_string_or_null(kind, BIGINT)
        case Argument.STRING:
            return STRING
        case Argument.BYTES:
            return kind if isinstance(kind, StringType | BinaryType) else STRING
        case Argument.DATE:
            return (
                DATE
                if isinstance(kind, DateType | TimestampType)
                else _if_string_or_null(kind, DATE)
            )
        case Argument.TIMESTAMP:
            if isinstance(kind, TimestampType):
                return kind
            return TIMESTAMP if isinstance(kind, DateType) else _if_string_or_null(kind, TIMESTAMP)
        case Argument.MOMENT:
            return (
                kind
                if isinstance(kind, DateType | TimestampType)
                else _if_string_or_null(kind, DATE)
            )


def _if_string_or_null(kind: Type, target: Type) -> Type | None:
    return target if isinstance(kind, StringType) or kind == NULL else None


def _first_argument_type(arguments: tuple[Expression, ...]) -> Type:
    return type_of(arguments[0])


def _floor_type(arguments: tuple[Expression, ...]) -> Type:
    """The result type of floor and ceil: bigint, or a decimal of scale 0."""
    kind = type_of(arguments[0])
    if isinstance(kind, DecimalType):
        return fitted_decimal(kind.precision - kind.scale + 1, 0)
    return BIGINT


def _round_type(arguments: tuple[Expression, ...]) -> Type:
    """The result type of round(decimal(p,s), n): scale at most n, one more integer digit."""
    kind = type_of(arguments[0])
    if not isinstance(kind, DecimalType):
        return kind
    places = arguments[1] if len(arguments) > 1 else Literal(0, INT)
    if not (isinstance(places, Literal) and isinstance(places.value, int)):
        raise Uninterpreted("a number of places that is no literal")
    integer_digits = kind.precision - kind.scale + 1
    if places.value < 0:
        return DecimalType(min(max(integer_digits, -places.value + 1), 38), 0)
    scale = min(kind.scale, places.value)
    return DecimalType(min(integer_digits + scale, 38), scale)


def _takes(*parameters: Argument, result: Result, optional: int = 0) -> Signature:
    return Signature(parameters, result, len(parameters) - optional, len(parameters))


_UNLIMITED = 1000
_OF_INSTANTS = {"unix_timestamp", "unix_seconds", "unix_millis", "unix_micros"}
"""Functions whose result does not depend on a time zone."""

SIGNATURES: dict[str, Signature] = {
    # strings
    **{
        name: _takes(Argument.STRING, result=STRING)
        for name in ("lower", "upper", "trim", "ltrim", "rtrim", "initcap", "reverse")
    },
    "length": _takes(Argument.BYTES, result=INT),
    "char_length": _takes(Argument.BYTES, result=INT),
    "octet_length": _takes(Argument.BYTES, result=INT),
    "ascii": _takes(Argument.STRING, result=INT),
    "substring": _takes(Argument.BYTES, Argument.INT, Argument.INT, result=_first_argument_type),
    "left": _takes(Argument.STRING, Argument.INT, result=STRING),
    "right": _takes(Argument.STRING, Argument.INT, result=STRING),
    "repeat": _takes(Argument.STRING, Argument.INT, result=STRING),
    "lpad": _takes(Argument.STRING, Argument.INT, Argument.STRING, result=STRING, optional=1),
    "rpad": _takes(Argument.STRING, Argument.INT, Argument.STRING, result=STRING, optional=1),
    "split_part": _takes(Argument.STRING, Argument.STRING, Argument.INT, result=STRING),
    "substring_index": _takes(Argument.STRING, Argument.STRING, Argument.INT, result=STRING),
    "translate": _takes(Argument.STRING, Argument.STRING, Argument.STRING, result=STRING),
    "format_string": Signature((Argument.STRING, Argument.ANY), STRING, 1, _UNLIMITED),
    "replace": _takes(Argument.STRING, Argument.STRING, Argument.STRING, result=STRING),
    "instr": _takes(Argument.STRING, Argument.STRING, result=INT),
    "concat": Signature((Argument.STRING,), STRING, 1, _UNLIMITED),
    "concat_ws": Signature((Argument.STRING,), STRING, 1, _UNLIMITED),
    **{
        name: _takes(Argument.STRING, Argument.STRING, result=BOOLEAN)
        for name in ("startswith", "endswith", "contains", "rlike")
    },
    "regexp_extract": _takes(Argument.STRING, Argument.STRING, Argument.INT, result=STRING),
    "regexp_replace": _takes(Argument.STRING, Argument.STRING, Argument.STRING, result=STRING),
    "md5": _takes(Argument.BYTES, result=STRING),
    "sha2": _takes(Argument.BYTES, Argument.INT, result=STRING),
    "crc32": _takes(Argument.BYTES, result=BIGINT),
    "get_json_object": _takes(Argument.STRING, Argument.STRING, result=STRING),
    # numbers
    **{name: _takes(Argument.NUMBER, result=_first_argument_type) for name in ("abs", "negative")},
    **{name: _takes(Argument.NUMBER, result=_floor_type) for name in ("floor", "ceil")},
    **{
        name: _takes(Argument.NUMBER, Argument.INT, result=_round_type, optional=1)
        for name in ("round", "bround")
    },
    **{
        name: _takes(Argument.DOUBLE, result=DOUBLE)
        for name in ("sign", "sqrt", "cbrt", "exp", "ln", "log10", "log2")
    },
    "power": _takes(Argument.DOUBLE, Argument.DOUBLE, result=DOUBLE),
    "log": _takes(Argument.DOUBLE, Argument.DOUBLE, result=DOUBLE),
    "isnan": _takes(Argument.DOUBLE, result=BOOLEAN),
    "hash": Signature((Argument.ANY,), INT, 1, _UNLIMITED),
    "xxhash64": Signature((Argument.ANY,), BIGINT, 1, _UNLIMITED),
    # time
    **{
        name: _takes(Argument.MOMENT, result=INT)
        for name in (
            "year",
            "quarter",
            "month",
            "day",
            "dayofweek",
            "weekday",
            "dayofyear",
            "weekofyear",
        )
    },
    **{name: _takes(Argument.TIMESTAMP, result=INT) for name in ("hour", "minute", "second")},
    "next_day": _takes(Argument.DATE, Argument.STRING, result=DATE),
    **{
        name: _takes(Argument.TIMESTAMP, Argument.STRING, result=TIMESTAMP)
        for name in ("from_utc_timestamp", "to_utc_timestamp")
    },
    "date_trunc": _takes(Argument.STRING, Argument.TIMESTAMP, result=lambda a: type_of(a[1])),
    "trunc": _takes(Argument.DATE, Argument.STRING, result=DATE),
    "last_day": _takes(Argument.DATE, result=DATE),
    "make_date": _takes(Argument.INT, Argument.INT, Argument.INT, result=DATE),
    "date_add": _takes(Argument.DATE, Argument.INT, result=DATE),
    "date_sub": _takes(Argument.DATE, Argument.INT, result=DATE),
    "add_months": _takes(Argument.DATE, Argument.INT, result=DATE),
    "datediff": _takes(Argument.DATE, Argument.DATE, result=INT),
    "months_between": _takes(Argument.TIMESTAMP, Argument.TIMESTAMP, result=DOUBLE),
    "unix_timestamp": _takes(Argument.TIMESTAMP, result=BIGINT),
    "unix_seconds": _takes(Argument.TIMESTAMP, result=BIGINT),
    "unix_millis": _takes(Argument.TIMESTAMP, result=BIGINT),
    "unix_micros": _takes(Argument.TIMESTAMP, result=BIGINT),
    "unix_date": _takes(Argument.DATE, result=INT),
    "timestamp_seconds": _takes(Argument.NUMBER, result=TIMESTAMP),
    "timestamp_millis": _takes(Argument.BIGINT, result=TIMESTAMP),
    "timestamp_micros": _takes(Argument.BIGINT, result=TIMESTAMP),
    "date_from_unix_date": _takes(Argument.INT, result=DATE),
    "from_unixtime": _takes(Argument.BIGINT, Argument.STRING, result=STRING),
    "date_format": _takes(Argument.TIMESTAMP, Argument.STRING, result=STRING),
}
