"""A qualified syntax tree to blocks: what each SELECT draws from, filters, groups and gives."""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from whyscan.errors import SyntaxProblem
from whyscan.predicate.parse import conjuncts, unwrapped
from whyscan.predicate.tree import Column, type_of
from whyscan.predicate.types import Field, OtherType
from whyscan.statements import clauses
from whyscan.statements.changes import TARGET
from whyscan.statements.frames import Frame
from whyscan.statements.merged import is_comma
from whyscan.statements.qualification import AMBIGUOUS
from whyscan.statements.relations import (
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
from whyscan.statements.subqueries import compared, nested_queries, semi_join
from whyscan.statements.using import same_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.predicate.scope import Scope
    from whyscan.predicate.tree import Path
    from whyscan.statements.catalogue import Base
    from whyscan.statements.relations import Query, Tree

MOST_SOURCES = 5_000
SUBQUERY = "(subquery)"
UNKNOWN = OtherType("unknown")


class View(Struct, frozen=True):
    """A CTE: its query, and the CTEs that it may name. `name` is its own, where it recurs."""

    query: exp.Expr
    views: Mapping[str, View]
    name: str | None = None


class Builder(Struct):
    """Builds one statement. Keys are its aliases, numbered where one is used again."""

    scope: Scope
    bases: Mapping[str, Base]
    used: dict[str, int] = field(default_factory=dict)
    count: int = 0

    def query(self, node: exp.Expr, views: Mapping[str, View], outer: Frame | None) -> Query:
        """Any query: a SELECT, a set operation, or one of them in parentheses."""
        views = self._with_ctes(node, views)
        match node:
            case exp.Select():
                return self.select(node, views, outer)
            case exp.SetOperation():
                return self.combined(node, views, outer)
            case exp.Subquery() | exp.Paren():
                inner = self.query(node.this, views, outer)
                why = clauses.barrier(node)
                return inner if why is None else _behind(inner, why)
            case exp.Values():
                return _values(node)
            case _:
                raise SyntaxProblem(f"{node.key} is not a query", text=self.scope.syntax.text)

    def select(self, node: exp.Select, views: Mapping[str, View], outer: Frame | None) -> Select:
        own: dict[str, Source] = {}
        frame = Frame(self.scope, own, outer)
        tree, on = self._from(node, views, frame, own)
        # Sources were added while the tree grew: the frame that binds has them all.
        frame = Frame(self.scope, own, outer)
        if tree is not None:
            same = tuple(same_columns(_bound(tree, on, frame)))
            frame = Frame(self.scope, own, outer, same)
            tree = _bound(tree, on, frame)
        nested: list[Nested] = []
        where: list[Condition] = []
        for part in _parts(node.args.get("where")):
            condition = frame.condition(part)
            joined = semi_join(part, condition, frame, lambda n: self._inner(n, views, frame))
            if joined is not None and tree is not None:
                kind, source, conditions, exists = joined
                tree = Join(kind, tree, source, conditions, exists)
                where.append(condition)
                continue
            condition = compared(part, condition, frame)
            where.append(condition)
            nested += self._nested(part, views, frame, condition)
        rest = clauses.expressions(node)
        nested += [n for e in rest for n in self._nested(e, views, frame)]
        for e in rest:
            frame.check(e)
        nested += [
            n
            for conditions in on.values()
            for e in conditions
            for n in self._nested(e, views, frame, sees_row=False)
        ]
        reads = self._reads(node, tree, on, nested, frame)
        having, qualify = (self._conditions(node.args.get(k), frame) for k in ("having", "qualify"))
        return Select(
            tree=tree,
            where=tuple(where),
            outputs=tuple(self._outputs(node, frame)),
            groups=clauses.groups(node, frame),
            having=having,
            qualify=qualify,
            partitions=clauses.partitions(node, frame),
            nested=tuple(nested),
            reads=reads,
            barrier=clauses.barrier(node),
            distinct=node.args.get("distinct") is not None,
            order=clauses.order(node, frame),
            cut=clauses.cut(node),
            aggregates=clauses.aggregates(node, frame),
        )

    def combined(
        self, node: exp.SetOperation, views: Mapping[str, View], outer: Frame | None
    ) -> Combined:
        left = self.query(node.this, views, outer)
        right = self.query(node.expression, views, outer)
        barrier = clauses.barrier(node)
        if node.args.get("by_name"):
            barrier = "it is matched by name"
        elif len(left.outputs) != len(right.outputs):
            raise SyntaxProblem(
                f"{node.key.upper()} of {len(left.outputs)} and {len(right.outputs)} columns",
                text=self.scope.syntax.text,
            )
        outputs = tuple(map(_either, left.outputs, right.outputs))
        narrows = isinstance(node, exp.Union) and not node.args.get("distinct")
        return Combined(node.key, narrows, left, right, outputs, barrier)

    def _with_ctes(self, node: exp.Expr, views: Mapping[str, View]) -> Mapping[str, View]:
        around = node.args.get("with_")
        if around is None:
            return views
        known = dict(views)
        for cte in around.expressions:
            name = cte.alias if around.recursive else None
            known[cte.alias] = View(cte.this, dict(known), name)
        return known

    def _from(
        self, node: exp.Expr, views: Mapping[str, View], frame: Frame, own: dict[str, Source]
    ) -> tuple[Tree | None, dict[int, list[exp.Expr]]]:
        """The tree of FROM, JOIN and LATERAL VIEW, and the parts of ON by their joins."""
        on: dict[int, list[exp.Expr]] = {}
        start = node.args.get("from_")
        if start is None:
            return None, on
        groups = [self._relation(start.this, views, frame, own, on)]
        for join in node.args.get("joins") or ():
            if is_comma(join):
                groups.append(self._relation(join.this, views, frame, own, on))
            else:
                groups[-1] = self._join(groups[-1], join, views, frame, own, on)
        tree = reduce(partial(Join, Kind.INNER), groups)
        for lateral in node.args.get("laterals") or ():
            tree = Join(Kind.INNER, tree, self._relation(lateral, views, frame, own, on))
        # DuckDB's USING SAMPLE takes rows of FROM, before WHERE.
        return (_sampled(tree, on) if node.args.get("sample") else tree), on

    def _join(
        self,
        left: Tree,
        node: exp.Join,
        views: Mapping[str, View],
        frame: Frame,
        own: dict[str, Source],
        on: dict[int, list[exp.Expr]],
    ) -> Tree:
        right = self._relation(node.this, views, frame, own, on)
        kind, swapped = clauses.kind(node)
        join = Join(kind, right, left) if swapped else Join(kind, left, right)
        condition = node.args.get("on")
        on[id(join)] = [] if condition is None else conjuncts(condition)
        return join

    def _relation(
        self,
        node: exp.Expr,
        views: Mapping[str, View],
        frame: Frame,
        own: dict[str, Source],
        on: dict[int, list[exp.Expr]],
    ) -> Tree:
        """One item of FROM, with the joins that its parentheses hold."""
        if _in_parentheses(node):
            tree = self._relation(node.this, views, frame, own, on)
        else:
            tree = self._source(node, views, Frame(self.scope, dict(own), frame.outer))
            own[tree.alias] = tree
        for join in node.args.get("joins") or ():
            tree = self._join(tree, join, views, frame, own, on)
        return tree

    def _source(self, node: exp.Expr, views: Mapping[str, View], before: Frame) -> Source:
        self.count += 1
        if self.count > MOST_SOURCES:
            raise SyntaxProblem(
                f"the statement has more than {MOST_SOURCES:,} tables, each use of a CTE counted",
                text=self.scope.syntax.text,
            )
        alias = node.alias_or_name
        key = self._key(alias)
        sampled = node.args.get("sample") is not None
        relation, fields = self._drawn(node, views, before)
        named = isinstance(node, exp.Table | exp.Lateral | exp.Subquery)
        names = node.alias_column_names if named else []
        if relation is not None and names:
            relation = _renamed(alias, key, relation, fields, names)
            fields = _fields(relation)
        if node.args.get("pivots"):
            relation, fields = _pivoted(alias, key, relation, fields), ()
        target = bool(node.meta.get(TARGET))
        return Source(key, alias, relation, fields, clauses.place(node), sampled, target)

    def _drawn(
        self, node: exp.Expr, views: Mapping[str, View], before: Frame
    ) -> tuple[Base | Query | None, tuple[Field, ...]]:
        match node:
            case exp.Table() if isinstance(node.this, exp.Identifier):
                if not node.db and node.name in views:
                    return self._view(views[node.name])
                base = self.bases[node.name]
                return base, base.fields
            case exp.Subquery():
                query = self.query(node, views, before)
                return query, _fields(query)
            case exp.Lateral() if isinstance(node.this, exp.Subquery):
                query = self.query(node.this, views, before)
                return query, _fields(query)
            case exp.Values():
                return None, tuple(Field(name, UNKNOWN) for name in node.alias_column_names)
            case _:
                names = getattr(node, "alias_column_names", [])
                return None, tuple(Field(name, UNKNOWN) for name in names)

    def _view(self, view: View) -> tuple[Query | None, tuple[Field, ...]]:
        """Each use of a CTE is a query of its own; a recursive one lets nothing through."""
        if view is RECURRING:
            return None, ()
        if view.name is None or not _names(view.query, view.name):
            query = self.query(view.query, view.views, None)
            return query, _fields(query)
        query = self.query(view.query, {**view.views, view.name: RECURRING}, None)
        return _behind(query, "it is recursive"), _fields(query)

    def _inner(self, node: exp.Expr, views: Mapping[str, View], frame: Frame) -> Source:
        """The subquery of IN or EXISTS as a source."""
        query = self.query(node, views, frame)
        return Source(self._key(SUBQUERY), SUBQUERY, query, _fields(query))

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
        found = tuple(frame.condition(part) for part in _parts(clause))
        if clause is None or not clause.meta.get(AMBIGUOUS):
            return found
        why = "a name in it is a column's and another output's"
        return tuple(Condition(c.expression, c.sql, c.bare, c.fixed or why) for c in found)

    def _outputs(self, node: exp.Select, frame: Frame) -> Iterator[Output]:
        for projection in node.expressions:
            inner = projection.this if isinstance(projection, exp.Alias) else projection
            reads = frame.reads(inner)
            yield Output(projection.alias_or_name, frame.value(inner), reads)

    def _reads(
        self,
        node: exp.Select,
        tree: Tree | None,
        on: Mapping[int, Sequence[exp.Expr]],
        nested: Sequence[Nested],
        frame: Frame,
    ) -> frozenset[Path]:
        """What is read whatever is selected: conditions, keys, order, and subqueries."""
        read: set[Path] = set()
        for conditions in on.values():
            read = read.union(*map(frame.reads, conditions))
        for clause in clauses.besides_outputs(node):
            read |= frame.reads(clause)
        for inner in nested:
            read |= free_reads(inner.query)
        for join in joins(tree):
            source = join.right
            if isinstance(source, Source) and isinstance(source.relation, Select | Combined):
                read |= free_reads(source.relation)
                if join.kind in {Kind.SEMI, Kind.NOT_IN} and not join.exists:
                    read |= {(source.key, output.name) for output in source.relation.outputs}
        if node.args.get("distinct") is not None:
            read = read.union(*(frame.reads(projection) for projection in node.expressions))
        return frozenset(read)

    def _key(self, alias: str) -> str:
        number = self.used.get(alias, 0)
        self.used[alias] = number + 1
        return f"{alias}#{number + 1}" if number else alias


RECURRING = View(exp.Null(), {})


def _in_parentheses(node: exp.Expr) -> bool:
    """Whether an item of FROM is others and their joins, and no query of its own."""
    if not isinstance(node, exp.Subquery | exp.Paren):
        return False
    inner = node.this
    return isinstance(inner, exp.Table) or (isinstance(inner, exp.Subquery) and not node.alias)


def _names(query: exp.Expr, name: str) -> bool:
    return any(table.name == name for table in query.find_all(exp.Table))


def _parts(clause: exp.Expr | None) -> list[exp.Expr]:
    return [] if clause is None else [unwrapped(part) for part in conjuncts(clause.this)]


def _bound(tree: Tree, on: Mapping[int, Sequence[exp.Expr]], frame: Frame) -> Tree:
    """The tree with the conditions of ON bound: they may name any source of the block."""
    if isinstance(tree, Source):
        return tree
    conditions = tuple(frame.condition(unwrapped(part)) for part in on.get(id(tree), ()))
    left, right = _bound(tree.left, on, frame), _bound(tree.right, on, frame)
    return Join(tree.kind, left, right, conditions, tree.exists)


def _sampled(tree: Tree, on: dict[int, list[exp.Expr]]) -> Tree:
    """The tree with every source giving some of its rows alone."""
    if isinstance(tree, Source):
        return replace(tree, sampled=True)
    found = replace(tree, left=_sampled(tree.left, on), right=_sampled(tree.right, on))
    on[id(found)] = on.pop(id(tree), [])
    return found


def _fields(query: Query) -> tuple[Field, ...]:
    """The columns of a query's result. Of several with one name, none can be told apart."""
    names = [output.name.lower() for output in query.outputs]
    found: dict[str, Field] = {}
    for output, name in zip(query.outputs, names, strict=True):
        known = output.expression is not None and names.count(name) == 1
        kind = type_of(output.expression) if known and output.expression is not None else UNKNOWN
        found.setdefault(name, Field(output.name, kind))
    return tuple(found.values())


def _either(left: Output, right: Output) -> Output:
    """A column of a set operation: of a type only where both sides have the same one."""
    same = (
        left.expression is not None
        and right.expression is not None
        and type_of(left.expression) == type_of(right.expression)
    )
    return Output(left.name, left.expression if same else None, left.reads | right.reads)


def _behind(query: Query, why: str) -> Query:
    """The query with nothing passing into it."""
    return replace(query, barrier=why)


def _values(node: exp.Values) -> Select:
    names = node.alias_column_names
    outputs = tuple(Output(name, None, frozenset()) for name in names)
    return Select(None, (), outputs, None, (), (), (), (), frozenset())


def _renamed(
    alias: str, key: str, relation: Base | Query, fields: Sequence[Field], names: Sequence[str]
) -> Select:
    """`t AS u(a, b)`: the columns by other names, from the first on."""
    inner = Source(f"{key}'", alias, relation, tuple(fields))
    given = [*names, *(f.name for f in fields[len(names) :])]
    outputs = []
    for name, known in zip(given, fields, strict=False):
        column = Column((inner.key, known.name), known.type)
        outputs.append(Output(name, column, frozenset({column.path})))
    return Select(inner, (), tuple(outputs), None, (), (), (), (), frozenset())


def _pivoted(
    alias: str, key: str, relation: Base | Query | None, fields: tuple[Field, ...]
) -> Select:
    """A pivot reads all of what it turns, and nothing passes."""
    inner = Source(f"{key}^", alias, relation, fields)
    reads = frozenset((inner.key, f.name) for f in fields)
    return Select(inner, (), (), (), (), (), (), (), reads, barrier="it is pivoted")
