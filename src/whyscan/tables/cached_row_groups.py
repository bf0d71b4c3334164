"""A cache of the row groups of opened files, for the next query on the same files.

The cached statistics are those of all columns that any query named so far. Byte ranges depend on
the projection, so each projection has its own entry. The store caches footers by itself, so a new
projection fetches none again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import replace

from whyscan.errors import WhyscanError
from whyscan.pruning.concatenation import concatenate
from whyscan.pruning.containers import Containers
from whyscan.tables.bounded_cache import BoundedCache
from whyscan.tables.snapshot import RowGroups

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from whyscan.tables.snapshot import Files, Snapshot
    from whyscan.tree.nodes import Column, Path

    Positions = npt.NDArray[np.int64]

BOUND = 1 << 29
"""How many bytes of row groups are cached."""


class ChosenFiles(Struct, frozen=True):
    """Some files of a snapshot; `at` are their positions among all files, None if unknown."""

    files: Files
    at: Positions | None


class _Batch(Struct, frozen=True):
    """Row groups of the files at `positions`, which ascend.

    The row groups of the i-th file start at index `starts[i]`.
    """

    positions: Positions
    starts: Positions
    ordinal: pa.Array
    bytes: pa.Array
    ranges: pa.Array
    containers: Containers

    def indices_of(self, positions: Positions) -> Positions:
        """The index of each position in this batch, -1 where the batch does not have it."""
        if not len(self.positions):
            return np.full(len(positions), -1)
        nearest = np.minimum(np.searchsorted(self.positions, positions), len(self.positions) - 1)
        return np.where(self.positions[nearest] == positions, nearest, -1)

    def take(self, at: Positions) -> _Batch:
        """The row groups of the files at the indices `at`, file by file in that order."""
        counts = self.starts[at + 1] - self.starts[at]
        starts = _starts(counts)
        rows = pa.array(np.repeat(self.starts[at] - starts[:-1], counts) + np.arange(starts[-1]))
        return _Batch(
            self.positions[at],
            starts,
            self.ordinal.take(rows),
            self.bytes.take(rows),
            self.ranges.take(rows),
            self.containers.take(rows),
        )


_RANGES = pa.list_(pa.list_(pa.int64(), 2))
_NO_NUMBERS = np.empty(0, np.int64)
_NO_ROW_GROUPS = _Batch(
    _NO_NUMBERS,
    np.zeros(1, np.int64),
    pa.array([], pa.int64()),
    pa.array([], pa.int64()),
    pa.array([], _RANGES),
    Containers(0),
)


class CachedRowGroups(Struct):
    """One batch for each projection, with the statistics of `columns`.

    Files in `unreached` are never answered from the cache: their footers cannot be opened.
    """

    columns: dict[Path, Column] = field(default_factory=dict)
    batches: BoundedCache[_Batch] = field(default_factory=lambda: BoundedCache(BOUND))
    unreached: set[int] = field(default_factory=set)

    def read(
        self,
        snapshot: Snapshot,
        chosen: ChosenFiles,
        opened: pa.Array,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
    ) -> RowGroups:
        """The row groups that the snapshot itself would give."""
        new = {c.path: c for c in columns if c.path not in self.columns}
        if new:
            self.columns |= new
            self.batches.clear()
        if chosen.at is not None and len(opened):
            batch = self._batch_with(snapshot, chosen.files, opened, chosen.at, projection)
            if batch is not None:
                return _row_groups(batch, chosen.files, opened, columns)
        return snapshot.row_groups(chosen.files, opened, columns, projection)

    def _batch_with(
        self,
        snapshot: Snapshot,
        files: Files,
        opened: pa.Array,
        at: Positions,
        projection: Sequence[Path] | None,
    ) -> _Batch | None:
        """The row groups of the files at `opened`; None if not all of them can be opened."""
        positions = at[opened.to_numpy()]
        if not self.unreached.isdisjoint(positions.tolist()):
            return None
        key = None if projection is None else frozenset(projection)
        batch = self.batches.find(key) or _NO_ROW_GROUPS
        missing = batch.indices_of(positions) < 0
        if missing.any():
            columns = tuple(self.columns.values())
            try:
                read = snapshot.row_groups(
                    files, opened.filter(pa.array(missing)), columns, projection
                )
            except WhyscanError:
                # The error may be about a column that this query does not name.
                return None
            batch = self.batches.put(key, _joined(batch, _batch(read, at)))
            self.unreached |= set(positions.tolist()) - set(batch.positions.tolist())
        indices = batch.indices_of(positions)
        return None if (indices < 0).any() else batch.take(indices)


def _batch(read: RowGroups, at: Positions) -> _Batch:
    containers = read.containers
    return _Batch(
        at[read.opened.to_numpy()],
        _starts(np.bincount(read.file.to_numpy(), minlength=len(read.opened))),
        read.ordinal,
        read.bytes,
        read.ranges,
        # Partition values are those of the file; the next request has them in its files.
        Containers(
            containers.count,
            containers.rows,
            statistics=containers.statistics,
            exact=containers.exact,
            contradicted=containers.contradicted,
            unreadable=containers.unreadable,
        ),
    )


def _joined(first: _Batch, second: _Batch) -> _Batch:
    """The row groups of both, in the order of their files."""
    if not len(first.positions) and (np.diff(second.positions) > 0).all():
        return second
    batch = _Batch(
        np.concatenate([first.positions, second.positions]),
        _starts(np.concatenate([np.diff(first.starts), np.diff(second.starts)])),
        pa.concat_arrays([first.ordinal, second.ordinal]),
        pa.concat_arrays([first.bytes, second.bytes]),
        pa.concat_arrays([first.ranges, second.ranges]),
        concatenate([first.containers, second.containers]),
    )
    return batch.take(np.argsort(batch.positions, kind="stable"))


def _starts(counts: Positions) -> Positions:
    return np.concatenate((np.zeros(1, np.int64), counts.cumsum()))


def _row_groups(
    batch: _Batch, files: Files, opened: pa.Array, columns: Sequence[Column]
) -> RowGroups:
    """The answer of a snapshot: `batch` has the row groups of the files at `opened`."""
    counts = np.diff(batch.starts)
    file = pa.array(np.repeat(np.arange(len(counts)), counts))
    at = opened.cast(pa.int64())
    owners = files.containers.take(at.take(file))
    return RowGroups(
        opened=at,
        file=file,
        ordinal=batch.ordinal,
        bytes=batch.bytes,
        ranges=batch.ranges,
        containers=replace(
            batch.containers.only(columns), partition=owners.partition, buckets=owners.buckets
        ),
    )
