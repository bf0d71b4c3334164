"""Chooses a snapshot: the current one, or by id, branch, tag or time."""

from __future__ import annotations

import difflib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.errors import TableError
from whyscan.tables.iceberg.metadata import MAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.tables.iceberg.metadata import SnapshotRecord, TableMetadata
    from whyscan.tables.iceberg.schemas import TableSchema
    from whyscan.tables.time_travel import Travel

_FEW = 8
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ChosenSnapshot(Struct, frozen=True):
    """A snapshot with the schema to read it; `record` is None for an empty table."""

    record: SnapshotRecord | None
    schema: TableSchema


def choose(metadata: TableMetadata, travel: Travel) -> ChosenSnapshot:
    """The snapshot that `travel` names, or the current one.

    A branch is read with the table's current schema, other snapshots with their own schema.
    """
    if travel.snapshot is not None:
        return _at(metadata, _recorded(metadata, travel.snapshot))
    if travel.as_of is not None:
        return _at(metadata, _recorded(metadata, _at_moment(metadata, travel.as_of)))
    if travel.ref is not None:
        return _referenced(metadata, travel.ref)
    return _current(metadata)


def _current(metadata: TableMetadata) -> ChosenSnapshot:
    current = metadata.current_snapshot
    record = None if current is None else _recorded(metadata, current)
    return ChosenSnapshot(record, metadata.schema(None))


def _at(metadata: TableMetadata, record: SnapshotRecord) -> ChosenSnapshot:
    return ChosenSnapshot(record, metadata.schema(record.schema_id))


def _recorded(metadata: TableMetadata, number: int) -> SnapshotRecord:
    record = metadata.snapshots.get(number)
    if record is None:
        raise TableError(f"there is no snapshot {number}", hint=_snapshots(metadata))
    return record


def _snapshots(metadata: TableMetadata) -> str:
    records = sorted(metadata.snapshots.values(), key=lambda record: record.timestamp_ms)
    if not records:
        return "the table has no snapshots"
    shown = ", ".join(f"{r.id} ({_shown(r.timestamp_ms)})" for r in records[-_FEW:])
    return f"the newest are {shown}" if len(records) > _FEW else f"its snapshots: {shown}"


def _shown(milliseconds: int) -> str:
    try:
        return str((_EPOCH + timedelta(milliseconds=milliseconds)).replace(tzinfo=None))
    except OverflowError:
        return f"{milliseconds} ms"


def _referenced(metadata: TableMetadata, name: str) -> ChosenSnapshot:
    reference = metadata.refs.get(name)
    if reference is None and name == MAIN:  # Version 1 has the branch and not its name.
        return _current(metadata)
    if reference is None:
        names = sorted({MAIN, *metadata.refs})
        near = difflib.get_close_matches(name, names, n=1)
        hint = (
            f"did you mean {near[0]}?"
            if near
            else f"its branches and tags: {', '.join(names[:_FEW])}"
        )
        raise TableError(f"there is no branch or tag {name!r}", hint=hint)
    record = _recorded(metadata, reference.snapshot)
    return (
        ChosenSnapshot(record, metadata.schema(None))
        if reference.is_branch
        else _at(metadata, record)
    )


def _at_moment(metadata: TableMetadata, moment: int) -> int:
    """The snapshot that was current at a time, by the snapshot log, which has rollbacks too."""
    entries = sorted(_log(metadata), key=lambda entry: entry[0])
    snapshots = [number for at, number in entries if at * 1000 <= moment]
    if snapshots:
        return snapshots[-1]
    earliest = min((at for at, _ in _log(metadata)), default=None)
    hint = "the table has no snapshots" if earliest is None else f"it begins {_shown(earliest)}"
    raise TableError(f"the table has no snapshot at {_shown(moment // 1000)} or before", hint=hint)


def _log(metadata: TableMetadata) -> Iterator[tuple[int, int]]:
    if metadata.history:
        yield from metadata.history
        return
    visited: set[int] = set()
    number = metadata.current_snapshot
    while number is not None and number in metadata.snapshots and number not in visited:
        visited.add(number)
        yield metadata.snapshots[number].timestamp_ms, number
        number = metadata.snapshots[number].parent
