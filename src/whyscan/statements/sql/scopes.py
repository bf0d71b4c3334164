"""The names that the expressions of one block may use, and the binding of expressions to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from sqlglot import exp

from whyscan.errors import NoCondition, TypeProblem, UnknownColumn
from whyscan.predicate.binding import dialect_calls
from whyscan.predicate.binding.expressions import bind_condition, bind_value
from whyscan.predicate.binding.names import FILE_ALIASES, METADATA, SchemaColumns, suggestion
from whyscan.predicate.binding.never_boolean import refuse_other_values
from whyscan.predicate.binding.opaque import column
from whyscan.predicate.binding.scope import Scope, Uninterpreted
from whyscan.predicate.syntax.parse import sql_of, unwrapped
from whyscan.predicate.syntax.tokens import function_name
from whyscan.statements.sql.qualification import WRITTEN
from whyscan.statements.sql.relations import Condition
from whyscan.statements.sql.table_names import Base
from whyscan.statements.sql.using_columns import without_coalesce
from whyscan.tree.lazy import lazy
from whyscan.tree.nodes import Column, Opaque
from whyscan.tree.rewrite import substituted
from whyscan.tree.types import Field, Schema, StructType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.statements.sql.relations import Source
    from whyscan.statements.sql.using_columns import Same
    from whyscan.tree.nodes import Expression, Path

_MADE = re.compile(r"_\d+")
_PSEUDO = {"_metadata", *FILE_ALIASES}


class Frame(Struct, frozen=True, dict=True):
    """The sources of a block and of the enclosing blocks, by alias.

    `scope` is the scope of the statement; each source is a struct whose members are its columns.
    `same` are pairs of columns that USING makes one column.
    """

    scope: Scope
    sources: Mapping[str, Source]
    outer: Frame | None = None
    same: tuple[Same, ...] = ()

    @lazy
    def aliased(self) -> Mapping[str, tuple[Source, ...]]:
        """The sources of each alias, the innermost first.

        Qualification writes the alias before every column: of two sources with one alias, a column
        that the inner one lacks is the outer one's.
        """
        around = {} if self.outer is None else self.outer.aliased
        own = {
            alias: (source, *around.get(alias, ())) if source.fields else (source,)
            for alias, source in self.sources.items()
        }
        return {**around, **own}

    @lazy
    def visible(self) -> Mapping[str, Source]:
        """The innermost source of each alias."""
        return {alias: sources[0] for alias, sources in self.aliased.items()}

    @lazy
    def _bound(self) -> Scope:
        fields = [Field(alias, _members(sources)) for alias, sources in self.aliased.items()]
        columns = SchemaColumns(Schema(tuple(fields)))
        return Scope(self.scope.syntax, self.scope.dialect, columns, self.scope.clock)

    def condition(self, node: exp.Expr) -> Condition:
        """The bound condition; an expression that cannot be moved or bound becomes opaque."""
        self.check(node)
        sql, bare = self._texts(node)
        why = fixed(node)
        if why is not None and self.scope.dialect.is_spark:
            refuse_other_values(unwrapped(node), self._bound)
        if why is None:
            try:
                bound = self._keyed(bind_condition(node, self._bound))
                expression = without_coalesce(bound, self.same)
                return Condition(expression, sql, bare if expression is bound else None)
            except TypeProblem as problem:
                if isinstance(problem, NoCondition) and self.scope.dialect.is_spark:
                    raise
                why = problem.message
            except UnknownColumn as problem:
                why = self._unresolved(problem)
            except Uninterpreted as gap:
                why = gap.reason
        columns = tuple(dict.fromkeys(self._columns(node)))
        return Condition(Opaque(bare, why, columns), sql, bare, why)

    def value(self, node: exp.Expr) -> Expression | None:
        """The bound expression of one row; None where it is not understood or not of one row."""
        if fixed(node) is not None:
            return None
        try:
            bound = self._keyed(bind_value(node, self._bound).expression)
            return without_coalesce(bound, self.same)
        except (Uninterpreted, TypeProblem):
            return None
        except UnknownColumn as problem:
            self._unresolved(problem)
            return None

    def _unresolved(self, problem: UnknownColumn) -> str:
        """The reason why a name may be a column of a source without a schema; else an error."""
        if any(not source.fields for source in self.visible.values()):
            return "a name in it may be a column of a table without a schema"
        names = [field.name for source in self.sources.values() for field in source.fields]
        text, span = self.scope.syntax.text, problem.span
        name = "" if span is None else text[span.start : span.end].split(".")[-1]
        hint = suggestion(name, names, problem.literal)
        raise UnknownColumn(problem.message, text=text, span=span, hint=hint) from problem

    def _texts(self, node: exp.Expr) -> tuple[str, str]:
        """The SQL of an expression, with table names and without."""
        copy = _as_written(node)
        written = sql_of(copy, self.scope.syntax.dialect)
        for part in copy.find_all(exp.Column):
            if part.table.lower() not in _PSEUDO:
                part.set("table", None)
        return written, sql_of(copy, self.scope.syntax.dialect)

    def written(self, node: exp.Expr) -> str:
        """The SQL of an expression, with table names as written."""
        return sql_of(_as_written(node), self.scope.syntax.dialect)

    def reads(self, node: exp.Expr) -> frozenset[Path]:
        """The columns that an expression names, without those of its subqueries."""
        return frozenset(column.path[:2] for column in self._columns(node))

    def _columns(self, node: exp.Expr) -> Iterator[Column]:
        for part in node.walk(prune=lambda n: n is not node and isinstance(n, exp.Query)):
            if not isinstance(part, exp.Column) or isinstance(part.this, exp.Star):
                continue
            bound = self._column(part)
            if bound is not None:
                yield bound
            elif (source := self._row(part)) is not None:
                yield from (Column((source.key, f.name), f.type) for f in source.fields)

    def _row(self, node: exp.Column) -> Source | None:
        """The source whose whole row is named by its alias: `f(t)`."""
        alias = node.name.lower()
        aliases = () if node.table else self.visible.items()
        return next((source for name, source in aliases if name.lower() == alias), None)

    def _column(self, node: exp.Column) -> Column | None:
        """The bound column; None for an output's alias or the parameter of a lambda."""
        if not node.table and node.name.lower() not in _PSEUDO:
            return None
        try:
            bound = self._keyed(column(node, self._bound))
        except (UnknownColumn, Uninterpreted):
            return None
        return bound if isinstance(bound, Column) else None

    def check(self, node: exp.Expr) -> None:
        """Raise UnknownColumn for a column that its source does not have."""
        for part in node.walk(prune=lambda n: isinstance(n, exp.Query) and n is not node):
            if isinstance(part, exp.Column) and part.table in self.visible:
                self._check_column(part)

    def _check_column(self, node: exp.Column) -> None:
        source = self.visible[node.table]
        if source.fields and node.name != "*":
            column(node, self._bound)

    def _keyed(self, expression: Expression) -> Expression:
        """The expression with keys instead of aliases: two blocks may use one alias."""
        keyed = substituted(expression, self._key)
        return expression if keyed is None else keyed

    def _key(self, name: Column) -> Column:
        alias, *rest = name.path
        sources = self.aliased.get(alias, ())
        if sources and not rest:
            raise Uninterpreted("it names a whole row")
        if sources:
            source = next((s for s in sources if _has(s, rest[0])), sources[0])
            return Column((source.key, *rest), name.type)
        # A pseudo-column without a table name belongs to the only source of the block.
        key = next(iter(self.sources.values())).key if len(self.sources) == 1 else alias
        return Column((key, *name.path), name.type)


def _as_written(node: exp.Expr) -> exp.Expr:
    """The expression without table numbers and aliases that qualification has added."""
    copy = unwrapped(node).copy()
    for part in copy.walk():
        if isinstance(part, exp.Column) and _MADE.fullmatch(part.table):
            part.set("table", None)
        elif isinstance(part, exp.Table) and WRITTEN in part.meta:
            part.set("this", exp.to_identifier(part.meta[WRITTEN][-1]))
    return copy


def _members(sources: Sequence[Source]) -> StructType:
    """The columns of an alias as a struct; tables also have the pseudo-columns of their files."""
    fields: list[Field] = []
    for at, source in enumerate(sources):
        inner = sources[:at]
        fields += [f for f in source.fields if not any(_has(s, f.name) for s in inner)]
    pseudo = (METADATA,) if isinstance(sources[0].relation, Base) else ()
    return StructType((*fields, *pseudo))


def _has(source: Source, name: str) -> bool:
    return any(field.name.lower() == name.lower() for field in source.fields)


def fixed(node: exp.Expr) -> str | None:
    """The reason why an expression must not be moved; None where it may be.

    It must be computed from one row, and have the same value each time.
    """
    for part in node.walk():
        match part:
            case exp.Query():
                return "it holds a subquery"
            case exp.Window():
                return "it holds a window function"
            case exp.Anonymous():
                if function_name(part) in _AGGREGATES:
                    return "it holds an aggregate"
            case exp.AggFunc():
                return "it holds an aggregate"
            case _:
                pass
        if _varies(part):
            return "it is not deterministic"
    return None


def is_volatile(node: exp.Expr) -> bool:
    """Whether the expression may change its value each time, subqueries not counted."""
    return any(map(_varies, node.walk(prune=lambda n: isinstance(n, exp.Query))))


def _varies(part: exp.Expr) -> bool:
    if isinstance(part, exp.Anonymous):
        return function_name(part) in dialect_calls.VOLATILE
    return isinstance(part, exp.Rand | exp.Uuid)


def may_aggregate(node: exp.Expr) -> bool:
    """Whether a block that selects this expression may return one row for many rows.

    A function that is not in the catalogue may be an aggregate that the user has defined.
    """
    for part in node.walk(prune=lambda n: isinstance(n, exp.Query | exp.Window)):
        if isinstance(part, exp.AggFunc):
            return True
        if isinstance(part, exp.Anonymous):
            name = function_name(part)
            if name in _AGGREGATES or name not in _SCALARS:
                return True
    return False


def _registered(*, aggregates: bool) -> frozenset[str]:
    """The functions that the parser supports, by name in lower case."""
    names = exp.FUNCTION_BY_NAME.items()
    return frozenset(
        name.lower() for name, kind in names if issubclass(kind, exp.AggFunc) is aggregates
    )


_AGGREGATES = _registered(aggregates=True) | dialect_calls.AGGREGATES
_SCALARS = (
    _registered(aggregates=False) | dialect_calls.function_names()
) - dialect_calls.AGGREGATES
