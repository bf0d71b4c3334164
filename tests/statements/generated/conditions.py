"""Random conditions over the columns of a scope and of the scopes around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from statements.generated.values import STEPS, Column, Kind, any_literal, literal, of_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.dice import Dice
    from statements.generated.queries import Queries

OPERATORS = ("<=", ">=", "<", ">", "=", "<>", "<=", ">=")
DISTINCT = ("IS DISTINCT FROM", "IS NOT DISTINCT FROM")


@dataclass(frozen=True)
class Conditions:
    """Conditions for one place: `scope` is the query's own, `outer` those it is nested in."""

    queries: Queries
    scope: Sequence[Column]
    outer: Sequence[Column] = ()

    @property
    def dice(self) -> Dice:
        return self.queries.dice

    def condition(self, depth: int) -> str:
        """At most `depth` connectives and subqueries deep."""
        if depth > 0 and self.dice.one_in(2):
            return self._connected(depth - 1)
        if depth > 0 and self.queries.may_nest() and self.dice.one_in(4):
            return self._with_subquery(depth - 1)
        return self._leaf(depth)

    def _connected(self, depth: int) -> str:
        match self.dice.number(0, 9):
            case 0 | 1 | 2 | 3:
                return self._joined(" AND ", depth)
            case 4 | 5 | 6:
                return self._joined(" OR ", depth)
            case 7:
                return f"NOT ({self.condition(depth)})"
            case 8:
                return (
                    f"({self.condition(depth)}) IS {self.dice.pick(('NOT TRUE', 'TRUE', 'NULL'))}"
                )
        then, other = (self.dice.pick(("TRUE", "FALSE", "NULL")) for _ in range(2))
        return f"CASE WHEN {self.condition(depth)} THEN {then} ELSE {other} END"

    def _joined(self, word: str, depth: int) -> str:
        parts = [self.condition(depth) for _ in range(self.dice.number(2, 3))]
        return word.join(f"({part})" for part in parts)

    def column(self) -> Column:
        """Of the query's own scope more often than of those around it."""
        if self.outer and (not self.scope or self.dice.one_in(3)):
            return self.dice.pick(self.outer)
        return self.dice.pick(self.scope)

    def operand(self, kind: Kind) -> str:
        """An expression of a type: a column, a literal, or a function of columns."""
        candidates = [*of_kind(self.scope, kind), *of_kind(self.outer, kind)]
        if not candidates or self.dice.one_in(3):
            return any_literal(self.dice, kind)
        return self.wrapped(self.dice.pick(candidates))

    def wrapped(self, column: Column) -> str:
        """A column, now and then within a function that keeps its type."""
        text = column.text
        match self.dice.number(0, 15):
            case 0:
                return f"coalesce({text}, {any_literal(self.dice, column.kind)})"
            case 1:
                fallback = any_literal(self.dice, column.kind)
                return f"CASE WHEN {text} IS NULL THEN {fallback} ELSE {text} END"
            case 2:
                return f"nullif({text}, {any_literal(self.dice, column.kind)})"
            case 3 if column.kind in {Kind.INT, Kind.DOUBLE}:
                return f"{text} + {self.dice.number(0, 3)}"
            case 3 if column.kind == Kind.TEXT:
                return f"upper({text})"
            case 4 if of_kind(self.scope, column.kind):
                other = self.dice.pick(of_kind(self.scope, column.kind))
                return f"coalesce({text}, {other.text})"
        return text

    def _leaf(self, depth: int) -> str:
        column = self.column()
        text, kind = self.wrapped(column), column.kind
        match self.dice.number(0, 15):
            case 0 | 1 | 2 | 3 | 4:
                return f"{text} {self.dice.pick(OPERATORS)} {any_literal(self.dice, kind)}"
            case 5 | 6:
                return f"{text} {self.dice.pick(OPERATORS)} {self.operand(kind)}"
            case 7 | 8:
                return f"{text} IS {self.dice.pick(('NULL', 'NOT NULL'))}"
            case 9:
                return self._in_list(text, kind)
            case 10 | 11:
                low = self.dice.number(0, STEPS)
                high = min(low + self.dice.number(0, 4), STEPS)
                word = self.dice.pick(("BETWEEN", "BETWEEN", "NOT BETWEEN"))
                return f"{text} {word} {literal(kind, low)} AND {literal(kind, high)}"
            case 12:
                return f"{text} {self.dice.pick(DISTINCT)} {self.operand(kind)}"
            case 13 if kind == Kind.TEXT:
                return f"{text} LIKE '{self.dice.pick('abcdef')}%'"
            case 14 if depth > 0:
                return self.dice.pick(("TRUE", "FALSE", "NULL"))
            case 15:
                return self._row(column)
        return f"{self.operand(kind)} {self.dice.pick(OPERATORS)} {text}"

    def _in_list(self, text: str, kind: Kind) -> str:
        listed = ", ".join(any_literal(self.dice, kind) for _ in range(self.dice.number(1, 3)))
        return f"{text} {self.dice.pick(('IN', 'IN', 'NOT IN'))} ({listed})"

    def _row(self, column: Column) -> str:
        other = self.column()
        pairs = [
            f"({any_literal(self.dice, column.kind)}, {any_literal(self.dice, other.kind)})"
            for _ in range(self.dice.number(1, 2))
        ]
        return f"({column.text}, {other.text}) IN ({', '.join(pairs)})"

    def _with_subquery(self, depth: int) -> str:
        around = (*self.scope, *self.outer)
        column = self.column()
        match self.dice.number(0, 7):
            case 7:
                subject = self.queries.scalar(depth, around, column.kind)
                inner = self.queries.query(depth, around, (column.kind,)).sql
                return f"({subject}) {self.dice.pick(('IN', 'NOT IN'))} ({inner})"
            case 0 | 1:
                inner = self.queries.query(depth, around).sql
                return f"{self.dice.pick(('', 'NOT '))}EXISTS ({inner})"
            case 2 | 3:
                inner = self.queries.query(depth, around, (column.kind,)).sql
                return f"{column.text} {self.dice.pick(('IN', 'NOT IN'))} ({inner})"
            case 4:
                inner = self.queries.query(depth, around, (column.kind,)).sql
                some = self.dice.pick(("ANY", "ALL"))
                return f"{column.text} {self.dice.pick(OPERATORS)} {some} ({inner})"
        inner = self.queries.scalar(depth, around, column.kind)
        return f"{column.text} {self.dice.pick(OPERATORS)} ({inner})"

    def equality(self, left: Sequence[Column], right: Sequence[Column]) -> str | None:
        """A join's usual condition; None where no two types agree."""
        pairs = [(a, b) for a in left for b in of_kind(right, a.kind)]
        if not pairs:
            return None
        one, other = self.dice.pick(pairs)
        if self.dice.one_in(3):
            return f"{self.wrapped(one)} = {self.wrapped(other)}"
        return f"{one.text} {'=' if not self.dice.one_in(6) else '<='} {other.text}"
