"""Read a workload on executors as a DataFrame: one row per distinct text.

One executor reads all files of a log, logs are distributed by size, and equal texts are merged on
one executor. The functions are the same as in one process.
"""

from __future__ import annotations

import pickle
import re
from datetime import UTC
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whyscan.predicate.syntax.parse import dialect_named
from whyscan.spark.errors import uncarried
from whyscan.spark.jobs import TASKS_A_CORE, mapped, work_frame, work_of_task
from whyscan.spark.plans.printed_filters import NO_TYPES
from whyscan.spark.sessions import cores
from whyscan.spark.stages.workload.logs import (
    DBT_FILES,
    QueryLogFile,
    find_logs,
    is_hidden,
    logs_of,
)
from whyscan.spark.stages.workload.query import MEASURES, ActualScan, Query, Unparsed, Workload
from whyscan.spark.stages.workload.query_shapes import shape_of
from whyscan.spark.stages.workload.reading import LogKind, gathered, log_kind_named, read_log
from whyscan.spark.versions import table_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.jobs import Batches, Task
    from whyscan.spark.plans.printed_filters import Types
    from whyscan.spark.stages.workload.logs import QueryLog

BYTES_A_TASK = 1 << 23
"""The fewest bytes per task: a task of fewer bytes costs more than its reading."""
BATCH = 1_000

_COUNTS = ("runs", *MEASURES)
_ACTUAL = pa.struct([("table", pa.string()), *((name, pa.int64()) for name in _COUNTS)])
ROWS = pa.schema(
    [
        ("text", pa.string()),
        ("dialect", pa.string()),
        ("shape", pa.string()),
        ("times", pa.int64()),
        ("first", pa.timestamp("us", "UTC")),
        ("last", pa.timestamp("us", "UTC")),
        ("days", pa.map_(pa.string(), pa.int64())),
        ("bytes_read", pa.int64()),
        ("origins", pa.list_(pa.string())),
        ("actual", pa.list_(_ACTUAL)),
        ("notes", pa.list_(pa.string())),
        ("namespace", pa.string()),
        ("users", pa.map_(pa.string(), pa.int64())),
        ("logs", pa.map_(pa.string(), pa.int64())),
        ("unparsed", pa.string()),
    ]
)
"""One row per query or unparsed entry. `unparsed` is the reason, NULL for a query."""

_ENTRIES = pa.schema([("text", pa.string()), ("entry", pa.binary())])
_OF_SPARK = re.compile(r"(?:hdfs|viewfs|webhdfs|swebhdfs|dbfs|maprfs|ofs|o3fs|cosn|oss):/")
"""Addresses that only Spark's file systems can open."""


def workload_frame(
    spark: SparkSession,
    paths: Sequence[str],
    dialect: str = "spark",
    *,
    form: str | None = None,
    storage: Mapping[str, object] | None = None,
    types: Types = NO_TYPES,
) -> DataFrame:
    """The queries of files, folders and globs, read by executors, as rows of `ROWS`."""
    dialect_named(dialect)
    chosen = None if form is None else log_kind_named(form)
    most = cores(spark) * TASKS_A_CORE
    columns = {table: dict(columns_of_table) for table, columns_of_table in types.items()}
    with uncarried():
        if all(map(_OF_SPARK.match, paths)):
            files = read_by_spark(spark, paths, most)
            entries = mapped(files, _decoding(dialect, chosen, columns), _ENTRIES)
            return mapped(entries.repartition(most, "text"), _gathering, ROWS)
        logs = find_logs(paths, storage)
        tasks = max(1, min(-(-sum(map(_size, logs)) // BYTES_A_TASK), most))
        work = _bundles(logs, min(len(logs), tasks))
        frame = work_frame(spark, work).repartitionByRange(len(work), "work")
        entries = mapped(frame, _reading(dialect, chosen, columns), _ENTRIES)
        return mapped(entries.repartition(tasks, "text"), _gathering, ROWS)


def read_by_spark(spark: SparkSession, paths: Sequence[str], tasks: int) -> DataFrame:
    """The files that only Spark can open; all files of a log are in one task."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(list(paths))
    folder = F.regexp_extract("path", "^(.*)/[^/]*$", 1)
    name = F.regexp_extract("path", "([^/]*)$", 1)
    belongs = folder.rlike("/eventlog_v2_[^/]*$") | name.isin(*DBT_FILES)
    log = F.when(belongs, folder).otherwise(F.col("path"))
    return files.select("path", "length", "content").repartition(tasks, log)


def _decoding(dialect: str, form: LogKind | None, types: Types) -> Task:
    """The function for `mapInArrow` that turns files with content into entries."""

    def read(batches: Batches) -> Iterator[pa.RecordBatch]:
        files = []
        for batch in batches:
            for path, size, content in zip(*(column.to_pylist() for column in batch.columns)):  # noqa: B905 - a batch's columns have one length
                folder, _, name = path.rpartition("/")
                if not is_hidden(name):
                    files.append(QueryLogFile(folder, name, size, {}, bytes(content)))
        for log in logs_of(files):
            yield from _packed(read_log(log, dialect, form, types))

    return read


def _bundles(logs: Sequence[QueryLog], tasks: int) -> list[list[QueryLog]]:
    """The logs in `tasks` bundles of about equal size."""
    bundles: list[list[QueryLog]] = [[] for _ in range(tasks)]
    sizes = [0] * tasks
    for log in sorted(logs, key=_size, reverse=True):
        least = sizes.index(min(sizes))
        bundles[least].append(log)
        sizes[least] += _size(log)
    return bundles


def _size(log: QueryLog) -> int:
    return sum(file.size for file in log.files)


def _reading(dialect: str, form: LogKind | None, types: Types) -> Task:
    """The function for `mapInArrow` that turns bundles of logs into entries."""

    def read(batches: Batches) -> Iterator[pa.RecordBatch]:
        for logs in work_of_task(batches):
            for log in logs:
                yield from _packed(read_log(log, dialect, form, types))

    return read


def _packed(entries: Iterable[Query | Unparsed]) -> Iterator[pa.RecordBatch]:
    batch: list[Query | Unparsed] = []
    for entry in entries:
        batch.append(entry)
        if len(batch) == BATCH:
            yield _batch(batch)
            batch = []
    if batch:
        yield _batch(batch)


def _batch(entries: Sequence[Query | Unparsed]) -> pa.RecordBatch:
    texts = pa.array([entry.text for entry in entries], pa.string())
    packed = pa.array([pickle.dumps(entry) for entry in entries], pa.binary())
    return pa.RecordBatch.from_arrays([texts, packed], names=["text", "entry"])


def _gathering(batches: Batches) -> Iterator[pa.RecordBatch]:
    """For `mapInArrow`: merge entries into rows; equal texts are in the same task."""
    entries = (
        pickle.loads(entry.as_py())  # noqa: S301 - written by the executors before
        for batch in batches
        for entry in batch.column("entry")
    )
    yield from workload_rows(gathered(entries))


def workload_rows(workload: Workload) -> Iterator[pa.RecordBatch]:
    """The queries and unparsed entries of a workload as rows of `ROWS`."""
    rows = [*map(_query_row, workload.queries), *map(_unparsed_row, workload.unparsed)]
    for start in range(0, len(rows), BATCH):
        yield pa.RecordBatch.from_pylist(rows[start : start + BATCH], schema=ROWS)


def _query_row(query: Query) -> dict[str, Any]:
    return {
        "text": query.text,
        "dialect": query.dialect,
        "shape": shape_of(query.text, query.dialect),
        "times": query.times,
        "first": query.first,
        "last": query.last,
        "days": list(query.days.items()),
        "bytes_read": query.bytes_read,
        "origins": list(query.origins),
        "actual": [
            {"table": scan.table, **{name: getattr(scan, name) for name in _COUNTS}}
            for scan in query.actual
        ],
        "notes": list(query.notes),
        "namespace": query.namespace or None,
        "users": list(query.users.items()),
        "logs": list(query.logs.items()),
        "unparsed": None,
    }


def _unparsed_row(entry: Unparsed) -> dict[str, Any]:
    return {
        "text": entry.text,
        "times": entry.times,
        "bytes_read": entry.bytes_read,
        "days": [],
        "origins": [entry.origin],
        "actual": [],
        "notes": [],
        "namespace": None,
        "users": [],
        "logs": [(entry.log, entry.times)] if entry.log else [],
        "unparsed": entry.why,
    }


def from_frame(frame: DataFrame) -> Workload:
    """The workload of a DataFrame of `workload_frame`."""
    with uncarried():
        rows = table_of(frame).to_pylist()
    queries = tuple(_query(row) for row in rows if row["unparsed"] is None)
    return Workload(
        queries,
        tuple(
            Unparsed(
                row["origins"][0],
                row["text"],
                row["unparsed"],
                row["times"],
                row["bytes_read"],
                next(iter(dict(row.get("logs") or ())), ""),
            )
            for row in rows
            if row["unparsed"] is not None
        ),
    )


def _query(row: Mapping[str, Any]) -> Query:
    return Query(
        row["text"],
        row["dialect"],
        row["times"],
        _utc(row["first"]),
        _utc(row["last"]),
        dict(row["days"]),
        row["bytes_read"],
        tuple(row["origins"]),
        tuple(ActualScan(**scan) for scan in row["actual"]),
        tuple(row["notes"]),
        # Workload tables of earlier releases have no such columns.
        row.get("namespace") or "",
        dict(row.get("users") or ()),
        dict(row.get("logs") or ()),
    )


def _utc(moment: datetime | None) -> datetime | None:
    """A time in UTC; Spark returns times in the session's zone."""
    return None if moment is None else moment.astimezone(UTC)
