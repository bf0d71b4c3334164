"""A sample of a table's rows: a few row groups, spread evenly over its files, read once a column.

The price is computed from the footers before a row is read: the bytes of the named columns. A
table whose columns cost no more than the budget is read whole, and then the sample is the table.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import TableError
from whyscan.scan.plan_portions import Portion
from whyscan.scan.projection import result_columns
from whyscan.scan.reader import read_portion
from whyscan.scan.rows import represented
from whyscan.scan.tasks import GroupTask, Task
from whyscan.tree import zones
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from whyscan.tables.snapshot import Files, Snapshot
    from whyscan.tree.nodes import Column, Path

    Numbers = npt.NDArray[np.int64]

FOOTERS_AT_MOST = 1_000
"""Row groups are chosen among those of this many files, which lie evenly in the table."""
_READERS = 8


class SampledColumn(Struct, frozen=True):
    """The values of one column in the sampled rows, as places among its distinct values.

    `places` counts from 0; NULL is -1, and NaN lies behind the last distinct value. `distinct` is
    in ascending order and has neither NULL nor NaN.
    """

    column: Column
    values: pa.Array
    distinct: pa.Array
    places: Numbers

    @classmethod
    def of(cls, column: Column, values: pa.Array) -> SampledColumn:
        coded = values.dictionary_encode()
        is_nan = (
            pc.is_nan(coded.dictionary).to_numpy(zero_copy_only=False)
            if pa.types.is_floating(values.type)
            else np.zeros(len(coded.dictionary), bool)
        )
        ascending = pc.sort_indices(coded.dictionary).to_numpy()
        ascending = ascending[~is_nan[ascending]]
        place_of_code = np.full(len(coded.dictionary) + 1, len(ascending), np.int64)
        place_of_code[ascending] = np.arange(len(ascending))
        place_of_code[-1] = -1
        codes = coded.indices.fill_null(len(coded.dictionary)).to_numpy()
        distinct = coded.dictionary.take(pa.array(ascending))
        return cls(column, values, distinct, place_of_code[codes])


class Sample(Struct, frozen=True, eq=False, dict=True):
    """The rows of some row groups of a snapshot. `tasks` are the row groups, one task each.

    `table_rows` is the number of rows of the table, an estimate unless all footers were opened.
    """

    snapshot: Snapshot
    files: Files
    tasks: tuple[Task, ...]
    table_rows: int
    is_whole: bool

    @lazy
    def _columns(self) -> dict[Path, SampledColumn]:
        return {}

    @lazy
    def clusters(self) -> Numbers:
        """The task that each row was read by."""
        return np.repeat(np.arange(len(self.tasks)), self._counts)

    @lazy
    def _counts(self) -> list[int]:
        return []

    @property
    def rows(self) -> int:
        return sum(self._counts)

    @property
    def weight(self) -> float:
        """How many rows of the table one sampled row stands for."""
        return 1.0 if self.is_whole or not self.rows else self.table_rows / self.rows

    def columns(self, wanted: Sequence[Column]) -> list[SampledColumn]:
        """The columns; those that were not read before are read together."""
        unread = [column for column in wanted if column.path not in self._columns]
        if unread:
            for column, values in zip(unread, self._read(unread), strict=True):
                self._columns[column.path] = SampledColumn.of(column, values)
        return [self._columns[column.path] for column in wanted]

    def thinned(self, rows: int) -> Sample:
        """Return at most `rows` of the rows, spread evenly, with the columns that were read."""
        if self.rows <= rows:
            return self
        spread = np.random.default_rng(0).random(rows)
        kept = ((np.arange(rows) + spread) * self.rows / rows).astype(np.int64)
        return self._some(kept, self.table_rows, is_whole=False)

    def of_files(self, chosen: npt.NDArray[np.bool_], table_rows: int) -> Sample:
        """Return the rows of the chosen files, which have `table_rows` rows in the table."""
        of_task = chosen[[task.at for task in self.tasks]]
        kept = np.flatnonzero(of_task[self.clusters])
        return self._some(kept, table_rows, is_whole=self.is_whole)

    def _some(self, kept: Numbers, table_rows: int, *, is_whole: bool) -> Sample:
        """Some of the rows, of the columns that were read."""
        at = pa.array(kept)
        some = replace(self, table_rows=table_rows, is_whole=is_whole)
        some.__dict__["_counts"] = np.bincount(
            self.clusters[kept], minlength=len(self.tasks)
        ).tolist()
        some.__dict__["_columns"] = {
            path: SampledColumn(c.column, c.values.take(at), c.distinct, c.places[kept])
            for path, c in self._columns.items()
        }
        return some

    def _read(self, columns: Sequence[Column]) -> list[pa.Array]:
        at = pa.array([task.at for task in self.tasks], pa.int64())
        utc = zones.zone("UTC")
        reading = self.snapshot.reading(self.files, at, utc)
        results = result_columns(reading.columns, [column.path for column in columns])

        def read_task(place: int) -> pa.Table:
            portion = Portion(
                replace(reading, files=(reading.files[place],)),
                (self.tasks[place],),
                results,
                (),
                utc,
            )
            return pa.Table.from_batches(read_portion(portion), results.schema)

        try:
            with ThreadPoolExecutor(_READERS) as pool:
                pieces = list(pool.map(read_task, range(len(self.tasks))))
        except TableError as error:
            bounds = "explain, diff and audit plan a layout by bounds alone with --no-sample"
            hint = bounds if error.hint is None else f"{error.hint}; {bounds}"
            raise TableError(error.message, hint=hint) from error
        counts = [piece.num_rows for piece in pieces]
        if self._counts and counts != self._counts:
            raise TableError(
                f"{self.snapshot.uri} changed while it was sampled", hint="run it again"
            )
        self._counts[:] = counts
        rows = pa.concat_tables(pieces) if pieces else results.schema.empty_table()
        return [
            represented(_joined(rows.column(place)), column.type)
            for place, column in enumerate(columns)
        ]


def _joined(values: pa.ChunkedArray) -> pa.Array:
    joined = values.combine_chunks()
    return joined if isinstance(joined, pa.Array) else pa.concat_arrays(joined.chunks)


def choose(snapshot: Snapshot, files: Files, columns: Sequence[Column], budget: int) -> Sample:
    """Choose row groups whose `columns` cost at most `budget` bytes, one at least."""
    count = files.count
    looked_at = np.unique(np.linspace(0, count - 1, min(count, FOOTERS_AT_MOST)).astype(np.int64))
    opened = pa.array(looked_at if count else [], pa.int64())
    groups = snapshot.row_groups(files, opened, (), [column.path for column in columns])
    owners, ordinals = groups.owners.to_pylist(), groups.ordinal.to_pylist()
    spans = groups.ranges.to_pylist()
    prices = [sum(end - start for start, end in ranges) for ranges in spans]
    pairs = zip(owners, ordinals, strict=True)
    tasks = [Task(at, (), {ordinal: GroupTask(())}) for at, ordinal in pairs]
    # A file without a footer, such as one of Avro, is read whole.
    reached = set(groups.opened.to_pylist())
    unopened = [at for at in looked_at.tolist() if count and at not in reached]
    tasks += [Task(at, (), None) for at in unopened]
    sizes = files.bytes.fill_null(0).to_pylist()
    prices += [sizes[at] for at in unopened]
    chosen = _affordable(prices, budget)
    return Sample(
        snapshot,
        files,
        tuple(tasks[number] for number in chosen),
        _table_rows(files, opened, groups.rows),
        is_whole=len(chosen) == len(tasks) and len(looked_at) == count,
    )


def _affordable(prices: Sequence[int], budget: int) -> list[int]:
    """Numbers that lie evenly among all, of which the prices add up to the budget at most."""
    if sum(prices) <= budget or not prices:
        return list(range(len(prices)))
    count = max(1, int(len(prices) * budget / sum(prices)))
    spread = np.random.default_rng(0).random(count)
    chosen = np.unique(((np.arange(count) + spread) * len(prices) / count).astype(np.int64))
    while len(chosen) > 1 and sum(prices[number] for number in chosen) > budget:
        chosen = np.delete(chosen, len(chosen) // 2)
    return [int(number) for number in chosen]


def _table_rows(files: Files, opened: pa.Array, group_rows: pa.Array) -> int:
    """The rows of the table; where metadata does not count them, by the rows of opened files."""
    if not files.rows.null_count:
        deleted = 0 if files.deleted is None else pc.sum(files.deleted).as_py() or 0
        return (pc.sum(files.rows).as_py() or 0) - deleted
    counted = pc.sum(group_rows).as_py() or 0
    opened_bytes = pc.sum(files.bytes.take(opened)).as_py() or 0
    all_bytes = pc.sum(files.bytes).as_py() or 0
    return round(counted * all_bytes / opened_bytes) if opened_bytes else counted
