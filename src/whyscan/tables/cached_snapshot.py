"""A snapshot with a cache, for many queries: each column is read once, for all files.

The answers are those of the snapshot itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import replace

from whyscan.errors import WhyscanError
from whyscan.pruning.blocks import make_blocks
from whyscan.tables.bounded_cache import BoundedCache, count
from whyscan.tables.cached_row_groups import CachedRowGroups, ChosenFiles
from whyscan.tables.history import WithRegistration
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.pruning.blocks import Blocks
    from whyscan.pruning.containers import Containers
    from whyscan.tables.file_columns import FileReading
    from whyscan.tables.history import Registration
    from whyscan.tables.snapshot import (
        BelowRowGroups,
        Files,
        Manifests,
        Recording,
        RowGroups,
        Snapshot,
        Spec,
        SpecLine,
        Traffic,
    )
    from whyscan.tree.nodes import Column, Path
    from whyscan.tree.types import Schema
    from whyscan.tree.zones import Zone

BOUND = 1 << 31
"""How many bytes of columns are cached; the columns used least recently are dropped first."""

VIEWS_AT_MOST = 256

BLOCKS_FROM = 50_000
"""At least this many files are put into blocks; fewer files are as quick without blocks."""

ARRANGED_BY = 4
"""At most this many columns sort files into blocks; with more, no column separates blocks."""


def with_cache(snapshot: Snapshot, columns: Sequence[Column] = ()) -> CachedSnapshot:
    """The same snapshot with a cache; `columns` are the columns that the queries will name.

    A column that is not in `columns` is read when a query names it, and is cached from then on.
    """
    if isinstance(snapshot, CachedSnapshot):
        return snapshot
    groups = CachedRowGroups({column.path: column for column in columns})
    return CachedSnapshot(snapshot, tuple(dict.fromkeys(columns)), groups)


class _CachedColumns(Struct):
    """All files of a snapshot, and separately the metadata of each column.

    `by_path` has containers with the partition values and statistics of one column each. The files
    are put into `blocks` by the columns in `arranged`.
    """

    files: Files | None = None
    by_path: BoundedCache[Containers] = field(default_factory=lambda: BoundedCache(BOUND))
    blocks: Blocks | None = None
    arranged: tuple[Column, ...] = ()


class CachedSnapshot(Struct, frozen=True, eq=False, dict=True):
    """A snapshot that reads nothing twice."""

    snapshot: Snapshot
    expected_columns: tuple[Column, ...]
    _groups: CachedRowGroups
    _columns: _CachedColumns = field(default_factory=_CachedColumns)
    _views: BoundedCache[ChosenFiles] = field(
        default_factory=lambda: BoundedCache(VIEWS_AT_MOST, count)
    )
    _recordings: dict[Column, Recording] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        return self.snapshot.uri

    @property
    def format(self) -> str:
        return self.snapshot.format

    @property
    def version(self) -> int | None:
        return self.snapshot.version

    @property
    def notes(self) -> tuple[str, ...]:
        return self.snapshot.notes

    @property
    def registration(self) -> Registration | None:
        snapshot: object = self.snapshot
        return snapshot.registration if isinstance(snapshot, WithRegistration) else None

    @lazy
    def partition_sources(self) -> tuple[Path, ...]:
        return self.snapshot.partition_sources

    @lazy
    def specs(self) -> tuple[Spec, ...]:
        return self.snapshot.specs

    @lazy
    def numbered_specs(self) -> tuple[SpecLine, ...]:
        return self.snapshot.numbered_specs

    @property
    def footers_describe_files(self) -> bool:
        return self.snapshot.footers_describe_files

    @property
    def below(self) -> BelowRowGroups | None:
        """Nothing below row groups is cached."""
        return self.snapshot.below

    @lazy
    def _sampled(self) -> Schema:
        return self.snapshot.schema()

    def schema(self, named: Sequence[str] = ()) -> Schema:
        """The columns. The snapshot looks for names that its sampled schema lacks, each time."""
        return self._sampled if self._sampled.has_all(named) else self.snapshot.schema(named)

    def manifests(self) -> Manifests | None:
        return self.snapshot.manifests()

    def recording(self, column: Column) -> Recording:
        if column not in self._recordings:
            self._recordings[column] = self.snapshot.recording(column)
        return self._recordings[column]

    def traffic(self) -> Traffic:
        return self.snapshot.traffic()

    def reading(self, files: Files, at: pa.Array, zone: Zone) -> FileReading:
        return self.snapshot.reading(files, at, zone)

    def files(
        self, columns: Sequence[Column], zone: Zone, manifests: pa.Array | None = None
    ) -> Files:
        """Every live file of the manifests, with the statistics of `columns`."""
        return self._view(columns, zone, manifests).files

    def row_groups(
        self,
        files: Files,
        opened: pa.Array,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
        *,
        keep_footers: bool = False,
    ) -> RowGroups:
        """The row groups of the files at `opened`; a footer is read once for each projection.

        Row groups with their footers are not cached.
        """
        if keep_footers:
            return self.snapshot.row_groups(files, opened, columns, projection, keep_footers=True)
        chosen = next(
            (c for c in self._views.values() if c.files is files), ChosenFiles(files, None)
        )
        return self._groups.read(self.snapshot, chosen, opened, columns, projection)

    def _view(
        self, columns: Sequence[Column], zone: Zone, manifests: pa.Array | None
    ) -> ChosenFiles:
        paths = frozenset(column.path for column in columns)
        opened = None if manifests is None else tuple(manifests.to_pylist())
        key = (paths, opened, zone if self.footers_describe_files else None)
        return self._views.get(key, lambda: self._read_view(columns, zone, manifests))

    def _read_view(
        self, columns: Sequence[Column], zone: Zone, manifests: pa.Array | None
    ) -> ChosenFiles:
        if self.footers_describe_files:
            files = self.snapshot.files(columns, zone, manifests)
            return ChosenFiles(files, np.arange(files.count))
        files = self._all_files(columns, zone)
        all_manifests = self.snapshot.manifests()
        if manifests is None or all_manifests is None or len(manifests) == all_manifests.count:
            return ChosenFiles(files, np.arange(files.count))
        if not len(manifests) or len(self.specs) > 1 or files.manifest is None:
            # The partition columns of the result depend on the specs of the opened manifests.
            return ChosenFiles(self.snapshot.files(columns, zone, manifests), None)
        at = np.flatnonzero(np.isin(files.manifest.to_numpy(), manifests.to_numpy()))
        return ChosenFiles(_at(files, pa.array(at)), at)

    def _all_files(self, columns: Sequence[Column], zone: Zone) -> Files:
        """All files with the statistics of these columns; columns that are not cached are read."""
        cache = self._columns
        cached = ((c.path, cache.by_path.find(c.path)) for c in columns)
        by_path = {path: column for path, column in cached if column is not None}
        missing = [c for c in columns if c.path not in by_path]
        files = cache.files
        if files is None or missing:
            files, read = self._read(missing, zone)
            by_path |= read
        described = _united(files.containers, [by_path[c.path] for c in columns])
        return replace(files, containers=replace(described, blocks=cache.blocks))

    def _read(
        self, missing: Sequence[Column], zone: Zone
    ) -> tuple[Files, Mapping[Path, Containers]]:
        """Read columns into the cache; the first time the expected columns, too.

        Returns all files without statistics, and the columns.
        """
        cache = self._columns
        columns = list(missing)
        if cache.files is None:
            columns = list(dict.fromkeys((*missing, *self.expected_columns)))
        try:
            read = self.snapshot.files(columns, zone, None)
        except WhyscanError:
            if len(columns) == len(missing):
                raise
            # Something of the expected columns cannot be read. A query that does not need it must
            # not fail.
            columns, read = list(missing), self.snapshot.files(missing, zone, None)
        if cache.files is None:
            bare = replace(read.containers.only(()), partition=read.containers.partition)
            cache.files = replace(read, containers=bare)
        by_path = {c.path: replace(read.containers.only([c]), rows=None) for c in columns}
        count_before = len(cache.by_path)
        for path, column in by_path.items():
            cache.by_path.put(path, column)
        if len(cache.by_path) < count_before + len(by_path):
            # The answers and the blocks refer to columns that are not cached any more.
            self._views.clear()
            if cache.blocks is not None:
                cache.blocks.clear_cache()
        self._arrange(cache.files, columns, by_path)
        return cache.files, by_path

    def _arrange(
        self, files: Files, columns: Sequence[Column], new: Mapping[Path, Containers]
    ) -> None:
        """Put files with near values in the cached columns into the same block."""
        cache = self._columns
        useful = [c for c in columns if new[c.path].partition or new[c.path].statistics]
        if files.count < BLOCKS_FROM or not useful or len(cache.arranged) >= ARRANGED_BY:
            return
        first = [c for c in useful if c.path in self.partition_sources]
        rest = [c for c in useful if c not in first]
        cache.arranged = (*cache.arranged, *first, *rest)[:ARRANGED_BY]
        by_path = (new.get(c.path) or cache.by_path.find(c.path) for c in cache.arranged)
        containers = _united(files.containers, [c for c in by_path if c is not None])
        cache.blocks = make_blocks(containers, cache.arranged)
        self._views.clear()


def _united(containers: Containers, columns: Sequence[Containers]) -> Containers:
    """The same containers with the partition values and statistics of more columns."""
    every = (containers, *columns)
    return replace(
        containers,
        partition={path: i for c in every for path, i in c.partition.items()},
        statistics={path: i for c in every for path, i in c.statistics.items()},
        exact={path: e for c in every for path, e in c.exact.items()},
        contradicted={path: mask for c in every for path, mask in c.contradicted.items()},
        unreadable={path: mask for c in every for path, mask in c.unreadable.items()},
        buckets=tuple(
            {(b.source, b.transform): b for c in reversed(every) for b in c.buckets}.values()
        ),
    )


def _at(files: Files, at: pa.Array) -> Files:
    """The files at the positions `at`, in that order."""

    def taken(values: pa.Array | None) -> pa.Array | None:
        return None if values is None else values.take(at)

    return replace(
        files,
        read_paths=lambda: files.read_paths().take(at),
        bytes=files.bytes.take(at),
        rows=files.rows.take(at),
        partition=files.partition.take(at) if files.partition.num_columns else files.partition,
        containers=files.containers.take(at),
        deleted=taken(files.deleted),
        maybe_deleted=taken(files.maybe_deleted),
        formats=taken(files.formats),
        manifest=taken(files.manifest),
        spec=taken(files.spec),
    )
