"""Turns a request of a user into one for the planner: finds the columns and checks the options."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.errors import TextSpan, UnknownColumn, UsageError
from whyscan.planning.plan.scan_plan import Depth, Options
from whyscan.predicate.syntax.column_guess import mentioned_columns
from whyscan.predicate.syntax.session import Session
from whyscan.tables.snapshot import Collected, ReadAhead
from whyscan.tree.nodes import leaves_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.predicate.binding.names import SchemaColumns
    from whyscan.tables.snapshot import Snapshot
    from whyscan.terms import PlanTerms
    from whyscan.tree.nodes import Column, Path, Predicate

_COLUMNS_IN_A_HINT = 100


def bind_request(
    snapshot: Snapshot, text: str, columns: Sequence[str] | None, terms: PlanTerms
) -> tuple[Predicate, Options]:
    """The bound predicate and the planner's options; with `columns` None all columns are read."""
    projection = None if columns is None else projection_of(columns, snapshot)
    options = replace(options_of(terms), projection=projection)
    predicate = _bound(text, snapshot, session_of(terms))
    if terms.assert_stats is not False:
        # A file that is not looked at may lack statistics.
        complete = _complete(terms.assert_stats, predicate, snapshot)
        options = replace(options, complete=complete, full=True)
    return predicate, options


def _complete(
    asserted: bool | Sequence[str],  # noqa: FBT001 - a field of the terms
    predicate: Predicate,
    snapshot: Snapshot,
) -> tuple[Column, ...]:
    """The named columns, else the predicate's, else all columns whose bounds writers record."""
    if not isinstance(asserted, bool):
        return leaf_columns(snapshot, list(asserted))
    if predicate.columns():
        return filtered_columns(predicate, snapshot)
    partitioned = {*snapshot.partition_sources}
    return tuple(
        column
        for column in leaf_columns(snapshot)
        if column.path not in partitioned and snapshot.recording(column).collected is Collected.YES
    )


def filtered_columns(predicate: Predicate, snapshot: Snapshot) -> tuple[Column, ...]:
    """The columns of the predicate that need statistics: no partition and no pseudo-column."""
    partitioned = {*snapshot.partition_sources}
    columns = predicate.columns()
    return tuple(c for c in columns if c.path not in partitioned and c.path[0] != "_metadata")


def leaf_columns(snapshot: Snapshot, names: Sequence[str] | None = None) -> tuple[Column, ...]:
    """The columns with these names, or all columns; for a struct its members."""
    columns = {".".join(c.path): c for c in leaves_within(snapshot.schema(names or ()).fields)}
    if names is None:
        return tuple(columns.values())
    unknown_name = next((name for name in names if name not in columns), None)
    if unknown_name is not None:
        raise UnknownColumn(
            f"unknown column {unknown_name!r}",
            hint=f"known are {', '.join(islice(columns, _COLUMNS_IN_A_HINT))}",
        )
    return tuple(columns[name] for name in names)


def options_of(terms: PlanTerms) -> Options:
    """The planner's options, without a projection."""
    return Options(
        depth=_depth(terms.depth),
        full=terms.full,
        every_manifest=terms.verbose,
        assume_no_nan=terms.assume_no_nan,
        engines=None if terms.engines is None else tuple(terms.engines),
    )


def session_of(terms: PlanTerms) -> Session:
    """The dialect and time zone in which SQL is read."""
    return Session(terms.dialect, terms.timezone)


def _bound(text: str, snapshot: Snapshot, session: Session) -> Predicate:
    """The bound predicate. Only a name that is missing opens more files to look for it."""
    schema = snapshot.schema()
    if "sqlglot" not in sys.modules and isinstance(snapshot, ReadAhead):
        # Importing the parser takes as long as reading a hundred thousand files of a log.
        columns = mentioned_columns(text, schema)
        if columns is not None:
            snapshot.read_ahead(columns)
    from whyscan.predicate.binding.bind import bind

    try:
        return bind(text, schema, session)
    except UnknownColumn as missed:
        name = text if missed.span is None else text[missed.span.start : missed.span.end]
        return bind(text, snapshot.schema(named=[name]), session)


def _depth(word: str) -> Depth:
    try:
        return Depth(word)
    except ValueError:
        depths = ", ".join(depth.value for depth in Depth)
        raise UsageError(f"unknown depth {word!r}", hint=f"one of {depths}") from None


def projection_of(columns: Sequence[str], snapshot: Snapshot) -> tuple[Path, ...]:
    """The paths of the named columns; members of structs may be named."""
    from whyscan.predicate.binding.names import SchemaColumns

    if isinstance(columns, str):
        raise UsageError("columns are a list of names", hint=f"columns=[{columns!r}]")
    schema_columns = SchemaColumns(snapshot.schema(named=[name.split(".")[0] for name in columns]))
    return tuple(_column(name, schema_columns) for name in columns)


def _column(name: str, schema_columns: SchemaColumns) -> Path:
    """The path of a selected column: a column with this name, else a member of a struct."""
    from whyscan.predicate.binding.names import NamePart, resolve

    if len(matches := schema_columns.fields_named(name)) == 1:
        return (matches[0].name,)
    parts, start = [], 0
    for piece in name.split("."):
        parts.append(NamePart(piece, TextSpan(start, start + len(piece))))
        start += len(piece) + 1
    return resolve(parts, schema_columns, name).path
