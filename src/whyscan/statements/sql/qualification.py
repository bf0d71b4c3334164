"""Resolves all names: each table to a table of the lake, each column to the alias of its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.qualify_columns import qualify_columns
from sqlglot.optimizer.qualify_tables import qualify_tables
from sqlglot.optimizer.scope import traverse_scope
from sqlglot.schema import MappingSchema

from whyscan.errors import SyntaxProblem, TextSpan, UnknownColumn
from whyscan.predicate.binding.time_units import mark_units
from whyscan.predicate.syntax.dialects import dialect_of
from whyscan.statements.concurrency import in_parallel
from whyscan.statements.sql.named_tables import name_tables
from whyscan.statements.sql.syntax import quiet
from whyscan.statements.sql.time_travel import mark_versions, version_of
from whyscan.statements.sql.using_joins import (
    flatten_parentheses,
    join_by_marks,
    mark_using,
    merge_columns,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from whyscan.statements.sql.syntax import Statement
    from whyscan.statements.sql.table_names import Base, Catalogue

WRITTEN = "written"
"""The key under which a table keeps its written name while the tree has a number for it."""
AMBIGUOUS = "ambiguous"
"""Marks a HAVING or QUALIFY with a name that is both a column and another output's alias.

Engines differ in which one they use.
"""


class Qualified(Struct, frozen=True):
    """A query with numbered tables; `bases` has each table by its name in the tree."""

    query: exp.Query
    bases: Mapping[str, Base]


def qualify(query: exp.Query, statement: Statement, catalogue: Catalogue) -> Qualified:
    """The query with all names resolved; UnknownTable or UnknownColumn where one cannot be."""
    syntax = statement.syntax
    tree = _with_views(query.copy(), statement.views)
    name_tables(tree, dialect_of(syntax.dialect), syntax.text)
    _mark(tree)
    mark_units(tree, dialect_of(syntax.dialect))
    mark_using(tree, syntax.text)
    flatten_parentheses(tree)
    mark_versions(tree)
    dialect = Dialect.get_or_raise(f"{syntax.dialect},normalization_strategy=case_insensitive")
    tree = normalize_identifiers(tree, dialect=dialect)
    try:
        with quiet():
            tree = qualify_tables(tree, dialect=dialect)
        bases = _numbered(tree, catalogue, syntax.text)
        schema = MappingSchema(_columns(bases), dialect=dialect, normalize=False)
        qualified = qualify_columns(tree, schema, allow_partial_qualification=True, dialect=dialect)
        merge_columns(qualified)
        is_joined = join_by_marks(qualified)
    except SqlglotError as error:
        raise UnknownColumn(str(error).split("\n")[0], text=syntax.text) from error
    # The parser accepts `FROM {}` and `FROM (f(x) {y})`, and its resolver fails on them.
    except (AssertionError, TypeError) as error:
        raise SyntaxProblem(
            "what stands behind FROM is not a table", text=syntax.text, hint="name tables there"
        ) from error
    if not is_joined:
        raise SyntaxProblem(
            "(+) stands where no outer join can be made of it",
            text=syntax.text,
            hint="write LEFT JOIN",
        )
    return Qualified(qualified, bases)


def _with_views(tree: exp.Query, views: Mapping[str, exp.Query]) -> exp.Query:
    """The query with the views of the text as CTEs."""
    for name in reversed(list(views)):
        around = tree.args.get("with_")
        cte = exp.CTE(this=views[name].copy(), alias=exp.TableAlias(this=exp.to_identifier(name)))
        if around is None:
            tree.set("with_", exp.With(expressions=[cte]))
        else:
            around.set("expressions", [cte, *around.expressions])
    return tree


def _mark(tree: exp.Expr) -> None:
    """Save what normalising would lose: paths in names, and aliases that hide columns."""
    for table in tree.find_all(exp.Table):
        table.meta[WRITTEN] = [part.name for part in table.parts]
    for select in tree.find_all(exp.Select):
        hiding = {
            projection.alias.lower()
            for projection in select.expressions
            if isinstance(projection, exp.Alias) and not _keeps_name(projection)
        }
        for clause in map(select.args.get, ("having", "qualify")):
            if clause is not None and hiding & _bare_names(clause):
                clause.meta[AMBIGUOUS] = True


def _keeps_name(projection: exp.Alias) -> bool:
    inner = projection.this
    return isinstance(inner, exp.Column) and inner.name.lower() == projection.alias.lower()


def _bare_names(clause: exp.Expr) -> set[str]:
    return {c.name.lower() for c in clause.find_all(exp.Column) if not c.table}


def _numbered(tree: exp.Expr, catalogue: Catalogue, text: str) -> dict[str, Base]:
    """Open the tables of the lake in parallel, and rename them in the tree by number."""

    def opened(table: exp.Table) -> Base:
        span = _span(table)
        return catalogue.find(_written(table), version_of(table, text, span), span, text)

    tables = list(_tables(tree))
    bases: dict[str, Base] = {}
    for table, base in zip(tables, in_parallel(opened, tables, by=_written), strict=True):
        same = (n for n, b in bases.items() if (b.name, b.version) == (base.name, base.version))
        name = next(same, f"_table_{len(bases)}")
        bases.setdefault(name, base)
        span = _span(table)
        table.meta["place"] = -1 if span is None else span.start
        table.set("this", exp.to_identifier(name))
        table.set("db", None)
        table.set("catalog", None)
    return bases


def _written(table: exp.Table) -> tuple[str, ...]:
    """A table's name as written, part by part."""
    return tuple(table.meta.get(WRITTEN) or (part.name for part in table.parts))


def _tables(tree: exp.Expr) -> Iterator[exp.Table]:
    """The tables of the tree that are neither a CTE nor the result of a function."""
    visited: set[int] = set()
    for scope in traverse_scope(tree):
        for source in scope.sources.values():
            if isinstance(source, exp.Table) and id(source) not in visited:
                visited.add(id(source))
                if isinstance(source.this, exp.Identifier):
                    yield source


def _span(table: exp.Table) -> TextSpan | None:
    places = [part.meta for part in table.parts if "start" in part.meta]
    return TextSpan(places[0]["start"], places[-1]["end"] + 1) if places else None


def _columns(bases: Mapping[str, Base]) -> dict[str, object]:
    return {
        name: {field.name.lower(): "unknown" for field in base.fields}
        for name, base in bases.items()
    }
