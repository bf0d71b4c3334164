"""Generated predicates over a table: typed trees whose literals stand at, or one step beside,
the values of its rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oracle import order
from oracle.values import FRACTION, NANOS, any_value, neighbours
from whyscan.tree import arrow
from whyscan.tree.nodes import (
    And,
    Arithmetic,
    Between,
    Call,
    Case,
    Cast,
    CastFailure,
    Coalesce,
    Column,
    Comparator,
    Comparison,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Opaque,
    Operation,
    Or,
)
from whyscan.tree.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    BooleanType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    from oracle.dice import Dice
    from oracle.tables import World

COMPARATORS = tuple(Comparator)
EXACT = (Operation.ADD, Operation.SUBTRACT, Operation.MULTIPLY)
PARTS = ("year", "month", "quarter", "dayofmonth", "dayofyear", "dayofweek", "weekday")
CLOCK = ("hour", "minute", "second")
UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
PATTERNS = ("{}%", "%{}", "{}", "{}_", "%{}%", "_{}%", "{}%{}")


@dataclass(frozen=True)
class Maker:
    """Draws expressions over one world. `certain` leaves out what is opaque."""

    dice: Dice
    world: World
    certain: bool = False

    def predicate(self, depth: int) -> Expression:
        """A boolean expression, at most `depth` levels deep."""
        if depth > 0 and self.dice.one_in(2):
            return self._connected(depth - 1)
        return self._leaf(depth)

    def _connected(self, depth: int) -> Expression:
        match self.dice.number(0, 6):
            case 0 | 1:
                return _flat(And, [self.predicate(depth) for _ in range(self.dice.number(2, 3))])
            case 2 | 3:
                return _flat(Or, [self.predicate(depth) for _ in range(self.dice.number(2, 3))])
            case 4:
                return Not(self.predicate(depth))
            case 5:
                return IsNull(self.predicate(depth))
        branches = ((self.predicate(depth), self.predicate(depth)),)
        return Case(branches, self.predicate(depth), BOOLEAN)

    def _leaf(self, depth: int) -> Expression:
        kind = self.kind()
        match self.dice.number(0, 9):
            case 0 | 1 | 2 | 3:
                return self.comparison(kind, depth)
            case 4:
                return self.membership(kind, depth)
            case 5:
                low, high = self.value(kind, 0), self.value(kind, 0)
                return Between(self.value(kind, depth), low, high)
            case 6:
                return IsNull(self.value(kind, depth))
            case 7:
                return self.pattern(depth)
            case 8 if not self.certain:
                column = self.dice.pick(self.world.columns())
                return Opaque("f(c)", "no such function", (column,))
        return self.value(BOOLEAN, depth)

    def kind(self) -> Type:
        """A type of the table, or one that its columns become."""
        if self.dice.one_in(6):
            return self.dice.pick((INT, BIGINT, DOUBLE, STRING, DATE, TIMESTAMP))
        return self.dice.pick(list(self.world.schema.values()))

    def comparison(self, kind: Type, depth: int) -> Comparison:
        operator = self.dice.pick(COMPARATORS)
        left, right = self.value(kind, depth), self.value(kind, max(depth - 1, 0))
        if self.dice.one_in(2):
            right = self.literal(kind)
        return Comparison(operator, *((left, right) if not self.dice.one_in(3) else (right, left)))

    def membership(self, kind: Type, depth: int) -> In:
        drawn = [self.chosen_value(kind) for _ in range(self.dice.number(1, 4))]
        operand = self.value(kind, depth)
        return in_list(operand, kind, drawn, null=self.dice.one_in(4))

    def pattern(self, depth: int) -> Like:
        word = self.chosen_value(STRING)
        escaped = "".join("\\" + c if c in "%_\\" else c for c in word)
        text = self.dice.pick((word, escaped)) if "\\" not in word else escaped
        pattern = self.dice.pick(PATTERNS).format(text, text)
        return Like(self.value(STRING, depth), pattern, "\\", self.dice.one_in(5))

    # Values.

    def value(self, kind: Type, depth: int) -> Expression:
        if depth > 0 and self.dice.one_in(2):
            return self._computed(kind, depth - 1)
        columns = [column for column in self.world.columns() if column.type == kind]
        if columns and not self.dice.one_in(5):
            return self.dice.pick(columns)
        if not columns and self.dice.one_in(2):
            conversion = self._from_column(kind)
            if conversion is not None:
                return conversion
        return self.literal(kind)

    def literal(self, kind: Type) -> Literal:
        return Literal(None if self.dice.one_in(12) else self.chosen_value(kind), kind)

    def chosen_value(self, kind: Type) -> Any:
        """A value of a row, or a step beside one, or any at all."""
        values = [
            row[path]
            for path, of in self.world.schema.items()
            if of == kind
            for rows in self.world.rows
            for row in rows
            if row[path] is not None
        ]
        if values and not self.dice.one_in(4):
            return self.dice.pick(neighbours(self.dice.pick(values), kind))
        return any_value(self.dice, kind)

    def _from_column(self, kind: Type) -> Expression | None:
        """A column of another type, made into this one."""
        made = [e for column in self.world.columns() for e in self._conversions(column, kind)]
        return self.dice.pick(made) if made else None

    def _conversions(self, column: Column, kind: Type) -> list[Expression]:
        conversions: list[Expression] = []
        if castable(column.type, kind):
            conversions += [Cast(column, kind), Cast(column, kind, CastFailure.NULL)]
        match column.type, kind:
            case (DateType() | TimestampType(), IntegerType(bits=32)) if column.type != NANOS:
                parts = PARTS if column.type == DATE else PARTS + CLOCK
                conversions += [Call(part, (column,), INT) for part in parts]
            case (TimestampType(), DateType()) if column.type != NANOS:
                conversions.append(Call("to_date", (column,), DATE))
            case (StringType(), IntegerType(bits=32)):
                conversions.append(Call("length", (column,), INT))
            case (FloatType(bits=64), IntegerType(bits=64)):
                conversions += [Call(f, (column,), BIGINT) for f in ("floor", "ceil")]
        return conversions

    def _computed(self, kind: Type, depth: int) -> Expression:
        def inner() -> Expression:
            return self.value(kind, depth)

        match self.dice.number(0, 7):
            case 0:
                return Coalesce((inner(), inner()), kind)
            case 1:
                return Case(((self.predicate(depth), inner()),), inner(), kind)
            case 2:
                name = self.dice.pick(("least", "greatest", "nullif"))
                return Call(name, (inner(), inner()), kind)
            case 3:
                return self._from_column(kind) or inner()
        return self._calculated(kind, depth)

    def _calculated(self, kind: Type, depth: int) -> Expression:
        inner = self.value(kind, depth)
        match kind:
            case BooleanType():
                return self.predicate(depth)
            case IntegerType() | FloatType():
                return self._number(kind, inner, depth)
            case DecimalType() if kind != FRACTION:
                return Call(self.dice.pick(("abs", "negative")), (inner,), kind)
            case StringType():
                return self._text(inner, depth)
            case DateType():
                return self._date(inner)
            case TimestampType() if kind != NANOS:
                unit = Literal(self.dice.pick(UNITS), STRING)
                return Call("date_trunc", (unit, inner), kind)
        return inner

    def _number(self, kind: Type, inner: Expression, depth: int) -> Expression:
        other = self.value(kind, depth) if self.dice.one_in(3) else self.literal(kind)
        operands = (inner, other) if self.dice.one_in(2) else (other, inner)
        match self.dice.number(0, 5):
            case 0 | 1:
                return Arithmetic(self.dice.pick(EXACT), *operands, kind)
            case 2:
                return Arithmetic(Operation.REMAINDER, *operands, kind)
            case 3 if kind == DOUBLE:
                return Arithmetic(Operation.DIVIDE, *operands, kind)
            case 3 if kind == BIGINT:
                return Arithmetic(Operation.QUOTIENT, *operands, kind)
            case 4 if kind == DOUBLE:
                return Call("round", (inner, Literal(self.dice.number(0, 2), INT)), kind)
        return Call(self.dice.pick(("abs", "negative")), (inner,), kind)

    def _text(self, inner: Expression, depth: int) -> Expression:
        match self.dice.number(0, 4):
            case 0:
                return Call("lower", (inner,), STRING)
            case 1:
                return Call("upper", (inner,), STRING)
            case 2:
                return Call("concat", (inner, self.value(STRING, depth)), STRING)
            case 3:
                start, length = self.dice.number(-2, 3), self.dice.number(0, 3)
                arguments = (inner, Literal(start, INT), Literal(length, INT))
                return Call("substring", arguments, STRING)
        return Call("trim", (inner,), STRING)

    def _date(self, inner: Expression) -> Expression:
        match self.dice.number(0, 3):
            case 0:
                return Call("last_day", (inner,), DATE)
            case 1:
                unit = Literal(self.dice.pick(("YEAR", "QUARTER", "MONTH", "WEEK")), STRING)
                return Call("trunc", (inner, unit), DATE)
        name = self.dice.pick(("date_add", "date_sub"))
        return Call(name, (inner, Literal(self.dice.number(-3, 3), INT)), DATE)


def in_list(operand: Expression, kind: Type, listed: list[Any], *, null: bool) -> In:
    """`operand IN (listed…)`, the list as the tree wants it."""
    plain = [v for v in listed if not (isinstance(v, float) and math.isnan(v))]
    ordered: list[Any] = []
    for value in sorted(plain, key=order.key):
        if not ordered or not order.equal(ordered[-1], value):
            ordered.append(value)
    return In(operand, arrow.array(ordered, kind), null=null, nan=len(plain) < len(listed))


def _flat(node: type[And | Or], parts: list[Expression]) -> Expression:
    """Never nested directly in another of its kind."""
    flat: list[Expression] = []
    for part in parts:
        flat += part.operands if isinstance(part, node) else (part,)
    return node(tuple(flat))


_NUMERIC = (BooleanType, IntegerType, FloatType, DecimalType)


def castable(source: Type, target: Type) -> bool:
    """The oracle and Spark both know this cast."""
    if source == target:
        return False
    match source, target:
        case (IntegerType() | FloatType() | DecimalType(), _) if isinstance(target, _NUMERIC):
            return not (source == FloatType(32) and isinstance(target, DecimalType))
        case (BooleanType(), IntegerType() | FloatType() | StringType()):
            return True
        case (IntegerType() | DecimalType() | DateType(), StringType()):
            return True
        case (TimestampType(), StringType() | DateType()):
            return source != NANOS
        case (TimestampType(), TimestampType()):
            return NANOS not in {source, target}
        case (DateType(), TimestampType()):
            return target != NANOS
        case (StringType(), IntegerType() | DateType() | BooleanType() | DecimalType()):
            return True
        case (StringType(), FloatType() | TimestampType()):
            return target in {DOUBLE, TIMESTAMP}
    return False


INTEGERS = (TINYINT, SMALLINT, INT, BIGINT)
WALLS = (DATE, TIMESTAMP, TIMESTAMP_NTZ)
