"""The time of each version: recorded in the commit, or else the time of the commit's file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from whyscan.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.tables.delta.actions import ActionReader
    from whyscan.tables.delta.log import DeltaLog

_MILLISECOND = 1_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def version_at(log: DeltaLog, recorded_times: Mapping[int, int], moment: int) -> int:
    """The newest version committed at or before `moment` (µs since 1970, UTC)."""
    times = _increasing(log, recorded_times)
    versions = [version for version, time in times.items() if time <= moment]
    if not versions:
        raise TableError(
            f"no version of the table is as old as {_shown(moment)}",
            hint=f"the oldest commit in its log is of {_shown(next(iter(times.values())))}"
            if times
            else "its log holds no commits any more",
        )
    return versions[-1]


def recorded_times(reader: ActionReader, log: DeltaLog) -> dict[int, int]:
    """The time that each commit records (µs) by version; without commits that record none."""
    commits = reader.commits(tuple(commit.file for commit in log.commits.values()))
    actions = reader.rows(
        commits,
        f"{commits.version} AS version, CAST(commitInfo ->> 'inCommitTimestamp' AS BIGINT) AS time",
        "commitInfo IS NOT NULL",
    )
    return {r["version"]: r["time"] * _MILLISECOND for r in actions if r["time"] is not None}


def _increasing(log: DeltaLog, recorded_times: Mapping[int, int]) -> dict[int, int]:
    """Times by version, strictly increasing: copied files may have times out of order."""
    times: dict[int, int] = {}
    latest: int | None = None
    for version in sorted(log.commits):
        time = recorded_times.get(version, log.commits[version].file.modified)
        if latest is not None and time <= latest:
            time = latest + _MILLISECOND
        times[version] = latest = time
    return times


def _shown(moment: int) -> str:
    try:
        return (_EPOCH + timedelta(microseconds=moment)).isoformat()
    except OverflowError:
        return f"{moment} µs since 1970"
