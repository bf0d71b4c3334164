"""The live files of a Delta table as containers, with their statistics as intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.containers import Buckets, Containers
from whyscan.pruning.interval import Interval, between, meet, only_null
from whyscan.pruning.mask import Mask, simplified
from whyscan.tables.counts import MOST, plausible
from whyscan.tables.delta import replay
from whyscan.tables.delta.statistics import ROWS, UNREADABLE, statistics
from whyscan.tables.parquet import metadata_columns
from whyscan.tables.snapshot import Files
from whyscan.tree.types import BIGINT, STRING, TIMESTAMP, NullType, StructType

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from whyscan.tables.delta.generation_expressions import Generated
    from whyscan.tables.delta.partitions import PartitionColumn
    from whyscan.tables.delta.schema import DeltaColumn
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Path

PATHS = frozenset({metadata_columns.FILE_PATH, metadata_columns.FILE_NAME})
_MILLISECOND = 1_000


class NamedColumns(Struct, frozen=True):
    """The columns that a predicate names, sorted by where their values are recorded.

    `recorded` have statistics, `always_null` are of type NULL. `partitions` are all partition
    columns of the table; `generated` are those of them that are generated from a named column.
    """

    paths: frozenset[Path]
    recorded: tuple[DeltaColumn, ...]
    always_null: tuple[DeltaColumn, ...]
    partitions: tuple[PartitionColumn, ...]
    generated: Mapping[Path, Generated]


def sort_columns(
    columns: Sequence[DeltaColumn],
    paths: Collection[Path],
    partitions: tuple[PartitionColumn, ...],
    generated: Mapping[Path, Generated],
) -> NamedColumns:
    """Sort the named columns. Partition columns and structs have no statistics themselves."""
    partitioned = {partition.column.path for partition in partitions}
    plain = [c for c in columns if c.path not in partitioned and not isinstance(c.type, StructType)]
    return NamedColumns(
        frozenset(paths),
        tuple(c for c in plain if not isinstance(c.type, NullType)),
        tuple(c for c in plain if isinstance(c.type, NullType)),
        partitions,
        {path: g for path, g in generated.items() if g.source.path in paths},
    )


def combined(table: pa.Table) -> pa.RecordBatch:
    """Return the rows of the table as one batch.

    A column of a table is several arrays, which most kernels must copy first; that of a batch is
    one array.
    """
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], table.schema)


def files(
    store: Store, batch: pa.RecordBatch, needed: NamedColumns, read_paths: Callable[[], pa.Array]
) -> Files:
    """The live files, in the order of the log."""
    recorded_rows = plausible(batch.column(ROWS))
    deletions = _deletions(batch, recorded_rows)
    partition, buckets = _partition(needed, batch)
    believed = statistics(needed.recorded, batch, recorded_rows)
    return Files(
        read_paths=read_paths,
        bytes=plausible(batch.column(replay.SIZE)),
        rows=recorded_rows,
        partition=_readable(needed.partitions, batch),
        containers=Containers(
            batch.num_rows,
            # Only live rows count: no row of a file matches if all its rows are deleted.
            rows=recorded_rows if deletions is None else deletions.live,
            partition={**partition, **_constants(store, batch, needed.paths)},
            buckets=buckets,
            statistics={
                **{path: b.interval for path, b in believed.items()},
                **{c.path: only_null(c.type) for c in needed.always_null},
            },
            exact={path: b.exact for path, b in believed.items()},
            contradicted={path: b.contradicted for path, b in believed.items()},
            unreadable=_unreadable(needed, batch),
        ),
        deleted=None if deletions is None else deletions.surely,
        maybe_deleted=None if deletions is None else deletions.maybe,
        wrong_counts=recorded_rows.null_count
        - batch.column(ROWS).null_count
        + (0 if deletions is None else deletions.wrong_counts),
    )


def _unreadable(needed: NamedColumns, batch: pa.RecordBatch) -> dict[Path, Mask]:
    """True where a statistic or partition value cannot be read; the path `()` is the row count."""
    return {
        (): simplified(batch.column(UNREADABLE)),
        **{
            column.path: simplified(batch.column(f"{UNREADABLE}{at}"))
            for at, column in enumerate(needed.recorded)
        },
        **{
            p.column.path: simplified(p.unreadable(batch))
            for p in needed.partitions
            if p.column.path in needed.paths
        },
    }


class _Deletions(Struct, frozen=True):
    """How many rows of each file deletion vectors hide, and how many rows stay live.

    `live` and `maybe` are null for a file whose vector counts more rows than the file has, or a
    negative number.
    """

    surely: pa.Array
    maybe: pa.Array | None
    live: pa.Array
    wrong_counts: int


def _deletions(batch: pa.RecordBatch, rows: pa.Array) -> _Deletions | None:
    if replay.DELETED not in batch.schema.names:
        return None
    counted = batch.column(replay.DELETED)
    possible = pc.and_(pc.greater_equal(counted, 0), pc.less(counted, MOST))
    right = pc.and_not(possible, pc.fill_null(pc.greater(counted, rows), fill_value=False))
    wrong = len(right) - right.true_count
    surely = counted if not wrong else pc.if_else(right, counted, 0)
    unknown = pa.scalar(None, pa.int64())
    return _Deletions(
        surely,
        pc.if_else(right, 0, unknown) if wrong else None,
        pc.if_else(right, pc.subtract(rows, surely), unknown),
        wrong,
    )


def _readable(partitions: Sequence[PartitionColumn], batch: pa.RecordBatch) -> pa.Table:
    columns = {p.column.path[0]: p.readable(batch) for p in partitions}
    if not columns:
        return pa.Table.from_batches([batch.select([])])
    return pa.table(columns)


def _partition(
    needed: NamedColumns, batch: pa.RecordBatch
) -> tuple[dict[Path, Interval], tuple[Buckets, ...]]:
    """Intervals of partition columns, and what they say about the columns they are made from."""
    paths = needed.paths | needed.generated.keys()
    partition_intervals = {
        p.column.path: p.interval(batch) for p in needed.partitions if p.column.path in paths
    }
    intervals = {
        path: interval for path, interval in partition_intervals.items() if path in needed.paths
    }
    if not needed.generated:
        return intervals, ()
    from whyscan.tables.delta.generated_columns import GeneratedValues, lift, substrings

    generated = [GeneratedValues(g, partition_intervals[at]) for at, g in needed.generated.items()]
    for path, interval in lift(generated).items():
        intervals[path] = meet(intervals[path], interval) if path in intervals else interval
    return intervals, substrings(generated)


def _constants(store: Store, batch: pa.RecordBatch, paths: frozenset[Path]) -> dict[Path, Interval]:
    """The columns of Spark's `_metadata` that have one value per file."""
    return dict(_constant(store, batch, paths))


def _constant(
    store: Store, batch: pa.RecordBatch, paths: frozenset[Path]
) -> Iterator[tuple[Path, Interval]]:
    if metadata_columns.FILE_SIZE in paths:
        sizes = batch.column(replay.SIZE)
        yield metadata_columns.FILE_SIZE, between(BIGINT, sizes, sizes)
    if metadata_columns.FILE_MODIFIED in paths:
        steps = pc.multiply(batch.column(replay.MODIFIED), _MILLISECOND)
        times = steps.cast(pa.timestamp("us"))
        yield metadata_columns.FILE_MODIFIED, between(TIMESTAMP, times, times)
    if not paths.isdisjoint(PATHS):
        file_paths = batch.column(replay.PATH).to_pylist()
        addresses = [
            None if _is_elsewhere(p) else metadata_columns.uri(store, p) for p in file_paths
        ]
        names = [None if a is None else a.rpartition("/")[2] for a in addresses]
        yield metadata_columns.FILE_PATH, _texts(addresses)
        yield metadata_columns.FILE_NAME, _texts(names)


def _is_elsewhere(path: str) -> bool:
    """Whether a path is not below the table's folder. How Spark shows such a path is unknown."""
    return path.startswith("/") or ":" in path.partition("/")[0]


def _texts(texts: Sequence[str | None]) -> Interval:
    ends = pa.array([None if t is None else t.encode() for t in texts], pa.binary())
    return between(STRING, ends, ends)
