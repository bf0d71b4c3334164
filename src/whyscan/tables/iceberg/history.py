"""Which snapshot: the current one, or that of an id, of a name, of a moment."""

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
    """A snapshot and the schema to read it with; `record` is None for an empty table."""

    record: SnapshotRecord | None
    schema: TableSchema


def choose(metadata: TableMetadata, travel: Travel) -> ChosenSnapshot:
    """The asked version, the current one where none was asked for.

    A branch is read with the table's schema, everything else with the schema of its time.
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
    known = metadata.snapshots.get(number)
    if known is None:
        raise TableError(f"there is no snapshot {number}", hint=_snapshots(metadata))
    return known


def _snapshots(metadata: TableMetadata) -> str:
    records = sorted(metadata.snapshots.values(), key=lambda record: record.timestamp_ms)
    if not records:
        return "the table has no snapshots"
    shown = ", ".join(f"{r.id} ({_shown(r.timestamp_ms)})" for r in records[-_FEW:])
    return f"the newest are {shown}" if len(records) > _FEW else f"there are {shown}"


def _shown(milliseconds: int) -> str:
    try:
        return str((_EPOCH + timedelta(milliseconds=milliseconds)).replace(tzinfo=None))
    except OverflowError:
        return f"{milliseconds} ms"


def _referenced(metadata: TableMetadata, name: str) -> ChosenSnapshot:
    known = metadata.refs.get(name)
    if known is None and name == MAIN:  # Version 1 has the branch and not its name.
        return _current(metadata)
    if known is None:
        names = sorted({MAIN, *metadata.refs})
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names[:_FEW])}"
        raise TableError(f"there is no branch or tag {name!r}", hint=hint)
    record = _recorded(metadata, known.snapshot)
    return (
        ChosenSnapshot(record, metadata.schema(None)) if known.is_branch else _at(metadata, record)
    )


def _at_moment(metadata: TableMetadata, moment: int) -> int:
    """What was current then, by the log; a rollback is in it, and not in the ancestors."""
    logged = sorted(_log(metadata), key=lambda entry: entry[0])
    past = [number for at, number in logged if at * 1000 <= moment]
    if past:
        return past[-1]
    earliest = min((at for at, _ in _log(metadata)), default=None)
    hint = "the table has no snapshots" if earliest is None else f"it begins {_shown(earliest)}"
    raise TableError(f"the table has no snapshot at {_shown(moment // 1000)} or before", hint=hint)


def _log(metadata: TableMetadata) -> Iterator[tuple[int, int]]:
    if metadata.history:
        yield from metadata.history
        return
    seen: set[int] = set()
    number = metadata.current_snapshot
    while number is not None and number in metadata.snapshots and number not in seen:
        seen.add(number)
        yield metadata.snapshots[number].timestamp_ms, number
        number = metadata.snapshots[number].parent
