"""Reads the rows of a plan, file by file, in batches.

It opens only the plan's files. From each file it reads only the row groups of the plan, and only
the columns of the result, of the open conditions and of equality deletes.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import EvaluationProblem
from whyscan.scan.deletes import Deleted, DeleteReader
from whyscan.scan.file_reader import FileReader, open_file
from whyscan.scan.plan_portions import PSEUDO, Portion, whole_plan
from whyscan.scan.projection import pruned, value_at
from whyscan.scan.rows import FileRows, matching
from whyscan.tree.nodes import columns_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.pruning.interval import Interval
    from whyscan.scan.sources import Piece, ReadUnit
    from whyscan.scan.tasks import Task
    from whyscan.tables.file_columns import DataFile, ReadColumn
    from whyscan.tree.nodes import Column, Expression, Path

    T = TypeVar("T")
    R = TypeVar("R")

_AHEAD_AT_FIRST, _AHEAD_AT_MOST = 8, 32
"""In a remote store this many files are opened and row groups fetched in advance: few at first, as
a reader may need only some rows."""
_BYTES_AHEAD = 1 << 25
"""The row groups that are fetched in advance have about this many bytes at most."""


def read(
    plan: ScanPlan, columns: Sequence[Path] | None = None, limit_rows: int | None = None
) -> Iterator[pa.RecordBatch]:
    """The matching rows in batches. `columns` None means the planned columns, or all.

    Reading stops after `limit_rows` rows, and after the limit of the plan.
    """
    limits = [limit for limit in (limit_rows, plan.options.limit) if limit is not None]
    left = min(limits, default=None)
    if left is not None and left <= 0:
        return
    for batch in read_portion(whole_plan(plan, columns)):
        if left is not None and batch.num_rows >= left:
            yield batch.slice(0, left)
            return
        if left is not None:
            left -= batch.num_rows
        yield batch


def read_portion(portion: Portion, *, keep_undecided: bool = False) -> Iterator[pa.RecordBatch]:
    """The matching rows of a portion.

    `keep_undecided`: return the rows for which the predicate cannot be decided, too. The caller
    must then apply the predicate again.
    """
    return _Scan(portion, keep_undecided).batches()


def schema(plan: ScanPlan, columns: Sequence[Path] | None = None) -> pa.Schema:
    """The schema of the batches that `read` returns."""
    return whole_plan(plan, columns).result_columns.schema


def to_reader(plan: ScanPlan) -> pa.RecordBatchReader:
    """The matching rows as an Arrow stream with its schema."""
    if plan.options.limit is not None:
        return pa.RecordBatchReader.from_batches(schema(plan), read(plan))
    portion = whole_plan(plan)
    return pa.RecordBatchReader.from_batches(portion.result_columns.schema, read_portion(portion))


class _Opened(Struct, frozen=True):
    """An open file with its task, its deleted rows, and what is read of it.

    That are `columns` of the table, in `leaves` of the file, and its pseudo-columns.
    """

    task: Task
    file: FileReader
    deleted: Deleted
    columns: tuple[ReadColumn, ...]
    leaves: frozenset[int]
    pseudo_columns: Mapping[Path, Interval]


class _Scan(Struct, frozen=True):
    """A portion that is being read."""

    portion: Portion
    keep_undecided: bool

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The batches of the portion. No batch is empty."""
        reading = self.portion.reading
        deletes = DeleteReader(reading.naming)
        files = list(enumerate(reading.files))
        far = bool(files) and files[0][1].store.folder is None

        def open_numbered(pair: tuple[int, DataFile]) -> _Opened:
            return self._opened(*pair, deletes)

        opened_files = _ahead(files, open_numbered) if far else map(open_numbered, files)
        units = (
            (opened, replace(unit, rows=opened.task.rows_in(unit.ordinal)))
            for opened in opened_files
            for unit in opened.file.source.units(opened.task.ordinals)
        )
        fetched = _ahead(units, _fetched, _unit_bytes) if far else map(_fetched, units)
        for opened, unit in fetched:
            yield from self._unit(opened, unit)

    def _opened(self, place: int, file: DataFile, deletes: DeleteReader) -> _Opened:
        portion, task = self.portion, self.portion.tasks[place]
        expressions = portion.open_conditions(task.open_anywhere())
        needed = (c.path for e in expressions for c in columns_of(e) if c.path[0] != PSEUDO)
        columns = pruned(portion.reading.columns, (*portion.result_columns.paths, *needed))
        pseudo_columns = portion.pseudo_columns[place] if portion.pseudo_columns else {}
        source = open_file(file, portion.reading.naming)
        deleted = deletes.read(file)
        compared = (c for each in deleted.compared for c in each.columns)
        leaves = source.leaves((*columns, *compared))
        return _Opened(task, source, deleted, columns, leaves, pseudo_columns)

    def _unit(self, opened: _Opened, unit: ReadUnit) -> Iterator[pa.RecordBatch]:
        left = self.portion.open_conditions(opened.task.open_in(unit.ordinal))
        for piece in opened.file.source.pieces(unit, opened.leaves):
            batch = self._batch(opened, piece, left)
            if batch.num_rows:
                yield batch

    def _batch(self, opened: _Opened, piece: Piece, left: Sequence[Expression]) -> pa.RecordBatch:
        piece = _without_deleted(opened, piece)
        arrays = opened.file.shaped(piece, opened.columns)
        named = {c.name: array for c, array in zip(opened.columns, arrays, strict=True)}
        batch = self.portion.result_columns.batch(named)
        if not left or not piece.count:
            return batch
        rows = FileRows(
            piece.count,
            {c: value_at(named, c.path) for c in _named(left) if c.path[0] != PSEUDO},
            opened.pseudo_columns,
            self.portion.zone,
        )
        try:
            chosen = matching(left, rows)
        except EvaluationProblem:
            if self.keep_undecided:
                return batch
            raise
        return batch if chosen.all() else batch.filter(pa.array(chosen))


def _named(expressions: Sequence[Expression]) -> dict[Column, None]:
    return dict.fromkeys(c for e in expressions for c in columns_of(e))


def _fetched(pair: tuple[_Opened, ReadUnit]) -> tuple[_Opened, ReadUnit]:
    opened, unit = pair
    opened.file.source.fetch(unit, opened.leaves)
    return pair


def _without_deleted(opened: _Opened, piece: Piece) -> Piece:
    """The piece without its deleted rows."""
    gone = opened.deleted.by_position(piece.start, piece.count)
    for compared in opened.deleted.compared:
        hit = compared.deletes(opened.file.shaped(piece, compared.columns))
        gone = hit if gone is None else gone | hit
    if gone is None or not gone.any():
        return piece
    mask = pa.array(~gone)
    arrays = {key: array.filter(mask) for key, array in piece.arrays.items()}
    return replace(piece, count=int((~gone).sum()), arrays=arrays)


def _unit_bytes(pair: tuple[_Opened, ReadUnit]) -> int:
    opened, unit = pair
    return opened.file.source.unit_bytes(unit, opened.leaves)


def _ahead(
    items: Iterable[T], work: Callable[[T], R], weigh: Callable[[T], int] = lambda _: 0
) -> Iterator[R]:
    """The results of `work` in the order of the items, of which some are worked on ahead."""
    pool = ThreadPoolExecutor(_AHEAD_AT_MOST)
    try:
        pending: deque[tuple[Future[R], int]] = deque()
        ahead, most = 0, _AHEAD_AT_FIRST
        for item in items:
            weight = weigh(item)
            while pending and (len(pending) >= most or ahead + weight > _BYTES_AHEAD):
                future, done = pending.popleft()
                ahead -= done
                most = min(most + 1, _AHEAD_AT_MOST)
                yield future.result()
            pending.append((pool.submit(work, item), weight))
            ahead += weight
        while pending:
            yield pending.popleft()[0].result()
    finally:
        pool.shutdown(cancel_futures=True)
