"""Random changes of a table called `target` that have one outcome, whatever order rows come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from statements.generated.conditions import Conditions
from statements.generated.values import KINDS, NAMES, Column, any_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from statements.generated.queries import Queries

TARGET = tuple(Column(f"target.{name}", name, KINDS[name]) for name in NAMES)


@dataclass(frozen=True)
class Changes:
    """What is set is a literal or the row's own: of several matches it does not matter which."""

    queries: Queries

    def statement(self) -> str:
        match self.queries.dice.number(0, 9):
            case 0 | 1:
                return self._delete()
            case 2 | 3:
                return self._update()
        return self._merge()

    def _source(self, alias: str) -> tuple[str, tuple[Column, ...]]:
        name = self.queries.occurrence()
        columns = tuple(Column(f"{alias}.{n}", n, KINDS[n]) for n in NAMES)
        if self.queries.dice.one_in(3):
            inner = tuple(Column(n, n, KINDS[n]) for n in NAMES)
            where = Conditions(self.queries, inner).condition(1)
            return f"(SELECT * FROM {name} WHERE {where}) AS {alias}", columns
        return f"{name} AS {alias}", columns

    def _condition(self, scope: Sequence[Column], depth: int = 2) -> str:
        return Conditions(self.queries, scope).condition(depth)

    def _joined(self, scope: Sequence[Column], other: Sequence[Column]) -> str:
        """Mostly an equality, and something else now and then."""
        both = Conditions(self.queries, (*scope, *other))
        parts = [both.equality(scope, other) or "TRUE"]
        parts += [both.equality(scope, other) or "TRUE"] if self.queries.dice.one_in(2) else []
        parts += [f"({both.condition(1)})"] if self.queries.dice.one_in(2) else []
        return " AND ".join(parts)

    def _value(self) -> str:
        own = "target.v" if self.queries.dice.one_in(2) else "coalesce(target.v, 0) + 1"
        return own if self.queries.dice.one_in(2) else any_literal(self.queries.dice, KINDS["v"])

    def _delete(self) -> str:
        if self.queries.dice.one_in(2):
            return f"DELETE FROM target WHERE {self._condition(TARGET)}"
        source, columns = self._source("a")
        return f"DELETE FROM target USING {source} WHERE {self._joined(TARGET, columns)}"

    def _update(self) -> str:
        value = self._value()
        if self.queries.dice.one_in(2):
            return f"UPDATE target SET v = {value} WHERE {self._condition(TARGET)}"
        source, columns = self._source("a")
        return f"UPDATE target SET v = {value} FROM {source} WHERE {self._joined(TARGET, columns)}"

    def _merge(self) -> str:
        source, columns = self._source("a")
        dice = self.queries.dice
        both = (*TARGET, *columns)
        insert = "INSERT (k, v, s) VALUES (a.k, a.v, a.s)"
        clauses = [
            *(self._when("MATCHED", both, self._action()) for _ in range(dice.number(0, 2))),
            *(self._when("NOT MATCHED", columns, insert) for _ in range(dice.number(0, 1))),
            *(
                self._when("NOT MATCHED BY SOURCE", TARGET, self._action())
                for _ in range(dice.number(0, 1))
            ),
        ]
        start = f"MERGE INTO target USING {source} ON {self._joined(TARGET, columns)}"
        return " ".join([start, *(clauses or ["WHEN MATCHED THEN DELETE"])])

    def _when(self, word: str, scope: Sequence[Column], action: str) -> str:
        condition = f" AND {self._condition(scope, 1)}" if self.queries.dice.one_in(2) else ""
        return f"WHEN {word}{condition} THEN {action}"

    def _action(self) -> str:
        return self.queries.dice.pick(("DELETE", f"UPDATE SET v = {self._value()}", "DO NOTHING"))
