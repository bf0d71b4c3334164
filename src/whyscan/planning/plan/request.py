"""From what a user asks to what the planner takes: names resolved, words checked."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.errors import TextSpan, UnknownColumn, UsageError
from whyscan.planning.plan.scan_plan import Depth, Options
from whyscan.predicate.syntax.column_guess import mentioned
from whyscan.predicate.syntax.session import Session
from whyscan.tables.snapshot import Collected
from whyscan.tree.nodes import Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from whyscan.predicate.binding.names import SchemaColumns
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.nodes import Path, Predicate
    from whyscan.tree.types import Field

_COLUMNS_IN_A_HINT = 100


def bind_request(
    snapshot: Snapshot, text: str, columns: Sequence[str] | None, question: Mapping[str, Any]
) -> tuple[Predicate, Options]:
    """The bound predicate and how to plan it; `columns` None reads them all."""
    projection = None if columns is None else projection_of(columns, snapshot)
    options = replace(options_of(question), projection=projection)
    predicate = _bound(text, snapshot, session_of(question))
    asserted = question.get("assert_stats", False)
    if asserted is not False:
        # A file that nobody looks at may lack them.
        complete = _complete(asserted, predicate, snapshot)
        options = replace(options, complete=complete, full=True)
    return predicate, options


def _complete(
    asserted: bool | Sequence[str],  # noqa: FBT001 - a value of a mapping
    predicate: Predicate,
    snapshot: Snapshot,
) -> tuple[Column, ...]:
    """The named columns; else those of the predicate; else all that writers record bounds of."""
    if not isinstance(asserted, bool):
        return leaf_columns(snapshot, list(asserted))
    partitioned = {*snapshot.partition_sources}
    if named := predicate.columns():
        return tuple(c for c in named if c.path not in partitioned and c.path[0] != "_metadata")
    return tuple(
        column
        for column in leaf_columns(snapshot)
        if column.path not in partitioned and snapshot.recording(column).collected is Collected.YES
    )


def leaf_columns(snapshot: Snapshot, names: Sequence[str] | None = None) -> tuple[Column, ...]:
    """The columns of those names, or all; of a struct its members."""
    columns = {".".join(c.path): c for c in _leaves(snapshot.schema(names or ()).fields)}
    if names is None:
        return tuple(columns.values())
    unknown = next((name for name in names if name not in columns), None)
    if unknown is not None:
        raise UnknownColumn(
            f"unknown column {unknown!r}",
            hint=f"known are {', '.join(islice(columns, _COLUMNS_IN_A_HINT))}",
        )
    return tuple(columns[name] for name in names)


def _leaves(fields: Sequence[Field], above: Path = ()) -> Iterator[Column]:
    from whyscan.tree.types import StructType

    for field in fields:
        path = (*above, field.name)
        if isinstance(field.type, StructType):
            yield from _leaves(field.type.fields, path)
        else:
            yield Column(path, field.type)


def options_of(question: Mapping[str, Any]) -> Options:
    """How to plan, of all columns."""
    return Options(
        depth=_depth(question.get("depth", Depth.AUTO.value)),
        full=question.get("full", False),
        every_manifest=question.get("verbose", False),
        assume_no_nan=question.get("assume_no_nan", False),
    )


def session_of(question: Mapping[str, Any]) -> Session:
    """In whose terms SQL is read."""
    return Session(question.get("dialect", "spark"), question.get("timezone", "UTC"))


def _bound(text: str, snapshot: Snapshot, session: Session) -> Predicate:
    """A name is looked for harder only once it was missed: that may open every file."""
    schema = snapshot.schema()
    if "sqlglot" not in sys.modules:
        # Importing the parser takes as long as reading a hundred thousand files of a log.
        seeming = mentioned(text, schema)
        if seeming is not None:
            snapshot.expect(seeming)
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
        known = ", ".join(depth.value for depth in Depth)
        raise UsageError(f"unknown depth {word!r}", hint=f"one of {known}") from None


def projection_of(columns: Sequence[str], snapshot: Snapshot) -> tuple[Path, ...]:
    """The columns of those names, members of structs among them."""
    from whyscan.predicate.binding.names import SchemaColumns

    if isinstance(columns, str):
        raise UsageError("columns are a list of names", hint=f"columns=[{columns!r}]")
    known = SchemaColumns(snapshot.schema(named=[name.split(".")[0] for name in columns]))
    return tuple(_column(name, known) for name in columns)


def _column(name: str, known: SchemaColumns) -> Path:
    """A selected column: by its whole name, else as a member of a struct."""
    from whyscan.predicate.binding.names import NamePart, resolve

    if len(whole := known.named(name)) == 1:
        return (whole[0].name,)
    parts, start = [], 0
    for piece in name.split("."):
        parts.append(NamePart(piece, TextSpan(start, start + len(piece))))
        start += len(piece) + 1
    return resolve(parts, known, name).path
