"""The functions that have a name in the tree: Spark's, with their arguments and results.

One table. What a dialect calls them is in `calls.py`; whether they help pruning is not decided
here: a function that nobody interprets costs nothing, because its type is known.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.predicate.binding import casts
from whyscan.predicate.binding.folding import fold
from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted
from whyscan.tree.coercion import adjusted, is_numeric
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


class Want(Enum):
    """What an argument must be; it is cast where it is not."""

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
    """Arguments and result of a function. The last of `wants` repeats up to `most` arguments."""

    wants: tuple[Want, ...]
    result: Result
    least: int
    most: int


def call(name: str, operands: Sequence[Operand], scope: Scope) -> Expression:
    """`name(operands)` with arguments cast as it wants them; folded where all are literals."""
    signature = SIGNATURES[name]
    if not signature.least <= len(operands) <= signature.most:
        at = operands[0] if operands else Operand(Literal(None, NULL))
        raise scope.problem(f"{name} does not take {len(operands)} arguments", at)
    wants = signature.wants + signature.wants[-1:] * (len(operands) - len(signature.wants))
    arguments = tuple(
        _as_wanted(operand, want, scope) for operand, want in zip(operands, wants, strict=False)
    )
    if scope.elsewhere and name not in _OF_INSTANTS and TIMESTAMP in map(type_of, arguments):
        raise Uninterpreted("a clock in UTC, which is not the session's")
    result = signature.result
    kind = result(arguments) if callable(result) else result
    made = Call(name, arguments, kind)
    return fold(made, scope.clock) or made


def _as_wanted(operand: Operand, want: Want, scope: Scope) -> Expression:
    kind = type_of(operand.expression)
    target = _target(kind, want)
    if target is None:
        raise scope.problem(f"this must be {want.value}, it is {kind}", operand)
    return operand.expression if target == kind else casts.implicit(operand, target, scope)


def _target(kind: Type, want: Want) -> Type | None:
    match want:
        case Want.ANY:
            return kind
        case Want.NUMBER:
            return kind if is_numeric(kind) else _if_text(kind, DOUBLE)
        case Want.DOUBLE:
            return DOUBLE if is_numeric(kind) else _if_text(kind, DOUBLE)
        case Want.INT:
            return kind if isinstance(kind, IntegerType) else _if_text(kind, INT)
        case Want.BIGINT:
            return kind if isinstance(kind, IntegerType) else _if_text(kind, BIGINT)
        case Want.STRING:
            return STRING
        case Want.BYTES:
            return kind if isinstance(kind, StringType | BinaryType) else STRING
        case Want.DATE:
            return DATE if isinstance(kind, DateType | TimestampType) else _if_text(kind, DATE)
        case Want.TIMESTAMP:
            if isinstance(kind, TimestampType):
                return kind
            return TIMESTAMP if isinstance(kind, DateType) else _if_text(kind, TIMESTAMP)
        case Want.MOMENT:
            return kind if isinstance(kind, DateType | TimestampType) else _if_text(kind, DATE)


def _if_text(kind: Type, target: Type) -> Type | None:
    return target if isinstance(kind, StringType) or kind == NULL else None


def _same(arguments: tuple[Expression, ...]) -> Type:
    return type_of(arguments[0])


def _whole(arguments: tuple[Expression, ...]) -> Type:
    """floor and ceil: bigint, or a decimal without fraction."""
    kind = type_of(arguments[0])
    if isinstance(kind, DecimalType):
        return adjusted(kind.precision - kind.scale + 1, 0)
    return BIGINT


def _round(arguments: tuple[Expression, ...]) -> Type:
    """round(decimal(p,s), n): at most n digits behind the point, one more before it."""
    kind = type_of(arguments[0])
    if not isinstance(kind, DecimalType):
        return kind
    places = arguments[1] if len(arguments) > 1 else Literal(0, INT)
    if not (isinstance(places, Literal) and isinstance(places.value, int)):
        raise Uninterpreted("a number of places that is no literal")
    whole = kind.precision - kind.scale + 1
    if places.value < 0:
        return DecimalType(min(max(whole, -places.value + 1), 38), 0)
    scale = min(kind.scale, places.value)
    return DecimalType(min(whole + scale, 38), scale)


def _of(*wants: Want, gives: Result, optional: int = 0) -> Signature:
    return Signature(wants, gives, len(wants) - optional, len(wants))


_MANY = 1000
_OF_INSTANTS = {"unix_timestamp", "unix_seconds", "unix_millis", "unix_micros"}
"""Functions that no clock has a part in."""

SIGNATURES: dict[str, Signature] = {
    # strings
    **{
        name: _of(Want.STRING, gives=STRING)
        for name in ("lower", "upper", "trim", "ltrim", "rtrim", "initcap", "reverse")
    },
    "length": _of(Want.BYTES, gives=INT),
    "char_length": _of(Want.BYTES, gives=INT),
    "octet_length": _of(Want.BYTES, gives=INT),
    "ascii": _of(Want.STRING, gives=INT),
    "substring": _of(Want.BYTES, Want.INT, Want.INT, gives=_same),
    "left": _of(Want.STRING, Want.INT, gives=STRING),
    "right": _of(Want.STRING, Want.INT, gives=STRING),
    "repeat": _of(Want.STRING, Want.INT, gives=STRING),
    "lpad": _of(Want.STRING, Want.INT, Want.STRING, gives=STRING, optional=1),
    "rpad": _of(Want.STRING, Want.INT, Want.STRING, gives=STRING, optional=1),
    "split_part": _of(Want.STRING, Want.STRING, Want.INT, gives=STRING),
    "substring_index": _of(Want.STRING, Want.STRING, Want.INT, gives=STRING),
    "translate": _of(Want.STRING, Want.STRING, Want.STRING, gives=STRING),
    "format_string": Signature((Want.STRING, Want.ANY), STRING, 1, _MANY),
    "replace": _of(Want.STRING, Want.STRING, Want.STRING, gives=STRING),
    "instr": _of(Want.STRING, Want.STRING, gives=INT),
    "concat": Signature((Want.STRING,), STRING, 1, _MANY),
    "concat_ws": Signature((Want.STRING,), STRING, 1, _MANY),
    **{
        name: _of(Want.STRING, Want.STRING, gives=BOOLEAN)
        for name in ("startswith", "endswith", "contains", "rlike")
    },
    "regexp_extract": _of(Want.STRING, Want.STRING, Want.INT, gives=STRING),
    "regexp_replace": _of(Want.STRING, Want.STRING, Want.STRING, gives=STRING),
    "md5": _of(Want.BYTES, gives=STRING),
    "sha2": _of(Want.BYTES, Want.INT, gives=STRING),
    "crc32": _of(Want.BYTES, gives=BIGINT),
    "get_json_object": _of(Want.STRING, Want.STRING, gives=STRING),
    # numbers
    **{name: _of(Want.NUMBER, gives=_same) for name in ("abs", "negative")},
    **{name: _of(Want.NUMBER, gives=_whole) for name in ("floor", "ceil")},
    **{name: _of(Want.NUMBER, Want.INT, gives=_round, optional=1) for name in ("round", "bround")},
    **{
        name: _of(Want.DOUBLE, gives=DOUBLE)
        for name in ("sign", "sqrt", "cbrt", "exp", "ln", "log10", "log2")
    },
    "power": _of(Want.DOUBLE, Want.DOUBLE, gives=DOUBLE),
    "log": _of(Want.DOUBLE, Want.DOUBLE, gives=DOUBLE),
    "isnan": _of(Want.DOUBLE, gives=BOOLEAN),
    "hash": Signature((Want.ANY,), INT, 1, _MANY),
    "xxhash64": Signature((Want.ANY,), BIGINT, 1, _MANY),
    # time
    **{
        name: _of(Want.MOMENT, gives=INT)
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
    **{name: _of(Want.TIMESTAMP, gives=INT) for name in ("hour", "minute", "second")},
    "next_day": _of(Want.DATE, Want.STRING, gives=DATE),
    **{
        name: _of(Want.TIMESTAMP, Want.STRING, gives=TIMESTAMP)
        for name in ("from_utc_timestamp", "to_utc_timestamp")
    },
    "date_trunc": _of(Want.STRING, Want.TIMESTAMP, gives=lambda a: type_of(a[1])),
    "trunc": _of(Want.DATE, Want.STRING, gives=DATE),
    "last_day": _of(Want.DATE, gives=DATE),
    "make_date": _of(Want.INT, Want.INT, Want.INT, gives=DATE),
    "date_add": _of(Want.DATE, Want.INT, gives=DATE),
    "date_sub": _of(Want.DATE, Want.INT, gives=DATE),
    "add_months": _of(Want.DATE, Want.INT, gives=DATE),
    "datediff": _of(Want.DATE, Want.DATE, gives=INT),
    "months_between": _of(Want.TIMESTAMP, Want.TIMESTAMP, gives=DOUBLE),
    "unix_timestamp": _of(Want.TIMESTAMP, gives=BIGINT),
    "unix_seconds": _of(Want.TIMESTAMP, gives=BIGINT),
    "unix_millis": _of(Want.TIMESTAMP, gives=BIGINT),
    "unix_micros": _of(Want.TIMESTAMP, gives=BIGINT),
    "unix_date": _of(Want.DATE, gives=INT),
    "timestamp_seconds": _of(Want.NUMBER, gives=TIMESTAMP),
    "timestamp_millis": _of(Want.BIGINT, gives=TIMESTAMP),
    "timestamp_micros": _of(Want.BIGINT, gives=TIMESTAMP),
    "date_from_unix_date": _of(Want.INT, gives=DATE),
    "from_unixtime": _of(Want.BIGINT, Want.STRING, gives=STRING),
    "date_format": _of(Want.TIMESTAMP, Want.STRING, gives=STRING),
}
