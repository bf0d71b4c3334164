"""Random FROM clauses: tables, subqueries, CTEs and lists of values under every kind of join."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from statements.generated.conditions import Conditions
from statements.generated.values import KINDS, Column, Kind, any_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.dice import Dice
    from statements.generated.queries import Queries

ALIASES = ("p", "q", "r", "u", "w", "z")
OUTER = ("LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
HALVES = ("SEMI JOIN", "ANTI JOIN")
JOINS = ("JOIN", "JOIN", "JOIN", "LEFT JOIN", *OUTER, *HALVES, "CROSS JOIN", ",")


@dataclass
class Source:
    """The FROM clause so far and what it lets a query name.

    `merged` are names of a USING. `first` are the names of the first item in parentheses, None
    without them: USING around parentheses is understood for these, and refused for others.
    """

    text: str
    columns: tuple[Column, ...]
    merged: set[str] = field(default_factory=set)
    first: set[str] | None = None


@dataclass
class Sources:
    """One FROM clause in the making: no alias twice."""

    queries: Queries
    taken: list[str] = field(default_factory=list)

    @property
    def dice(self) -> Dice:
        return self.queries.dice

    def source(self, depth: int) -> Source:
        left = self._item(depth)
        for _ in range(self.dice.pick((0, 0, 1, 1, 1, 2))):
            if len(self.taken) < len(ALIASES):
                left = self._join(left, depth)
        return left

    def _item(self, depth: int) -> Source:
        alias = self.dice.pick([name for name in ALIASES if name not in self.taken])
        self.taken.append(alias)
        match self.dice.number(0, 9):
            case 0 | 1 if depth > 0 and self.queries.may_nest():
                inner = self.queries.query(depth - 1)
                return self._named(f"({inner.sql})", alias, inner.columns)
            case 2 | 3 | 4 if self.queries.ctes:
                name, columns = self.dice.pick(self.queries.ctes)
                return self._named(name, alias, columns)
            case 5 if self.dice.one_in(4):
                return self._values(alias)
        name = self.queries.occurrence()
        return self._named(name, alias, tuple(KINDS.items()))

    def _named(self, text: str, alias: str, columns: Sequence[tuple[str, Kind]]) -> Source:
        """Its columns under the alias, once in a while under other names."""
        renamed = ""
        if self.dice.one_in(20):
            columns = [(f"c{at}", kind) for at, (_, kind) in enumerate(columns)]
            renamed = f"({', '.join(name for name, _ in columns)})"
        source_columns = tuple(Column(f"{alias}.{name}", name, kind) for name, kind in columns)
        return Source(f"{text} AS {alias}{renamed}", source_columns)

    def _values(self, alias: str) -> Source:
        kinds = [self.dice.pick(tuple(Kind)) for _ in range(self.dice.number(1, 3))]
        rows = [
            f"({', '.join(f'CAST({any_literal(self.dice, kind)} AS {kind})' for kind in kinds)})"
            for _ in range(self.dice.number(1, 3))
        ]
        names = [f"c{at}" for at in range(len(kinds))]
        columns = tuple(
            Column(f"{alias}.{name}", name, kind) for name, kind in zip(names, kinds, strict=True)
        )
        return Source(f"(VALUES {', '.join(rows)}) AS {alias}({', '.join(names)})", columns)

    def _join(self, left: Source, depth: int) -> Source:
        if depth > 0 and self.queries.may_nest() and self.dice.one_in(12):
            return self._lateral(left, depth)
        kind = self.dice.pick(JOINS)
        right = self._item(depth)
        nested = kind != "," and self.dice.one_in(8)
        if nested and len(self.taken) < len(ALIASES):
            first = {column.name for column in right.columns}
            right = self._join(right, max(depth - 1, 0))
            right.first = first
            # Commas cannot stand within parentheses.
            right.text = f"({right.text.replace(' , ', ' CROSS JOIN ')})"
        shared = {c.name for c in left.columns} & {c.name for c in right.columns}
        if kind in {"CROSS JOIN", ","}:
            return self._both(left, right, f"{left.text} {kind} {right.text}")
        if shared and self.dice.one_in(6):
            return self._using(left, right, kind, sorted(shared))
        text = f"{left.text} {kind} {right.text} ON {self._on(left, right, depth)}"
        return self._left_alone(left, text) if kind in HALVES else self._both(left, right, text)

    def _on(self, left: Source, right: Source, depth: int) -> str:
        conditions = Conditions(self.queries, (*left.columns, *right.columns), ())
        equal = conditions.equality(left.columns, right.columns)
        parts = [equal] if equal is not None else []
        more = range(self.dice.pick((0, 0, 1, 2)))
        parts.extend(conditions.condition(min(depth, 1)) for _ in more)
        return " AND ".join(f"({part})" for part in parts) or "TRUE"

    def _using(self, left: Source, right: Source, kind: str, shared: list[str]) -> Source:
        """Names that either side already merged are ambiguous."""
        name = self.dice.pick(shared)
        ours, theirs = (
            [
                c
                for c in side.columns
                if c.name == name and ("." in c.text) == (name not in side.merged)
            ]
            for side in (left, right)
        )
        understood = right.first is None or name in right.first
        if not understood or len(ours) != 1 or len(theirs) != 1 or ours[0].kind != theirs[0].kind:
            text = f"{left.text} {kind} {right.text} ON TRUE"
            return self._left_alone(left, text) if kind in HALVES else self._both(left, right, text)
        text = f"{left.text} {kind} {right.text} USING ({name})"
        if kind in HALVES:
            return self._left_alone(left, text)
        both = self._both(left, right, text)
        merged = Column(name, name, ours[0].kind)
        return Source(text, (merged, *both.columns), both.merged | {name})

    def _lateral(self, left: Source, depth: int) -> Source:
        alias = self.dice.pick([name for name in ALIASES if name not in self.taken])
        self.taken.append(alias)
        inner = self.queries.query(depth - 1, left.columns)
        right = self._named(f"LATERAL ({inner.sql})", alias, inner.columns)
        kind = self.dice.pick((",", "JOIN", "LEFT JOIN"))
        on = "" if kind == "," else " ON TRUE"
        return self._both(left, right, f"{left.text} {kind} {right.text}{on}")

    def _both(self, left: Source, right: Source, text: str) -> Source:
        return Source(text, (*left.columns, *right.columns), left.merged | right.merged)

    def _left_alone(self, left: Source, text: str) -> Source:
        return Source(text, left.columns, left.merged)
