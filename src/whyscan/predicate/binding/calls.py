"""Calls of the functions of the tree: arguments are cast, and constants are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.predicate.binding import casts
from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted
from whyscan.pruning.functions import FUNCTIONS
from whyscan.pruning.functions.folding import folded
from whyscan.pruning.functions.function import Argument
from whyscan.tree.coercion import is_numeric
from whyscan.tree.nodes import Call, Literal, type_of
from whyscan.tree.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    BinaryType,
    DateType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tree.nodes import Expression

_OF_INSTANTS = {"unix_timestamp", "unix_seconds", "unix_millis", "unix_micros"}
"""Functions whose result does not depend on a time zone."""


def call(name: str, operands: Sequence[Operand], scope: Scope) -> Expression:
    """Bind `name(operands)`: cast the arguments, and compute the call if all are literals."""
    function = FUNCTIONS[name]
    if not function.least <= len(operands) <= function.most:
        at = operands[0] if operands else Operand(Literal(None, NULL))
        raise scope.problem(f"{name} does not take {len(operands)} arguments", at)
    parameters = function.parameters + function.parameters[-1:] * (
        len(operands) - len(function.parameters)
    )
    arguments = tuple(
        _cast_argument(operand, parameter, scope)
        for operand, parameter in zip(operands, parameters, strict=False)
    )
    if scope.clock_differs and name not in _OF_INSTANTS and TIMESTAMP in map(type_of, arguments):
        raise Uninterpreted("a clock in UTC, which is not the session's")
    result = function.result
    kind = result(arguments) if callable(result) else result
    if kind is None:
        raise Uninterpreted("a number of places that is no literal")
    return computed(Call(name, arguments, kind), scope)


def computed(node: Call, scope: Scope) -> Expression:
    """The value of a call if all arguments are literals and nothing raises; else the call."""
    return folded(node, scope.clock.zone) or node


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
        case Argument.INT | Argument.BIGINT if not isinstance(kind, IntegerType):
            target = INT if parameter is Argument.INT else BIGINT
            return target if is_numeric(kind) else _if_string_or_null(kind, target)
        case Argument.INT | Argument.BIGINT:
            return kind
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
