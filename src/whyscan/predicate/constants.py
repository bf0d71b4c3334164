"""Literals as they are written: numbers, strings, bytes, intervals, and long lists of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from whyscan.errors import Span
from whyscan.predicate import casts, intervals, literals
from whyscan.predicate.dialects import Family
from whyscan.predicate.scope import Operand, Scope, Uninterpreted
from whyscan.predicate.tree import Failure, Literal
from whyscan.predicate.types import (
    BINARY,
    BOOLEAN,
    DATE,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.predicate.tokens import Item
    from whyscan.predicate.tree import Expression

_BYTES_BY_DIGITS = {Family.SPARK, Family.TRINO, Family.SNOWFLAKE}


def constant(node: exp.Expr, scope: Scope) -> Literal:
    """The literal that a leaf of the syntax is."""
    match node:
        case exp.Literal(is_string=True) | exp.RawString() | exp.National():
            return Literal(str(node.this), STRING)
        case exp.Literal():
            return _number(str(node.this), Operand(Literal(None, NULL), node), scope)
        case exp.Boolean():
            return Literal(bool(node.this), BOOLEAN)
        case exp.Null():
            return Literal(None, NULL)
        case exp.HexString():
            return _bytes(node, scope)
        case exp.ByteString() if scope.dialect.family is Family.BIGQUERY:
            return Literal(str(node.this).encode("latin-1", "strict"), BINARY)
        case exp.ByteString() if scope.dialect.family is Family.POSTGRES:
            return Literal(str(node.this), STRING)
        case _:
            raise Uninterpreted(f"a literal of kind {node.key}")


def _number(text: str, at: Operand, scope: Scope) -> Literal:
    try:
        return literals.number(text)
    except literals.Inconvertible as error:
        raise scope.problem(str(error), at) from error
    except ValueError as error:
        raise Uninterpreted(f"the number {text}") from error


def _bytes(node: exp.HexString, scope: Scope) -> Literal:
    digits = str(node.this)
    if node.args.get("is_integer"):
        return Literal(int(digits, 16), INT) if len(digits) < 8 else _number(  # noqa: PLR2004
            str(int(digits[:40], 16)), Operand(Literal(None, NULL), node), scope
        )
    if scope.dialect.family not in _BYTES_BY_DIGITS or not re.fullmatch(r"[0-9A-Fa-f]*", digits):
        raise Uninterpreted("hexadecimal digits in this dialect")
    return Literal(bytes.fromhex(digits if len(digits) % 2 == 0 else "0" + digits), BINARY)


def interval(node: exp.Interval) -> Literal:
    """`INTERVAL 7 DAYS`, `INTERVAL '1 02:03' DAY TO MINUTE`, `INTERVAL '1 day 2 hours'`."""
    text = _interval_text(node.this)
    unit = node.args.get("unit")
    match unit:
        case None:
            return intervals.of_text(text)
        case exp.IntervalSpan():
            first, last = (str(end.name).lower() for end in (unit.this, unit.expression))
            return intervals.of_range(text, first, last)
        case exp.Expr() if re.fullmatch(r"\s*[+-]?\d+(\.\d*)?\s*", text, re.ASCII):
            return intervals.of_units(text.strip(), str(unit.name))
        case _:
            raise Uninterpreted(f"the interval {text!r}")


def _interval_text(node: object) -> str:
    match node:
        case exp.Literal():
            return str(node.this)
        case exp.Neg(this=exp.Literal() as inner):
            return "-" + str(inner.this).strip()
        case exp.Paren():
            return _interval_text(node.this)
        case _:
            raise Uninterpreted("an interval that is no literal")


def listed(items: Sequence[Item], scope: Scope) -> Iterator[Operand]:
    """The literals of a long list, each with its place."""
    for item in items:
        place = Span(item.start, item.end)
        yield Operand(_listed(item, place, scope), place)


def _listed(item: Item, place: Span, scope: Scope) -> Expression:
    match item.kind:
        case TokenType.NUMBER:
            return _number(item.text, Operand(Literal(None, NULL), place), scope)
        case TokenType.STRING if item.prefix is None:
            return Literal(item.text, STRING)
        case TokenType.STRING:
            text = Operand(Literal(item.text, STRING), place)
            return casts.explicit(text, _typed(item.prefix, scope), Failure.RAISE, scope)
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
