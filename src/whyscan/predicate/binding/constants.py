"""Binding of literals: numbers, strings, bytes and intervals."""

from __future__ import annotations

import re

from sqlglot import exp

from whyscan.predicate.binding import time_intervals
from whyscan.predicate.binding.scope import Operand, Scope, Uninterpreted
from whyscan.predicate.syntax.dialects import DialectFamily
from whyscan.predicate.syntax.placeholders import is_template
from whyscan.tree import literals
from whyscan.tree.nodes import Literal
from whyscan.tree.types import BINARY, BOOLEAN, NULL, STRING

_BYTES_BY_DIGITS = {DialectFamily.SPARK, DialectFamily.TRINO, DialectFamily.SNOWFLAKE}


def constant(node: exp.Expr, scope: Scope) -> Literal:
    """The literal of a leaf of the syntax tree."""
    match node:
        case exp.Literal(is_string=True) | exp.RawString() | exp.National():
            literal = text_literal(str(node.this))
            is_null = literal.value == "" and scope.dialect.empty_text_is_null
            return Literal(None, STRING) if is_null else literal
        case exp.Literal():
            return number(str(node.this), Operand(Literal(None, NULL), node), scope)
        case exp.Boolean():
            return Literal(bool(node.this), BOOLEAN)
        case exp.Null():
            return Literal(None, NULL)
        case exp.HexString():
            return _bytes(node, scope)
        case exp.ByteString() if scope.dialect.family is DialectFamily.BIGQUERY:
            return Literal(str(node.this).encode("latin-1", "strict"), BINARY)
        case exp.ByteString() if scope.dialect.family is DialectFamily.POSTGRES:
            return text_literal(str(node.this))
        case _:
            raise Uninterpreted(f"a literal of kind {node.key}")


def text_literal(text: str) -> Literal:
    """The literal of a string; Uninterpreted where a tool replaces it by another text."""
    if is_template(text):
        raise Uninterpreted("a template, whose value is unknown")
    return Literal(text, STRING)


def number(text: str, at: Operand, scope: Scope) -> Literal:
    """The literal of a written number. TypeProblem if it has too many digits."""
    try:
        return literals.number_literal(text)
    except literals.Inconvertible as error:
        raise scope.problem(str(error), at) from error
    except ValueError as error:
        raise Uninterpreted(f"the number {text}") from error


def _bytes(node: exp.HexString, scope: Scope) -> Literal:
    digits = str(node.this)
    if node.args.get("is_integer"):
        return number(str(int(digits, 16)), Operand(Literal(None, NULL), node), scope)
    if scope.dialect.family not in _BYTES_BY_DIGITS or not re.fullmatch(r"[0-9A-Fa-f]*", digits):
        raise Uninterpreted("hexadecimal digits in this dialect")
    return Literal(bytes.fromhex(digits if len(digits) % 2 == 0 else "0" + digits), BINARY)


def interval(node: exp.Expr, scope: Scope) -> Literal:
    """The literal of `INTERVAL 7 DAYS`, `INTERVAL '1 02:03' DAY TO MINUTE` and the like."""
    text = _interval_text(node.this)
    if "." in text and not scope.dialect.is_spark:
        raise Uninterpreted("a fraction of a unit, which dialects round in different ways")
    unit = node.args.get("unit")
    match unit:
        case None:
            return time_intervals.of_text(text)
        case exp.IntervalSpan():
            first, last = (str(end.name).lower() for end in (unit.this, unit.expression))
            return time_intervals.of_range(text, first, last)
        case exp.Expr() if re.fullmatch(r"\s*[+-]?\d+(\.\d*)?\s*", text, re.ASCII):
            return time_intervals.of_units(text.strip(), str(unit.name))
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
