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

BATCHES_AT_MOST = 8
"""A projection has at most this many batches; then they are joined into one."""


class RowGroupRequest(Struct, frozen=True):
    """A request for row groups of the files at the positions `opened` of `files`.

    `at` has, for each of `files`, its position among all files of the snapshot.
    """

    files: Files
    opened: pa.Array
    at: Positions
    columns: Sequence[Column]
    projection: Sequence[Path] | None


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

    def counts(self, at: Positions) -> Positions:
        counts: Positions = self.starts[at + 1] - self.starts[at]
        return counts


class CachedRowGroups(Struct):
    """Batches by projection, the one used last at the end.

    Files in `uncacheable` are never answered from the cache: they are missing, or have statistics
    that cannot be read, and the answer about that depends on the columns of the query.
    """

    columns: dict[Path, Column] = field(default_factory=dict)
    batches: BoundedCache[list[_Batch]] = field(default_factory=lambda: BoundedCache(BOUND))
    uncacheable: set[int] = field(default_factory=set)

    def answer(
        self, snapshot: Snapshot, request: RowGroupRequest, expected_columns: Sequence[Column]
    ) -> RowGroups:
        """The row groups that the snapshot itself would give."""
        positions = request.at[request.opened.to_numpy()]
        self._widen((*expected_columns, *request.columns))
        if len(positions) and self.uncacheable.isdisjoint(positions.tolist()):
            cached = self._batches_with(snapshot, request, positions)
            if isinstance(cached, RowGroups):
                return cached
            if cached is not None and self.uncacheable.isdisjoint(positions.tolist()):
                return _answer(request, positions, cached)
        return snapshot.row_groups(
            request.files, request.opened, request.columns, request.projection
        )

    def _widen(self, columns: Sequence[Column]) -> None:
        new = {c.path: c for c in columns if c.path not in self.columns}
        if new:
            self.columns |= new
            self.batches.clear()

    def _batches_with(
        self, snapshot: Snapshot, request: RowGroupRequest, positions: Positions
    ) -> list[_Batch] | RowGroups | None:
        """Batches that have all of these files; None if they cannot be read for all columns.

        If none of the files can be opened, this is the final answer: it holds for all columns.
        """
        key = None if request.projection is None else frozenset(request.projection)
        batches = self.batches.get(key, list)
        missing = np.ones(len(positions), np.bool_)
        for batch in batches:
            missing &= batch.indices_of(positions) < 0
        if missing.any():
            opened = pa.array(request.opened.to_numpy()[missing])
            try:
                read = snapshot.row_groups(
                    request.files, opened, tuple(self.columns.values()), request.projection
                )
            except WhyscanError:
                # The error may be about a column that this query does not name.
                return None
            batches = [*batches, _batch(read, request.at)]
            if len(batches) > BATCHES_AT_MOST:
                batches = [_joined(batches)]
            self.batches.put(key, batches)
            # A file that is not in the result: its footer could not be opened.
            reached = set(request.at[read.opened.to_numpy()].tolist())
            wanted = set(positions[missing].tolist())
            self.uncacheable |= wanted if read.unreadable else wanted - reached
            if missing.all() and not reached:
                return read
        return batches


def _batch(read: RowGroups, at: Positions) -> _Batch:
    containers = read.containers
    counts = np.bincount(read.file.to_numpy(), minlength=len(read.opened))
    batch = _Batch(
        at[read.opened.to_numpy()],
        np.concatenate(([0], counts.cumsum())),
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
        ),
    )
    return _sorted(batch)


def _sorted(batch: _Batch) -> _Batch:
    if (np.diff(batch.positions) >= 0).all():
        return batch
    order = np.argsort(batch.positions, kind="stable")
    return replace(_chosen(batch, order), positions=batch.positions[order])


def _joined(batches: Sequence[_Batch]) -> _Batch:
    positions = np.concatenate([b.positions for b in batches])
    counts = np.concatenate([np.diff(b.starts) for b in batches])
    return _sorted(
        _Batch(
            positions,
            np.concatenate(([0], counts.cumsum())),
            pa.concat_arrays([b.ordinal for b in batches]),
            pa.concat_arrays([b.bytes for b in batches]),
            pa.concat_arrays([b.ranges for b in batches]),
            concatenate([b.containers for b in batches]),
        )
    )


def _chosen(batch: _Batch, at: Positions) -> _Batch:
    """The row groups of the files at the indices `at` of a batch, file by file in that order."""
    counts = batch.counts(at)
    starts = np.concatenate(([0], counts.cumsum()))
    rows = pa.array(np.repeat(batch.starts[at] - starts[:-1], counts) + np.arange(starts[-1]))
    return _Batch(
        batch.positions[at],
        starts,
        batch.ordinal.take(rows),
        batch.bytes.take(rows),
        batch.ranges.take(rows),
        batch.containers.take(rows),
    )


def _answer(request: RowGroupRequest, positions: Positions, batches: Sequence[_Batch]) -> RowGroups:
    """The row groups of the files at `positions`, in that order."""
    chosen: list[_Batch] = []
    missing = np.ones(len(positions), np.bool_)
    for batch in batches:
        at = np.where(missing, batch.indices_of(positions), -1)
        is_in_batch = at >= 0
        if is_in_batch.any():
            chosen.append(_chosen(batch, at[is_in_batch]))
            missing &= ~is_in_batch
    joined = chosen[0] if len(chosen) == 1 else _joined(chosen)
    # They are ordered by position, and a request may name files in another order.
    order = np.searchsorted(joined.positions, positions)
    if (np.diff(order) < 0).any():
        joined = _chosen(joined, order)
    return _row_groups(request, joined)


def _row_groups(request: RowGroupRequest, batch: _Batch) -> RowGroups:
    counts = np.diff(batch.starts)
    file = pa.array(np.repeat(np.arange(len(counts)), counts))
    opened = request.opened.cast(pa.int64())
    owners = request.files.containers.take(opened.take(file))
    paths = {column.path for column in request.columns}
    containers = batch.containers
    return RowGroups(
        opened=opened,
        file=file,
        ordinal=batch.ordinal,
        bytes=batch.bytes,
        ranges=batch.ranges,
        containers=Containers(
            containers.count,
            containers.rows,
            partition=owners.partition,
            statistics={path: i for path, i in containers.statistics.items() if path in paths},
            buckets=owners.buckets,
            exact={path: e for path, e in containers.exact.items() if path in paths},
            contradicted={p: c for p, c in containers.contradicted.items() if p in paths},
        ),
    )
