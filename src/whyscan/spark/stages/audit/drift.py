"""Shapes that keep more of a table than before, and the snapshot at which that began.

Between an earlier audit, which kept less, and today's there are versions of the table. The same
query is planned at versions by bisection. The result is a version at which it keeps more, and the
version before it, at which it does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct, msgpack
from msgspec.structs import replace

from whyscan.errors import WhyscanError
from whyscan.predicate.syntax.session import Session
from whyscan.spark.jobs import mapped, ran, work_frame, work_of_task
from whyscan.spark.pinned_tables import MissingTable, Tables
from whyscan.spark.stages.audit.amounts import audited_scans
from whyscan.spark.stages.audit.executor import error_line
from whyscan.spark.stages.audit.history import digest, earlier
from whyscan.spark.stages.audit.report import Audit, Drift
from whyscan.spark.tables import canonical_uri
from whyscan.statements.explain import explain_statement
from whyscan.statements.sql.table_names import Catalogue
from whyscan.tables import open_snapshot
from whyscan.tables.time_travel import Travel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.jobs import Batches, Task
    from whyscan.spark.pinned_tables import Pinned
    from whyscan.spark.stages.audit.executor import Terms
    from whyscan.spark.stages.audit.history import Earlier
    from whyscan.tables.snapshot import Snapshot

OTHER_VALUES = "the same query kept as much then: it asks for other values"
NO_VERSIONS = "the format keeps no versions"
_STARTS = pa.schema([("start", pa.binary())])
TRIED = 5
"""How many texts of one shape are tried: those with the largest drift may have other literals."""


class DriftSuspect(Struct, frozen=True):
    """A scan that keeps more than before: its query, the number of the scan, and its tables."""

    drift: Drift
    dialect: str
    scan: int
    tables: tuple[Pinned, ...]

    @property
    def key(self) -> tuple[str, str, int]:
        return self.drift.shape, self.drift.table, self.scan


class DriftStart(Struct, frozen=True):
    """The first snapshot that keeps more and the last that does not, or why they are unknown."""

    number: int
    fell_at: int | None = None
    last_good: int | None = None
    unknown: str | None = None


def drifted(
    spark: SparkSession,
    audit: Audit,
    tables: Mapping[str, Pinned],
    terms: Terms,
    before: DataFrame,
) -> tuple[Drift, ...]:
    """For each shape and table the query with the largest drift, largest first.

    `before` are the rows of a history.
    """
    suspects = _suspects(audit, tables, earlier(spark, audit, before))
    if not suspects:
        return ()
    # One suspect per task: each plans a table several times.
    frame = work_frame(spark, enumerate(suspects))
    rows = ran(mapped(frame, _searching(terms, audit.run.threshold), _STARTS).collect)
    starts = [msgpack.decode(bytes(row["start"]), type=DriftStart) for row in rows]
    by_number = {start.number: start for start in starts}
    drifts: dict[tuple[str, str, int], Drift] = {}
    for number, suspect in enumerate(suspects):
        start = by_number[number]
        if start.unknown != OTHER_VALUES:
            drift = replace(
                suspect.drift,
                fell_at=start.fell_at,
                last_good=start.last_good,
                unknown=start.unknown,
            )
            drifts.setdefault(suspect.key, drift)
    return tuple(
        sorted(drifts.values(), key=lambda drift: (drift.before - drift.after, drift.shape))
    )


def _suspects(
    audit: Audit, tables: Mapping[str, Pinned], before: Mapping[tuple[str, str, int], Earlier]
) -> list[DriftSuspect]:
    """For each shape and table the queries with the largest drift, largest first."""
    suspects: dict[tuple[str, str, int], list[DriftSuspect]] = {}
    for query in audit.queries:
        places = {canonical_uri(line.uri) for line in query.tables}
        used = tuple(table for table in tables.values() if canonical_uri(table.uri) in places)
        for at, table in enumerate(query.tables):
            then = before.get((digest(query.sql), canonical_uri(table.uri), at))
            if then is None:
                continue
            if not then.same and then.snapshot is None:
                continue  # Without versions, other values cannot be told from another layout.
            drift = Drift(
                shape=query.shape,
                sql=query.sql,
                table=table.name,
                before=then.ratio,
                after=table.ratio,
                before_run=then.run,
                before_at=then.at,
                before_snapshot=then.snapshot,
                after_snapshot=table.scan.report.table.version,
            )
            suspect = DriftSuspect(drift, query.dialect, at, used)
            suspects.setdefault(suspect.key, []).append(suspect)
    return [
        suspect
        for same_shape in suspects.values()
        for suspect in sorted(same_shape, key=lambda s: s.drift.before - s.drift.after)[:TRIED]
    ]


def _searching(terms: Terms, threshold: float) -> Task:
    """A function for `mapInArrow`: suspects to drift starts."""

    def searched(batches: Batches) -> Iterator[pa.RecordBatch]:
        for number, suspect in work_of_task(batches):
            start = replace(_searched(suspect, terms, threshold), number=number)
            encoded = pa.array([msgpack.encode(start)], pa.binary())
            yield pa.RecordBatch.from_arrays([encoded], schema=_STARTS)

    return searched


def _searched(suspect: DriftSuspect, terms: Terms, threshold: float) -> DriftStart:
    try:
        return _bisected(suspect, terms, threshold)
    except WhyscanError as error:
        return DriftStart(0, unknown=error_line(error))
    except MissingTable as missing:
        return DriftStart(0, unknown=f"{missing.name} was not given")


def _bisected(suspect: DriftSuspect, terms: Terms, threshold: float) -> DriftStart:
    at = _QueryAtVersion(suspect, terms)
    line = at.versions()
    if isinstance(line, str):
        return DriftStart(0, unknown=line)
    limit = suspect.drift.before + threshold
    first = at.ratio(line[0])
    if first is None or first > limit:
        return DriftStart(0, unknown=OTHER_VALUES)
    low, high = 0, len(line) - 1
    while high - low > 1:
        middle = (low + high) // 2
        kept = at.ratio(line[middle])
        if kept is not None and kept > limit:
            high = middle
        else:
            low = middle
    return DriftStart(0, fell_at=line[high], last_good=line[low])


class _QueryAtVersion:
    """A query on a table at earlier versions."""

    def __init__(self, suspect: DriftSuspect, terms: Terms) -> None:
        self._suspect = suspect
        self._terms = terms
        self._name = suspect.drift.table
        self._tables = Tables(suspect.tables)

    def versions(self) -> Sequence[int] | str:
        """The versions from the earlier audit's to today's, or why they are unknown."""
        drift = self._suspect.drift
        before, after = drift.before_snapshot, drift.after_snapshot
        if before is None or after is None:
            return NO_VERSIONS
        if before == after:
            return OTHER_VALUES
        today = self._pinned.opened()
        if today.format == "delta":
            return range(before, after + 1) if before < after else "its versions were numbered anew"
        return _lineage(today, before, after)

    def ratio(self, version: int) -> float | None:
        """The share of the table that the query keeps at a version."""
        tables = _TablesAtVersion(self._tables, self._pinned.uri, self._opened(version))
        session = Session(self._suspect.dialect, self._terms.timezone)
        catalogue = Catalogue(tables, tables.opened)
        sql = self._suspect.drift.sql
        report = explain_statement(sql, catalogue, session, self._terms.options)
        return audited_scans(report)[self._suspect.scan].ratio

    def _opened(self, version: int) -> Snapshot:
        pinned = self._pinned
        travel = Travel(version=version) if pinned.format == "delta" else Travel(snapshot=version)
        return open_snapshot([pinned.uri], {}, pinned.options, travel)

    @property
    def _pinned(self) -> Pinned:
        pinned = next((table for table in self._suspect.tables if table.name == self._name), None)
        if pinned is None:
            raise MissingTable(self._name)
        return pinned


class _TablesAtVersion(Tables):
    """The same tables, except that the one at an address is an earlier snapshot."""

    def __init__(self, tables: Tables, uri: str, instead: Snapshot) -> None:
        super().__init__(tables.pinned)
        self._place = canonical_uri(uri)
        self._instead = instead

    def __getitem__(self, name: str) -> Snapshot:
        same = canonical_uri(self.uri(name)) == self._place
        return self._instead if same else super().__getitem__(name)


def _lineage(today: Snapshot, before: int, after: int) -> Sequence[int] | str:
    """The snapshots of an Iceberg table from `before` to `after`, by parents, oldest first."""
    from whyscan.tables.iceberg.snapshot import IcebergSnapshot

    if not isinstance(today, IcebergSnapshot):
        return NO_VERSIONS
    records = today.metadata.snapshots
    line = [after]
    while line[-1] != before:
        record = records.get(line[-1])
        if record is None or record.parent is None or record.parent in line:
            return f"snapshot {before} is not among what is kept of its history"
        line.append(record.parent)
    return line[::-1]
