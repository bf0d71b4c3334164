"""Binding of long IN lists, which are read from the tokens and not from syntax nodes.

Most lists have literals of one kind, and these are converted all at once.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import TokenType

from whyscan.errors import TextSpan
from whyscan.predicate.binding import casts, constants
from whyscan.predicate.binding.comparisons import as_set, is_one_of
from whyscan.predicate.binding.scope import Operand, Scope
from whyscan.predicate.binding.shared_casts import is_plain_time
from whyscan.tree import time_text
from whyscan.tree.literals import EXACT, MAX_DIGITS
from whyscan.tree.nodes import CastFailure, In, Literal, type_of
from whyscan.tree.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    FLOAT,
    NULL,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.predicate.syntax.tokens import ListLiteral
    from whyscan.tree.nodes import Expression, Value


def is_listed(operand: Operand, items: Sequence[ListLiteral], scope: Scope) -> Expression:
    """`operand IN (items)`."""
    values = _of_one_kind(type_of(operand.expression), items, scope)
    if values is None or isinstance(operand.expression, Literal):
        return is_one_of(operand, list(_literals(items, scope)), scope)
    return In(operand.expression, *as_set(values, type_of(operand.expression)))


def _of_one_kind(kind: Type, items: Sequence[ListLiteral], scope: Scope) -> Sequence[Value] | None:
    """The values of a list of one kind of literal that fits the operand's type; else None."""
    token_kinds = {(item.kind, item.prefix) for item in items}
    if kind == FLOAT and scope.dialect.narrow_floats:
        return None
    dialect = scope.dialect
    if kind == STRING and (dialect.text_ignores_case or dialect.empty_text_is_null):
        return None
    match kind:
        case StringType() if token_kinds == {(TokenType.STRING, None)}:
            return [str(constants.text_literal(item.text).value) for item in items]
        case IntegerType() if token_kinds == {(TokenType.NUMBER, None)}:
            return _integers(items)
        case FloatType() if token_kinds == {(TokenType.NUMBER, None)}:
            return _doubles(items)
        case DecimalType() if token_kinds == {(TokenType.NUMBER, None)}:
            return _decimals(items, kind)
        case DateType() if {kind for kind, _ in token_kinds} == {TokenType.STRING} and {
            prefix for _, prefix in token_kinds
        } <= {None, TokenType.DATE}:
            unambiguous = scope.dialect.is_spark or all(is_plain_time(i.text, kind) for i in items)
            days = [time_text.parse_date(item.text) for item in items] if unambiguous else [None]
            return None if None in days else days
        case _:
            return None


def _integers(items: Sequence[ListLiteral]) -> Sequence[Value] | None:
    try:
        numbers = [int(item.text) for item in items]
    except ValueError:
        return None
    in_range = BIGINT.least <= min(numbers) and max(numbers) <= BIGINT.greatest
    return numbers if in_range else None


def _doubles(items: Sequence[ListLiteral]) -> Sequence[Value] | None:
    """The numbers as doubles, rounded once; None if one has too many digits for a decimal."""
    if max(len(item.text) for item in items) > MAX_DIGITS:
        return None
    return [float(item.text) for item in items]


def _decimals(items: Sequence[ListLiteral], kind: DecimalType) -> Sequence[Value] | None:
    """The numbers at the scale of the type; None if a number has more digits after the point."""
    if any(len(item.text) > MAX_DIGITS - kind.scale or "e" in item.text.lower() for item in items):
        return None
    unit = Decimal(1).scaleb(-kind.scale)
    numbers = [Decimal(item.text) for item in items]
    at_scale = [number.quantize(unit, context=EXACT) for number in numbers]
    return at_scale if at_scale == numbers else None


def _literals(items: Sequence[ListLiteral], scope: Scope) -> Iterator[Operand]:
    for item in items:
        place = TextSpan(item.start, item.end)
        yield Operand(_literal(item, place, scope), place)


def _literal(item: ListLiteral, place: TextSpan, scope: Scope) -> Expression:
    match item.kind:
        case TokenType.NUMBER:
            return constants.number(item.text, Operand(Literal(None, NULL), place), scope)
        case TokenType.STRING if item.prefix is None:
            return constants.text_literal(item.text)
        case TokenType.STRING:
            text = Operand(constants.text_literal(item.text), place)
            return casts.explicit_cast(text, _typed(item.prefix, scope), CastFailure.RAISE, scope)
        case TokenType.NULL:
            return Literal(None, NULL)
        case kind:
            return Literal(kind is TokenType.TRUE, BOOLEAN)


def _typed(prefix: TokenType | None, scope: Scope) -> Type:
    match prefix:
        case TokenType.DATE:
            return DATE
        case TokenType.TIMESTAMPNTZ:
            return TIMESTAMP_NTZ
        case TokenType.TIMESTAMP:
            return TIMESTAMP if scope.dialect.plain_timestamp_is_instant else TIMESTAMP_NTZ
        case _:
            return TIMESTAMP
