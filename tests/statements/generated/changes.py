"""Random changes of a table called `target` that have one outcome, whatever order rows come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from statements.generated.conditions import Conditions
from statements.generated.values import KINDS, NAMES, Column, any_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from statements.generated.queries import Queries


@dataclass
class Changes:
    """What is set is a literal, the row's own value, or the only value of a group of the source.

    `alias` is the name under which the statement knows its target. `prefix` holds its CTEs.
    """

    queries: Queries
    alias: str = "target"
    prefix: str = ""

    def statement(self) -> str:
        dice = self.queries.dice
        self.alias = dice.pick(("target", "target", "g"))
        match dice.number(0, 9):
            case 0 | 1:
                body = self._delete()
            case 2 | 3:
                body = self._update()
            case _:
                body = self._merge()
        return self.prefix + body

    @property
    def _named(self) -> str:
        return "target" if self.alias == "target" else f"target AS {self.alias}"

    def _target(self, *, alone: bool = False) -> tuple[Column, ...]:
        """The columns of the target; without a table before some where no other table is read."""
        bare = alone and self.queries.dice.one_in(3)
        return tuple(Column(n if bare else f"{self.alias}.{n}", n, KINDS[n]) for n in NAMES)

    def _source(self, alias: str) -> tuple[str, tuple[Column, ...]]:
        """A table, a subquery, a CTE, or one row for each k."""
        columns = tuple(Column(f"{alias}.{n}", n, KINDS[n]) for n in NAMES)
        inner = tuple(Column(n, n, KINDS[n]) for n in NAMES)
        dice, name = self.queries.dice, self.queries.occurrence()
        match dice.number(0, 5):
            case 0:
                where = Conditions(self.queries, inner).condition(1)
                return f"(SELECT * FROM {name} WHERE {where}) AS {alias}", columns
            case 1 if not self.prefix:
                where = Conditions(self.queries, inner).condition(1)
                self.prefix = f"WITH e AS (SELECT * FROM {name} WHERE {where}) "
                return f"e AS {alias}", columns
            case 2 | 3:
                grouped = ", ".join(f"max({n}) AS {n}" for n in NAMES if n != "k")
                return f"(SELECT k, {grouped} FROM {name} GROUP BY k) AS {alias}", columns
        return f"{name} AS {alias}", columns

    def _sources(self) -> tuple[str, tuple[Column, ...]]:
        """One source, or two that are joined or listed."""
        first, columns = self._source("a")
        dice = self.queries.dice
        if not dice.one_in(3):
            return first, columns
        second, others = self._source("b")
        if dice.one_in(2):
            return f"{first}, {second}", (*columns, *others)
        word = dice.pick(("JOIN", "LEFT JOIN", "JOIN"))
        return f"{first} {word} {second} ON {self._joined(columns, others)}", (*columns, *others)

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
        dice = self.queries.dice
        if dice.one_in(6):
            # Whatever the rows are, an aggregate is one value.
            return f"({self.queries.scalar(0, (), KINDS['v'])})"
        own = f"{self.alias}.v"
        own = own if dice.one_in(2) else f"coalesce({own}, 0) + 1"
        return own if dice.one_in(2) else any_literal(dice, KINDS["v"])

    def _delete(self) -> str:
        if self.queries.dice.one_in(2):
            return f"DELETE FROM {self._named} WHERE {self._condition(self._target(alone=True))}"
        source, columns = self._sources()
        joined = self._joined(self._target(), columns)
        return f"DELETE FROM {self._named} USING {source} WHERE {joined}"

    def _update(self) -> str:
        setting = f"UPDATE {self._named} SET v = {self._value()}"
        if self.queries.dice.one_in(2):
            return f"{setting} WHERE {self._condition(self._target(alone=True))}"
        source, columns = self._sources()
        return f"{setting} FROM {source} WHERE {self._joined(self._target(), columns)}"

    def _merge(self) -> str:
        source, columns = self._source("a")
        dice, target = self.queries.dice, self._target()
        both = (*target, *columns)
        if ("GROUP BY" in source) and dice.one_in(2):
            on, own = f"a.k = {self.alias}.k", ("a.v", "a.v + 1", f"coalesce(a.v, {self.alias}.v)")
        else:
            on, own = self._joined(target, columns), ()
        clauses = [
            *self._whens("MATCHED", both, lambda: self._action(own), 3),
            *self._whens("NOT MATCHED", columns, self._insert, 2),
            *self._whens("NOT MATCHED BY SOURCE", target, lambda: self._action(()), 2),
        ]
        start = f"MERGE INTO {self._named} USING {source} ON {on}"
        return " ".join([start, *(clauses or ["WHEN MATCHED THEN DELETE"])])

    def _whens(
        self, word: str, scope: Sequence[Column], action: Callable[[], str], most: int
    ) -> list[str]:
        """The clauses of one kind: only the last of them may have no condition."""
        dice, clauses = self.queries.dice, []
        for left in reversed(range(dice.number(0, most))):
            plain = left == 0 and dice.one_in(3)
            condition = "" if plain else f" AND {self._condition(scope, 1)}"
            clauses.append(f"WHEN {word}{condition} THEN {action()}")
        return clauses

    def _insert(self) -> str:
        value = self.queries.dice.pick(("a.v", "NULL", "coalesce(a.v, 3)"))
        return self.queries.dice.pick(
            (
                f"INSERT (k, v, s) VALUES (a.k, {value}, a.s)",
                "DO NOTHING",
                "INSERT (k) VALUES (a.k)",
            )
        )

    def _action(self, of_source: Sequence[str]) -> str:
        value = self._value()
        if of_source and self.queries.dice.one_in(2):
            value = self.queries.dice.pick(of_source)
        return self.queries.dice.pick(("DELETE", f"UPDATE SET v = {value}", "DO NOTHING"))
