"""Live files as containers: what replay found, typed, believed and put into intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.pruning.containers import Containers
from whyscan.pruning.interval import Interval, between, meet, only_null
from whyscan.tables.counts import MOST, plausible
from whyscan.tables.delta import replay
from whyscan.tables.delta.generated_columns import GeneratedValues, lift
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


class Wanted(Struct, frozen=True):
    """The columns that a predicate names, by where something is recorded of them.

    `partitions` are all of the table's; `generated` are those of them whose source is named.
    """

    paths: frozenset[Path]
    recorded: tuple[DeltaColumn, ...]
    always_null: tuple[DeltaColumn, ...]
    partitions: tuple[PartitionColumn, ...]
    generated: Mapping[Path, Generated]


def wanted(
    columns: Sequence[DeltaColumn],
    paths: Collection[Path],
    partitions: tuple[PartitionColumn, ...],
    generated: Mapping[Path, Generated],
) -> Wanted:
    """Sort the named columns: partition columns have no statistics, structs only below them."""
    partitioned = {partition.column.path for partition in partitions}
    plain = [c for c in columns if c.path not in partitioned and not isinstance(c.type, StructType)]
    return Wanted(
        frozenset(paths),
        tuple(c for c in plain if not isinstance(c.type, NullType)),
        tuple(c for c in plain if isinstance(c.type, NullType)),
        partitions,
        {path: g for path, g in generated.items() if g.source.path in paths},
    )


def whole(told: pa.Table) -> pa.RecordBatch:
    """The rows as one batch. A column of a batch is an array: a table's would be copied."""
    batches = told.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], told.schema)


def files(
    store: Store, told: pa.RecordBatch, asked: Wanted, read_paths: Callable[[], pa.Array]
) -> Files:
    """The live files, in the order of the log."""
    recorded_rows = plausible(told.column(ROWS))
    gone = _deletions(told, recorded_rows)
    believed = statistics(asked.recorded, told, recorded_rows)
    unread = told.column(UNREADABLE).true_count
    named = [p for p in asked.partitions if p.column.path in asked.paths]
    return Files(
        read_paths=read_paths,
        bytes=plausible(told.column(replay.SIZE)),
        rows=recorded_rows,
        partition=_readable(asked.partitions, told),
        containers=Containers(
            told.num_rows,
            # Of live rows alone: where every row was deleted nothing can match.
            rows=recorded_rows if gone is None else gone.live,
            partition={**_partition(asked, told), **_constants(store, told, asked.paths)},
            statistics={
                **{path: b.interval for path, b in believed.items()},
                **{c.path: only_null(c.type) for c in asked.always_null},
            },
            exact={path: b.exact for path, b in believed.items()},
        ),
        deleted=None if gone is None else gone.surely,
        maybe_deleted=None if gone is None else gone.maybe,
        contradictions=sum(b.contradictions for b in believed.values())
        + recorded_rows.null_count
        - told.column(ROWS).null_count
        + (0 if gone is None else gone.contradictions),
        unreadable=unread + sum(p.unreadable(told) for p in named),
    )


class _Deletions(Struct, frozen=True):
    """Rows that deletion vectors hide; null in `live` and `maybe` where one contradicts its file.

    Such a vector hides more rows than there are, or fewer than none.
    """

    surely: pa.Array
    maybe: pa.Array | None
    live: pa.Array
    contradictions: int


def _deletions(told: pa.RecordBatch, rows: pa.Array) -> _Deletions | None:
    if replay.DELETED not in told.schema.names:
        return None
    counted = told.column(replay.DELETED)
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


def _readable(partitions: Sequence[PartitionColumn], told: pa.RecordBatch) -> pa.Table:
    columns = {p.column.path[0]: p.readable(told) for p in partitions}
    if not columns:
        return pa.Table.from_batches([told.select([])])
    return pa.table(columns)


def _partition(asked: Wanted, told: pa.RecordBatch) -> dict[Path, Interval]:
    """Partition columns by their values, and the sources of generated ones by their preimage."""
    needed = asked.paths | asked.generated.keys()
    own = {p.column.path: p.interval(told) for p in asked.partitions if p.column.path in needed}
    found = {path: interval for path, interval in own.items() if path in asked.paths}
    for path, interval in lift(
        [GeneratedValues(g, own[at]) for at, g in asked.generated.items()]
    ).items():
        found[path] = meet(found[path], interval) if path in found else interval
    return found


def _constants(store: Store, told: pa.RecordBatch, asked: frozenset[Path]) -> dict[Path, Interval]:
    """Spark's `_metadata` of each file."""
    return dict(_constant(store, told, asked))


def _constant(
    store: Store, told: pa.RecordBatch, asked: frozenset[Path]
) -> Iterator[tuple[Path, Interval]]:
    if metadata_columns.FILE_SIZE in asked:
        sizes = told.column(replay.SIZE)
        yield metadata_columns.FILE_SIZE, between(BIGINT, sizes, sizes)
    if metadata_columns.FILE_MODIFIED in asked:
        steps = pc.multiply(told.column(replay.MODIFIED), _MILLISECOND)
        times = steps.cast(pa.timestamp("us"))
        yield metadata_columns.FILE_MODIFIED, between(TIMESTAMP, times, times)
    if not asked.isdisjoint(PATHS):
        paths = told.column(replay.PATH).to_pylist()
        addresses = [None if _is_elsewhere(p) else metadata_columns.uri(store, p) for p in paths]
        names = [None if a is None else a.rpartition("/")[2] for a in addresses]
        yield metadata_columns.FILE_PATH, _texts(addresses)
        yield metadata_columns.FILE_NAME, _texts(names)


def _is_elsewhere(path: str) -> bool:
    """A path that is not below the table's folder: how Spark would show it is not known."""
    return path.startswith("/") or ":" in path.partition("/")[0]


def _texts(texts: Sequence[str | None]) -> Interval:
    ends = pa.array([None if t is None else t.encode() for t in texts], pa.binary())
    return between(STRING, ends, ends)
