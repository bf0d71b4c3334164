"""What an executor does: queries that name the same tables, explained one after another."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct, msgpack

from whyscan.errors import PredicateError, UsageError, WhyscanError
from whyscan.explain.findings import Finding  # noqa: TC001 - msgspec reads the annotations
from whyscan.planning.planner import make_plan
from whyscan.predicate.session import Session
from whyscan.spark.audit.lines import table_lines
from whyscan.spark.audit.pinned import NotGiven, Pinned, Tables
from whyscan.spark.audit.report import TableLine
from whyscan.statements.catalogue import Catalogue
from whyscan.statements.explain import explain_statement
from whyscan.statements.scans import leaves_of, predicate, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from whyscan.planning.plan import Options

SCHEMA = pa.schema([("outcome", pa.binary())])


class Asked(Struct, frozen=True):
    """A query of the workload, by its number there."""

    number: int
    text: str
    dialect: str


class Terms(Struct, frozen=True):
    """How statements are read and planned: as those of a single explanation are."""

    timezone: str
    options: Options


class Outcome(Struct, frozen=True):
    """What became of a query.

    `unbound` is why it cannot be explained, `missing` a table that it names and nobody gave,
    `failed` its tables that cannot be read.
    """

    number: int
    operation: str = ""
    tables: tuple[TableLine, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    unbound: str | None = None
    missing: str | None = None
    failed: bool = False


def bundle(tables: Sequence[Pinned], queries: Sequence[Asked]) -> pa.RecordBatch:
    """The work of one task, as the row that its executor gets."""
    packed = pickle.dumps((tuple(tables), tuple(queries)))
    return pa.RecordBatch.from_pydict({"work": pa.array([packed], pa.binary())})


def explaining(terms: Terms) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For `mapInArrow`: rows of work to rows of outcomes."""

    def explained(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for work in batch.column("work"):
                tables, queries = pickle.loads(work.as_py())  # noqa: S301 - written by the driver
                given = Tables(tables)
                found = [msgpack.encode(_outcome(asked, given, terms)) for asked in queries]
                yield pa.RecordBatch.from_arrays([pa.array(found, pa.binary())], schema=SCHEMA)

    return explained


def _outcome(asked: Asked, given: Tables, terms: Terms) -> Outcome:
    given.failed.clear()
    try:
        return _explained(asked, given, terms)
    except NotGiven as missing:
        return Outcome(asked.number, missing=missing.name)
    except (PredicateError, UsageError) as error:
        if given.failed:
            return Outcome(asked.number, tables=_broken(asked, given, terms), failed=True)
        return Outcome(asked.number, unbound=told(error))
    except WhyscanError as error:
        lines = _broken(asked, given, terms)
        if any(line.error is not None for line in lines):
            return Outcome(asked.number, tables=lines, failed=True)
        return Outcome(asked.number, unbound=told(error))
    except Exception as error:  # noqa: BLE001 - one query that we fail at must not cost the others
        why = f"whyscan itself failed: {type(error).__name__}: {error}"
        return Outcome(asked.number, unbound=why)


def _explained(asked: Asked, given: Tables, terms: Terms) -> Outcome:
    session = Session(asked.dialect, terms.timezone)
    catalogue = Catalogue(given, given.opened)
    report = explain_statement(asked.text, catalogue, session, terms.options)
    return Outcome(
        asked.number,
        report.operation,
        table_lines(report),
        report.findings,
        report.notes,
    )


def _broken(asked: Asked, given: Tables, terms: Terms) -> tuple[TableLine, ...]:
    """The tables of a query that could not be explained, with the errors of those that fail."""
    if given.failed:
        return tuple(
            TableLine(name, name, given.uri(name), error=told(error))
            for name, error in given.failed.items()
        )
    session = Session(asked.dialect, terms.timezone)
    try:
        statement = read(asked.text, Catalogue(given, given.opened), session, terms.options)
    except WhyscanError:
        return ()  # The caller tells the error itself.
    lines: dict[str, TableLine] = {}
    for leaf in leaves_of(statement):
        why = None
        try:
            make_plan(leaf.base.snapshot, predicate(leaf.facts, statement), terms.options)
        except WhyscanError as error:
            why = told(error)
        name = leaf.base.name
        if name not in lines or why is not None:
            lines[name] = TableLine(name, leaf.source.alias, leaf.base.snapshot.uri, error=why)
    return tuple(lines.values())


def told(error: WhyscanError) -> str:
    """The error in one line."""
    line = " ".join(error.message.split())
    return line if error.hint is None else f"{line} ({error.hint})"
