"""Places each filter: facts go up through a query, and come down to its scans.

`RowFacts` collects what is TRUE of every row that a source returns. `down` brings to the scans what
is TRUE of every row that matters to the statement, by these rules:

| join  | left side gets                | right side gets                              |
|-------|-------------------------------|----------------------------------------------|
| inner | all, and ON                   | all, and ON                                  |
| left  | all                           | ON, and what does not name the right side    |
| full  | what names neither side, or   | what names neither side, or                  |
|       | the joined columns alone      | the joined columns alone                     |
| semi  | all, and ON                   | all, and ON                                  |
| anti  | all                           | all, and ON                                  |

The right side of a left join does not get conditions on itself from above: without the dropped row
the join would fill in NULLs, and the row of NULLs might satisfy the condition. If no row of NULLs
can satisfy a condition, the join is changed to an inner join first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from whyscan.statements.placement.facts import (
    Fact,
    facts_about,
    rejects_null,
)
from whyscan.statements.placement.passing import (
    both_sides,
    by_position,
    inward,
    one_per_group,
    paths,
    through_windows,
)
from whyscan.statements.placement.row_facts import RowFacts, unique
from whyscan.statements.records import Stayed
from whyscan.statements.roles import Origin
from whyscan.statements.sql.relations import (
    Combined,
    Kind,
    Select,
    Source,
    joins,
    keys,
    keys_of,
    sources,
)
from whyscan.statements.sql.table_names import Base
from whyscan.statements.stay_reasons import StayReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.statements.sql.relations import Condition, Join, Query, Tree
    from whyscan.tree.nodes import Expression
    from whyscan.tree.zones import Zone


class PlacedScan(Struct, frozen=True, eq=False):
    """A scan with the facts that filter it, the columns it reads, and conditions above it."""

    source: Source
    base: Base
    facts: tuple[Fact, ...]
    columns: tuple[str, ...]
    above: tuple[Stayed, ...]


class Placement(Struct):
    """One pass over a statement. `leaves` are its scans in the order in which they are reached."""

    zone: Zone
    rows: RowFacts
    leaves: dict[str, tuple[Source, tuple[Fact, ...]]] = field(default_factory=dict)
    reads: dict[str, set[str]] = field(default_factory=dict)
    above: dict[str, list[Stayed]] = field(default_factory=dict)

    def run(self, query: Query) -> list[PlacedScan]:
        """Place every filter of a query; returns its scans."""
        self.query(query, "", (), (), None)
        return [
            PlacedScan(
                source,
                source.relation,
                facts,
                _spelled(source, self.reads.get(key, set())),
                _not_placed(self.above.get(key, ()), facts),
            )
            for key, (source, facts) in self.leaves.items()
            if isinstance(source.relation, Base)
        ]

    def query(
        self,
        query: Query,
        key: str,
        outer_facts: Sequence[Fact],
        around: Sequence[Fact],
        needed: set[str] | None,
    ) -> None:
        """Place facts about the output rows of a query in its blocks.

        `outer_facts` name the outputs by `key`. `around` are facts of the enclosing blocks.
        `needed` are the outputs that the enclosing block reads, None for all.
        """
        if isinstance(query, Combined):
            self._combined(query, key, outer_facts, around, needed)
        else:
            self._select(query, key, outer_facts, around, needed)

    def _combined(
        self,
        query: Combined,
        key: str,
        outer_facts: Sequence[Fact],
        around: Sequence[Fact],
        needed: set[str] | None,
    ) -> None:
        """Place facts on both sides of UNION, INTERSECT or EXCEPT.

        A row that the enclosing block does not need can be dropped on either side.
        """
        passing = [
            *(fact for fact in outer_facts if query.barrier is None),
            *self.rows.of_query(query, key),
        ]
        if query.barrier is not None:
            self._stay(query, key, outer_facts, query.barrier)
        for side in (query.left, query.right):
            inner = [by_position(fact, key, query, side) for fact in passing]
            chosen = None
            if needed is not None and query.narrows:
                pairs = zip(query.outputs, side.outputs, strict=True)
                chosen = {same.name for output, same in pairs if output.name in needed}
            self.query(side, key, [f for f in inner if f is not None], around, chosen)

    def _select(
        self,
        select: Select,
        key: str,
        outer_facts: Sequence[Fact],
        around: Sequence[Fact],
        needed: set[str] | None,
    ) -> None:
        """Place facts about the output rows of a SELECT in its sources and subqueries."""
        passing = []
        for fact in outer_facts:
            inner, why = inward(fact, key, select)
            if inner is not None:
                passing.append(inner)
            elif why is not None:
                self._stay(select, key, [fact], why)
        passing += self._from_above(select)
        self._read(select, needed)
        if select.tree is None:
            facts = [*around, *self.rows.of_conditions(select.where), *passing]
        else:
            facts = [*around, *self.rows.inside(select), *passing]
            self.down(select.tree, facts)
            self._report(select, passing)
        for nested in select.nested:
            self.query(nested.query, "", (), facts if nested.sees_row else around, None)

    def _from_above(self, select: Select) -> list[Fact]:
        """The conditions of HAVING and QUALIFY that hold for whole groups and whole partitions."""
        having = [
            f for f in self.rows.of_conditions(select.having) if one_per_group(f.expression, select)
        ]
        if select.groups is not None:
            return having
        return having + [
            f for f in self.rows.of_conditions(select.qualify) if through_windows(f, select)
        ]

    def down(self, tree: Tree, facts: Sequence[Fact]) -> None:
        """Bring facts to the sources whose columns they name."""
        if isinstance(tree, Source):
            self._leaf(tree, facts)
            return
        left, right = keys(tree.left), keys(tree.right)
        kind = self._strongest(tree.kind, left, right, facts)
        on = self.rows.of_conditions(tree.on)
        match kind:
            case Kind.INNER:
                both = unique(
                    [
                        *facts,
                        *on,
                        *self.rows.of_tree(tree.left),
                        *self.rows.of_tree(tree.right),
                    ]
                )
                self.down(tree.left, both)
                self.down(tree.right, both)
            case Kind.LEFT:
                self.down(tree.left, facts)
                self.down(tree.right, [*self._for_filled_side(facts, tree.left, right), *on])
            case Kind.RIGHT:
                self.down(tree.left, [*self._for_filled_side(facts, tree.right, left), *on])
                self.down(tree.right, facts)
            case Kind.SEMI:
                inner = self._inside_exists(tree)
                self.down(tree.left, [*facts, *on, *inner, *self.rows.of_tree(tree.right)])
                self.down(tree.right, [*facts, *on, *self.rows.of_tree(tree.left)])
            case Kind.ANTI | Kind.NOT_IN:
                self.down(tree.left, facts)
                self.down(tree.right, [*facts, *on, *self.rows.of_tree(tree.left)])
            case Kind.FULL:
                free = [fact for fact in facts if not fact.keys & (left | right)]
                lefts, rights = both_sides(facts, tree)
                self.down(tree.left, [*free, *lefts])
                self.down(tree.right, [*free, *rights])
            case _:
                free = [fact for fact in facts if not fact.keys & (left | right)]
                self.down(tree.left, free)
                self.down(tree.right, free)

    def _for_filled_side(
        self, facts: Sequence[Fact], kept: Tree, filled: frozenset[str]
    ) -> list[Fact]:
        """The facts for the side that is filled with NULLs: those that do not name that side.

        They decide about rows of the kept side, and a row of the filled side matters only with such
        a row.
        """
        return [*(fact for fact in facts if not fact.keys & filled), *self.rows.of_tree(kept)]

    def _inside_exists(self, join: Join) -> list[Fact]:
        """The conditions inside an EXISTS; none where its query always returns a row."""
        query = join.right.relation if isinstance(join.right, Source) else None
        if not join.exists or not isinstance(query, Select):
            return []
        always = query.groups is not None and not query.groups
        return [] if always else self.rows.inside(query)

    def _strongest(
        self, kind: Kind, left: frozenset[str], right: frozenset[str], facts: Sequence[Fact]
    ) -> Kind:
        """The kind of join that remains when the facts reject rows filled with NULLs."""
        if kind not in {Kind.LEFT, Kind.RIGHT, Kind.FULL}:
            return kind
        facts = self.rows.spread(facts)
        if kind in {Kind.LEFT, Kind.FULL} and self._rejected(facts, right):
            kind = Kind.INNER if kind is Kind.LEFT else Kind.RIGHT
        if kind in {Kind.RIGHT, Kind.FULL} and self._rejected(facts, left):
            kind = Kind.INNER if kind is Kind.RIGHT else Kind.LEFT
        return kind

    def _rejected(self, facts: Sequence[Fact], keys: frozenset[str]) -> bool:
        return any(rejects_null(fact, keys, self.zone) for fact in facts)

    def _leaf(self, source: Source, facts: Sequence[Fact]) -> None:
        """Make facts the filters of a table, or pass them into a derived table."""
        source_facts = (
            [] if source.barrier else _distinct(facts_about(self.rows.spread(facts), source.key))
        )
        if isinstance(source.relation, Base):
            self.leaves[source.key] = (source, tuple(source_facts))
        elif source.relation is not None:
            if source.barrier:
                about = facts_about(facts, source.key)
                self._stay(source.relation, source.key, about, source.barrier)
            names = {name.lower() for name in self.reads.get(source.key, set())}
            needed_outputs = {o.name for o in source.relation.outputs if o.name.lower() in names}
            self.query(source.relation, source.key, source_facts, facts, needed_outputs)

    # The columns that are read, and the conditions that stay above.

    def _read(self, select: Select, needed: set[str] | None) -> None:
        """Record the columns that a block reads, by source."""
        columns = set(select.reads)
        for output in select.outputs:
            if needed is None or output.name in needed or select.distinct:
                columns |= output.reads
        for path in columns:
            self.reads.setdefault(path[0], set()).update(path[1:2])

    def _report(self, select: Select, passing: Sequence[Fact]) -> None:
        """Record the conditions of a block that did not become filters of their sources."""
        conditions = [*select.where, *(c for join in joins(select.tree) for c in join.on)]
        for condition in {c.sql: c for c in reversed(conditions)}.values():
            several = len(condition.source_keys()) > 1
            self._keep(
                condition, StayReason.SEVERAL_TABLES if several else StayReason.JOIN_KEEPS_ROWS
            )
        passed = {id(fact.expression) for fact in passing}
        above = ((select.having, StayReason.GROUP_BY), (select.qualify, StayReason.WINDOW))
        for clause, reason in above:
            for condition in clause:
                if id(condition.expression) not in passed:
                    self._keep(condition, reason)

    def _keep(self, condition: Condition, reason: StayReason) -> None:
        """Record that a condition stays above each scan that it names and does not filter."""
        for key in keys_of(condition.expression):
            placed = self.leaves.get(key)
            if placed is None:
                continue
            stayed = (
                Stayed(condition.sql, placed[0].barrier or reason)
                if condition.fixed is None
                else Stayed(condition.sql, StayReason.MUST_NOT_MOVE, condition.fixed)
            )
            self.above.setdefault(key, []).append(stayed)

    def _stay(self, query: Query, key: str, facts: Iterable[Fact], reason: StayReason) -> None:
        """Record that facts could not pass into a query, for each scan that they name."""
        for fact in facts:
            if fact.origin is not Origin.WRITTEN:
                continue
            names = {path[1] for path in paths(fact.expression) if path[0] == key}
            for table in _tables_of(query, names):
                self.above.setdefault(table, []).append(Stayed(fact.written, reason))


def _tables_of(query: Query, names: Iterable[str]) -> Iterator[str]:
    """The keys of the tables from whose columns some outputs of a query are computed."""
    inner = {source.key: source.relation for source in _sources_of(query)}
    for path in {path for o in query.outputs if o.name in names for path in o.reads}:
        relation = inner.get(path[0])
        if isinstance(relation, Select | Combined):
            yield from _tables_of(relation, path[1:2])
        else:
            yield path[0]


def _sources_of(query: Query) -> list[Source]:
    if isinstance(query, Combined):
        return [*_sources_of(query.left), *_sources_of(query.right)]
    return list(sources(query.tree))


def _not_placed(stayed: Iterable[Stayed], facts: Sequence[Fact]) -> tuple[Stayed, ...]:
    """The conditions that stay above a scan, without those that filter it further down."""
    placed = {fact.written for fact in facts if fact.via is None}
    return tuple(s for s in dict.fromkeys(stayed) if s.sql not in placed)


def _distinct(facts: Iterable[Fact]) -> list[Fact]:
    """One fact per expression; a written fact is preferred to a derived one."""
    order = {Origin.WRITTEN: 0, Origin.PART: 1, Origin.SPREAD: 2, Origin.JOIN: 3}
    distinct: dict[Expression, Fact] = {}
    for fact in sorted(facts, key=lambda f: order[f.origin]):
        distinct.setdefault(fact.expression, fact)
    return list(distinct.values())


def _spelled(source: Source, names: set[str]) -> tuple[str, ...]:
    """The columns with their names in the schema, in the schema's order."""
    lower = {name.lower() for name in names}
    return tuple(column.name for column in source.fields if column.name.lower() in lower)
