"""One version of a Delta table: its live files from the log, and their footers on request."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from whyscan.errors import TableError
from whyscan.tables import duckdb_engine
from whyscan.tables.bounded_cache import BoundedCache
from whyscan.tables.delta import live_files, replay
from whyscan.tables.delta.actions import ActionReader
from whyscan.tables.delta.generation_expressions import Generated, read_generation
from whyscan.tables.delta.history import recorded_times, version_at
from whyscan.tables.delta.local_log_files import LocalCopies
from whyscan.tables.delta.log import LOG, DeltaLog, LogSegment, read_log
from whyscan.tables.delta.log_parts import LogPart, WholeLog
from whyscan.tables.delta.partitions import PartitionColumn, partition_columns
from whyscan.tables.delta.specs import spec
from whyscan.tables.delta.state import TableState, read_state
from whyscan.tables.delta.statistics import leaves
from whyscan.tables.parquet import metadata_columns
from whyscan.tables.parquet.levels_below import BelowParquetFooters
from whyscan.tables.parts import FETCHED_WHOLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from whyscan.tables.file_columns import FileReading
    from whyscan.tables.history import History
    from whyscan.tables.snapshot import (
        Files,
        Recording,
        RowGroups,
        Spec,
        SpecLine,
        Traffic,
    )
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Column, Path
    from whyscan.tree.types import Schema
    from whyscan.tree.zones import Zone

SMALL_LOG = 1 << 22
"""Every replay of a log with at most this many bytes also returns the paths of the files."""


class DeltaSnapshot(Struct, frozen=True, eq=False):
    """One version of a Delta table, or one part of it.

    `generated` has the expression of each generated partition column, by the column's path.
    Pickling a snapshot leaves out its cache.
    """

    store: Store
    version: int
    log: WholeLog | LogPart
    state: TableState
    partitions: tuple[PartitionColumn, ...]
    generated: Mapping[Path, Generated]
    cached_files: BoundedCache[Files] = field(default_factory=BoundedCache)

    format: ClassVar[str] = "delta"
    footers_describe_files: ClassVar[bool] = False

    @property
    def below(self) -> BelowParquetFooters:
        """Reads the indexes and filters of the data files."""
        return BelowParquetFooters(self.store)

    @property
    def uri(self) -> str:
        return self.store.uri

    @property
    def partition_sources(self) -> tuple[Path, ...]:
        """The partition columns, and the source columns of the generated partition columns."""
        columns = [partition.column.path for partition in self.partitions]
        return tuple(dict.fromkeys([*columns, *(g.source.path for g in self.generated.values())]))

    @property
    def specs(self) -> tuple[Spec, ...]:
        """All files of a Delta table have the same spec."""
        return (spec(self.partitions, self.generated),)

    @property
    def numbered_specs(self) -> tuple[SpecLine, ...]:
        """Empty: Delta has one spec and does not number it."""
        return ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks about the table for the report. They do not change a plan."""
        return self.state.notes()

    def schema(self, named: Sequence[str] = ()) -> Schema:  # noqa: ARG002 - the log names all
        return self.state.schema.logical

    def manifests(self) -> None:
        """None: Delta has no manifests."""

    def files(
        self,
        columns: Sequence[Column],
        zone: Zone | None = None,  # noqa: ARG002 - the writer's zone matters, and is not recorded
        manifests: pa.Array | None = None,  # noqa: ARG002 - there are none
    ) -> Files:
        """Every live file with the statistics of `columns`. The result is cached by columns."""
        paths = frozenset(column.path for column in columns)
        return self.cached_files.get(paths, lambda: self._read_files(columns))

    def read_ahead(self, columns: Sequence[Column]) -> None:
        """Start to read the files in a thread: DuckDB does the work, so that Python can go on."""
        paths = frozenset(column.path for column in columns)
        self.cached_files.begin(paths, lambda: self._read_files(columns))

    def _read_files(self, columns: Sequence[Column]) -> Files:
        table_columns = self.state.schema.columns
        needed = live_files.sort_columns(
            [table_columns[column.path] for column in columns if column.path in table_columns],
            [column.path for column in columns],
            self.partitions,
            self.generated,
        )
        request = replay.Request(
            leaves(needed.recorded),
            self.partitions,
            self.state.spark_versions,
            paths=self._is_small or not needed.paths.isdisjoint(live_files.PATHS),
            modified=metadata_columns.FILE_MODIFIED in needed.paths,
        )
        batch = self._replayed(request)
        read_paths = partial(batch.column, replay.PATH) if request.paths else cache(self._paths)
        return live_files.files(self.store, batch, needed, read_paths)

    @property
    def _is_small(self) -> bool:
        """Whether the log is so small that reading the paths each time is cheaper than a replay."""
        return sum(file.size for file in self.log.files) <= SMALL_LOG

    def _paths(self) -> pa.Array:
        """The paths of the live files, in the order of `files`."""
        request = replay.Request((), (), frozenset(), paths=True)
        return self._replayed(request).column(replay.PATH)

    def _replayed(self, request: replay.Request) -> pa.RecordBatch:
        table = self.log.live_files(request)
        # Combining the chunks copies them: DuckDB's connection, and its memory, is closed by now.
        return live_files.combined(table)

    def row_groups(
        self,
        files: Files,
        opened: pa.Array,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
        *,
        keep_footers: bool = False,
    ) -> RowGroups:
        """The row groups of the files at the positions `opened`.

        `projection` None stands for all columns.
        """
        from whyscan.tables.delta.row_groups import DeltaFileColumns, below
        from whyscan.tables.parquet.data_files import DataFiles

        file_columns = DeltaFileColumns(
            self.state.schema.columns,
            frozenset(partition.column.path for partition in self.partitions),
            self.state.naming,
        )
        data = DataFiles(self.store, files, opened, partial(below, self.store))
        return file_columns.row_groups(data, columns, projection, keep_footers=keep_footers)

    def reading(self, files: Files, at: pa.Array, zone: Zone) -> FileReading:  # noqa: ARG002 - the log's order
        """How the rows of the files at the positions `at` are read."""
        from whyscan.tables.delta.file_columns import data_files, reading

        request = replay.Request((), self.partitions, frozenset(), paths=True, vectors=True)
        batch = self._replayed(request).take(at)
        return reading(self.state, data_files(self.store, batch, self.partitions, zone))

    def recording(self, column: Column) -> Recording:
        """The statistics of a column that the table's properties tell writers to record."""
        from whyscan.tables.delta.statistics_columns import recording

        return recording(column, self.state)

    def history(self, newest: int) -> History:
        """The newest commits of the log, and the settings of this version."""
        from whyscan.tables.delta.versions import history

        return history(self, newest)

    def traffic(self) -> Traffic:
        return self.store.meter.traffic()

    def parts(self, files_each: int) -> tuple[DeltaSnapshot, ...]:
        """Parts of about `files_each` files. All parts in order have the files of this snapshot."""
        return tuple(
            replace(self, store=part.store, log=part, cached_files=BoundedCache())
            for part in self.log.parts(self.store, files_each)
        )

    def __reduce__(self) -> tuple[type[DeltaSnapshot], tuple[object, ...]]:
        fields = (self.store, self.version, self.log, self.state, self.partitions, self.generated)
        return DeltaSnapshot, fields


def is_delta(store: Store) -> bool:
    """Whether a folder is a Delta table."""
    return store.holds(LOG)


def open_delta(
    store: Store,
    version: int | None = None,
    timestamp: int | None = None,
    fetched_whole: int = FETCHED_WHOLE,
) -> DeltaSnapshot:
    """Open the newest version, or `version`, or the version at `timestamp` (µs since 1970, UTC)."""
    if not is_delta(store):
        raise TableError(f"{store.uri} is no Delta table: it has no {LOG} folder")
    log = read_log(store.list(LOG, enter=lambda _: False))
    with duckdb_engine.connection() as connection:
        reader = ActionReader(connection, LocalCopies(store, fetched_whole=fetched_whole))
        if timestamp is not None:
            version = _version_at(reader, log, timestamp)
        return _open(store, reader, log.segment(version))


def _open(store: Store, reader: ActionReader, segment: LogSegment) -> DeltaSnapshot:
    sources = reader.sources(segment)
    state = read_state(reader, sources)
    partitions = partition_columns(state.partitioned_by)
    generated = {
        partition.column.path: expression
        for partition in partitions
        if (expression := read_generation(state.schema, partition.column)) is not None
    }
    log = WholeLog(reader.copies, sources)
    return DeltaSnapshot(store, segment.version, log, state, partitions, generated)


def _version_at(reader: ActionReader, log: DeltaLog, moment: int) -> int:
    """The version at a time. Commits are read only if the table records commit times in them."""
    newest = read_state(reader, reader.sources(log.segment()))
    times = recorded_times(reader, log.commits.values()) if newest.protocol.times_commits else {}
    return version_at(log, times, moment)
