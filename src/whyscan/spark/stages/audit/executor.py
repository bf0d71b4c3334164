"""What an executor does: queries that name the same tables, explained one after another."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct, msgpack

from whyscan.errors import PredicateError, UsageError, WhyscanError
from whyscan.planning.plan.planner import make_plan
from whyscan.predicate.syntax.session import Session
from whyscan.reports.findings import Finding  # noqa: TC001 - msgspec reads the annotations
from whyscan.spark.packed import packed
from whyscan.spark.pinned_tables import MissingTable, Pinned, Tables
from whyscan.spark.stages.audit.lines import table_lines
from whyscan.spark.stages.audit.report import AuditedScan
from whyscan.statements.explain import explain_statement
from whyscan.statements.scans import leaves_of, predicate, read
from whyscan.statements.sql.table_names import Catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from whyscan.planning.plan.scan_plan import Options

SCHEMA = pa.schema([("outcome", pa.binary())])


class NumberedQuery(Struct, frozen=True):
    """A query of the workload, by its number there."""

    number: int
    text: str
    dialect: str
    within: tuple[str, ...] = ()


class Terms(Struct, frozen=True):
    """How statements are read and planned: as those of a single explanation are."""

    timezone: str
    options: Options


class QueryOutcome(Struct, frozen=True):
    """What became of a query.

    `unbound` is why it cannot be explained, `missing` a table that it names and nobody gave,
    `failed` its tables that cannot be read.
    """

    number: int
    operation: str = ""
    tables: tuple[AuditedScan, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    unbound: str | None = None
    missing: str | None = None
    failed: bool = False


def bundle(tables: Sequence[Pinned], queries: Sequence[NumberedQuery]) -> pa.RecordBatch:
    """The work of one task, as the row that its executor gets."""
    work = packed((tuple(tables), tuple(queries)))
    return pa.RecordBatch.from_pydict({"work": pa.array([work], pa.binary())})


def explaining(terms: Terms) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For `mapInArrow`: rows of work to rows of outcomes."""

    def explained(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for work in batch.column("work"):
                tables, queries = pickle.loads(work.as_py())  # noqa: S301 - written by the driver
                given = Tables(tables, [asked.text for asked in queries])
                found = [msgpack.encode(_outcome(asked, given, terms)) for asked in queries]
                yield pa.RecordBatch.from_arrays([pa.array(found, pa.binary())], schema=SCHEMA)

    return explained


def _outcome(asked: NumberedQuery, given: Tables, terms: Terms) -> QueryOutcome:
    given.forget()
    try:
        return _explained(asked, given, terms)
    except MissingTable as missing:
        return QueryOutcome(asked.number, missing=missing.name)
    except WhyscanError as error:
        is_query = isinstance(error, PredicateError | UsageError)
        lines = _failed(given) if is_query or given.failed else _blamed(asked, given, terms)
        if lines:
            return QueryOutcome(asked.number, tables=lines, failed=True)
        return QueryOutcome(asked.number, unbound=told(error))
    except Exception as error:  # noqa: BLE001 - one query that we fail at must not cost the others
        line = " ".join(str(error).splitlines()[:1])
        why = f"whyscan itself failed: {type(error).__name__}: {line}"
        return QueryOutcome(asked.number, unbound=why)


def _explained(asked: NumberedQuery, given: Tables, terms: Terms) -> QueryOutcome:
    session = Session(asked.dialect, terms.timezone)
    catalogue = Catalogue(given, given.opened, within=asked.within)
    report = explain_statement(asked.text, catalogue, session, terms.options)
    return QueryOutcome(
        asked.number,
        report.operation,
        table_lines(report),
        report.findings,
        report.notes,
    )


def _failed(given: Tables) -> tuple[AuditedScan, ...]:
    """The tables that could not be opened."""
    return tuple(
        AuditedScan(name, name, given.uri(name), error=told(error))
        for name, error in given.failed.items()
    )


def _blamed(asked: NumberedQuery, given: Tables, terms: Terms) -> tuple[AuditedScan, ...]:
    """The tables of a query of which one cannot be read: the one whose columns or plan fail.

    None of them where it is the query that cannot be: it may ask for a version that is not there.
    """
    whys = {name: _why(given, name) for name in list(given.asked)}
    if not any(whys.values()):
        whys |= _plans(asked, given, terms)
    if not any(whys.values()):
        return ()
    return tuple(AuditedScan(n, n, given.uri(n), error=why) for n, why in whys.items())


def _why(given: Tables, name: str) -> str | None:
    """Why the columns of a table cannot be told; None where they can."""
    try:
        given[name].schema()
    except WhyscanError as error:
        return told(error)
    return None


def _plans(asked: NumberedQuery, given: Tables, terms: Terms) -> dict[str, str]:
    """Why scans of the query cannot be planned, by their tables."""
    session = Session(asked.dialect, terms.timezone)
    try:
        catalogue = Catalogue(given, given.opened, within=asked.within)
        statement = read(asked.text, catalogue, session, terms.options)
    except WhyscanError:
        return {}  # The caller has that error, and tells it.
    found = {}
    for leaf in leaves_of(statement):
        try:
            make_plan(leaf.base.snapshot, predicate(leaf.facts, statement), terms.options)
        except WhyscanError as error:
            found[leaf.base.name] = told(error)
    return found


def told(error: WhyscanError) -> str:
    """The error in one line."""
    line = " ".join(error.message.split())
    return line if error.hint is None else f"{line} ({error.hint})"
