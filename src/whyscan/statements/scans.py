"""A statement that was read, and the predicates that its scans are planned with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from sqlglot import exp

from whyscan.planning.scans import joined
from whyscan.predicate import zones
from whyscan.predicate.clock import Clock
from whyscan.predicate.dialects import dialect_of
from whyscan.predicate.names import Columns
from whyscan.predicate.render import to_sql
from whyscan.predicate.rewrite import substituted
from whyscan.predicate.scope import Scope
from whyscan.predicate.tree import Column, Conjunct, Literal, Predicate
from whyscan.predicate.types import BOOLEAN, Schema
from whyscan.statements.blocks import Builder
from whyscan.statements.placement import Placement
from whyscan.statements.qualification import qualify
from whyscan.statements.report import Origin
from whyscan.statements.syntax import parse_statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.planning.plan import Options
    from whyscan.predicate.session import Session
    from whyscan.statements.catalogue import Catalogue
    from whyscan.statements.facts import Fact
    from whyscan.statements.placement import Leaf
    from whyscan.statements.relations import Query
    from whyscan.statements.syntax import Statement

EVERYTHING = Conjunct(Literal(value=True, type=BOOLEAN), "true")


class Asked(Struct, frozen=True):
    """A statement that was read: its blocks, and the terms in which its scans are planned."""

    statement: Statement
    query: Query
    session: Session
    clock: Clock
    options: Options


def read(sql: str, catalogue: Catalogue, session: Session, options: Options) -> Asked:
    """Parse a statement, find its tables and build its blocks."""
    statement = parse_statement(sql, session.dialect)
    clock = Clock(zones.zone(session.timezone), session.now)
    qualified = qualify(_query(statement.tree), statement, catalogue)
    dialect = dialect_of(session.dialect)
    scope = Scope(statement.syntax, dialect, Columns(Schema(())), clock)
    query = Builder(scope, qualified.bases).query(qualified.query, {}, None)
    return Asked(statement, query, session, clock, options)


def _query(tree: exp.Expr) -> exp.Query:
    if isinstance(tree, exp.Query):
        return tree
    inner = tree.expression
    return inner if isinstance(inner, exp.Query) else exp.Select()


def leaves_of(asked: Asked) -> list[Leaf]:
    """The scans of a statement with the filters that belong to them, in the text's order."""
    leaves = Placement(asked.clock.zone, _nothing_supplied).run(asked.query)
    return sorted(leaves, key=lambda leaf: leaf.source.place)


def _nothing_supplied(_: Column) -> Sequence[Fact]:
    return ()


def predicate(facts: Sequence[Fact], asked: Asked) -> Predicate:
    """The facts about a scan as the predicate that it is planned with."""
    conjuncts = tuple(map(_conjunct, facts)) or (EVERYTHING,)
    text = joined([conjunct.sql for conjunct in conjuncts]) or EVERYTHING.sql
    now = asked.session.now if asked.clock.asked else None
    return Predicate(text, asked.session.dialect, asked.session.timezone, now, conjuncts)


def _conjunct(fact: Fact) -> Conjunct:
    """The fact in the table's own words: its columns without the source's key."""
    own = substituted(fact.expression, lambda c: Column(c.path[1:], c.type))
    expression = fact.expression if own is None else own
    sql = to_sql(expression) if fact.bare is None else fact.bare
    return Conjunct(expression, sql, joined=fact.origin is Origin.JOIN)
