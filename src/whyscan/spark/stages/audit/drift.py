"""Shapes that keep more of a table than they did, and the snapshot at which that began.

Between a run that kept less and today's lie versions of the table. The same query is planned at
them, each time at the one in the middle of those that are left: what is found is a version at
which it keeps more, and the one before it, at which it does not.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct, msgpack
from msgspec.structs import replace

from whyscan.errors import WhyscanError
from whyscan.predicate.syntax.session import Session
from whyscan.spark.packed import packed
from whyscan.spark.pinned_tables import MissingTable, Tables
from whyscan.spark.stages.audit.executor import told
from whyscan.spark.stages.audit.history import digest, earlier
from whyscan.spark.stages.audit.lines import table_lines
from whyscan.spark.stages.audit.report import Audit, Drift
from whyscan.spark.stages.audit.stage import collected
from whyscan.spark.stages.audit.totals import place
from whyscan.statements.explain import explain_statement
from whyscan.statements.sql.table_names import Catalogue
from whyscan.tables import open_snapshot
from whyscan.tables.time_travel import Travel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from whyscan.spark.pinned_tables import Pinned
    from whyscan.spark.stages.audit.executor import Terms
    from whyscan.spark.stages.audit.history import Earlier
    from whyscan.tables.snapshot import Snapshot

OTHER_VALUES = "the same query kept as much then: it asks for other values"
NO_VERSIONS = "the format keeps no versions"
TRIED = 5
"""Texts of one shape: those that fell the most may ask for other values."""


class Suspect(Struct, frozen=True):
    """A scan that keeps more than before: which query, which of its scans, and since when."""

    drift: Drift
    dialect: str
    scan: int
    tables: tuple[Pinned, ...]

    @property
    def key(self) -> tuple[str, str, int]:
        return self.drift.shape, self.drift.table, self.scan


class Fall(Struct, frozen=True):
    """Where it fell: the first snapshot that keeps more and the last that does not, or why not."""

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
    """Of each shape and table the query that fell the most, the deepest fall first.

    `before` are the rows of a history.
    """
    suspects = _suspects(audit, tables, earlier(spark, audit, before))
    if not suspects:
        return ()
    work = [packed((number, one)) for number, one in enumerate(suspects)]
    # One a task: each plans a table several times over.
    batches = [pa.RecordBatch.from_pydict({"work": pa.array([one], pa.binary())}) for one in work]
    frame = spark.createDataFrame(pa.Table.from_batches(batches))
    rows = collected(frame.mapInArrow(_searching(terms, audit.run.threshold), "fall binary"))
    falls = [msgpack.decode(bytes(row["fall"]), type=Fall) for row in rows]
    by_number = {fall.number: fall for fall in falls}
    found: dict[tuple[str, str, int], Drift] = {}
    for number, suspect in enumerate(suspects):
        fall = by_number[number]
        if fall.unknown != OTHER_VALUES:
            told_of = replace(
                suspect.drift,
                fell_at=fall.fell_at,
                last_good=fall.last_good,
                unknown=fall.unknown,
            )
            found.setdefault(suspect.key, told_of)
    return tuple(sorted(found.values(), key=lambda one: (one.before - one.after, one.shape)))


def _suspects(
    audit: Audit, tables: Mapping[str, Pinned], before: Mapping[tuple[str, str, int], Earlier]
) -> list[Suspect]:
    """Of each shape and table the queries that fell the most, the deepest fall first."""
    found: dict[tuple[str, str, int], list[Suspect]] = {}
    for query in audit.queries:
        places = {place(line.uri) for line in query.tables}
        used = tuple(one for one in tables.values() if place(one.uri) in places)
        for at, table in enumerate(query.tables):
            then = before.get((digest(query.sql), place(table.uri), at))
            now = table.ratio
            if then is None or now is None:
                continue
            if not then.same and then.snapshot is None:
                continue  # Without versions nobody can tell other values from another layout.
            drift = Drift(
                shape=query.shape,
                sql=query.sql,
                table=table.name,
                before=then.ratio,
                after=now,
                before_run=then.run,
                before_at=then.at,
                before_snapshot=then.snapshot,
                after_snapshot=table.version,
            )
            suspect = Suspect(drift, query.dialect, at, used)
            found.setdefault(suspect.key, []).append(suspect)
    return [
        suspect
        for alike in found.values()
        for suspect in sorted(alike, key=lambda one: one.drift.before - one.drift.after)[:TRIED]
    ]


def _searching(
    terms: Terms, threshold: float
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For `mapInArrow`: suspects to falls."""

    def searched(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for work in batch.column("work"):
                number, suspect = pickle.loads(work.as_py())  # noqa: S301 - written by the driver
                fall = replace(_searched(suspect, terms, threshold), number=number)
                found = pa.array([msgpack.encode(fall)], pa.binary())
                yield pa.RecordBatch.from_pydict({"fall": found})

    return searched


def _searched(suspect: Suspect, terms: Terms, threshold: float) -> Fall:
    try:
        return _bisected(suspect, terms, threshold)
    except WhyscanError as error:
        return Fall(0, unknown=told(error))
    except MissingTable as missing:
        return Fall(0, unknown=f"{missing.name} was not given")


def _bisected(suspect: Suspect, terms: Terms, threshold: float) -> Fall:
    at = _At(suspect, terms)
    line = at.versions()
    if isinstance(line, str):
        return Fall(0, unknown=line)
    limit = suspect.drift.before + threshold
    first = at.ratio(line[0])
    if first is None or first > limit:
        return Fall(0, unknown=OTHER_VALUES)
    low, high = 0, len(line) - 1
    while high - low > 1:
        middle = (low + high) // 2
        kept = at.ratio(line[middle])
        if kept is not None and kept > limit:
            high = middle
        else:
            low = middle
    return Fall(0, fell_at=line[high], last_good=line[low])


class _At:
    """A query on a table as it was."""

    def __init__(self, suspect: Suspect, terms: Terms) -> None:
        self._suspect = suspect
        self._terms = terms
        self._name = suspect.drift.table
        self._tables = Tables(suspect.tables)

    def versions(self) -> Sequence[int] | str:
        """From the version of the earlier run to today's; else why they are not known."""
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
        """What the query keeps of the table at a version."""
        given = _Replaced(self._tables, self._pinned.uri, self._opened(version))
        session = Session(self._suspect.dialect, self._terms.timezone)
        catalogue = Catalogue(given, given.opened)
        sql = self._suspect.drift.sql
        report = explain_statement(sql, catalogue, session, self._terms.options)
        return table_lines(report)[self._suspect.scan].ratio

    def _opened(self, version: int) -> Snapshot:
        pinned = self._pinned
        travel = Travel(version=version) if pinned.format == "delta" else Travel(snapshot=version)
        return open_snapshot([pinned.uri], {}, pinned.options, travel)

    @property
    def _pinned(self) -> Pinned:
        found = next((one for one in self._suspect.tables if one.name == self._name), None)
        if found is None:
            raise MissingTable(self._name)
        return found


class _Replaced(Tables):
    """The same tables, but for the one at an address, which is as it was, whatever its name."""

    def __init__(self, tables: Tables, uri: str, instead: Snapshot) -> None:
        super().__init__(tables.pinned)
        self._place = place(uri)
        self._instead = instead

    def __getitem__(self, name: str) -> Snapshot:
        same = place(self.uri(name)) == self._place
        return self._instead if same else super().__getitem__(name)


def _lineage(today: Snapshot, before: int, after: int) -> Sequence[int] | str:
    """The snapshots of an Iceberg table from one to another, oldest first, by their parents."""
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
