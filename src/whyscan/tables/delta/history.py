"""The time of each version: recorded in the commit, or else the time of the commit's file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from whyscan.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from whyscan.tables.delta.actions import ActionReader
    from whyscan.tables.delta.log import Commit, DeltaLog

_MILLISECOND = 1_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def version_at(log: DeltaLog, recorded_times: Mapping[int, int], moment: int) -> int:
    """The newest version committed at or before `moment` (µs since 1970, UTC).

    The newest commits may record their times (PROTOCOL.md, In-Commit Timestamps). These count
    first, because the files of older commits may have been copied later.
    """
    unrecorded = log.commits.keys() - recorded_times.keys()
    newest_unrecorded = max(unrecorded, default=-1)
    recorded = {v: time for v, time in recorded_times.items() if v > newest_unrecorded}
    of_files = file_times(log, sorted(log.commits.keys() - recorded.keys()))
    for times in (recorded, of_files):
        versions = [version for version in sorted(times) if times[version] <= moment]
        if versions:
            return versions[-1]
    every = (*recorded.values(), *of_files.values())
    raise TableError(
        f"no version of the table is as old as {_shown(moment)}",
        hint=f"the oldest commit in its log is of {_shown(min(every))}"
        if every
        else "its log holds no commits any more",
    )


def recorded_times(reader: ActionReader, commits: Iterable[Commit]) -> dict[int, int]:
    """The time that each commit records (µs) by version; without commits that record none."""
    files = reader.commits(tuple(commit.file for commit in commits))
    actions = reader.rows(
        files,
        f"{files.version} AS version, CAST(commitInfo ->> 'inCommitTimestamp' AS BIGINT) AS time",
        "commitInfo IS NOT NULL",
    )
    return {r["version"]: r["time"] * _MILLISECOND for r in actions if r["time"] is not None}


def file_times(log: DeltaLog, versions: Sequence[int]) -> dict[int, int]:
    """The times of the commits' files, strictly increasing: copied files may be out of order."""
    times: dict[int, int] = {}
    latest: int | None = None
    for version in versions:
        time = log.commits[version].file.modified
        if latest is not None and time <= latest:
            time = latest + _MILLISECOND
        times[version] = latest = time
    return times


def _shown(moment: int) -> str:
    try:
        return (_EPOCH + timedelta(microseconds=moment)).isoformat()
    except OverflowError:
        return f"{moment} µs since 1970"
