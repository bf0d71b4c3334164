"""The scans of a DataFrame of Spark Connect: its plan is on the server, which prints it.

What the text does not tell is asked for: which files a scan of files is about, and with them the
version of a Delta table; where the table of an Iceberg scan is.

| of the text | is a condition of the scan |
|---|---|
| filters right above a scan, and its own on partitions | where they have one meaning only |
| filters that an Iceberg scan took over | likewise |
| what has two meanings, or values that only a run knows | no: it is told, and keeps everything |
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import UsageError, WhyscanError
from whyscan.planning.plan import Depth
from whyscan.planning.planner import make_plan
from whyscan.predicate.types import StringType
from whyscan.predicate.zones import zone
from whyscan.spark.catalyst import FoundScan, Named, local
from whyscan.spark.errors import uncarried
from whyscan.spark.plan_text import UnreadableError, read_plan
from whyscan.spark.printed_filters import Conditions, conditions_of
from whyscan.spark.workload.event_logs.iceberg import METADATA_TABLES
from whyscan.tables import open_snapshot
from whyscan.tables.travel import Travel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.plan_text import PrintedScan
    from whyscan.tables.snapshot import Snapshot

_LONGEST = "2147483632"
_IN_FULL = {
    "spark.sql.maxMetadataStringLength": _LONGEST,
    "spark.sql.debug.maxToStringFields": _LONGEST,
    "spark.sql.maxPlanStringLength": _LONGEST,
}
_EVERY_FILE = {"spark.databricks.delta.stats.skipping": "false"}
_DELTA_INDEXES = frozenset({"PreparedDeltaFileIndex", "TahoeLogFileIndex"})
_VERSIONS_AT_MOST = 32
"""So many versions of a Delta table are tried for the one whose files are read."""
_TOGETHER = (
    "it is read {times} times: the server tells the files of all together, and each scan is "
    "explained as if it read them all"
)


class Unexplained(UsageError):
    """Why a scan cannot be explained by what the server tells."""


class Opened(Struct, frozen=True):
    """A scan and the snapshot that it reads; `note` says what was taken for granted."""

    scan: FoundScan
    snapshot: Snapshot
    note: str | None = None


class Server(Struct, frozen=True):
    """A frame's server, and how tables are opened on this side."""

    frame: DataFrame
    options: Mapping[str, Any]
    timezone: str

    @property
    def spark(self) -> SparkSession:
        return self.frame.sparkSession


def printed_scans(server: Server) -> tuple[list[tuple[str, Callable[[], Opened]]], list[str]]:
    """The scans of a frame, each by what people call it, and a line for each that is none."""
    # Where the two kinds of DataFrame differ, their common class knows neither.
    frame: Any = server.frame
    with uncarried(), _set(server.spark, _IN_FULL):
        text = frame._explain_string(extended="formatted")  # noqa: SLF001 - as `explain` prints
    try:
        plan = read_plan(text)
    except UnreadableError as error:
        raise Unexplained(
            f"the server's plan cannot be read: {error}",
            hint="whyscan.explain_sql(sql, tables) explains its SQL without Spark",
        ) from error
    names = [_place(scan) or scan.table or scan.title.strip() for scan in plan.scans]
    told = [name for name, scan in zip(names, plan.scans, strict=True) if not scan.nested]
    files = _files(server) if any(scan.table is None for scan in plan.scans) else []
    found: list[tuple[str, Callable[[], Opened]]] = []
    for name, scan in zip(names, plan.scans, strict=True):
        opened = (
            partial(_of_files, server, scan, files, told.count(name))
            if scan.table is None
            else partial(_iceberg, server, scan)
        )
        found.append((name, opened))
    return found, list(plan.others)


def _of_files(server: Server, scan: PrintedScan, files: list[str], times: int) -> Opened:
    """A Delta table or a folder of Parquet files, if its files are those that the server reads."""
    place = _place(scan)
    if place is None or not scan.title.startswith("Scan parquet"):
        raise Unexplained("it is no table of Parquet files at one place")
    if scan.nested:
        raise Unexplained("it is read in a subquery, and of those the server tells no files")
    newest = open_snapshot((place,), {}, server.options, Travel())
    is_delta = newest.format == "delta"
    if is_delta != (scan.index in _DELTA_INDEXES):
        raise Unexplained(f"only some of its files are read ({scan.index})")
    snapshot = _version_of(newest, place, _below(place, files), server)
    conditions = conditions_of(scan, snapshot, server.timezone)
    if not is_delta:
        conditions = _whatever_their_types(conditions, scan, snapshot, server)
    version = snapshot.version if is_delta else None
    note = f"{place}: {_TOGETHER.format(times=times)}" if times > 1 else None
    return Opened(_found(Named(place, (place,), {}, version), conditions), snapshot, note)


def _iceberg(server: Server, scan: PrintedScan) -> Opened:
    name = str(scan.table)
    place = local(name) if "/" in name else _location(server, name)
    snapshot = open_snapshot((place,), {}, server.options, Travel(snapshot=scan.snapshot))
    is_known = re.fullmatch(METADATA_TABLES, name.rpartition(".")[2])
    if is_known and not _has_columns(server, name, snapshot):
        raise Unexplained("it is metadata of a table")
    conditions = conditions_of(scan, snapshot, server.timezone)
    return Opened(_found(Named(name, (place,), {}, snapshot=scan.snapshot), conditions), snapshot)


def _found(table: Named, conditions: Conditions) -> FoundScan:
    return FoundScan(table, conditions.columns, conditions.read, conditions.stayed)


def _below(place: str, files: list[str]) -> tuple[frozenset[str], ...]:
    """The files at a place: some servers' lists are of addresses, in which signs are escaped."""
    root = f"{place.rstrip('/')}/"
    spellings = ([local(file) for file in files], [local(unquote(file)) for file in files])
    return tuple(frozenset(one for one in listed if one.startswith(root)) for listed in spellings)


def _version_of(
    newest: Snapshot, place: str, theirs: tuple[frozenset[str], ...], server: Server
) -> Snapshot:
    """The newest version with exactly the files that the server reads."""
    if _files_of(newest, place) in theirs:
        return newest
    if newest.format != "delta" or newest.version is None:
        raise Unexplained("the server reads other files than those that are there")
    for version in range(newest.version - 1, max(newest.version - _VERSIONS_AT_MOST, 0) - 1, -1):
        try:
            earlier = open_snapshot((place,), {}, server.options, Travel(version=version))
        except WhyscanError:
            # What a version needs may be cleaned up.
            break
        if _files_of(earlier, place) in theirs:
            return earlier
    raise Unexplained("the server reads files of a version that was not found")


def _files_of(snapshot: Snapshot, place: str) -> frozenset[str]:
    paths = snapshot.files((), zone("UTC")).paths.to_pylist()
    root = place.rstrip("/")
    return frozenset(
        local(path) if path.startswith("/") or "://" in path else f"{root}/{path}" for path in paths
    )


def _whatever_their_types(
    conditions: Conditions, scan: PrintedScan, snapshot: Snapshot, server: Server
) -> Conditions:
    """Without conditions that keep other files where partition columns are text.

    Whoever made the frame may have said so, and the plan does not: `month > 7` is another
    condition then, although it is printed alike.
    """
    fields = {field.name: field.type for field in snapshot.schema().fields}
    sources = [path[0] for path in snapshot.partition_sources]
    doubtful = [name for name in sources if not isinstance(fields[name], StringType)]
    named = [name for name in doubtful if any(f"`{name}`" in text for text in conditions.read)]
    if not named:
        return conditions
    as_text = open_snapshot((snapshot.uri,), dict.fromkeys(named, "string"), server.options)
    otherwise = conditions_of(scan, as_text, server.timezone)
    kept = [
        _kept(snapshot, conditions, server.timezone),
        _kept(as_text, otherwise, server.timezone),
    ]
    return conditions if kept[0] == kept[1] else conditions.without(named)


def _kept(snapshot: Snapshot, conditions: Conditions, timezone: str) -> set[str]:
    from whyscan.planning.request import bind_request

    text = " AND ".join(f"({one})" for one in conditions.read)
    predicate, options = bind_request(snapshot, text, None, {"timezone": timezone})
    plan = make_plan(snapshot, predicate, replace(options, depth=Depth.FILES))
    return {file.path for file in plan}


def _place(scan: PrintedScan) -> str | None:
    return None if scan.place is None else local(scan.place)


def _location(server: Server, name: str) -> str:
    """Where a table of a catalog is, as the server's catalog tells."""
    told = [kind for column, kind in _described(server, name) if column == "Location"]
    if not told:
        raise Unexplained("its catalog does not tell where it is")
    return local(told[-1])


def _has_columns(server: Server, name: str, snapshot: Snapshot) -> bool:
    """Whether the catalog knows a table by the columns that it has."""
    columns = takewhile(
        lambda column: column and not column.startswith("# "),
        (column for column, _ in _described(server, name)),
    )
    return set(columns) == set(snapshot.schema().names())


def _described(server: Server, name: str) -> list[tuple[str, str]]:
    """Columns with their types, and behind them what else the catalog tells."""
    quoted = ".".join(f"`{part.replace('`', '``')}`" for part in name.split("."))
    with uncarried():
        rows = server.spark.sql(f"DESCRIBE TABLE EXTENDED {quoted}").collect()
    return [(row["col_name"], row["data_type"]) for row in rows]


def _files(server: Server) -> list[str]:
    """Every file that the scans of files are about, before any was left out."""
    with uncarried(), _set(server.spark, _EVERY_FILE):
        return server.frame.inputFiles()


@contextmanager
def _set(spark: SparkSession, changed: Mapping[str, str]) -> Iterator[None]:
    """The session with other settings for a while."""
    before: dict[str, Any] = {key: spark.conf.get(key, None) for key in changed}
    for key, value in changed.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            spark.conf.unset(key) if value is None else spark.conf.set(key, value)
