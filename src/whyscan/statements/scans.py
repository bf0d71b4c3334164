"""A statement that was read, and the predicates that its scans are planned with."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import UnknownColumn, UnknownTable
from whyscan.planning.plan.file_scans import joined
from whyscan.predicate.binding.names import SchemaColumns
from whyscan.predicate.binding.scope import Scope
from whyscan.predicate.syntax.dialects import dialect_of
from whyscan.statements.changes.dbt import Model, incremental_run, is_model
from whyscan.statements.changes.queries import DynamicPartitions, TargetFiles, change_of
from whyscan.statements.changes.targets import GIVEN, bounded, one_target
from whyscan.statements.placement.placement import Placement
from whyscan.statements.planners import HERE
from whyscan.statements.records import Origin
from whyscan.statements.sql.blocks import Builder
from whyscan.statements.sql.qualification import qualify
from whyscan.statements.sql.relations import own
from whyscan.statements.sql.syntax import parse_statement
from whyscan.tree import zones
from whyscan.tree.clock import Clock
from whyscan.tree.nodes import Conjunct, Literal, Predicate
from whyscan.tree.rendering import to_sql
from whyscan.tree.rewrite import substituted
from whyscan.tree.types import BOOLEAN, Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlglot import exp

    from whyscan.planning.plan.scan_plan import Options
    from whyscan.predicate.syntax.session import Session
    from whyscan.statements.changes.queries import Change
    from whyscan.statements.placement.facts import Fact
    from whyscan.statements.placement.placement import PlacedScan
    from whyscan.statements.planners import Planner
    from whyscan.statements.sql.relations import Query
    from whyscan.statements.sql.syntax import Statement
    from whyscan.statements.sql.table_names import Catalogue
    from whyscan.tree.nodes import Column

    Supplied = Callable[[Column], Sequence[Fact]]

EVERYTHING = Conjunct(Literal(value=True, type=BOOLEAN), "true")


class BoundStatement(Struct, frozen=True):
    """A statement that was read: its blocks, and the terms in which its scans are planned.

    `besides` are the rows of a change's target that matter whatever `query` reads; None for none.
    `planner` plans them.
    """

    statement: Statement
    change: Change
    query: Query
    besides: Query | None
    session: Session
    clock: Clock
    options: Options
    planner: Planner = HERE


def read(sql: str, catalogue: Catalogue, session: Session, options: Options) -> BoundStatement:
    """Parse a statement, find its tables and build its blocks.

    A column is looked for harder only once it was missed: that may open every file of a table.
    """
    try:
        return _read(sql, catalogue, session, options)
    except UnknownColumn as missed:
        if missed.text is None or missed.span is None:
            raise
        name = missed.text[missed.span.start : missed.span.end].split(".")[-1]
        named = (*catalogue.named, name.strip('`"[]'))
        return _read(sql, replace(catalogue, named=named), session, options)


def _read(sql: str, catalogue: Catalogue, session: Session, options: Options) -> BoundStatement:
    model = incremental_run(sql, session.dialect.lower()) if is_model(sql) else Model(sql)
    statement = parse_statement(model.sql, session.dialect)
    clock = Clock(zones.zone(session.timezone), session.now)
    change = change_of(statement.tree, session.dialect.lower(), statement.syntax.text)
    change = _as_told(change, model)
    scope = Scope(statement.syntax, dialect_of(session.dialect), SchemaColumns(Schema(())), clock)
    keys: dict[str, int] = {}

    def blocks(query: exp.Query) -> Query:
        qualified = qualify(query, statement, catalogue)
        return Builder(scope, qualified.bases, keys).query(qualified.query, {}, None)

    query = blocks(change.query)
    besides = None
    if change.besides is not None:
        try:
            besides = blocks(change.besides)
        except UnknownTable as problem:
            if not change.optional:
                raise
            unknown = f"what it replaces is not told: {problem.message}"
            change = replace(change, notes=(*change.notes[: len(model.notes)], unknown))
    return BoundStatement(statement, change, query, besides, session, clock, options)


def _as_told(change: Change, model: Model) -> Change:
    """The change with what a dbt model says of it, and its text cannot."""
    if not model.replaces_partitions:
        return replace(change, notes=(*model.notes, *change.notes))
    by_name = DynamicPartitions(None, by_name=True)
    return replace(change, notes=model.notes, fate=TargetFiles.REPLACED, dynamic=by_name)


def leaves_of(
    asked: BoundStatement,
    supplied: Supplied = lambda _: (),
    values: Mapping[int, Fact] = MappingProxyType({}),
) -> list[PlacedScan]:
    """The scans of a statement with the filters that belong to them, in the text's order.

    `supplied` and `values` are what joins and subqueries tell of them.
    """
    placement = Placement(asked.clock.zone, supplied, values)
    leaves = placement.run(asked.query)
    if asked.besides is not None:
        besides = Placement(asked.clock.zone, supplied, values).run(asked.besides)
        dynamic = asked.change.dynamic
        if dynamic is not None:
            given = placement.given(asked.query, GIVEN)
            besides = [bounded(leaf, asked.query, given, dynamic) for leaf in besides]
        leaves = one_target([*leaves, *besides])
    return sorted(leaves, key=lambda leaf: leaf.source.place)


def predicate(facts: Sequence[Fact], asked: BoundStatement) -> Predicate:
    """The facts about a scan as the predicate that it is planned with."""
    conjuncts = tuple(map(_conjunct, facts)) or (EVERYTHING,)
    text = joined([conjunct.sql for conjunct in conjuncts]) or EVERYTHING.sql
    now = asked.session.now if asked.clock.asked else None
    return Predicate(text, asked.session.dialect, asked.session.timezone, now, conjuncts)


def _conjunct(fact: Fact) -> Conjunct:
    """The fact in the table's own words: its columns without the source's key."""
    said = substituted(fact.expression, own)
    expression = fact.expression if said is None else said
    sql = to_sql(expression) if fact.bare is None else fact.bare
    return Conjunct(expression, sql, joined=fact.origin is Origin.JOIN)
