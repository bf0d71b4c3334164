"""Logs of any kind as one workload: what each file is, is told by its content.

Every entry of every log is a query or is listed as unparsed. One log that cannot be read does not
stop the others.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from whyscan.errors import UsageError, WhyscanError
from whyscan.predicate.syntax.parse import dialect_named
from whyscan.spark.stages.workload.codecs import (
    LogLine,
    Tail,
    lines,
    most_whole,
    plain,
    too_long,
    whole,
)
from whyscan.spark.stages.workload.column_types import NO_TYPES
from whyscan.spark.stages.workload.dbt_runs import is_dbt_document, read_dbt, run_of
from whyscan.spark.stages.workload.logs import DBT_FILES, find_logs, is_rolling
from whyscan.spark.stages.workload.parsing import problem_of
from whyscan.spark.stages.workload.query import Query, Unparsed, Workload, grouped
from whyscan.spark.stages.workload.query_logs import (
    Row,
    csv_rows,
    json_row,
    meanings,
    parquet_rows,
    read_row,
)
from whyscan.spark.stages.workload.sql_files import read_sql
from whyscan.spark.stages.workload.trino_events import read_trino, trino_event
from whyscan.tables import budget

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from whyscan.spark.stages.workload.column_types import Types
    from whyscan.spark.stages.workload.logs import QueryLog, QueryLogFile

_MALFORMED = (LookupError, TypeError, ValueError, AttributeError)
_NO_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What the decoder raises for no JSON, for bytes that are no text, and for what is too deep."""
MOST_UNPARSED = 20_000
"""Entries that are no queries and are listed one by one."""
MOST_UNGROUPED = 100_000
"""Runs that wait to be put together: memory follows the distinct texts, not the runs."""
CUT = "the log ends in the middle of an entry, as one that is still being written"


class LogKind(StrEnum):
    """What a log is. JSON holds rows or events of Trino, each object by what it has."""

    SQL = "sql"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    SPARK = "spark"
    DBT = "dbt"
    TRINO = "trino"


def read_workload(
    paths: Sequence[str],
    dialect: str = "spark",
    *,
    form: str | None = None,
    options: Mapping[str, Any] | None = None,
    types: Types = NO_TYPES,
) -> Workload:
    """The queries of files, folders and globs, each distinct text once.

    `dialect` is of the texts that do not say theirs; `form` is what the files are, None to tell
    by looking. `options` are for the stores that they lie in. `types` are those of columns, by
    the names of their tables: with them, more of an event log's filters can be read.
    """
    dialect_named(dialect)
    chosen = None if form is None else log_kind_named(form)
    logs = find_logs(paths, options)
    return gathered(chain.from_iterable(read_log(log, dialect, chosen, types) for log in logs))


def log_kind_named(name: str) -> LogKind:
    """The form by its name; UsageError where there is none."""
    try:
        return LogKind(name.lower())
    except ValueError:
        kinds = ", ".join(LogKind)
        raise UsageError(f"{name!r} is no form of a workload", hint=f"one of {kinds}") from None


def gathered(entries: Iterable[Query | Unparsed]) -> Workload:
    """The entries as a workload: texts once, and those that are no statement among the unparsed."""
    runs: list[Query] = []
    unparsed: list[Unparsed] = []
    most = limit = MOST_UNGROUPED
    for entry in entries:
        if isinstance(entry, Unparsed):
            unparsed.append(entry)
            if len(unparsed) >= most:
                unparsed = list(_grouped(unparsed))
                most = len(unparsed) + MOST_UNGROUPED
            continue
        runs.append(entry)
        if len(runs) >= limit:
            runs = list(grouped(runs))
            limit = max(MOST_UNGROUPED, 2 * len(runs))
    queries: list[Query] = []
    for query in chain.from_iterable(map(_statements, grouped(runs))):
        why = problem_of(query.text, query.dialect)
        if why is None:
            queries.append(query)
        else:
            unparsed.append(Unparsed(_first(query.origins), query.text, why, query.times))
    return Workload(grouped(queries), _grouped(unparsed))


def _statements(query: Query) -> Iterator[Query]:
    """The statements of an entry that has several, each as often; what each read is not told.

    Definitions of views belong to the statement behind them.
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


def _first(origins: Sequence[str]) -> str:
    return origins[0] if origins else ""


def _grouped(unparsed: Iterable[Unparsed]) -> tuple[Unparsed, ...]:
    """Equal texts of one reason once, by where the first of them stands; without a text, each.

    Beyond so many, those of one reason are counted with the first of them that has no place left.
    """
    entries: dict[tuple[str, str, str], Unparsed] = {}
    for entry in unparsed:
        key = (entry.text, entry.why, "" if entry.text else entry.origin)
        if key not in entries and len(entries) >= MOST_UNPARSED:
            key = ("", entry.why, "")
        earlier = entries.get(key)
        times = entry.times + (0 if earlier is None else earlier.times)
        entries[key] = msgspec.structs.replace(earlier or entry, times=times)
    return tuple(entries.values())


def read_log(
    log: QueryLog, dialect: str, form: LogKind | None = None, types: Types = NO_TYPES
) -> Iterator[Query | Unparsed]:
    """The entries of one log; a log that cannot be read is an entry that says so."""
    try:
        yield from _read(log, dialect, form or form_of(log), types)
    except WhyscanError as error:
        yield Unparsed(log.name, "", error.message)


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
        case LogKind.JSON | LogKind.TRINO:
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
            yield from _entry(entry, origin, dialect)
        except _MALFORMED as error:
            yield Unparsed(origin, "", _malformed(error))


def _malformed(error: Exception) -> str:
    return f"it has not the parts of its kind: {error!r:.200}"


def _entry(entry: Mapping[str, Any], origin: str, dialect: str) -> Iterator[Query | Unparsed]:
    event = trino_event(entry)
    if event is not None:
        yield read_trino(event, origin)
    elif is_dbt_document(entry):
        yield from read_dbt(run_of([entry]), origin, dialect)
    else:
        row = json_row(entry, origin)
        yield read_row(row, dialect) if isinstance(row, Row) else row


def _objects(file: QueryLogFile, tail: Tail) -> Iterator[tuple[str, Mapping[str, Any] | Unparsed]]:
    """The objects of a file: one a line, or the whole of it one object or an array of them."""
    every = lines(_plain(file, tail), tail)
    first = next((line for line in every if line.content is None or line.content.strip()), None)
    # A file without a line is no object either.
    first = first or LogLine(1, b"")
    rest: Iterable[LogLine] = every
    if first.content is not None and not isinstance(_decoded(first.content), dict):
        rest = list(_in_memory(every, file.shown))
        texts = [line.content for line in (first, *rest)]
        document = None if None in texts else _decoded(b"\n".join(filter(None, texts)))
        # Not even a part of it is JSON, or only its first line is not.
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
    """The lines, as long as they fit into memory together."""
    size, most = 0, most_whole()
    for line in every:
        # A short line takes memory, too.
        size += 100 + len(line.content or b"")
        if size > most:
            raise budget.too_large(name, "it is one document of JSON, which is read whole", size)
        yield line


def _decoded(line: bytes | None) -> Any:
    """What a text of JSON holds; None where it is none."""
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
    """What a log is: by how its first file begins, and by its name where that says nothing."""
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
