"""What an executor does: it explains queries that name the same tables, one after another."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from whyscan.errors import PredicateError, UsageError, WhyscanError
from whyscan.layouts.planner import LAYOUT_PLANNER
from whyscan.planning.plan.planner import make_plan
from whyscan.predicate.syntax.session import Session
from whyscan.spark.jobs import work_of_task
from whyscan.spark.pinned_tables import MissingTable, Tables
from whyscan.spark.stages.audit.amounts import audited_scans
from whyscan.spark.stages.audit.report import UnreadTable
from whyscan.statements.explain import ExplainOptions, explain_statement
from whyscan.statements.scans import bind_statement, placed_scans, predicate_of
from whyscan.statements.sql.table_names import Catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.planning.plan.scan_plan import Options
    from whyscan.reports.findings import Finding
    from whyscan.spark.jobs import Batches, Task
    from whyscan.spark.stages.audit.report import AuditedScan
    from whyscan.statements.planners import Planner
    from whyscan.statements.records import Edge

SCHEMA = pa.schema([("outcome", pa.binary())])


class NumberedQuery(Struct, frozen=True):
    """A query of the workload and its number in it."""

    number: int
    text: str
    dialect: str
    within: tuple[str, ...] = ()


class Terms(Struct, frozen=True):
    """How statements are read and planned, as for a single explanation."""

    timezone: str
    options: Options


class QueryOutcome(Struct, frozen=True):
    """The result of one query.

    `unbound` is why it cannot be explained, and `missing` a table that it names and that is not
    listed. `unread` are its tables, if one of them cannot be read.
    """

    number: int
    operation: str = ""
    tables: tuple[AuditedScan, ...] = ()
    joins: tuple[Edge, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    unbound: str | None = None
    missing: str | None = None
    unread: tuple[UnreadTable, ...] = ()


def explaining(terms: Terms) -> Task:
    """A function for `mapInArrow`: tables and queries to rows of outcomes."""

    def explained(batches: Batches) -> Iterator[pa.RecordBatch]:
        for tables, queries in work_of_task(batches):
            opened_tables = Tables(tables, [query.text for query in queries])
            outcomes = [
                pickle.dumps(query_outcome(query, opened_tables, terms)) for query in queries
            ]
            yield pa.RecordBatch.from_arrays([pa.array(outcomes, pa.binary())], schema=SCHEMA)

    return explained


def query_outcome(
    query: NumberedQuery,
    tables: Tables,
    terms: Terms,
    planner: Planner = LAYOUT_PLANNER,
) -> QueryOutcome:
    """Explain a query; an error is an outcome, too."""
    tables.forget()
    try:
        return _explained(query, tables, terms, planner)
    except MissingTable as missing:
        return QueryOutcome(query.number, missing=missing.name)
    except WhyscanError as error:
        is_query = isinstance(error, PredicateError | UsageError)
        unread = (
            _failed(tables)
            if is_query or tables.failed
            else _unreadable_tables(query, tables, terms)
        )
        if unread:
            return QueryOutcome(query.number, unread=unread)
        return QueryOutcome(query.number, unbound=error_line(error))
    except Exception as error:  # noqa: BLE001 - one query that we fail at must not cost the others
        line = " ".join(str(error).splitlines()[:1])
        why = f"whyscan itself failed: {type(error).__name__}: {line}"
        return QueryOutcome(query.number, unbound=why)


def _explained(
    query: NumberedQuery, tables: Tables, terms: Terms, planner: Planner
) -> QueryOutcome:
    session = Session(query.dialect, terms.timezone)
    catalogue = Catalogue(tables, tables.opened, within=query.within)
    report = explain_statement(
        query.text, catalogue, session, terms.options, ExplainOptions(planner=planner)
    )
    return QueryOutcome(
        query.number,
        report.operation,
        audited_scans(report),
        report.joins,
        report.findings,
        report.notes,
    )


def _failed(tables: Tables) -> tuple[UnreadTable, ...]:
    """Return the tables that could not be opened, with the reason."""
    return tuple(
        UnreadTable(name, tables.uri(name), error_line(error))
        for name, error in tables.failed.items()
    )


def _unreadable_tables(
    query: NumberedQuery, tables: Tables, terms: Terms
) -> tuple[UnreadTable, ...]:
    """Return the tables of a query, if the columns or the plan of one of them cannot be read.

    Empty where the query is the cause: it may name a version that does not exist.
    """
    errors = {name: _schema_error(tables, name) for name in list(tables.requested)}
    if not any(errors.values()):
        errors |= _plan_errors(query, tables, terms)
    if not any(errors.values()):
        return ()
    return tuple(UnreadTable(n, tables.uri(n), error) for n, error in errors.items())


def _schema_error(tables: Tables, name: str) -> str | None:
    """Why the columns of a table cannot be read; None where they can."""
    try:
        tables[name].schema()
    except WhyscanError as error:
        return error_line(error)
    return None


def _plan_errors(query: NumberedQuery, tables: Tables, terms: Terms) -> dict[str, str]:
    """Why scans of the query cannot be planned, by table name."""
    session = Session(query.dialect, terms.timezone)
    try:
        catalogue = Catalogue(tables, tables.opened, within=query.within)
        statement = bind_statement(query.text, catalogue, session, terms.options)
    except WhyscanError:
        return {}  # The caller reports that error.
    errors = {}
    for leaf in placed_scans(statement):
        try:
            make_plan(leaf.base.snapshot, predicate_of(leaf.facts, statement), terms.options)
        except WhyscanError as error:
            errors[leaf.base.name] = error_line(error)
    return errors


def error_line(error: WhyscanError) -> str:
    """The error in one line."""
    line = " ".join(error.message.split())
    return line if error.hint is None else f"{line} ({error.hint})"
