"""Turn the executions of an event log into queries: the SQL in the log, or one query per scan."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from whyscan.errors import CorruptFile
from whyscan.spark.plans.printed_filters import NO_TYPES
from whyscan.spark.stages.workload.codecs import lines, plain, too_long
from whyscan.spark.stages.workload.event_logs.replay import Execution, Replay
from whyscan.spark.stages.workload.event_logs.writing import query_of
from whyscan.spark.stages.workload.query import ActualScan, Query, Unparsed, total
from whyscan.spark.stages.workload.sql_files import problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.spark.plans.printed_filters import Types
    from whyscan.spark.stages.workload.codecs import Tail
    from whyscan.spark.stages.workload.event_logs.plan_nodes import ScanNode
    from whyscan.spark.stages.workload.logs import QueryLog

DIALECT = "spark"
_FILES = ("number of files read", "number of result data files")
_BYTES = ("size of files read", "total data file size (bytes)")
_PARTITIONS = ("number of partitions read",)
_ROWS = "number of output rows"
_COMMON = re.compile(r"(?:^|\s)common \{")
_BRACE_OR_TEXT = re.compile(r"[{}]|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_QUERY = re.compile(
    r"\s*(?:(?:sql_command|input|sql|root|command)\s*\{\s*)*"
    r"(?:query|sql):\s*\"(?P<text>(?:[^\"\\]|\\.)*)\"\s*(?:\}\s*)*",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_NAMED = {"n": b"\n", "r": b"\r", "t": b"\t"}
NO_SQL_AND_NO_SCAN = "the log has no SQL of it, and its plan no scan of files"


def read_events(log: QueryLog, tail: Tail, types: Types = NO_TYPES) -> Iterator[Query | Unparsed]:
    """Yield the queries of a log.

    An execution that a user started and the executions that Spark started for it are one query.
    `types` are column types, as plans do not have all of them.
    """
    replay = Replay()
    for file in log.files:
        try:
            replay.read(lines(plain(file.chunks(), tail, file.shown), tail))
        except CorruptFile as error:
            # The events before the damage are used, and later files are read.
            yield Unparsed(file.name, "", error.message)
        for number in replay.too_long:
            yield Unparsed(f"{file.name}:{number}", "", too_long())
        replay.too_long.clear()
    name = replay.application or re.sub(r"^eventlog_v2_|(\.\w+)+$", "", log.name)
    half = tail.open and replay.ends_unread
    tail.cut = tail.cut or half
    unread = replay.unread - half
    if unread:
        yield Unparsed(log.name, "", f"lines that are no events: {unread}", unread)
    families: dict[int, list[Execution]] = {}
    for execution in replay.executions.values():
        families.setdefault(execution.root, []).append(execution)
    for number, family in sorted(families.items()):
        yield from _family(replay, family, f"{name}/execution {number}", types)


def _family(
    replay: Replay, family: Sequence[Execution], where: str, types: Types
) -> Iterator[Query | Unparsed]:
    """The queries of an execution together with the executions that it started."""
    head = next((member for member in family if member.number == member.root), family[0])
    scan_nodes = [
        (execution, scan)
        for execution in family
        for scan in execution.scans
        if _read_by_execution(replay, execution, scan)
    ]
    text = _sql(replay, head)
    when = None if head.time is None else datetime.fromtimestamp(head.time / 1000, UTC)
    days = {} if when is None else {when.date().isoformat(): 1}
    if text is not None:
        scans = [_actual(replay, execution, scan) for execution, scan in scan_nodes]
        actual_scans = tuple(scan for scan in scans if scan is not None)
        read = (
            total([scan.bytes for scan in actual_scans])
            if len(actual_scans) == len(scans)
            else None
        )
        yield Query(text, DIALECT, 1, when, when, days, read, (where,), actual_scans)
        return
    if not scan_nodes:
        yield Unparsed(where, head.description, NO_SQL_AND_NO_SCAN)
    for execution, scan in scan_nodes:
        actual = _actual(replay, execution, scan)
        size = None if actual is None else actual.bytes
        try:
            sql, notes = query_of(scan, execution.zone, types)
        except ValueError as error:
            yield Unparsed(where, scan.text, str(error), bytes_read=size)
            continue
        yield Query(
            sql,
            DIALECT,
            1,
            when,
            when,
            days,
            size,
            (f"{where}: a scan, written from its plan",),
            () if actual is None else (actual,),
            notes,
        )


def _read_by_execution(replay: Replay, execution: Execution, scan: ScanNode) -> bool:
    """Whether an execution ran a scan of its plan.

    The plan of a cached table is in every execution that uses it; only one of them reads it.
    """
    if not scan.cached:
        return True
    return any((execution.number, metric) in replay.driver for metric in scan.metrics.values())


def _sql(replay: Replay, execution: Execution) -> str | None:
    """The SQL of an execution, from Spark Connect or from its description; None if missing."""
    for tag in execution.tags & replay.statements.keys():
        text = sql_of(replay.statements[tag])
        if text is not None:
            return text.strip()
    text = execution.description.strip()
    return text if text and problem_of(text, DIALECT) is None else None


def _actual(replay: Replay, execution: Execution, scan: ScanNode) -> ActualScan | None:
    """The counts of a scan in the log; None if the log has none."""

    def counted(names: Sequence[str]) -> int | None:
        metrics = (scan.metrics[name] for name in names if name in scan.metrics)
        values = (replay.driver.get((execution.number, metric)) for metric in metrics)
        return next((value for value in values if value is not None), None)

    files, size, partitions = counted(_FILES), counted(_BYTES), counted(_PARTITIONS)
    rows = replay.executors.get(scan.metrics.get(_ROWS, -1))
    if rows is None and any(metric in replay.executors for metric in scan.metrics.values()):
        # Executors report no sum of zero; they reported other metrics of this scan.
        rows = 0
    if files is size is partitions is rows is None:
        return None
    return ActualScan(scan.table or scan.place or scan.name, 1, files, size, rows, partitions)


def sql_of(statement: str) -> str | None:
    """The SQL of a Spark Connect plan that is only a SQL query; None for other plans.

    `statement` is the plan as the text of a protobuf message.
    """
    match = _QUERY.fullmatch(_without_common(statement))
    if match is None or "[truncated(size=" in match["text"]:
        return None
    return _unescaped(match["text"])


def _without_common(text: str) -> str:
    """The text without its `common` blocks, which have positions in the user's program."""
    while (common := _COMMON.search(text)) is not None:
        depth, end = 1, len(text)
        for match in _BRACE_OR_TEXT.finditer(text, common.end()):
            depth += (match[0] == "{") - (match[0] == "}")
            if not depth:
                end = match.end()
                break
        text = text[: common.start()] + text[end:]
    return text


def _unescaped(text: str) -> str:
    """The text without escapes; bytes beyond ASCII are written as octal digits."""
    parts, end = [], 0
    for match in _ESCAPE.finditer(text):
        parts.append(text[end : match.start()].encode())
        code = match[1]
        parts.append(
            _NAMED.get(code)
            or (bytes([int(code, 8) & 0xFF]) if code.isdecimal() else code.encode())
        )
        end = match.end()
    return b"".join((*parts, text[end:].encode())).decode("utf-8", "replace")
