"""The row groups of files that were opened once, for the next question on the same files.

Statistics are those of all columns that anybody asked for. Byte ranges are those of a projection,
so that each of them has its own; footers that came from a store are in the cache by then.
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
from whyscan.tables.cached_files import size
from whyscan.tables.snapshot import RowGroups

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from whyscan.tables.snapshot import Files, Snapshot
    from whyscan.tree.nodes import Column, Path

    Positions = npt.NDArray[np.int64]

BOUND = 1 << 29
"""How many bytes of row groups are held."""

BATCHES_AT_MOST = 8
"""Footers of so many questions are kept apart before they are joined."""


class RowGroupRequest(Struct, frozen=True):
    """A question: the files at `opened` of `files`, which stand at `at` among all files."""

    files: Files
    opened: pa.Array
    at: Positions
    columns: Sequence[Column]
    projection: Sequence[Path] | None


class _Batch(Struct, frozen=True):
    """Row groups of the files at `places`, which ascend; those of the i-th begin at `begins[i]`."""

    places: Positions
    begins: Positions
    ordinal: pa.Array
    bytes: pa.Array
    ranges: pa.Array
    containers: Containers

    def found(self, places: Positions) -> Positions:
        """Where each place stands in this batch, -1 for nowhere."""
        if not len(self.places):
            return np.full(len(places), -1)
        near = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        return np.where(self.places[near] == places, near, -1)

    def counts(self, at: Positions) -> Positions:
        counted: Positions = self.begins[at + 1] - self.begins[at]
        return counted


class CachedRowGroups(Struct):
    """Batches by projection, the one used last at the end.

    A file in `odd` has something about it that is told question by question: it is missing, or a
    statistic of its own contradicts itself.
    """

    columns: dict[Path, Column] = field(default_factory=dict)
    batches: dict[frozenset[Path] | None, list[_Batch]] = field(default_factory=dict)
    odd: set[int] = field(default_factory=set)
    bound: int = BOUND

    def answer(self, bare: Snapshot, asked: RowGroupRequest, named: Sequence[Column]) -> RowGroups:
        """What the snapshot itself would answer."""
        places = asked.at[asked.opened.to_numpy()]
        self._widen((*named, *asked.columns))
        if len(places) and self.odd.isdisjoint(places.tolist()):
            held = self._held(bare, asked, places)
            if isinstance(held, RowGroups):
                return held
            if held is not None and self.odd.isdisjoint(places.tolist()):
                return _answer(asked, places, held)
        return bare.row_groups(asked.files, asked.opened, asked.columns, asked.projection)

    def _widen(self, columns: Sequence[Column]) -> None:
        new = {c.path: c for c in columns if c.path not in self.columns}
        if new:
            self.columns |= new
            self.batches.clear()

    def _held(
        self, bare: Snapshot, asked: RowGroupRequest, places: Positions
    ) -> list[_Batch] | RowGroups | None:
        """Batches that have all of these files; None where they cannot be read for all columns.

        The answer itself where none of them can be opened: then it is one for all columns.
        """
        key = None if asked.projection is None else frozenset(asked.projection)
        batches = self.batches.pop(key, [])
        self.batches[key] = batches
        missing = np.ones(len(places), np.bool_)
        for batch in batches:
            missing &= batch.found(places) < 0
        if missing.any():
            opened = pa.array(asked.opened.to_numpy()[missing])
            try:
                read = bare.row_groups(
                    asked.files, opened, tuple(self.columns.values()), asked.projection
                )
            except WhyscanError:
                # It may be about a column that this question does not name.
                return None
            self._add(batches, read, asked.at)
            # A file without a place in what was read: its footer could not be opened.
            reached = set(asked.at[read.opened.to_numpy()].tolist())
            wanted = set(places[missing].tolist())
            is_odd = read.contradictions or read.unreadable
            self.odd |= wanted if is_odd else wanted - reached
            if missing.all() and not reached:
                return read
        return batches

    def _add(self, batches: list[_Batch], read: RowGroups, at: Positions) -> None:
        batches.append(_batch(read, at))
        if len(batches) > BATCHES_AT_MOST:
            batches[:] = [_joined(batches)]
        held = {key: sum(map(size, some)) for key, some in self.batches.items()}
        total = sum(held.values())
        for key, weight in held.items():
            if total <= self.bound:
                return
            # Those of the present question are still being used.
            self.batches[key] = []
            total -= weight


def _batch(read: RowGroups, at: Positions) -> _Batch:
    told = read.containers
    counts = np.bincount(read.file.to_numpy(), minlength=len(read.opened))
    batch = _Batch(
        at[read.opened.to_numpy()],
        np.concatenate(([0], counts.cumsum())),
        read.ordinal,
        read.bytes,
        read.ranges,
        # Partition values are those of the file, which the next question brings along.
        Containers(told.count, told.rows, statistics=told.statistics, exact=told.exact),
    )
    return _sorted(batch)


def _sorted(batch: _Batch) -> _Batch:
    if (np.diff(batch.places) >= 0).all():
        return batch
    order = np.argsort(batch.places, kind="stable")
    return replace(_chosen(batch, order), places=batch.places[order])


def _joined(batches: Sequence[_Batch]) -> _Batch:
    places = np.concatenate([b.places for b in batches])
    counts = np.concatenate([np.diff(b.begins) for b in batches])
    return _sorted(
        _Batch(
            places,
            np.concatenate(([0], counts.cumsum())),
            pa.concat_arrays([b.ordinal for b in batches]),
            pa.concat_arrays([b.bytes for b in batches]),
            pa.concat_arrays([b.ranges for b in batches]),
            concatenate([b.containers for b in batches]),
        )
    )


def _chosen(batch: _Batch, at: Positions) -> _Batch:
    """The row groups of some files of a batch, file by file in that order."""
    counts = batch.counts(at)
    begins = np.concatenate(([0], counts.cumsum()))
    rows = pa.array(np.repeat(batch.begins[at] - begins[:-1], counts) + np.arange(begins[-1]))
    return _Batch(
        batch.places[at],
        begins,
        batch.ordinal.take(rows),
        batch.bytes.take(rows),
        batch.ranges.take(rows),
        batch.containers.take(rows),
    )


def _answer(asked: RowGroupRequest, places: Positions, batches: Sequence[_Batch]) -> RowGroups:
    """The row groups of all these files, in their order."""
    chosen: list[_Batch] = []
    open_still = np.ones(len(places), np.bool_)
    for batch in batches:
        at = np.where(open_still, batch.found(places), -1)
        here = at >= 0
        if here.any():
            chosen.append(_chosen(batch, at[here]))
            open_still &= ~here
    whole = chosen[0] if len(chosen) == 1 else _joined(chosen)
    # They stand by place now, and a question may name files in another order.
    order = np.searchsorted(whole.places, places)
    if (np.diff(order) < 0).any():
        whole = _chosen(whole, order)
    return _row_groups(asked, whole)


def _row_groups(asked: RowGroupRequest, found: _Batch) -> RowGroups:
    counts = np.diff(found.begins)
    file = pa.array(np.repeat(np.arange(len(counts)), counts))
    opened = asked.opened.cast(pa.int64())
    owners = asked.files.containers.take(opened.take(file))
    paths = {column.path for column in asked.columns}
    told = found.containers
    return RowGroups(
        opened=opened,
        file=file,
        ordinal=found.ordinal,
        bytes=found.bytes,
        ranges=found.ranges,
        containers=Containers(
            told.count,
            told.rows,
            partition=owners.partition,
            statistics={path: i for path, i in told.statistics.items() if path in paths},
            buckets=owners.buckets,
            exact={path: e for path, e in told.exact.items() if path in paths},
        ),
    )
