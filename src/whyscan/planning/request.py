"""From what a user asks to what the planner takes: names resolved, words checked."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whyscan.errors import Span, UnknownColumn, UsageError
from whyscan.planning.plan import Depth, Options
from whyscan.predicate.mentions import mentioned
from whyscan.predicate.session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from whyscan.predicate.names import Columns
    from whyscan.predicate.tree import Path, Predicate
    from whyscan.tables.snapshot import Snapshot


def bind_request(
    snapshot: Snapshot, text: str, columns: Sequence[str] | None, question: Mapping[str, Any]
) -> tuple[Predicate, Options]:
    """The bound predicate and how to plan it; `columns` None reads them all."""
    projection = None if columns is None else projection_of(columns, snapshot)
    options = replace(options_of(question), projection=projection)
    return _bound(text, snapshot, session_of(question)), options


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
    from whyscan.predicate.bind import bind

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
    from whyscan.predicate.names import Columns

    if isinstance(columns, str):
        raise UsageError("columns are a list of names", hint=f"columns=[{columns!r}]")
    known = Columns(snapshot.schema(named=[name.split(".")[0] for name in columns]))
    return tuple(_column(name, known) for name in columns)


def _column(name: str, known: Columns) -> Path:
    """A selected column: by its whole name, else as a member of a struct."""
    from whyscan.predicate.names import Part, resolve

    if len(whole := known.named(name)) == 1:
        return (whole[0].name,)
    parts, start = [], 0
    for piece in name.split("."):
        parts.append(Part(piece, Span(start, start + len(piece))))
        start += len(piece) + 1
    return resolve(parts, known, name).path
