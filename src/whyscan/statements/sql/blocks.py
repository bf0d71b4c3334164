"""Builds blocks from a qualified syntax tree: the sources, filters and outputs of each SELECT."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from whyscan.errors import SyntaxProblem
from whyscan.predicate.syntax.parse import conjuncts, unwrapped
from whyscan.statements.sql import clauses
from whyscan.statements.sql.from_clause import FromClause
from whyscan.statements.sql.outputs import (
    combined_output,
    fields_of,
    outputs_by_name,
    renamed,
    values,
    widened_to_match,
)
from whyscan.statements.sql.qualification import AMBIGUOUS
from whyscan.statements.sql.relations import (
    Combined,
    Condition,
    Join,
    Kind,
    Nested,
    Output,
    Select,
    Source,
    free_reads,
    joins,
)
from whyscan.statements.sql.scopes import Frame
from whyscan.statements.sql.subqueries import nested_queries, semi_join, subject_of, with_comparison
from whyscan.statements.stay_reasons import StayReason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.predicate.binding.scope import Scope
    from whyscan.statements.sql.relations import Query, Tree
    from whyscan.statements.sql.table_names import Base
    from whyscan.tree.nodes import Path

MOST_SOURCES = 5_000
SUBQUERY = "(subquery)"


class View(Struct, frozen=True):
    """A CTE: its query and the CTEs that it can name. `name` is set if the CTE may be recursive."""

    query: exp.Expr
    views: Mapping[str, View]
    name: str | None = None


class Builder(Struct):
    """Builds the blocks of one statement.

    The key of a source is its alias, with a number where the alias is used again. `tables` are the
    identities of the tables that were read so far.
    """

    scope: Scope
    bases: Mapping[str, Base]
    alias_counts: dict[str, int] = field(default_factory=dict)
    count: int = 0
    tables: set[int] = field(default_factory=set)

    def whole(self, node: exp.Expr, views: Mapping[str, View] = MappingProxyType({})) -> Query:
        """The block of a statement or a CTE. An error if one of its tables is not a source of it.

        The CTEs inside are not checked now, but when a source names them.
        """
        query = self.query(node, views, None)
        around = node.find_ancestor(exp.CTE)
        for table in node.find_all(exp.Table):
            if table.name not in self.bases or id(table) in self.tables:
                continue
            if table.find_ancestor(exp.CTE) is around:
                name = self.bases[table.name].name
                raise SyntaxProblem(
                    f"what reads {name!r} is not understood", text=self.scope.syntax.text
                )
        return query

    def query(self, node: exp.Expr, views: Mapping[str, View], outer: Frame | None) -> Query:
        """The block of a query: a SELECT, a set operation, or one of them in parentheses."""
        views = self._with_ctes(node, views)
        match node:
            case exp.Select():
                return self.select(node, views, outer)
            case exp.SetOperation():
                return self._limited(self.combined(node, views, outer), node, views)
            case exp.Subquery() | exp.Paren():
                inner = self.query(node.this, views, outer)
                why = clauses.barrier(node)
                inner = inner if why is None else replace(inner, barrier=why)
                return self._limited(inner, node, views)
            case exp.Values():
                frame = Frame(self.scope, {}, outer)
                return replace(values(node), nested=tuple(self._nested(node, views, frame)))
            case _:
                raise SyntaxProblem(f"{node.key} is not a query", text=self.scope.syntax.text)

    def _limited(self, query: Query, node: exp.Expr, views: Mapping[str, View]) -> Query:
        """The query in a block of its own if subqueries stand in its LIMIT or OFFSET."""
        frame = Frame(self.scope, {})
        nested = [n for part in clauses.limits(node) for n in self._nested(part, views, frame)]
        if not nested:
            return query
        around = renamed(SUBQUERY, self.key(SUBQUERY), query, fields_of(query), ())
        return replace(around, nested=tuple(nested))

    def select(self, node: exp.Select, views: Mapping[str, View], outer: Frame | None) -> Select:
        """The block of a SELECT."""
        from_clause = FromClause(self, views, outer)
        tree, frame = from_clause.read(node)
        groups, rolled_up = clauses.groups(node, frame), clauses.rolled_up(node, frame)
        tree, where, nested = self._where(node, tree, views, frame)
        of_rows = groups is None or bool(groups and not rolled_up)
        for expression in clauses.expressions(node):
            frame.check(expression)
            nested += self._nested(expression, views, frame, sees_row=of_rows)
        on = [part for parts in from_clause.on.values() for part in parts]
        for part in (*on, *from_clause.functions, *clauses.limits(node)):
            nested += self._nested(part, views, frame, sees_row=False)
        having, qualify = (self._conditions(node.args.get(k), frame) for k in ("having", "qualify"))
        return Select(
            tree=tree,
            where=tuple(where),
            outputs=tuple(self._outputs(node, frame)),
            groups=groups,
            rolled_up=rolled_up,
            having=having,
            qualify=qualify,
            partitions=clauses.partitions(node, frame),
            nested=tuple(nested),
            reads=_clause_reads(node, on, frame) | _query_reads(tree, nested),
            barrier=clauses.barrier(node),
            distinct=node.args.get("distinct") is not None,
            order=clauses.order(node, frame),
            cut=clauses.row_limit(node),
            aggregates=clauses.aggregates(node, frame),
        )

    def _where(
        self, node: exp.Select, tree: Tree | None, views: Mapping[str, View], frame: Frame
    ) -> tuple[Tree | None, list[Condition], list[Nested]]:
        """The conditions of WHERE. IN and EXISTS with a subquery become joins above the tree."""
        where: list[Condition] = []
        nested: list[Nested] = []
        for part in _parts(node.args.get("where")):
            condition = frame.condition(part)
            joined = semi_join(part, condition, frame, lambda n: self._inner(n, views, frame))
            if joined is not None and tree is not None:
                kind, source, conditions, exists = joined
                tree = Join(kind, tree, source, conditions, exists)
                compared = subject_of(part)
                nested += [] if compared is None else self._nested(compared, views, frame)
            else:
                condition = with_comparison(part, condition, frame)
                nested += self._nested(part, views, frame, condition)
            where.append(condition)
        return tree, where, nested

    def combined(
        self, node: exp.SetOperation, views: Mapping[str, View], outer: Frame | None
    ) -> Combined:
        """The block of UNION, INTERSECT or EXCEPT."""
        left = self.query(node.this, views, outer)
        right = self.query(node.expression, views, outer)
        if node.args.get("by_name"):
            outputs = outputs_by_name(left, right)
            return Combined(
                "by name",
                narrows=False,
                left=left,
                right=right,
                outputs=outputs,
                barrier=StayReason.MATCHED_BY_NAME,
            )
        barrier = clauses.barrier(node)
        if len(left.outputs) != len(right.outputs):
            raise SyntaxProblem(
                f"{node.key.upper()} of {len(left.outputs)} and {len(right.outputs)} columns",
                text=self.scope.syntax.text,
            )
        if barrier is None:
            left, right = widened_to_match(left, right), widened_to_match(right, left)
        outputs = tuple(map(combined_output, left.outputs, right.outputs))
        narrows = isinstance(node, exp.Union) and not node.args.get("distinct")
        return Combined(node.key, narrows, left, right, outputs, barrier)

    def _with_ctes(self, node: exp.Expr, views: Mapping[str, View]) -> Mapping[str, View]:
        """The visible CTEs, with those that the query defines."""
        around = node.args.get("with_")
        if around is None:
            return views
        visible = dict(views)
        for cte in around.expressions:
            name = cte.alias if around.recursive else None
            visible[cte.alias] = View(cte.this, dict(visible), name)
        return visible

    def view(self, view: View) -> Query | None:
        """The query of a CTE, built once for each use; no condition passes into a recursive CTE."""
        if view is RECURRING:
            return None
        if view.name is None or not _names(view.query, view.name):
            return self.whole(view.query, view.views)
        query = self.whole(view.query, {**view.views, view.name: RECURRING})
        return replace(query, barrier=StayReason.RECURSIVE)

    def _inner(self, node: exp.Expr, views: Mapping[str, View], frame: Frame) -> Source:
        """The subquery of IN or EXISTS as a source."""
        query = self.query(node, views, frame)
        return Source(self.key(SUBQUERY), SUBQUERY, query, fields_of(query))

    def _nested(
        self,
        node: exp.Expr,
        views: Mapping[str, View],
        frame: Frame,
        within: Condition | None = None,
        *,
        sees_row: bool = True,
    ) -> Iterator[Nested]:
        for query in nested_queries(node):
            yield Nested(self.query(query, views, frame), within, sees_row)

    def _conditions(self, clause: exp.Expr | None, frame: Frame) -> tuple[Condition, ...]:
        conditions = tuple(frame.condition(part) for part in _parts(clause))
        if clause is None or not clause.meta.get(AMBIGUOUS):
            return conditions
        why = "a name in it is a column's and another output's"
        return tuple(Condition(c.expression, c.sql, c.bare, c.fixed or why) for c in conditions)

    def _outputs(self, node: exp.Select, frame: Frame) -> Iterator[Output]:
        """The columns of the result; a name that several columns have says nothing of a value."""
        names = Counter(projection.alias_or_name for projection in node.expressions)
        for projection in node.expressions:
            name, inner = projection.alias_or_name, clauses.unaliased(projection)
            value = frame.value(inner) if names[name] == 1 else None
            yield Output(name, value, frame.reads(inner))

    def key(self, alias: str) -> str:
        """A key that no other source of the statement has."""
        self.count += 1
        if self.count > MOST_SOURCES:
            raise SyntaxProblem(
                f"the statement has more than {MOST_SOURCES:,} tables, each use of a CTE counted",
                text=self.scope.syntax.text,
            )
        number = self.alias_counts.get(alias, 0)
        self.alias_counts[alias] = number + 1
        return f"{alias}#{number + 1}" if number else alias


RECURRING = View(exp.Null(), {})
_NOTHING: frozenset[Path] = frozenset()


def _names(query: exp.Expr, name: str) -> bool:
    return any(table.name == name for table in query.find_all(exp.Table))


def _parts(clause: exp.Expr | None) -> list[exp.Expr]:
    return [] if clause is None else [unwrapped(part) for part in conjuncts(clause.this)]


def _clause_reads(node: exp.Select, on: Sequence[exp.Expr], frame: Frame) -> frozenset[Path]:
    """The columns that the clauses of a block read, whichever outputs are used."""
    expressions = [*on, *clauses.non_output_clauses(node)]
    if node.args.get("distinct") is not None:
        expressions += node.expressions
    return _NOTHING.union(*map(frame.reads, expressions))


def _query_reads(tree: Tree | None, nested: Sequence[Nested]) -> frozenset[Path]:
    """The columns of the block that subqueries read, and the outputs that IN compares."""
    columns = _NOTHING.union(*(free_reads(inner.query) for inner in nested))
    for join in joins(tree):
        source = join.right
        if isinstance(source, Source) and isinstance(source.relation, Select | Combined):
            columns |= free_reads(source.relation)
            if join.kind in {Kind.SEMI, Kind.NOT_IN} and not join.exists:
                columns |= {(source.key, output.name) for output in source.relation.outputs}
    return columns
