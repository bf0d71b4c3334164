"""Reads a statement into blocks, and makes the predicate of each of its scans."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from whyscan.errors import UnknownColumn, UnknownTable
from whyscan.planning.plan.file_scans import joined
from whyscan.predicate.binding.names import SchemaColumns
from whyscan.predicate.binding.scope import Scope
from whyscan.predicate.syntax.dialects import dialect_of
from whyscan.statements.changes.dbt import Model, incremental_run, is_model
from whyscan.statements.changes.merge import merge
from whyscan.statements.changes.queries import DynamicPartitions, TargetFiles, change_of
from whyscan.statements.changes.targets import QUERY_ROWS, merged_target, with_partition_facts
from whyscan.statements.placement.placement import Placement
from whyscan.statements.placement.row_facts import RowFacts
from whyscan.statements.planners import IN_PROCESS_PLANNER
from whyscan.statements.roles import Origin
from whyscan.statements.sql.blocks import Builder
from whyscan.statements.sql.qualification import qualify
from whyscan.statements.sql.relations import without_key
from whyscan.statements.sql.syntax import parse_statement
from whyscan.tree import zones
from whyscan.tree.clock import Clock
from whyscan.tree.nodes import Conjunct, Literal, Predicate
from whyscan.tree.rendering import to_sql
from whyscan.tree.rewrite import substituted
from whyscan.tree.types import BOOLEAN, Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
    """A parsed statement with its blocks, and the settings with which its scans are planned.

    `target_query` selects the rows of a change's target that matter whatever `query` reads; None
    where there are no such rows. `planner` plans the scans.
    """

    parsed: Statement
    change: Change
    query: Query
    target_query: Query | None
    session: Session
    clock: Clock
    options: Options
    planner: Planner = IN_PROCESS_PLANNER


def bind_statement(
    sql: str, catalogue: Catalogue, session: Session, options: Options
) -> BoundStatement:
    """Parse a statement, open its tables and build its blocks.

    If a column is missing, a second attempt looks for its name in the files: that may open every
    file of a table.
    """
    try:
        return _read(sql, catalogue, session, options)
    except UnknownColumn as error:
        if error.text is None or error.span is None:
            raise
        name = error.text[error.span.start : error.span.end].split(".")[-1]
        missed_columns = (*catalogue.missed_columns, name.strip('`"[]'))
        return _read(sql, replace(catalogue, missed_columns=missed_columns), session, options)


def _read(sql: str, catalogue: Catalogue, session: Session, options: Options) -> BoundStatement:
    model = incremental_run(sql, session.dialect.lower()) if is_model(sql) else Model(sql)
    parsed = parse_statement(model.sql, session.dialect)
    dialect = dialect_of(session.dialect)
    clock = Clock(zones.zone(session.timezone), session.now, first_of_two=dialect.is_spark)
    text = parsed.syntax.text
    if isinstance(parsed.tree, exp.Merge):
        change = merge(parsed.tree, text)
    else:
        change = change_of(parsed.tree, session.dialect.lower(), text)
    change = _with_model(change, model)
    scope = Scope(parsed.syntax, dialect, SchemaColumns(Schema(())), clock)
    keys: dict[str, int] = {}

    def blocks(query: exp.Query) -> Query:
        qualified = qualify(query, parsed, catalogue)
        return Builder(scope, qualified.bases, keys).whole(qualified.query)

    query = blocks(change.query)
    target_query = None
    if change.target_query is not None:
        try:
            target_query = blocks(change.target_query)
        except UnknownTable as problem:
            if not change.optional:
                raise
            unknown = f"what it replaces is not told: {problem.message}"
            change = replace(change, notes=(*change.notes[: len(model.notes)], unknown))
    return BoundStatement(parsed, change, query, target_query, session, clock, options)


def _with_model(change: Change, model: Model) -> Change:
    """Add to a change what only the settings of its dbt model say."""
    if not model.replaces_partitions:
        return replace(change, notes=(*model.notes, *change.notes))
    by_name = DynamicPartitions(None, by_name=True)
    return replace(change, notes=model.notes, target_files=TargetFiles.REPLACED, dynamic=by_name)


def placed_scans(
    statement: BoundStatement,
    supplied: Supplied = lambda _: (),
    values: Mapping[int, Fact] = MappingProxyType({}),
) -> list[PlacedScan]:
    """The scans of a statement with their filters, in the order of the text.

    `supplied` gives the facts that joins supply about a column. `values` are the facts that
    comparisons with subqueries become, by the identity of the condition.
    """
    zone, row_facts = statement.clock.zone, RowFacts(supplied, values)
    leaves = Placement(zone, row_facts).run(statement.query)
    if statement.target_query is not None:
        placement = Placement(zone, RowFacts(supplied, values))
        target_scans = placement.run(statement.target_query)
        dynamic = statement.change.dynamic
        if dynamic is not None:
            written = row_facts.of_query(statement.query, QUERY_ROWS)
            target_scans = [
                with_partition_facts(leaf, statement.query, written, dynamic)
                for leaf in target_scans
            ]
        leaves = merged_target([*leaves, *target_scans])
    return sorted(leaves, key=lambda leaf: leaf.source.place)


def predicate_of(facts: Sequence[Fact], statement: BoundStatement) -> Predicate:
    """The predicate that a scan is planned with, made of the facts about it."""
    conjuncts = tuple(map(_conjunct, facts)) or (EVERYTHING,)
    text = joined([conjunct.sql for conjunct in conjuncts]) or EVERYTHING.sql
    now = statement.session.now if statement.clock.was_read else None
    return Predicate(text, statement.session.dialect, statement.session.timezone, now, conjuncts)


def _conjunct(fact: Fact) -> Conjunct:
    """A fact with the table's column names: without the key of the source."""
    unkeyed = substituted(fact.expression, without_key)
    expression = fact.expression if unkeyed is None else unkeyed
    sql = to_sql(expression) if fact.bare is None else fact.bare
    return Conjunct(expression, sql, from_join=fact.origin is Origin.JOIN)
