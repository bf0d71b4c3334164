"""A snapshot with a cache, for many queries: its files are read once for all columns.

The answers are those of the snapshot itself. Some answers depend on which columns a query names
together: the number of statistics that cannot be read, and errors about missing or unreadable
files. Those come from the snapshot and not from the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import replace

from whyscan.errors import WhyscanError
from whyscan.pruning.blocks import make_blocks
from whyscan.tables.bounded_cache import BoundedCache, count, size
from whyscan.tables.cached_row_groups import CachedRowGroups, RowGroupRequest
from whyscan.tree.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from whyscan.tables.file_columns import FileReading
    from whyscan.tables.snapshot import (
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
"""How many bytes of columns are cached; beyond it only the columns of the last query stay."""

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
    return CachedSnapshot(snapshot, tuple(dict.fromkeys(columns)))


class _View(Struct, frozen=True):
    """The files that answer one request.

    `at` are their positions among all files of the snapshot, None if they are unknown.
    """

    files: Files
    at: npt.NDArray[np.int64] | None


class _CachedColumns(Struct):
    """The cache: `all_files` are all files of the snapshot with the statistics of `columns`.

    The files are sorted into blocks by the columns in `arranged`. A column in `doubted` is never
    answered from the cache, as its answer depends on the other columns of the query.
    """

    columns: dict[Path, Column] = field(default_factory=dict)
    all_files: Files | None = None
    doubted: set[Path] = field(default_factory=set)
    views: BoundedCache[_View] = field(default_factory=lambda: BoundedCache(VIEWS_AT_MOST, count))
    arranged: tuple[Column, ...] = ()
    recordings: dict[Column, Recording] = field(default_factory=dict)
    sampled: Schema | None = None


class CachedSnapshot(Struct, frozen=True, eq=False, dict=True):
    """A snapshot that reads nothing twice."""

    snapshot: Snapshot
    expected_columns: tuple[Column, ...]
    _cache: _CachedColumns = field(default_factory=_CachedColumns)
    _groups: CachedRowGroups = field(default_factory=CachedRowGroups)

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

    def schema(self, named: Sequence[str] = ()) -> Schema:
        """The columns. The snapshot looks for names that its sampled schema lacks, each time."""
        if self._cache.sampled is None:
            self._cache.sampled = self.snapshot.schema()
        if self._cache.sampled.has_all(named):
            return self._cache.sampled
        return self.snapshot.schema(named)

    def manifests(self) -> Manifests | None:
        return self.snapshot.manifests()

    def expect(self, columns: Sequence[Column]) -> None:
        """Does nothing: columns that are not cached are read when a query needs them."""

    def recording(self, column: Column) -> Recording:
        recording = self._cache.recordings.get(column)
        if recording is None:
            recording = self._cache.recordings[column] = self.snapshot.recording(column)
        return recording

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
    ) -> RowGroups:
        """The row groups of the files at `opened`; a footer is read once for each projection."""
        view = next((v for v in self._cache.views if v.files is files), None)
        if view is None or view.at is None:
            return self.snapshot.row_groups(files, opened, columns, projection)
        request = RowGroupRequest(files, opened, view.at, columns, projection)
        return self._groups.answer(self.snapshot, request, self.expected_columns)

    def _view(self, columns: Sequence[Column], zone: Zone, manifests: pa.Array | None) -> _View:
        paths = frozenset(column.path for column in columns)
        opened = None if manifests is None else tuple(manifests.to_pylist())
        key = (paths, opened, zone if self.footers_describe_files else None)
        return self._cache.views.get(key, lambda: self._read_view(columns, zone, manifests))

    def _read_view(
        self, columns: Sequence[Column], zone: Zone, manifests: pa.Array | None
    ) -> _View:
        all_manifests = self.snapshot.manifests()
        is_all = manifests is None or all_manifests is None or len(manifests) == all_manifests.count
        all_files = None if self.footers_describe_files else self._with_columns(columns, zone)
        if all_files is None:
            files = self.snapshot.files(columns, zone, manifests)
            return _View(files, np.arange(files.count) if is_all else None)
        files = _of_columns(all_files, {column.path for column in columns})
        if is_all or manifests is None:
            return _View(files, np.arange(files.count))
        if not len(manifests) or len(self.specs) > 1 or files.manifest is None:
            # The partition columns of the result depend on the specs of the opened manifests.
            return _View(self.snapshot.files(columns, zone, manifests), None)
        at = np.flatnonzero(np.isin(files.manifest.to_numpy(), manifests.to_numpy()))
        return _View(_at(files, pa.array(at)), at)

    def _with_columns(self, columns: Sequence[Column], zone: Zone) -> Files | None:
        """All files with the statistics of at least these columns; None if a column is doubted."""
        cache = self._cache
        wanted = (*columns, *(() if cache.columns else self.expected_columns))
        new = {c.path: c for c in wanted if c.path not in cache.columns}
        missing = [c for key, c in new.items() if key not in cache.doubted]
        if missing or (cache.all_files is None and not cache.doubted):
            self._grow(missing, zone)
        paths = {c.path for c in columns}
        if cache.all_files is None or paths & cache.doubted:
            return None
        if size(cache.all_files.containers) > BOUND:
            cache.all_files = _of_columns(cache.all_files, paths)
            cache.columns = {key: c for key, c in cache.columns.items() if key in paths}
            cache.views.clear()
            if cache.all_files.containers.blocks is not None:
                cache.all_files.containers.blocks.clear_cache()
        return cache.all_files

    def _grow(self, missing: Sequence[Column], zone: Zone) -> None:
        cache = self._cache
        try:
            read = self.snapshot.files(missing, zone, None)
        except WhyscanError:
            # Something of these columns or files cannot be read. A query that does not need it
            # must not fail; a query that needs it reads the snapshot and fails there.
            cache.doubted |= {c.path for c in missing}
            return
        if read.unreadable and len(missing) > 1:
            for column in missing:
                self._grow([column], zone)
            return
        if read.unreadable:
            # They are counted over all columns that a query names together.
            cache.doubted |= {c.path for c in missing}
            return
        cache.columns |= {c.path: c for c in missing}
        files = read if cache.all_files is None else _with(cache.all_files, read)
        cache.all_files = self._in_blocks(files, missing)

    def _in_blocks(self, files: Files, new: Sequence[Column]) -> Files:
        """The same files in blocks: files with near values in the cached columns share a block."""
        cache, containers = self._cache, files.containers
        useful = [
            c for c in new if c.path in containers.partition or c.path in containers.statistics
        ]
        if files.count < BLOCKS_FROM or not useful or len(cache.arranged) >= ARRANGED_BY:
            return files
        first = [c for c in useful if c.path in self.partition_sources]
        rest = [c for c in useful if c not in first]
        cache.arranged = (*cache.arranged, *first, *rest)[:ARRANGED_BY]
        cache.views.clear()
        return replace(
            files, containers=replace(containers, blocks=make_blocks(containers, cache.arranged))
        )


def _of_columns(files: Files, paths: set[Path]) -> Files:
    """The same files with the statistics of the columns `paths` only."""
    containers = files.containers
    return replace(
        files,
        containers=replace(
            containers,
            statistics={path: i for path, i in containers.statistics.items() if path in paths},
            exact={path: e for path, e in containers.exact.items() if path in paths},
            contradicted={p: c for p, c in containers.contradicted.items() if p in paths},
        ),
    )


def _with(files: Files, read: Files) -> Files:
    """The same files with the statistics of more columns, which are in `read`."""
    containers, more = files.containers, read.containers
    return replace(
        files,
        containers=replace(
            containers,
            partition={**containers.partition, **more.partition},
            statistics={**containers.statistics, **more.statistics},
            exact={**containers.exact, **more.exact},
            contradicted={**containers.contradicted, **more.contradicted},
        ),
    )


def _at(files: Files, at: pa.Array) -> Files:
    """The files at the positions `at`, in that order."""

    def of(values: pa.Array | None) -> pa.Array | None:
        return None if values is None else values.take(at)

    return replace(
        files,
        read_paths=lambda: files.read_paths().take(at),
        bytes=files.bytes.take(at),
        rows=files.rows.take(at),
        partition=files.partition.take(at) if files.partition.num_columns else files.partition,
        containers=files.containers.take(at),
        deleted=of(files.deleted),
        maybe_deleted=of(files.maybe_deleted),
        formats=of(files.formats),
        manifest=of(files.manifest),
        spec=of(files.spec),
    )
