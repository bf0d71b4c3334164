"""Random queries that have one answer: a LIMIT or a window stands on a total order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from statements.generated.conditions import Conditions
from statements.generated.sources import Source, Sources
from statements.generated.values import NAMES, Column, Kind, any_literal, of_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.dice import Dice

SETS = ("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")
MOST_TABLES = 6


@dataclass(frozen=True)
class Query:
    sql: str
    columns: tuple[tuple[str, Kind], ...]


@dataclass
class Queries:
    """Draws one statement. `occurrences` is the table behind each name that it reads: every
    occurrence of a table has a name of its own, so that what is kept is known of each."""

    dice: Dice
    tables: int
    occurrences: list[int] = field(default_factory=list)
    ctes: list[tuple[str, tuple[tuple[str, Kind], ...]]] = field(default_factory=list)

    def occurrence(self) -> str:
        self.occurrences.append(self.dice.number(0, self.tables - 1))
        return f"t{len(self.occurrences)}"

    def may_nest(self) -> bool:
        return len(self.occurrences) < MOST_TABLES

    def statement(self) -> Query:
        return self.query(self.dice.pick((1, 1, 2, 2, 3)))

    def query(
        self, depth: int, outer: Sequence[Column] = (), kinds: Sequence[Kind] | None = None
    ) -> Query:
        """A query in the scope of others; `kinds` are the types that it must give."""
        before = list(self.ctes)
        prefix = self._with(depth, outer) if depth > 0 and self.dice.one_in(4) else ""
        if depth > 0 and self.may_nest() and self.dice.one_in(6):
            body = self._set(depth - 1, outer, kinds)
        else:
            body = self._select(depth, outer, kinds)
        self.ctes[:] = before
        return Query(prefix + body.sql, body.columns)

    def scalar(self, depth: int, outer: Sequence[Column], kind: Kind) -> str:
        """One value: an aggregate without groups, whatever is left of the rows."""
        sources = Sources(self)
        source = sources.source(depth)
        inside = Conditions(self, source.columns, _still_named(outer, sources, source))
        where = f" WHERE {inside.condition(depth)}" if self.dice.one_in(2) else ""
        return f"SELECT {self._aggregate(source, kind)} FROM {source.text}{where}"

    def _with(self, depth: int, outer: Sequence[Column]) -> str:
        made = []
        for _ in range(self.dice.pick((1, 1, 2))):
            candidates = self.query(depth - 1, outer if self.dice.one_in(6) else ())
            name = f"e{len(self.ctes) + 1}"
            how = self.dice.pick(("", "", "", "MATERIALIZED ", "NOT MATERIALIZED "))
            made.append(f"{name} AS {how}({candidates.sql})")
            self.ctes.append((name, candidates.columns))
        return f"WITH {', '.join(made)} "

    def _set(self, depth: int, outer: Sequence[Column], kinds: Sequence[Kind] | None) -> Query:
        """The names are the left side's."""
        left = self.query(depth, outer, kinds)
        for _ in range(self.dice.pick((1, 1, 2))):
            right = self.query(depth, outer, [kind for _, kind in left.columns])
            one, other = (self._operand(side.sql) for side in (left, right))
            left = Query(f"{one} {self.dice.pick(SETS)} {other}", left.columns)
        return Query(left.sql + self._limit(left.columns), left.columns)

    def _operand(self, sql: str) -> str:
        """One side of a set operation, now and then without parentheses: INTERSECT binds first."""
        bare = sql.startswith("SELECT") and "ORDER BY" not in sql and self.dice.one_in(3)
        return sql if bare else f"({sql})"

    def _select(self, depth: int, outer: Sequence[Column], kinds: Sequence[Kind] | None) -> Query:
        sources = Sources(self)
        source = sources.source(depth)
        source.columns = self._short(source)
        around = _still_named(outer, sources, source)
        inside = Conditions(self, source.columns, around)
        where = "" if self.dice.one_in(3) else f" WHERE {inside.condition(min(depth, 2))}"
        if kinds is None:
            kinds = [self.dice.pick(source.columns).kind for _ in range(self.dice.number(1, 4))]
        body = f" FROM {source.text}{where}"
        match self.dice.number(0, 11):
            case 0 | 1:
                return self._grouped(inside, body, kinds)
            case 2:
                return self._whole(inside, body, kinds)
            case 3:
                return self._window(inside, body, kinds)
            case 4:
                return self._distinct_on(inside, body, kinds)
        columns = self._columns(inside, kinds)
        word = "DISTINCT " if self.dice.one_in(8) else ""
        return self._listed(word, columns, body, self._limit(columns))

    def _listed(self, word: str, columns: Sequence[Column], body: str, rest: str) -> Query:
        listed = ", ".join(f"{column.text} AS {column.name}" for column in columns)
        named = tuple((column.name, column.kind) for column in columns)
        return Query(f"SELECT {word}{listed}{body}{rest}", named)

    def _short(self, source: Source) -> tuple[Column, ...]:
        """Some columns without their table, where one alone has the name."""
        names = [column.name for column in source.columns]
        return tuple(
            Column(c.name, c.name, c.kind)
            if names.count(c.name) == 1 and self.dice.one_in(3)
            else c
            for c in source.columns
        )

    def _columns(self, inside: Conditions, kinds: Sequence[Kind]) -> list[Column]:
        """What a query gives, under names that its sources have as well."""
        free = list(NAMES) if len(kinds) <= len(NAMES) else [f"c{at}" for at in range(len(kinds))]
        columns = []
        for kind in kinds:
            name = free.pop(self.dice.number(0, len(free) - 1))
            columns.append(Column(self._expression(inside, kind), name, kind))
        return columns

    def _expression(self, inside: Conditions, kind: Kind) -> str:
        candidates = of_kind(inside.scope, kind)
        if not candidates or self.dice.one_in(12):
            return f"CAST({any_literal(self.dice, kind)} AS {kind})"
        return inside.wrapped(self.dice.pick(candidates))

    def _limit(self, columns: Sequence[object]) -> str:
        """The first rows in the order of all columns."""
        if not self.dice.one_in(8):
            return ""
        ways = ("", " DESC", " NULLS FIRST", " DESC NULLS LAST")
        order = ", ".join(f"{at + 1}{self.dice.pick(ways)}" for at in range(len(columns)))
        offset = f" OFFSET {self.dice.number(1, 3)}" if self.dice.one_in(4) else ""
        return f" ORDER BY {order} LIMIT {self.dice.number(0, 6)}{offset}"

    def _aggregate(self, source: Source, kind: Kind) -> str:
        candidates = of_kind(source.columns, kind)
        if kind == Kind.INT and (not candidates or self.dice.one_in(2)):
            counted = self.dice.pick(source.columns).text
            return self.dice.pick(("count(*)", f"count({counted})", f"count(DISTINCT {counted})"))
        if not candidates:
            return f"min({any_literal(self.dice, kind)})"
        text = self.dice.pick(candidates).text
        if kind == Kind.DOUBLE and self.dice.one_in(2):
            return f"sum({text})"
        return f"{self.dice.pick(('min', 'max'))}({text})"

    def _filtered(self, inside: Conditions, kind: Kind) -> str:
        if self.may_nest() and self.dice.one_in(12):
            # It is computed for a row of totals, too, for which no row was aggregated.
            return f"({self.scalar(0, inside.outer, kind)})"
        text = self._aggregate(Source("", tuple(inside.scope)), kind)
        if self.dice.one_in(6):
            return f"{text} FILTER (WHERE {inside.condition(0)})"
        return text

    def _whole(self, inside: Conditions, body: str, kinds: Sequence[Kind]) -> Query:
        """An aggregate over everything gives a row for no rows as well."""
        columns = [
            Column(self._filtered(inside, kind), f"c{at}", kind) for at, kind in enumerate(kinds)
        ]
        having = ""
        if self.dice.one_in(3):
            one = self.dice.pick(columns)
            having = f" HAVING {one.text} >= {any_literal(self.dice, one.kind)}"
        return self._listed("", columns, body, having)

    def _grouped(self, inside: Conditions, body: str, kinds: Sequence[Kind]) -> Query:
        keys = [self.dice.pick(inside.scope) for _ in range(self.dice.number(1, 2))]
        over = Conditions(self, keys, inside.outer)
        columns = []
        for at, kind in enumerate(kinds):
            grouped = of_kind(keys, kind) and not self.dice.one_in(3)
            text = self._expression(over, kind) if grouped else self._filtered(inside, kind)
            columns.append(Column(text, f"c{at}", kind))
        listed = ", ".join(key.text for key in keys)
        how = self.dice.pick(
            (
                *(listed for _ in range(5)),
                f"ROLLUP ({listed})",
                f"CUBE ({listed})",
                f"GROUPING SETS (({listed}), ({keys[0].text}), ())",
            )
        )
        having = ""
        if self.dice.one_in(2):
            condition = over.condition(1)
            if self.dice.one_in(2):
                kind = self.dice.pick(tuple(Kind))
                condition += (
                    f" AND {self._filtered(inside, kind)} <= {any_literal(self.dice, kind)}"
                )
            having = f" HAVING {condition}"
        return self._listed("", columns, f"{body} GROUP BY {how}", having)

    def _window(self, inside: Conditions, body: str, kinds: Sequence[Kind]) -> Query:
        """Its first column of numbers, if any, is made by the window; the order is total."""
        order = ", ".join(column.text for column in inside.scope)
        part = ""
        if self.dice.one_in(2):
            part = f"PARTITION BY {self.dice.pick(inside.scope).text} "
        function = self.dice.pick(("row_number()", "rank()", "count(*)", "ntile(2)"))
        call = f"CAST({function} OVER ({part}ORDER BY {order}) AS INTEGER)"
        columns = self._columns(inside, kinds)
        numbers = [at for at, column in enumerate(columns) if column.kind == Kind.INT]
        if numbers:
            at = numbers[0]
            columns[at] = Column(call, columns[at].name, Kind.INT)
        qualify = ""
        if not numbers or self.dice.one_in(3):
            more = f" AND {inside.condition(0)}" if self.dice.one_in(2) else ""
            qualify = f" QUALIFY {call} <= {self.dice.number(1, 3)}{more}"
        return self._listed("", columns, body, qualify)

    def _distinct_on(self, inside: Conditions, body: str, kinds: Sequence[Kind]) -> Query:
        keys = [self.dice.pick(inside.scope).text for _ in range(self.dice.number(1, 2))]
        order = ", ".join([*keys, *(column.text for column in inside.scope)])
        # An output's name would win over a column's in ORDER BY.
        columns = [
            Column(c.text, f"o{at}", c.kind) for at, c in enumerate(self._columns(inside, kinds))
        ]
        word = f"DISTINCT ON ({', '.join(keys)}) "
        return self._listed(word, columns, body, f" ORDER BY {order}")


def _still_named(outer: Sequence[Column], sources: Sources, source: Source) -> list[Column]:
    """Columns of the scopes around that nothing of this one hides."""
    hidden = {*sources.taken, *(column.name for column in source.columns)}
    return [column for column in outer if column.text.split(".")[0] not in hidden]
