"""The versions of a Delta table, from the commits that its log still has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.tables import duckdb_engine
from whyscan.tables.delta.actions import ActionReader
from whyscan.tables.delta.history import file_times, recorded_times
from whyscan.tables.delta.local_log_files import LocalCopies
from whyscan.tables.delta.log import LOG, read_log
from whyscan.tables.history import History, TableVersion, time_of

if TYPE_CHECKING:
    from typing import Any

    from whyscan.tables.delta.log import Commit
    from whyscan.tables.delta.snapshot import DeltaSnapshot
    from whyscan.tables.delta.state import TableState

_FOR_PRUNING = (
    "delta.autoOptimize",
    "delta.checkpoint.writeStats",
    "delta.columnMapping.mode",
    "delta.dataSkipping",
    "delta.enableDeletionVectors",
    "delta.enableTypeWidening",
    "delta.randomizeFilePrefixes",
    "delta.targetFileSize",
    "delta.tuneFileSizesForRewrites",
)
"""How the properties begin that decide statistics, file sizes and how rows are deleted."""


def history(snapshot: DeltaSnapshot, newest: int) -> History:
    """The newest commits; each is read for its operation and for the files that it adds."""
    log = read_log(snapshot.store.list(LOG, enter=lambda _: False))
    commits = tuple(log.commits[number] for number in sorted(log.commits, reverse=True)[:newest])
    state = snapshot.state
    versions: tuple[TableVersion, ...] = ()
    if commits:
        with duckdb_engine.connection() as connection:
            reader = ActionReader(connection, LocalCopies(snapshot.store))
            recorded = recorded_times(reader, commits) if state.protocol.times_commits else {}
            rows = {row["version"]: row for row in _changes(reader, commits)}
        times = file_times(log, sorted(log.commits)) | recorded
        versions = tuple(
            _version(rows.get(c.version, {}), c.version, times[c.version], snapshot.version)
            for c in commits
        )
    properties = {k: v for k, v in sorted(state.properties.items()) if k.startswith(_FOR_PRUNING)}
    return History(
        protocol=_protocol(state),
        versions=versions,
        count=len(log.commits),
        properties=properties,
        other_properties=len(state.properties) - len(properties),
        order=state.clustering(),
    )


def _changes(reader: ActionReader, commits: tuple[Commit, ...]) -> list[dict[str, Any]]:
    """The operation of each commit, with the files that it adds and removes."""
    source = reader.commits(tuple(commit.file for commit in commits))
    return reader.rows(
        source,
        f"{source.version} AS version, any_value(commitInfo ->> 'operation') AS operation, "
        "count(add.path) AS added, CAST(sum(add.size) AS BIGINT) AS bytes, "
        "count(remove.path) AS removed",
        "TRUE GROUP BY 1",
    )


def _version(row: dict[str, Any], number: int, time: int, opened: int) -> TableVersion:
    return TableVersion(
        version=number,
        time=time_of(time),
        operation=row.get("operation"),
        added_files=row.get("added", 0),
        removed_files=row.get("removed", 0),
        added_bytes=row.get("bytes") or 0,
        opened=number == opened,
    )


def _protocol(state: TableState) -> str:
    protocol = state.protocol
    features = sorted(protocol.reader_features | protocol.writer_features)
    reader = f"reader version {protocol.reader_version}"
    return f"{reader}: {', '.join(features)}" if features else reader
