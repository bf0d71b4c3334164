"""Reads the rows of a plan, file by file, in batches.

It opens only the plan's files. From each file it reads only the row groups of the plan, and only
the columns of the result, of the open conditions and of equality deletes.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import CorruptFile, EvaluationProblem
from whyscan.scan.deletes import NOTHING_DELETED, Deleted, DeleteReader
from whyscan.scan.file_reader import FileColumns, open_file
from whyscan.scan.plan_portions import PSEUDO, Portion, whole_plan
from whyscan.scan.projection import pruned, value_at
from whyscan.scan.rows import FileRows, matching
from whyscan.scan.small_files import SmallFile, batches, is_small
from whyscan.scan.sources import Piece
from whyscan.tables.column_finder import finder
from whyscan.tree.nodes import columns_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.pruning.interval import Interval
    from whyscan.scan.sources import OpenedFile, ReadUnit
    from whyscan.scan.tasks import Task
    from whyscan.tables.file_columns import ReadColumn
    from whyscan.tree.nodes import Column, Expression, Path

    T = TypeVar("T")
    R = TypeVar("R")

_AHEAD_AT_FIRST, _AHEAD_AT_MOST = 8, 32
"""In a remote store this many files are opened and row groups fetched in advance: few at first, as
a reader may need only some rows."""
_RUN_AT_FIRST, _RUN_AT_MOST = 8, 256
"""This many small files are opened before their first row is read, for the same reason."""
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


class _ReadFile(Struct, frozen=True):
    """A file with its deleted rows, and what is read of it: `columns` of the table."""

    file: FileColumns
    deleted: Deleted
    columns: tuple[ReadColumn, ...]
    pseudo_columns: Mapping[Path, Interval]


class _Opened(_ReadFile, frozen=True):
    """An open file with its task. The columns are in `leaves` of the file."""

    task: Task
    source: OpenedFile
    leaves: frozenset[int]


class _Scan(Struct, frozen=True):
    """A portion that is being read."""

    portion: Portion
    keep_undecided: bool

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The batches of the portion. No batch is empty."""
        for are_small, places in groupby(range(len(self.portion.tasks)), self._is_small):
            read_files = self._small_files if are_small else self._file_by_file
            yield from read_files(places)

    def _is_small(self, place: int) -> bool:
        return is_small(self.portion.reading.files[place], self.portion.tasks[place])

    def _small_files(self, places: Iterable[int]) -> Iterator[pa.RecordBatch]:
        """The batches of small files. What Arrow cannot open is read by itself, for its error."""
        run: list[SmallFile] = []
        most = _RUN_AT_FIRST
        for place in places:
            opened = SmallFile.open(
                place, self.portion.reading.files[place], self.portion.tasks[place]
            )
            if run and (opened is None or len(run) == most or not opened.joins(run)):
                yield from self._run(run)
                run, most = [], min(2 * most, _RUN_AT_MOST)
            if opened is None:
                yield from self._file_by_file([place])
            else:
                run.append(opened)
        if run:
            yield from self._run(run)

    def _run(self, run: Sequence[SmallFile]) -> Iterator[pa.RecordBatch]:
        """The batches of small files with the same columns and conditions."""
        first, naming = run[0], self.portion.reading.naming
        columns = self._columns(first.task)
        file_columns = finder(first.columns, naming)
        leaves = FileColumns(first.file, naming, file_columns).leaves(columns)
        keys = {c.name: c.leaves[0] for c in first.columns if any(map(c.has, leaves))}
        if not keys:
            yield from self._file_by_file([small.place for small in run])
            return
        left = self.portion.open_conditions(first.task.open_anywhere())
        for small, pairs in groupby(self._scanned(run, list(keys)), itemgetter(0)):
            small.count_bytes(leaves)
            file = FileColumns(small.file, naming, file_columns)
            pseudo_columns = self._pseudo_columns(small.place)
            read_file = _ReadFile(file, NOTHING_DELETED, columns, pseudo_columns)
            for _, rows in pairs:
                arrays = dict(zip(keys.values(), rows.columns, strict=True))
                batch = self._batch(read_file, Piece(0, rows.num_rows, arrays), left)
                if batch.num_rows:
                    yield batch

    def _scanned(
        self, run: Sequence[SmallFile], names: Sequence[str]
    ) -> Iterator[tuple[SmallFile, pa.RecordBatch]]:
        try:
            yield from batches(run, names)
        except (pa.ArrowException, OSError, ValueError) as error:
            # Arrow does not say in which file: the one that is damaged fails by itself, too.
            for small in run:
                deque(self._file_by_file([small.place]), maxlen=0)
            raise CorruptFile(run[0].file.shown, str(error).splitlines()[0]) from error

    def _file_by_file(self, places: Iterable[int]) -> Iterator[pa.RecordBatch]:
        reading = self.portion.reading
        deletes = DeleteReader(reading.naming)

        def open_at(place: int) -> _Opened:
            return self._opened(place, deletes)

        far = any(file.store.folder is None for file in reading.files)
        opened_files = _ahead(places, open_at) if far else map(open_at, places)
        units = (
            (opened, replace(unit, rows=opened.task.rows_in(unit.ordinal)))
            for opened in opened_files
            for unit in opened.source.units(opened.task.ordinals)
        )
        fetched = _ahead(units, _fetched, _unit_bytes) if far else map(_fetched, units)
        for opened, unit in fetched:
            yield from self._unit(opened, unit)

    def _opened(self, place: int, deletes: DeleteReader) -> _Opened:
        task = self.portion.tasks[place]
        columns = self._columns(task)
        file = open_file(self.portion.reading.files[place], self.portion.reading.naming)
        deleted = deletes.read(file.file)
        compared = (c for each in deleted.compared for c in each.columns)
        leaves = file.leaves((*columns, *compared))
        pseudo_columns = self._pseudo_columns(place)
        return _Opened(file, deleted, columns, pseudo_columns, task, file.source, leaves)

    def _columns(self, task: Task) -> tuple[ReadColumn, ...]:
        """The columns of the result, and those of the conditions that are open in a file."""
        portion = self.portion
        expressions = portion.open_conditions(task.open_anywhere())
        needed = (c.path for e in expressions for c in columns_of(e) if c.path[0] != PSEUDO)
        return pruned(portion.reading.columns, (*portion.result_columns.paths, *needed))

    def _pseudo_columns(self, place: int) -> Mapping[Path, Interval]:
        return self.portion.pseudo_columns[place] if self.portion.pseudo_columns else {}

    def _unit(self, opened: _Opened, unit: ReadUnit) -> Iterator[pa.RecordBatch]:
        left = self.portion.open_conditions(opened.task.open_in(unit.ordinal))
        for piece in opened.source.pieces(unit, opened.leaves):
            batch = self._batch(opened, piece, left)
            if batch.num_rows:
                yield batch

    def _batch(self, opened: _ReadFile, piece: Piece, left: Sequence[Expression]) -> pa.RecordBatch:
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
    opened.source.fetch(unit, opened.leaves)
    return pair


def _without_deleted(opened: _ReadFile, piece: Piece) -> Piece:
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
    return opened.source.unit_bytes(unit, opened.leaves)


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
