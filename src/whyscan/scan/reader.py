"""The rows of a plan: its files one after another, a few rows at a time.

Nothing but the plan's files is opened, and of them nothing but the row groups and columns that
are asked for, that the rest of the predicate needs, or that deletes compare.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.planning.duckdb_sql import Engine
from whyscan.predicate.tree import columns_of
from whyscan.scan.deletes import Deleted, DeleteReader
from whyscan.scan.file_reader import FileReader, open_file
from whyscan.scan.projection import Given, given, pruned, value_at
from whyscan.scan.rows import Rows, matching
from whyscan.scan.tasks import Task, tasks
from whyscan.tables.parquet.file_columns import FILE_PATH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from whyscan.planning.plan import ScanPlan
    from whyscan.predicate.tree import Column, Expression, Path
    from whyscan.pruning.interval import Interval
    from whyscan.scan.sources import Piece, Unit
    from whyscan.tables.stored import DataFile, Reading, StoredColumn

    T = TypeVar("T")
    R = TypeVar("R")

_PSEUDO = FILE_PATH[0]
_FILES_AHEAD = 8
_UNITS_AHEAD = 4
"""In a store far away so many files are opened, and so many row groups fetched, before they are
needed."""


def read(
    plan: ScanPlan, columns: Sequence[Path] | None = None, limit_rows: int | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows that match, in batches; `columns` None are those that were planned, or all.

    After `limit_rows` rows nothing more is read.
    """
    left = limit_rows
    if left is not None and left <= 0:
        return
    for batch in _scan(plan, columns).batches():
        if left is not None and batch.num_rows >= left:
            yield batch.slice(0, left)
            return
        if left is not None:
            left -= batch.num_rows
        yield batch


def schema(plan: ScanPlan, columns: Sequence[Path] | None = None) -> pa.Schema:
    """The schema of what `read` gives."""
    return _scan(plan, columns).given.schema


def to_reader(plan: ScanPlan) -> pa.RecordBatchReader:
    """The matching rows as a stream that knows its schema."""
    scan = _scan(plan, None)
    return pa.RecordBatchReader.from_batches(scan.given.schema, scan.batches())


def _scan(plan: ScanPlan, columns: Sequence[Path] | None) -> _Scan:
    chosen = list(tasks(plan.evidence))
    at = pa.array([task.at for task in chosen], pa.int64())
    reading = plan.snapshot.reading(plan.evidence.files, at, plan.zone)
    asked = plan.options.projection if columns is None else columns
    return _Scan(plan, reading, tuple(chosen), given(reading.columns, asked), Engine())


class _Opened(Struct, frozen=True):
    """A file that is open, what of it is deleted, and the columns to read."""

    task: Task
    file: FileReader
    deleted: Deleted
    columns: tuple[StoredColumn, ...]

    def leaves(self) -> frozenset[int]:
        compared = (c for one in self.deleted.compared for c in one.columns)
        return self.file.leaves((*self.columns, *compared))


class _Scan(Struct, frozen=True):
    """A plan, and how its files are read."""

    plan: ScanPlan
    reading: Reading
    tasks: tuple[Task, ...]
    given: Given
    engine: Engine

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Batches that are not empty."""
        deletes = DeleteReader(self.reading.naming)
        files = [(task, file) for task, file in zip(self.tasks, self.reading.files, strict=True)]
        far = bool(files) and files[0][1].store.folder is None

        def open_one(pair: tuple[Task, DataFile]) -> _Opened:
            return self._opened(*pair, deletes)

        opened = _ahead(files, open_one, _FILES_AHEAD if far else 0)
        units = ((one, unit) for one in opened for unit in one.file.source.units(one.task.ordinals))
        with self.engine:
            for one, unit in _ahead(units, _fetched, _UNITS_AHEAD if far else 0):
                yield from self._unit(one, unit)

    def _opened(self, task: Task, file: DataFile, deletes: DeleteReader) -> _Opened:
        expressions = self._conjuncts(task.open_anywhere())
        needed = (c.path for e in expressions for c in columns_of(e) if c.path[0] != _PSEUDO)
        columns = pruned(self.reading.columns, (*self.given.paths, *needed))
        return _Opened(task, open_file(file, self.reading.naming), deletes.read(file), columns)

    def _conjuncts(self, numbers: Iterable[int]) -> list[Expression]:
        conjuncts = self.plan.predicate.conjuncts
        return [conjuncts[number].expression for number in sorted(numbers)]

    def _unit(self, one: _Opened, unit: Unit) -> Iterator[pa.RecordBatch]:
        left = self._conjuncts(one.task.open_in(unit.ordinal))
        leaves = one.leaves()
        for piece in one.file.source.pieces(unit, leaves):
            batch = self._batch(one, piece, left)
            if batch.num_rows:
                yield batch

    def _batch(self, one: _Opened, piece: Piece, left: Sequence[Expression]) -> pa.RecordBatch:
        piece = _without_deleted(one, piece)
        arrays = one.file.shaped(piece, one.columns)
        named = {c.name: array for c, array in zip(one.columns, arrays, strict=True)}
        batch = self.given.batch(named)
        if not left or not piece.count:
            return batch
        rows = Rows(
            piece.count,
            {c: value_at(named, c.path) for c in _named(left) if c.path[0] != _PSEUDO},
            {c.path: self._constant(c, one.task.at) for c in _named(left) if c.path[0] == _PSEUDO},
            self.plan.zone,
            self.engine,
        )
        chosen = matching(left, rows)
        return batch if chosen.all() else batch.filter(pa.array(chosen))

    def _constant(self, column: Column, at: int) -> Interval:
        """A pseudo-column of one file."""
        found = self.plan.evidence.files.containers.take(pa.array([at])).interval(column)
        alone = {
            name: value[0].as_py()
            for name in ("value", "null", "nan")
            if not isinstance(value := getattr(found, name), bool)
        }
        ends = {
            name: value[0]
            for name in ("lower", "upper")
            if isinstance(value := getattr(found, name), pa.Array)
        }
        return replace(found, **alone, **ends)


def _named(expressions: Sequence[Expression]) -> dict[Column, None]:
    return dict.fromkeys(c for e in expressions for c in columns_of(e))


def _fetched(pair: tuple[_Opened, Unit]) -> tuple[_Opened, Unit]:
    one, unit = pair
    one.file.source.fetch(unit, one.leaves())
    return pair


def _without_deleted(one: _Opened, piece: Piece) -> Piece:
    """The rows that are still there."""
    gone = one.deleted.by_position(piece.start, piece.count)
    for compared in one.deleted.compared:
        hit = compared.deletes(one.file.shaped(piece, compared.columns))
        gone = hit if gone is None else gone | hit
    if gone is None or not gone.any():
        return piece
    mask = pa.array(~gone)
    arrays = {key: array.filter(mask) for key, array in piece.arrays.items()}
    return replace(piece, count=int((~gone).sum()), arrays=arrays)


def _ahead(items: Iterable[T], work: Callable[[T], R], width: int) -> Iterator[R]:
    """What `work` makes of the items in their order; `width` of them are begun before."""
    if not width:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(width)
    try:
        pending: deque[Future[R]] = deque()
        for item in items:
            pending.append(pool.submit(work, item))
            if len(pending) > width:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
