"""What is TRUE of every row that a source, a query or a block returns: facts go up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from whyscan.statements.placement.facts import Fact, common_parts, fact_of
from whyscan.statements.placement.facts import spread as consequences
from whyscan.statements.placement.passing import constants, outward
from whyscan.statements.roles import Origin
from whyscan.statements.sql.relations import Combined, Kind, Select, Source
from whyscan.tree.nodes import Column
from whyscan.tree.rewrite import substituted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whyscan.statements.sql.relations import Condition, Query, Tree
    from whyscan.tree.nodes import Path


class RowFacts(Struct):
    """The facts of a statement's sources and conditions; each is found once.

    `supplied` gives the facts about a column that joins supply. `values` are the facts that
    comparisons with subqueries become when the value of the subquery is bounded, by the id of the
    condition.
    """

    supplied: Callable[[Column], Sequence[Fact]]
    values: Mapping[int, Fact] = field(default_factory=dict)
    _source_facts: dict[str, list[Fact]] = field(default_factory=dict)
    _condition_facts: dict[int, tuple[Fact, ...]] = field(default_factory=dict)
    _spread_facts: dict[tuple[int, ...], tuple[Sequence[Fact], list[Fact]]] = field(
        default_factory=dict
    )

    def of_tree(self, tree: Tree) -> list[Fact]:
        """What is TRUE of every row of a FROM clause."""
        if isinstance(tree, Source):
            return self._of_source(tree)
        match tree.kind:
            case Kind.INNER:
                return [
                    *self.of_tree(tree.left),
                    *self.of_tree(tree.right),
                    *self.of_conditions(tree.on),
                ]
            case Kind.LEFT | Kind.SEMI | Kind.ANTI | Kind.NOT_IN:
                return self.of_tree(tree.left)
            case Kind.RIGHT:
                return self.of_tree(tree.right)
            case _:
                return []

    def inside(self, select: Select) -> list[Fact]:
        """What is TRUE of every row of a block after WHERE, before it groups."""
        below = [] if select.tree is None else self.of_tree(select.tree)
        return [*below, *self.of_conditions(select.where)]

    def of_conditions(self, conditions: Sequence[Condition]) -> list[Fact]:
        """The facts of conditions, with the parts that all branches of an OR share."""
        for condition in conditions:
            if id(condition) not in self._condition_facts:
                condition_fact = self.values.get(id(condition)) or fact_of(condition)
                self._condition_facts[id(condition)] = (
                    ()
                    if condition_fact is None
                    else (condition_fact, *common_parts(condition_fact))
                )
        return [
            condition_fact
            for condition in conditions
            for condition_fact in self._condition_facts[id(condition)]
        ]

    def _of_source(self, source: Source) -> list[Fact]:
        if not isinstance(source.relation, Select | Combined):
            return []
        if source.key not in self._source_facts:
            self._source_facts[source.key] = self.of_query(source.relation, source.key)
        return self._source_facts[source.key]

    def of_query(self, query: Query, key: str) -> list[Fact]:
        """What is TRUE of the rows of a query, in terms of its output columns under `key`."""
        if isinstance(query, Combined):
            if query.operator not in {"intersect", "except"}:
                return []
            left = self.of_query(query.left, key)
            return left if query.operator == "except" else [*left, *self._renamed(query, key)]
        output_columns: dict[Path, Column] = {}
        for output in query.outputs:
            grouped = query.groups is None or output.expression in query.groups
            if isinstance(output.expression, Column) and grouped:
                output_columns.setdefault(
                    output.expression.path, Column((key, output.name), output.expression.type)
                )
        inside = self.spread(self.inside(query))
        outer_facts = (outward(inner_fact, output_columns) for inner_fact in inside)
        return [*(f for f in outer_facts if f is not None), *constants(query, key)]

    def _renamed(self, query: Combined, key: str) -> list[Fact]:
        """The facts of the right side, with the column names of the left side."""
        names = {
            right.name: left.name
            for left, right in zip(query.left.outputs, query.right.outputs, strict=True)
        }

        def change(column: Column) -> Column:
            return Column((key, names[column.path[1]], *column.path[2:]), column.type)

        renamed = []
        for right_fact in self.of_query(query.right, key):
            expression = substituted(right_fact.expression, change)
            if expression is not None:
                renamed.append(
                    Fact(expression, right_fact.written, None, Origin.SPREAD, right_fact.via)
                )
        return renamed

    def spread(self, facts: Sequence[Fact]) -> list[Fact]:
        """What follows from facts; cached, because both sides of a join and its scans need it."""
        identity = tuple(map(id, facts))
        if identity not in self._spread_facts:
            # The facts are kept with the result, so that no new fact gets the id of an old one.
            self._spread_facts[identity] = (facts, consequences(unique(facts), self.supplied))
        return self._spread_facts[identity][1]


def unique(facts: Sequence[Fact]) -> list[Fact]:
    """The facts without repetitions: a join and the joins above it collect the same facts."""
    return list({id(fact.expression): fact for fact in facts}.values())
