"""Bound expressions as Spark SQL for people. Binding the text gives the same expression.

The text is only for reading: the stages of whyscan do not pass predicates as text.
"""

from __future__ import annotations

import math
import re
import uuid
from decimal import Decimal
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from whyscan.tree import time_text, zones
from whyscan.tree.coercion import common_type
from whyscan.tree.literals import exact_decimal
from whyscan.tree.nodes import (
    And,
    Arithmetic,
    Between,
    Call,
    Case,
    Cast,
    Coalesce,
    Column,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Opaque,
    Operation,
    Or,
    type_of,
)
from whyscan.tree.types import (
    BIGINT,
    DOUBLE,
    INT,
    NULL,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    StringType,
    TimestampType,
    TimeUnit,
    Type,
    UuidType,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from whyscan.tree.nodes import Expression, Value


class Precedence(IntEnum):
    """The precedence of the outermost operator. A piece of lower precedence gets parentheses."""

    OR = 1
    AND = 2
    NOT = 3
    PREDICATE = 4
    BITS = 5
    SUM = 6
    PRODUCT = 7
    ATOM = 8


class SqlPiece(NamedTuple):
    """The SQL text of an expression with the precedence of its outermost operator."""

    sql: str
    precedence: Precedence

    def bracketed_in(self, precedence: Precedence) -> str:
        """The text as an operand that needs this precedence, in parentheses if necessary."""
        return self.sql if self.precedence >= precedence else f"({self.sql})"


_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_WORDS = """
all and any anti array as asc between both by case cast collate column constraint create cross
cube current current_date current_time current_timestamp current_user database date datetime
desc describe distinct div drop else end escape exists extract false fetch filter first for from
full function grant group having if ilike in inner insert intersect interval into is isnull join
json last lateral leading left like limit localtimestamp map merge minus natural next not
notnull null offset on only or order outer over overlaps overwrite partition percent pivot
position prior range references replace right rlike row rows select semi set show some struct
substring table tablesample then time timestamp timestamp_ltz timestamp_ntz to trailing trim
true try_cast unbounded union unique unknown unnest update user using values view when where
window with within xor
"""
_RESERVED = frozenset(_WORDS.split())
_SUFFIX = {8: "Y", 16: "S", 32: "", 64: "L"}
_INTERVAL_UNITS = {
    "DAY": zones.DAY,
    "HOUR": 3600 * zones.SECOND,
    "MINUTE": 60 * zones.SECOND,
    "SECOND": zones.SECOND,
    "MICROSECOND": 1,
}
_OPERATORS = {
    Operation.ADD: Precedence.SUM,
    Operation.SUBTRACT: Precedence.SUM,
    Operation.MULTIPLY: Precedence.PRODUCT,
    Operation.DIVIDE: Precedence.PRODUCT,
    Operation.QUOTIENT: Precedence.PRODUCT,
    Operation.REMAINDER: Precedence.PRODUCT,
}


def to_sql(expression: Expression) -> str:
    """The expression as readable Spark SQL."""
    return _render(expression).sql


def _render(expression: Expression) -> SqlPiece:
    match expression:
        case Column():
            return SqlPiece(".".join(map(_name, expression.path)), Precedence.ATOM)
        case Literal():
            return _literal(expression)
        case And():
            return _operator_chain(" AND ", expression.operands, Precedence.AND)
        case Or():
            return _operator_chain(" OR ", expression.operands, Precedence.OR)
        case Not():
            return _not(expression.operand)
        case Comparison() | Between() | In() | IsNull() | Like():
            return SqlPiece(_predicate(expression, ""), Precedence.PREDICATE)
        case Case():
            return SqlPiece(_case(expression), Precedence.ATOM)
        case Coalesce():
            return _call("coalesce", expression.operands)
        case Cast():
            inner = _render(expression.operand).sql
            return SqlPiece(
                f"{expression.failure.value.upper()}({inner} AS {_type(expression.type)})",
                Precedence.ATOM,
            )
        case Arithmetic():
            return _arithmetic(expression)
        case Call("rlike", (subject, pattern)):
            sides = (_render(side).bracketed_in(Precedence.SUM) for side in (subject, pattern))
            return SqlPiece(" RLIKE ".join(sides), Precedence.PREDICATE)
        case Call("~", (operand,)):
            return SqlPiece(f"~{_render(operand).bracketed_in(Precedence.ATOM)}", Precedence.BITS)
        case Call("&" | "|" | "^" as operator, arguments):
            sides = (_render(side).bracketed_in(Precedence.SUM) for side in arguments)
            return SqlPiece(f" {operator} ".join(sides), Precedence.BITS)
        case Call():
            return _call(expression.function, expression.arguments)
        case Opaque():
            return SqlPiece(expression.sql, Precedence.OR)


def _name(name: str) -> str:
    if _PLAIN_NAME.fullmatch(name) and name.lower() not in _RESERVED:
        return name
    return "`" + name.replace("`", "``") + "`"


def _operator_chain(
    word: str, operands: tuple[Expression, ...], precedence: Precedence
) -> SqlPiece:
    return SqlPiece(
        word.join(_render(o).bracketed_in(Precedence.NOT) for o in operands), precedence
    )


def _not(operand: Expression) -> SqlPiece:
    """`NOT x`, or a form such as `x NOT IN (…)` where SQL has one."""
    match operand:
        case Between() | In() | IsNull() | Like():
            return SqlPiece(_predicate(operand, "NOT "), Precedence.PREDICATE)
        case _:
            return SqlPiece(f"NOT {_render(operand).bracketed_in(Precedence.ATOM)}", Precedence.NOT)


def _predicate(expression: Comparison | Between | In | IsNull | Like, negation: str) -> str:
    match expression:
        case Comparison(operator, left, right):
            sides = (_comparison_operand(left, right), _comparison_operand(right, left))
            return f" {operator.value} ".join(sides)
        case Between(operand, low, high):
            bounds = (_comparison_operand(low, operand), _comparison_operand(high, operand))
            return f"{_operand(operand)} {negation}BETWEEN " + " AND ".join(bounds)
        case In():
            return f"{_operand(expression.operand)} {negation}IN ({_values(expression)})"
        case IsNull(operand):
            return f"{_operand(operand)} IS {negation}NULL"
        case Like():
            return _like(expression, negation)


def _operand(expression: Expression) -> str:
    return _render(expression).bracketed_in(Precedence.SUM)


def _comparison_operand(expression: Expression, other: Expression) -> str:
    """An operand of a comparison. A literal is as short as the type of `other` allows."""
    if not isinstance(expression, Literal) or isinstance(other, Literal):
        return _operand(expression)
    return _short_literal(expression, type_of(other))


def _short_literal(literal: Literal, other: Type) -> str:
    """The literal without its type, if a comparison with type `other` gives it that type."""
    value, kind = literal.value, literal.type
    match value, kind:
        case None, _ if common_type(other, kind) == kind:
            return "NULL"
        case int(), IntegerType() if common_type(other, _unsuffixed_type(value)) == kind:
            return str(value)
        case Decimal(), DecimalType(scale=scale) if scale and (
            common_type(other, exact_decimal(value).type) == kind
        ):
            return f"{value:f}"
        case bytes(), UuidType() if other == kind:
            return _quoted(str(uuid.UUID(bytes=value)))
        case int(), TimestampType(unit=TimeUnit.NANOSECOND) if other == kind:
            return _quoted(_moment(value, kind))
        case _:
            return _literal(literal).bracketed_in(Precedence.SUM)


def _unsuffixed_type(value: int) -> Type:
    """The type of an integer without a suffix."""
    return INT if INT.least <= value <= INT.greatest else IntegerType(64)


def _values(expression: In) -> str:
    kind = _widest(type_of(expression.operand))
    literals = [Literal(value, kind) for value in _from_arrow(expression.values, kind)]
    if expression.nan:
        literals.append(Literal(math.nan, kind))
    words = [_short_literal(literal, kind) for literal in literals]
    return ", ".join([*words, "NULL"] if expression.null else words)


def _widest(kind: Type) -> Type:
    """The type of the values of an IN list, which may be out of range for the operand's type."""
    match kind:
        case IntegerType():
            return BIGINT
        case FloatType():
            return DOUBLE
        case _:
            return kind


def _from_arrow(values: pa.Array, kind: Type) -> list[Value]:
    match kind:
        case DateType():
            return list(values.view("int32").to_pylist())
        case TimestampType():
            return list(values.view("int64").to_pylist())
        case StringType():
            return [value.decode() for value in values.to_pylist()]
        case _:
            return list(values.to_pylist())


def _like(like: Like, negation: str) -> str:
    word = "ILIKE" if like.ignore_case else "LIKE"
    escape = "" if like.escape in {None, "\\"} else f" ESCAPE {_quoted(str(like.escape))}"
    pattern = like.pattern if like.escape is not None else like.pattern.replace("\\", "\\\\")
    return f"{_operand(like.operand)} {negation}{word} {_quoted(pattern)}{escape}"


def _case(case: Case) -> str:
    branches = [
        f"WHEN {_render(condition).sql} THEN {_render(value).sql}"
        for condition, value in case.branches
    ]
    if not (isinstance(case.otherwise, Literal) and case.otherwise.value is None):
        branches.append(f"ELSE {_render(case.otherwise).sql}")
    return f"CASE {' '.join(branches)} END"


def _call(name: str, arguments: tuple[Expression, ...]) -> SqlPiece:
    return SqlPiece(f"{name}({', '.join(_render(a).sql for a in arguments)})", Precedence.ATOM)


def _arithmetic(arithmetic: Arithmetic) -> SqlPiece:
    precedence = _OPERATORS[arithmetic.operation]
    left = _render(arithmetic.left).bracketed_in(precedence)
    right = _render(arithmetic.right).bracketed_in(Precedence(precedence + 1))
    return SqlPiece(f"{left} {arithmetic.operation.value} {right}", precedence)


def _literal(literal: Literal) -> SqlPiece:
    """The literal in a form that shows its type."""
    value, kind = literal.value, literal.type
    match value, kind:
        case None, _:
            untyped = kind == NULL
            return SqlPiece("NULL" if untyped else f"CAST(NULL AS {_type(kind)})", Precedence.ATOM)
        case bool(), _:
            return SqlPiece("true" if value else "false", Precedence.ATOM)
        case int(), IntegerType():
            return _signed(f"{value}{_SUFFIX[kind.bits]}")
        case int(), DateType():
            return SqlPiece(f"DATE {_quoted(time_text.format_date(value))}", Precedence.ATOM)
        case int(), TimestampType():
            return _timestamp(value, kind)
        case int(), IntervalType():
            return SqlPiece(_interval(value, kind), Precedence.ATOM)
        case Decimal(), DecimalType():
            return _decimal(value, kind)
        case float(), FloatType():
            return _float(value, kind)
        case str(), _:
            return SqlPiece(_quoted(value), Precedence.ATOM)
        case bytes(), UuidType():
            return SqlPiece(
                f"CAST({_quoted(str(uuid.UUID(bytes=value)))} AS UUID)", Precedence.ATOM
            )
        case bytes(), _:
            return SqlPiece(f"X'{value.hex().upper()}'", Precedence.ATOM)
        case _:
            return SqlPiece(f"CAST({_quoted(str(value))} AS {_type(kind)})", Precedence.ATOM)


def _signed(text: str) -> SqlPiece:
    return SqlPiece(text, Precedence.SUM if text.startswith("-") else Precedence.ATOM)


def _decimal(value: Decimal, kind: DecimalType) -> SqlPiece:
    text = f"{value:f}"
    if exact_decimal(value).type == kind:
        return _signed(text if kind.scale else text + "BD")
    return SqlPiece(f"CAST({text} AS {_type(kind)})", Precedence.ATOM)


def _float(value: float, kind: FloatType) -> SqlPiece:
    text = repr(value)
    if kind == DOUBLE and math.isfinite(value):
        return _signed(text if "e" in text else text + "D")
    special = {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, text)
    return SqlPiece(
        f"CAST('{'NaN' if math.isnan(value) else special}' AS {_type(kind)})", Precedence.ATOM
    )


def _timestamp(value: int, kind: TimestampType) -> SqlPiece:
    word = "TIMESTAMP" if kind.instant else "TIMESTAMP_NTZ"
    return SqlPiece(f"{word} {_quoted(_moment(value, kind))}", Precedence.ATOM)


def _moment(value: int, kind: TimestampType) -> str:
    """A timestamp as text. An instant is in UTC, so the text does not depend on the session."""
    wall = time_text.format_wall(value, kind.unit.per_second)
    return wall + "Z" if kind.instant else wall


def _interval(value: int, kind: IntervalType) -> str:
    if kind.months:
        return f"INTERVAL '{value}' MONTH"
    unit = next(name for name, ticks in _INTERVAL_UNITS.items() if value % ticks == 0)
    return f"INTERVAL '{value // _INTERVAL_UNITS[unit]}' {unit}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _type(kind: Type) -> str:
    return str(kind).upper()
