"""Reads the FROM clause of a block: its sources and how they are joined."""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from whyscan.predicate.syntax.parse import conjuncts, unwrapped
from whyscan.statements.sql import clauses
from whyscan.statements.sql.outputs import UNKNOWN, fields_of, pivoted, renamed
from whyscan.statements.sql.relations import Join, Kind, Source
from whyscan.statements.sql.scopes import Frame
from whyscan.statements.sql.syntax import FINAL, TARGET
from whyscan.statements.sql.using_columns import same_columns
from whyscan.statements.sql.using_joins import nested_joins
from whyscan.statements.stay_reasons import StayReason
from whyscan.tree.types import Field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.statements.sql.blocks import Builder, View
    from whyscan.statements.sql.relations import Query, Tree
    from whyscan.statements.sql.table_names import Base


class FromClause(Struct):
    """One FROM clause while it is read: its sources by alias, and the conditions of ON by join.

    A source can name the sources before it, with LATERAL. `functions` are the parts of FROM that
    are not tables and in which subqueries may stand: functions, lists of values, pivots, samples.
    """

    builder: Builder
    views: Mapping[str, View]
    outer: Frame | None
    sources: dict[str, Source] = field(default_factory=dict)
    on: dict[int, list[exp.Expr]] = field(default_factory=dict)
    functions: list[exp.Expr] = field(default_factory=list)

    def read(self, node: exp.Select) -> tuple[Tree | None, Frame]:
        """The tree of FROM, JOIN and LATERAL VIEW, and the frame of the block."""
        tree = self._tree(node)
        frame = self._frame()
        if tree is None:
            return None, frame
        # An equality of ON may make two columns one column, also in the other conditions of ON.
        same = tuple(same_columns(self._bound(tree, frame)))
        frame = replace(frame, same=same)
        return self._bound(tree, frame), frame

    def _frame(self) -> Frame:
        """The sources that were read so far, and those of the enclosing blocks."""
        return Frame(self.builder.scope, dict(self.sources), self.outer)

    def _tree(self, node: exp.Select) -> Tree | None:
        """The join tree; the items between commas are joined last."""
        items = nested_joins(node, self._relation, self._join)
        if not items:
            return None
        tree = reduce(partial(Join, Kind.INNER), items)
        for lateral in node.args.get("laterals") or ():
            tree = Join(Kind.INNER, tree, self._relation(lateral))
        # WHERE sees what these make of the rows of FROM.
        barrier = clauses.barrier_before_where(node)
        return tree if barrier is None else self._barred(tree, barrier)

    def _join(self, left: Tree, node: exp.Join, right: Tree) -> Tree:
        kind, swapped = clauses.kind(node)
        join = Join(kind, right, left) if swapped else Join(kind, left, right)
        condition = node.args.get("on")
        self.on[id(join)] = [] if condition is None else conjuncts(condition)
        return join

    def _relation(self, node: exp.Expr) -> Tree:
        """One table, subquery or function of FROM."""
        source = self._source(node)
        self.sources[source.alias] = source
        return source

    def _source(self, node: exp.Expr) -> Source:
        """One table, subquery or function of FROM as a source with its key."""
        alias = node.alias_or_name
        key = self.builder.key(alias)
        relation, fields = self._relation_of(node)
        has_alias_columns = isinstance(node, exp.Table | exp.Lateral | exp.Subquery)
        names = node.alias_column_names if has_alias_columns else []
        if relation is not None and names:
            relation = renamed(alias, key, relation, fields, names)
            fields = fields_of(relation)
        sample = node.args.get("sample")
        self.functions += [*(node.args.get("pivots") or ()), *([] if sample is None else [sample])]
        if node.args.get("pivots"):
            relation, fields = pivoted(alias, key, relation, fields), ()
        barrier = None if sample is None else StayReason.TABLESAMPLE
        barrier = StayReason.FINAL if node.meta.get(FINAL) else barrier
        target = bool(node.meta.get(TARGET))
        return Source(key, alias, relation, fields, clauses.place(node), barrier, target)

    def _relation_of(self, node: exp.Expr) -> tuple[Base | Query | None, tuple[Field, ...]]:
        """The table or query behind an item of FROM, and its columns."""
        match node:
            case exp.Table() if isinstance(node.this, exp.Identifier):
                if not node.db and node.name in self.views:
                    query = self.builder.view(self.views[node.name])
                    return query, () if query is None else fields_of(query)
                self.builder.tables.add(id(node))
                base = self.builder.bases[node.name]
                return base, base.fields
            case exp.Subquery():
                query = self.builder.query(node, self.views, self._frame())
                return query, fields_of(query)
            case exp.Lateral() if isinstance(node.this, exp.Subquery):
                query = self.builder.query(node.this, self.views, self._frame())
                return query, fields_of(query)
            case _:
                self.functions += _arguments(node)
                names = getattr(node, "alias_column_names", [])
                return None, tuple(Field(name, UNKNOWN) for name in names)

    def _bound(self, tree: Tree, frame: Frame) -> Tree:
        """The tree with bound conditions of ON: they may name any source of the block."""
        if isinstance(tree, Source):
            return tree
        conditions = tuple(frame.condition(unwrapped(part)) for part in self.on.get(id(tree), ()))
        left, right = self._bound(tree.left, frame), self._bound(tree.right, frame)
        return Join(tree.kind, left, right, conditions, tree.exists)

    def _barred(self, tree: Tree, barrier: StayReason) -> Tree:
        """The tree with the same barrier for every source."""
        if isinstance(tree, Source):
            return replace(tree, barrier=barrier)
        left, right = self._barred(tree.left, barrier), self._barred(tree.right, barrier)
        barred = replace(tree, left=left, right=right)
        self.on[id(barred)] = self.on.pop(id(tree), [])
        return barred


def _arguments(node: exp.Expr) -> list[exp.Expr]:
    """The arguments of a function in FROM, and the rows of VALUES."""
    inner = node.args.get("this")
    return [*([inner] if isinstance(inner, exp.Expr) else []), *node.expressions]
