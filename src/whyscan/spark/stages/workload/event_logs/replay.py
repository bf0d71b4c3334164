"""Collect the executions of an event log with their plans and metrics.

| event | used for |
|---|---|
| SQLExecutionStart, SQLAdaptiveExecutionUpdate | the plan; the last one is the final one |
| DriverAccumUpdates | files, bytes and partitions, which the driver counts |
| StageCompleted | rows, which executors count |
| ConnectOperationStarted | the SQL of Spark Connect, by its job tag |
| EnvironmentUpdate | the session's time zone |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, field

from whyscan.spark.stages.workload.event_logs.plan_nodes import scans_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from whyscan.spark.stages.workload.codecs import LogLine
    from whyscan.spark.stages.workload.event_logs.plan_nodes import ScanNode

_EVENT = b'{"Event":"'
MALFORMED = (LookupError, TypeError, ValueError, AttributeError)
"""The errors of reading an event that lacks fields or has wrong types."""
_ZONE = "spark.sql.session.timeZone"


class Execution(Struct):
    """One execution of SQL or of an action.

    `root` is the number of the execution that started it, or its own number. `ended` is True if
    the log has its end, `error` is the message there. `zone` is the session's time zone, None if
    the log does not have it.
    """

    number: int
    root: int
    description: str = ""
    time: int | None = None
    tags: frozenset[str] = frozenset()
    scans: tuple[ScanNode, ...] = ()
    zone: str | None = None
    ended: bool = False
    error: str | None = None


class Replay(Struct):
    """The state that the events of one application have built so far."""

    application: str | None = None
    zone: str | None = None
    executions: dict[int, Execution] = field(default_factory=dict)
    driver: dict[tuple[int, int], int] = field(default_factory=dict)
    """By execution and accumulator: one execution reads a cached plan, and many contain it."""
    executors: dict[int, int] = field(default_factory=dict)
    statements: dict[str, str] = field(default_factory=dict)
    unread: int = 0
    """The number of lines that are no events."""
    ends_unread: bool = False
    """Whether the last line is no event."""
    too_long: list[int] = field(default_factory=list)
    """The numbers of the lines that were too long."""

    def read(self, lines: Iterable[LogLine]) -> None:
        """Read the events of some lines; events that have nothing about queries are not decoded."""
        for number, line in lines:
            if line is None:
                self.too_long.append(number)
                self.ends_unread = False
            elif line.strip():
                self.ends_unread = not self._take(line)
                self.unread += self.ends_unread

    def _take(self, line: bytes) -> bool:
        """Read one line; returns whether it is an event."""
        if not line.startswith(_EVENT):
            return False
        take = _TAKEN.get(_kind(line))
        if take is None:
            return line.rstrip().endswith(b"}")
        try:
            take(self, msgspec.json.decode(line))
        except (msgspec.DecodeError, RecursionError, *MALFORMED):
            return False
        return True


def _kind(line: bytes) -> bytes:
    """The class name of an event without its package."""
    return line[len(_EVENT) : line.find(b'"', len(_EVENT))].rpartition(b".")[2]


def _application(replay: Replay, event: Mapping[str, Any]) -> None:
    replay.application = event.get("App ID") or event.get("App Name")


def _environment(replay: Replay, event: Mapping[str, Any]) -> None:
    spark = dict(event.get("Spark Properties") or {})
    system = dict(event.get("System Properties") or {})
    replay.zone = spark.get(_ZONE) or system.get("user.timezone") or replay.zone


def _start(replay: Replay, event: Mapping[str, Any]) -> None:
    number = int(event["executionId"])
    root = event.get("rootExecutionId")
    changed = dict(event.get("modifiedConfigs") or {})
    replay.executions[number] = Execution(
        number,
        number if root is None else int(root),
        description=str(event.get("description") or ""),
        time=event.get("time"),
        tags=frozenset(event.get("jobTags") or ()),
        scans=scans_of(event.get("sparkPlanInfo") or {}),
        zone=changed.get(_ZONE) or replay.zone,
    )


def _update(replay: Replay, event: Mapping[str, Any]) -> None:
    execution = replay.executions.get(int(event["executionId"]))
    if execution is not None:
        execution.scans = scans_of(event.get("sparkPlanInfo") or {})


def _end(replay: Replay, event: Mapping[str, Any]) -> None:
    execution = replay.executions.get(int(event["executionId"]))
    if execution is not None:
        execution.ended = True
        execution.error = event.get("errorMessage") or None


def _driver(replay: Replay, event: Mapping[str, Any]) -> None:
    number = int(event["executionId"])
    for accumulator, value in event.get("accumUpdates") or ():
        replay.driver[number, accumulator] = int(value)


def _stage(replay: Replay, event: Mapping[str, Any]) -> None:
    for accumulable in (event.get("Stage Info") or {}).get("Accumulables") or ():
        if (
            accumulable.get("Metadata") == "sql"
            and str(accumulable.get("Value")).lstrip("-").isdecimal()
        ):
            replay.executors[accumulable["ID"]] = int(accumulable["Value"])


def _statement(replay: Replay, event: Mapping[str, Any]) -> None:
    replay.statements[str(event.get("jobTag"))] = str(event.get("statementText") or "")


_TAKEN: dict[bytes, Callable[[Replay, Mapping[str, Any]], None]] = {
    b"SparkListenerApplicationStart": _application,
    b"SparkListenerEnvironmentUpdate": _environment,
    b"SparkListenerSQLExecutionStart": _start,
    b"SparkListenerSQLAdaptiveExecutionUpdate": _update,
    b"SparkListenerSQLExecutionEnd": _end,
    b"SparkListenerDriverAccumUpdates": _driver,
    b"SparkListenerStageCompleted": _stage,
    b"SparkListenerConnectOperationStarted": _statement,
}
