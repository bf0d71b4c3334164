"""Filters that joins supply: what metadata guarantees of them, and what their values are.

A scan that is joined by `a = b` needs no row whose `a` is no value of `b`. Without reading a row
the other scan's plan has a least and a greatest `b`; with reading it has them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.plan import Depth
from whyscan.planning.planner import make_plan
from whyscan.predicate.render import to_sql
from whyscan.predicate.rewrite import substituted
from whyscan.predicate.tree import Column, Comparison, Literal, type_of
from whyscan.predicate.types import IntegerType
from whyscan.statements.facts import Fact
from whyscan.statements.links import Origins
from whyscan.statements.report import Amount, Dynamic, Origin, Supply
from whyscan.statements.scans import leaves_of, predicate
from whyscan.statements.supply import (
    Bounds,
    Supplies,
    among,
    bounds,
    joined_columns,
    present,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.planning.plan import ScanPlan
    from whyscan.predicate.tree import Expression
    from whyscan.predicate.types import Type
    from whyscan.statements.placement import Leaf
    from whyscan.statements.relations import Condition
    from whyscan.statements.scans import Asked

ROUNDS = 4
"""Bounds narrow bounds; after so many rounds the rest is not worth it."""


class Planned(Struct, frozen=True, eq=False):
    """A scan with its filters, and its plan."""

    leaf: Leaf
    plan: ScanPlan


class Dynamics:
    """The joins of one statement as suppliers. `static` are its scans without them."""

    def __init__(self, asked: Asked, static: Sequence[Planned], values: Mapping[int, Fact]) -> None:
        self.asked = asked
        self.values = values
        self.static = {planned.leaf.source.key: planned for planned in static}
        self.origins = Origins(asked.query)
        self.columns = [
            column
            for column in dict.fromkeys(joined_columns(asked.query, self.origins))
            if column.path[0] in self.static
        ]
        self.feeds = self._feeds()

    def _feeds(self) -> dict[str, tuple[Fact, ...]]:
        """For each scan, what it would be told if anything were known of the others."""
        leaves = self._placed({column: present(column) for column in self.columns})
        return {leaf.source.key: _supplied(leaf) for leaf in leaves if _supplied(leaf)}

    def _placed(self, known: Mapping[Column, Expression]) -> list[Leaf]:
        return leaves_of(self.asked, Supplies(self.origins, known), self.values)

    def suppliers(self) -> list[Column]:
        """The columns that somebody would be told of."""
        asked = {fact.written for facts in self.feeds.values() for fact in facts}
        return [column for column in self.columns if ".".join(column.path) in asked]

    def bounded(self) -> dict[str, Planned]:
        """The scans with what metadata guarantees of the others, until nothing more follows."""
        current = dict(self.static)
        for _ in range(ROUNDS):
            known = self.known(current)
            renewed = self._planned(self._placed(known), current, Depth.FILES)
            settled = all(_same(renewed[key], current[key]) for key in current)
            current = renewed
            if settled:
                break
        return current

    def known(self, scans: Mapping[str, Planned]) -> dict[Column, Expression]:
        """The bounds of the supplying columns in these plans."""
        found = {c: within(c, bounds(scans[c.path[0]].plan, c)) for c in self.suppliers()}
        return {column: told for column, told in found.items() if told is not None}

    def _planned(
        self, leaves: Sequence[Leaf], before: Mapping[str, Planned], depth: Depth
    ) -> dict[str, Planned]:
        """The scans with the filters that they have now; planned again where those changed."""
        found = {}
        for leaf in leaves:
            key = leaf.source.key
            old = before[key]
            if _texts(leaf) == _texts(old.leaf):
                found[key] = old
                continue
            options = replace(self.static[key].plan.options, depth=depth)
            asked = predicate(leaf.facts, self.asked)
            found[key] = Planned(leaf, make_plan(leaf.base.snapshot, asked, options))
        return found

    def actual(self, most: int) -> Resolution:
        """The scans with the values of those that are small enough to be read, smallest first."""
        current = self.bounded()
        known: dict[Column, Expression] = self.known(current)
        read: dict[Column, int] = {}
        left = {column.path[0] for column in self.suppliers()}
        skipped: list[str] = []
        while left:
            key = min(left, key=lambda k: (_rows(current[k]), k))
            left.discard(key)
            if _rows(current[key]) > most:
                skipped.append(key)
                continue
            for column, values in self._values(current[key]).items():
                listed = among(column, values)
                if listed is not None:
                    known[column] = listed
                    read[column] = len(values)
            current = self._planned(self._placed(known), current, Depth.FILES)
        final = self._planned(self._placed(known), self.static, self.asked.options.depth)
        return Resolution(final, read, tuple(skipped))

    def _values(self, planned: Planned) -> dict[Column, pa.Array]:
        """The distinct values of a scan's supplying columns, read through its plan."""
        from whyscan.scan import read

        key = planned.leaf.source.key
        columns = [column for column in self.suppliers() if column.path[0] == key]
        found: dict[Column, list[pa.Array]] = {column: [] for column in columns}
        for batch in read(planned.plan, [column.path[1:2] for column in columns]):
            for column in columns:
                found[column].append(_member(batch, column).unique())
        return {column: _united(parts) for column, parts in found.items() if parts}

    def report(
        self, key: str, bounded: Mapping[str, Planned], resolution: Resolution | None
    ) -> Dynamic | None:
        """The three answers for one scan; None where nobody supplies anything to it."""
        facts = self.feeds.get(key)
        if facts is None:
            return None
        actual = None if resolution is None else resolution.scans[key]
        return Dynamic(
            supplies=tuple(self._supply(fact, bounded, resolution) for fact in facts),
            static=_amount(self.static[key]),
            bounded=_amount(bounded[key]),
            actual=None if actual is None else _amount(actual),
        )

    def _supply(
        self, fact: Fact, bounded: Mapping[str, Planned], resolution: Resolution | None
    ) -> Supply:
        column = next((c for c in self.columns if ".".join(c.path) == fact.written), None)
        if column is None:
            return Supply(fact.written, _target(fact), None)
        order = list(self.static)
        found = bounds(bounded[column.path[0]].plan, column)
        return Supply(
            sql=fact.via or "",
            column=_target(fact),
            source=order.index(column.path[0]),
            low=_shown(found, "low"),
            high=_shown(found, "high"),
            keys=None if resolution is None else resolution.read.get(column),
        )


class Resolution(Struct, frozen=True):
    """The scans once values were read: how many of each column, and which were too large."""

    scans: Mapping[str, Planned]
    read: Mapping[Column, int]
    skipped: tuple[str, ...]


def comparison_with(condition: Condition, value: Literal) -> Fact | None:
    """A comparison with a subquery whose value is known; None where types are not the same."""
    if condition.compares is None:
        return None
    operator, expression = condition.compares
    kind = type_of(expression)
    if value.type != kind and not _fits(value, kind):
        return None
    told = Comparison(operator, expression, Literal(value.value, kind))
    return Fact(told, condition.sql, None, Origin.JOIN)


def _fits(value: Literal, kind: Type) -> bool:
    """An integer that another width of integers has as well."""
    if not (isinstance(kind, IntegerType) and isinstance(value.type, IntegerType)):
        return False
    if not isinstance(value.value, int):
        return False
    return kind.least <= value.value <= kind.greatest


def _supplied(leaf: Leaf) -> tuple[Fact, ...]:
    return tuple(fact for fact in leaf.facts if fact.origin is Origin.JOIN)


def _texts(leaf: Leaf) -> list[str]:
    return [to_sql(fact.expression) for fact in leaf.facts]


def _same(one: Planned, other: Planned) -> bool:
    return one.plan.summary.files_kept == other.plan.summary.files_kept


def _rows(planned: Planned) -> float:
    rows = planned.plan.summary.rows_kept
    return float("inf") if rows is None else rows


def _member(batch: pa.RecordBatch, column: Column) -> pa.Array:
    """A column of a batch, or a member of a struct in it."""
    name, *rest = column.path[1:]
    found = batch.column(name)
    for member in rest:
        found = found.field(member) if found.null_count == 0 else _masked(found, member)
    return found


def _masked(values: pa.StructArray, member: str) -> pa.Array:
    import pyarrow.compute as pc

    return pc.struct_field(values, member)


def _united(parts: Sequence[pa.Array]) -> pa.Array:
    return pa.chunked_array(parts).unique().drop_null()


def _amount(planned: Planned) -> Amount:
    summary = planned.plan.summary
    return Amount(summary.files_kept, summary.bytes_kept, summary.rows_kept)


def _target(fact: Fact) -> str:
    """The scan's expression that is filtered: what the fact says is not NULL."""
    inner = fact.expression
    if isinstance(inner, Comparison):
        operand = inner.left
    else:
        operand = getattr(getattr(inner, "operand", inner), "operand", inner)
    own = substituted(operand, lambda c: Column(c.path[1:], c.type))
    return to_sql(operand if own is None else own)


def _shown(found: Bounds, end: str) -> str | None:
    literal = getattr(found, end)
    return None if literal is None else to_sql(literal)
