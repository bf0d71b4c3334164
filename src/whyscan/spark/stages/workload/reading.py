"""Read logs of any kind as one workload; the content of a file decides its kind.

Every entry of every log becomes a query or an unparsed entry. A log that cannot be read does not
stop the others.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from whyscan.errors import UsageError, WhyscanError
from whyscan.predicate.syntax.parse import dialect_named
from whyscan.spark.plans.printed_filters import NO_TYPES
from whyscan.spark.stages.workload.codecs import (
    LogLine,
    Tail,
    lines,
    longest_document,
    plain,
    too_long,
    whole,
)
from whyscan.spark.stages.workload.dbt_runs import is_dbt_document, read_dbt, run_of
from whyscan.spark.stages.workload.engine_documents import listed_entries
from whyscan.spark.stages.workload.log_columns import meanings
from whyscan.spark.stages.workload.logs import DBT_FILES, find_logs, is_rolling
from whyscan.spark.stages.workload.query import (
    Query,
    Unparsed,
    Workload,
    grouped,
    identity,
    total,
    unexplained,
)
from whyscan.spark.stages.workload.query_logs import (
    Row,
    csv_rows,
    json_row,
    parquet_rows,
    read_row,
)
from whyscan.spark.stages.workload.scan_reports import is_metrics_report, read_report
from whyscan.spark.stages.workload.sql_files import problem_of, read_sql
from whyscan.spark.stages.workload.trino_events import read_trino, trino_event
from whyscan.tables import budget
from whyscan.tables.sizes import show_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from whyscan.spark.plans.printed_filters import Types
    from whyscan.spark.stages.workload.logs import QueryLog, QueryLogFile

_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
_NO_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors of the JSON decoder: invalid JSON, invalid UTF-8, too many levels."""
MOST_UNPARSED = 20_000
"""The most unparsed entries that are listed one by one."""
_BYTES_A_QUERY = 1_000
"""The approximate memory of a query without its text and its origins."""
MOST_UNGROUPED = 100_000
"""The most runs in memory before equal texts are merged: memory follows the distinct texts."""
CUT = "the log ends in the middle of an entry, as one that is still being written"


class LogKind(StrEnum):
    """The kinds of logs. A JSON log has rows, events or reports; each object is checked."""

    SQL = "sql"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    SPARK = "spark"
    DBT = "dbt"
    TRINO = "trino"
    ICEBERG = "iceberg"


UNREADABLE = "unreadable"
"""The kind of a log of which not even the beginning can be read."""


def read_workload(
    paths: Sequence[str],
    dialect: str = "spark",
    *,
    form: str | None = None,
    storage: Mapping[str, object] | None = None,
    types: Types = NO_TYPES,
) -> Workload:
    """The queries of files, folders and globs, each distinct text once.

    `dialect` is the dialect of texts whose log names none. `form` is the kind of the files; None
    means that their content decides. `storage` are storage options. `types` are column types by
    table name: with them, more filters of event logs can be read.
    """
    dialect_named(dialect)
    chosen = None if form is None else log_kind_named(form)
    logs = find_logs(paths, storage)
    return gathered(chain.from_iterable(read_log(log, dialect, chosen, types) for log in logs))


def log_kind_named(name: str) -> LogKind:
    """The kind of log of a name; UsageError for an unknown name."""
    try:
        return LogKind(name.lower())
    except ValueError:
        kinds = ", ".join(LogKind)
        raise UsageError(f"{name!r} is no form of a workload", hint=f"one of {kinds}") from None


def gathered(entries: Iterable[Query | Unparsed]) -> Workload:
    """The workload of some entries: each text once; texts that are no statement are unparsed.

    If the distinct texts take too much memory, runs of further texts are counted as unparsed.
    """
    runs: list[Query] = []
    unparsed: list[Unparsed] = []
    most = limit = MOST_UNGROUPED
    size, most_bytes = 0, longest_document()
    texts: set[tuple[str, str, str]] | None = None
    for entry in entries:
        if isinstance(entry, Unparsed):
            unparsed.append(entry)
            if len(unparsed) >= most:
                unparsed = list(_grouped(unparsed))
                most = len(unparsed) + MOST_UNGROUPED
            continue
        if texts is not None and identity(entry) not in texts:
            limit_shown = show_size(longest_document())
            full = f"the distinct texts take more than {limit_shown}: it was left out"
            unparsed += unexplained(msgspec.structs.replace(entry, text=""), full)
            continue
        runs.append(entry)
        size += _memory(entry)
        if len(runs) >= limit or size >= most_bytes:
            runs = list(grouped(runs))
            limit = max(MOST_UNGROUPED, 2 * len(runs))
            size = sum(map(_memory, runs))
            if size > longest_document() // 2:
                texts = set(map(identity, runs))
            most_bytes = size + longest_document() // 2
    queries: list[Query] = []
    for query in chain.from_iterable(map(_statements, grouped(runs))):
        why = problem_of(query.text, query.dialect)
        if why is None:
            queries.append(query)
        else:
            unparsed += unexplained(query, why)
    return Workload(grouped(queries), _grouped(unparsed))


def _memory(query: Query) -> int:
    """The approximate memory of a query in bytes."""
    return _BYTES_A_QUERY + len(query.text) + sum(map(len, query.origins))


def _statements(query: Query) -> Iterator[Query]:
    """The statements of an entry, each with the runs of the entry.

    If there are several, the bytes read per statement are unknown. The definition of a view goes
    with the statements after it that use it.
    """
    text, dialect = query.text, query.dialect
    if ";" not in text.rstrip("; \n") or problem_of(text, dialect) is None:
        yield query
        return
    parts = [part for part in read_sql(text, "", dialect) if part.text != text]
    if not parts:
        yield query
    for part in parts:
        note = "one of several statements of an entry"
        notes = (*query.notes, note)
        yield msgspec.structs.replace(
            query, text=part.text, bytes_read=None, actual=(), notes=notes
        )


def _grouped(unparsed: Iterable[Unparsed]) -> tuple[Unparsed, ...]:
    """One entry per text, reason and kind of log, with the first origin.

    Entries without text stay separate.

    Above `MOST_UNPARSED` entries, further entries are counted in one entry per reason.
    """
    entries: dict[tuple[str, ...], Unparsed] = {}
    for entry in unparsed:
        key = (entry.text, entry.why, entry.log, "" if entry.text else entry.origin)
        if key not in entries and len(entries) >= MOST_UNPARSED:
            key = ("", entry.why, entry.log, "")
        earlier = entries.get(key)
        if earlier is not None:
            entry = msgspec.structs.replace(  # noqa: PLW2901 - the sum of both
                earlier,
                times=earlier.times + entry.times,
                bytes_read=total([earlier.bytes_read, entry.bytes_read]),
            )
        entries[key] = entry
    return tuple(entries.values())


def read_log(
    log: QueryLog, dialect: str, form: LogKind | None = None, types: Types = NO_TYPES
) -> Iterator[Query | Unparsed]:
    """The entries of one log; a log that cannot be read gives one unparsed entry."""
    kind = form
    try:
        kind = kind or form_of(log)
        for entry in _read(log, dialect, kind, types):
            yield _of_kind(entry, kind)
    except WhyscanError as error:
        yield Unparsed(log.name, "", error.message, log=UNREADABLE if kind is None else kind.value)


def _of_kind(entry: Query | Unparsed, kind: LogKind) -> Query | Unparsed:
    """The entry with the kind of its log; an object of a JSON log may have a kind of its own."""
    if isinstance(entry, Unparsed):
        return entry if entry.log else msgspec.structs.replace(entry, log=kind.value)
    return entry if entry.logs else msgspec.structs.replace(entry, logs={kind.value: entry.times})


def _read(log: QueryLog, dialect: str, form: LogKind, types: Types) -> Iterator[Query | Unparsed]:
    tail = Tail()
    match form:
        case LogKind.SPARK:
            from whyscan.spark.stages.workload.event_logs import read_events

            yield from read_events(log, tail, types)
        case LogKind.DBT:
            documents = [_document(file, tail) for file in log.files]
            try:
                yield from read_dbt(run_of(documents), log.name, dialect)
            except _MALFORMED as error:
                yield Unparsed(log.name, "", _malformed(error))
        case LogKind.SQL:
            for file in log.files:
                yield from _sql(file, tail, dialect)
        case LogKind.CSV:
            rows = (row for file in log.files for row in csv_rows(_plain(file, tail), file.name))
            yield from _of_rows(rows, dialect)
        case LogKind.PARQUET:
            yield from _of_rows((row for file in log.files for row in parquet_rows(file)), dialect)
        case LogKind.JSON | LogKind.TRINO | LogKind.ICEBERG:
            for file in log.files:
                yield from _of_json(file, tail, dialect)
    if tail.cut:
        yield Unparsed(log.name, "", CUT)


def _of_rows(rows: Iterable[Row | Unparsed], dialect: str) -> Iterator[Query | Unparsed]:
    for row in rows:
        yield read_row(row, dialect) if isinstance(row, Row) else row


def _plain(file: QueryLogFile, tail: Tail) -> Iterator[bytes]:
    return plain(file.chunks(), tail, file.shown)


def _sql(file: QueryLogFile, tail: Tail, dialect: str) -> Iterator[Query | Unparsed]:
    try:
        text = whole(_plain(file, tail), file.shown).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield Unparsed(file.name, "", f"it is not UTF-8: {error.reason}")
        return
    yield from read_sql(text, file.name, dialect)


def _document(file: QueryLogFile, tail: Tail) -> Mapping[str, Any]:
    try:
        document = msgspec.json.decode(whole(_plain(file, tail), file.shown))
    except _NO_JSON as error:
        raise WhyscanError(f"cannot read {file.name}: {error}") from error
    return document if isinstance(document, dict) else {}


def _of_json(file: QueryLogFile, tail: Tail, dialect: str) -> Iterator[Query | Unparsed]:
    for origin, entry in _objects(file, tail):
        if isinstance(entry, Unparsed):
            yield entry
            continue
        try:
            for where, listed in listed_entries(entry, origin):
                if isinstance(listed, Unparsed):
                    yield listed
                else:
                    yield from _entry(listed, where, dialect)
        except _MALFORMED as error:
            yield Unparsed(origin, "", _malformed(error))


def _malformed(error: Exception) -> str:
    return f"it has not the parts of its kind: {error!r:.200}"


def _entry(entry: Mapping[str, Any], origin: str, dialect: str) -> Iterator[Query | Unparsed]:
    event = trino_event(entry)
    if event is not None:
        yield _of_kind(read_trino(event, origin), LogKind.TRINO)
    elif is_metrics_report(entry):
        yield _of_kind(read_report(entry, origin), LogKind.ICEBERG)
    elif is_dbt_document(entry):
        for query in read_dbt(run_of([entry]), origin, dialect):
            yield _of_kind(query, LogKind.DBT)
    else:
        row = json_row(entry, origin)
        yield read_row(row, dialect) if isinstance(row, Row) else row


def _objects(file: QueryLogFile, tail: Tail) -> Iterator[tuple[str, Mapping[str, Any] | Unparsed]]:
    """The JSON objects of a file: one per line, or one document that is an object or an array."""
    every = lines(_plain(file, tail), tail)
    first = next((line for line in every if line.content is None or line.content.strip()), None)
    # An empty file gives one unparsed entry.
    first = first or LogLine(1, b"")
    rest: Iterable[LogLine] = every
    if first.content is not None and not isinstance(_decoded(first.content), dict):
        rest = list(_in_memory(every, file.shown))
        texts = [line.content for line in (first, *rest)]
        document = None if None in texts else _decoded(b"\n".join(filter(None, texts)))
        # One JSON document, or no JSON at all; else only the first line is no object.
        if document is not None or not any(isinstance(_decoded(text), dict) for text in texts):
            listed = document if isinstance(document, list) else [document]
            for at, entry in enumerate(listed, start=1):
                yield f"{file.name}[{at}]", _object(entry, f"{file.name}[{at}]")
            return
    for number, line in chain([first], rest):
        origin = f"{file.name}:{number}"
        if line is None:
            yield origin, Unparsed(origin, "", too_long())
        elif line.strip():
            yield origin, _object(_decoded(line), origin)


def _in_memory(every: Iterable[LogLine], name: str) -> Iterator[LogLine]:
    """The lines of a file that is one JSON document; an error if they do not fit into memory."""
    size, most = 0, longest_document()
    for line in every:
        # 100 bytes for the object of each line.
        size += 100 + len(line.content or b"")
        if size > most:
            raise budget.too_large(name, "it is one document of JSON, which is read whole", size)
        yield line


def _decoded(line: bytes | None) -> Any:
    """The value of a JSON text; None if it is no JSON."""
    if line is None:
        return None
    try:
        return msgspec.json.decode(line)
    except _NO_JSON:
        return None


def _object(entry: Any, origin: str) -> Mapping[str, Any] | Unparsed:
    if isinstance(entry, dict):
        return entry
    return Unparsed(origin, "", "it is no whole object of JSON")


def form_of(log: QueryLog) -> LogKind:
    """The kind of a log: from the first bytes of its first file, else from the file name."""
    file = log.files[0]
    if file.name in DBT_FILES:
        return LogKind.DBT
    if is_rolling(file):
        return LogKind.SPARK
    begin = file.beginning()
    if begin.startswith(b"PAR1"):
        return LogKind.PARQUET
    text = next(plain([begin], Tail(), file.shown), b"").lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith(b'{"Event":"'):
        return LogKind.SPARK
    if text.startswith((b"{", b"[")) and not text.startswith((b"{{", b"{%")):
        return LogKind.JSON
    name = file.name.lower()
    if name.endswith((".sql", ".hql")):
        return LogKind.SQL
    header = text.split(b"\n", 1)[0].decode("utf-8", "replace")
    separated = max((header.strip().split(mark) for mark in ",;\t|"), key=len)
    is_csv = "text" in meanings([name.strip(' "') for name in separated])
    return LogKind.CSV if is_csv or ".csv" in name or ".tsv" in name else LogKind.SQL
