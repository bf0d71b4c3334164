"""A snapshot for many questions: its files are read once for all their columns.

The answers are those of the snapshot itself. Where that is in doubt (statistics that cannot be
true are counted by the columns that were asked for, a data file is missing) it is asked itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import replace

from whyscan.errors import WhyscanError
from whyscan.pruning.blocks import arranged
from whyscan.tables.cached_files import size
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
"""How many bytes of the files' columns are held; beyond it only what the last question named."""

VIEWS_AT_MOST = 256

BLOCKS_FROM = 50_000
"""So many files are put into blocks: of fewer, each is looked at as quickly."""

ARRANGED_BY = 4
"""Blocks lie near each other by so many columns: with more, none of them tells blocks apart."""


def hold(snapshot: Snapshot, columns: Sequence[Column] = ()) -> CachedSnapshot:
    """The same snapshot for many questions; `columns` are those they will name, as far as known.

    A question that names another column has it read then, and held from then on.
    """
    if isinstance(snapshot, CachedSnapshot):
        return snapshot
    return CachedSnapshot(snapshot, tuple(dict.fromkeys(columns)))


class _View(Struct, frozen=True):
    """What a question is answered with; `at` are the places of its files among all of them.

    None where nobody knows.
    """

    files: Files
    at: npt.NDArray[np.int64] | None


class _CachedColumns(Struct):
    """What was read so far: `whole` are all files with what is known of the `columns`.

    They lie in blocks by those that are `arranged`. What is told of a column in `doubted` depends
    on the others that are asked for with it.
    """

    columns: dict[Path, Column] = field(default_factory=dict)
    whole: Files | None = None
    doubted: set[Path] = field(default_factory=set)
    views: dict[tuple[object, ...], _View] = field(default_factory=dict)
    arranged: tuple[Column, ...] = ()
    recordings: dict[Column, Recording] = field(default_factory=dict)
    sampled: Schema | None = None


class CachedSnapshot(Struct, frozen=True, eq=False, dict=True):
    """A snapshot that reads nothing twice."""

    bare: Snapshot
    named: tuple[Column, ...]
    _known: _CachedColumns = field(default_factory=_CachedColumns)
    _groups: CachedRowGroups = field(default_factory=CachedRowGroups)

    @property
    def uri(self) -> str:
        return self.bare.uri

    @property
    def format(self) -> str:
        return self.bare.format

    @property
    def version(self) -> int | None:
        return self.bare.version

    @property
    def notes(self) -> tuple[str, ...]:
        return self.bare.notes

    @lazy
    def partition_sources(self) -> tuple[Path, ...]:
        return self.bare.partition_sources

    @lazy
    def specs(self) -> tuple[Spec, ...]:
        return self.bare.specs

    @lazy
    def numbered_specs(self) -> tuple[SpecLine, ...]:
        return self.bare.numbered_specs

    @property
    def footers_describe_files(self) -> bool:
        return self.bare.footers_describe_files

    def schema(self, named: Sequence[str] = ()) -> Schema:
        """The columns. One that was once looked for harder is looked for by its name again."""
        if self._known.sampled is None:
            self._known.sampled = self.bare.schema()
        known = {name.lower() for name in self._known.sampled.names()}
        if all(name.lower() in known for name in named):
            return self._known.sampled
        return self.bare.schema(named)

    def manifests(self) -> Manifests | None:
        return self.bare.manifests()

    def expect(self, columns: Sequence[Column]) -> None:
        """Nothing: what is not held is read when it is asked for."""

    def recording(self, column: Column) -> Recording:
        found = self._known.recordings.get(column)
        if found is None:
            found = self._known.recordings[column] = self.bare.recording(column)
        return found

    def traffic(self) -> Traffic:
        return self.bare.traffic()

    def reading(self, files: Files, at: pa.Array, zone: Zone) -> FileReading:
        return self.bare.reading(files, at, zone)

    def files(
        self, columns: Sequence[Column], zone: Zone, manifests: pa.Array | None = None
    ) -> Files:
        """Every live file of the manifests, with what is known of `columns`."""
        return self._view(columns, zone, manifests).files

    def row_groups(
        self,
        files: Files,
        opened: pa.Array,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
    ) -> RowGroups:
        """The row groups of the files at `opened`; each footer is read once for a projection."""
        view = next((v for v in self._known.views.values() if v.files is files), None)
        if view is None or view.at is None:
            return self.bare.row_groups(files, opened, columns, projection)
        asked = RowGroupRequest(files, opened, view.at, columns, projection)
        return self._groups.answer(self.bare, asked, self.named)

    def _view(self, columns: Sequence[Column], zone: Zone, manifests: pa.Array | None) -> _View:
        paths = frozenset(column.path for column in columns)
        opened = None if manifests is None else tuple(manifests.to_pylist())
        asked = (paths, opened, zone if self.footers_describe_files else None)
        views = self._known.views
        found = views.pop(asked, None)
        if found is None:
            found = self._found(columns, zone, manifests)
        views[asked] = found
        if len(views) > VIEWS_AT_MOST:
            del views[next(iter(views))]
        return found

    def _found(self, columns: Sequence[Column], zone: Zone, manifests: pa.Array | None) -> _View:
        above = self.bare.manifests()
        everything = manifests is None or above is None or len(manifests) == above.count
        whole = None if self.footers_describe_files else self._whole(columns, zone)
        if whole is None:
            files = self.bare.files(columns, zone, manifests)
            return _View(files, np.arange(files.count) if everything else None)
        here = _of_columns(whole, {column.path for column in columns})
        if everything or manifests is None:
            return _View(here, np.arange(here.count))
        if not len(manifests) or len(self.specs) > 1 or here.manifest is None:
            # What there is to know of files, and to show, is what the specs that were met have.
            return _View(self.bare.files(columns, zone, manifests), None)
        at = np.flatnonzero(np.isin(here.manifest.to_numpy(), manifests.to_numpy()))
        return _View(_at(here, pa.array(at)), at)

    def _whole(self, columns: Sequence[Column], zone: Zone) -> Files | None:
        """All files with what is known of these columns and of others; None if they are doubted."""
        known = self._known
        wanted = (*columns, *(() if known.columns else self.named))
        new = {c.path: c for c in wanted if c.path not in known.columns}
        missing = [c for path, c in new.items() if path not in known.doubted]
        if missing or (known.whole is None and not known.doubted):
            self._grow(missing, zone)
        asked = {c.path for c in columns}
        if known.whole is None or asked & known.doubted:
            return None
        if size(known.whole.containers) > BOUND:
            known.whole = _of_columns(known.whole, asked)
            known.columns = {path: c for path, c in known.columns.items() if path in asked}
            known.views.clear()
            if known.whole.containers.blocks is not None:
                known.whole.containers.blocks.forget()
        return known.whole

    def _grow(self, missing: Sequence[Column], zone: Zone) -> None:
        known = self._known
        try:
            read = self.bare.files(missing, zone, None)
        except WhyscanError:
            # Of these columns or of all files something cannot be read: a question that does not
            # need it must not fail, and one that does fails by itself.
            known.doubted |= {c.path for c in missing}
            return
        if (read.contradictions or read.unreadable) and len(missing) > 1:
            for column in missing:
                self._grow([column], zone)
            return
        if read.contradictions or read.unreadable:
            # They are counted over all columns that are asked for together.
            known.doubted |= {c.path for c in missing}
            return
        known.columns |= {c.path: c for c in missing}
        files = read if known.whole is None else _with(known.whole, read)
        known.whole = self._in_blocks(files, missing)

    def _in_blocks(self, files: Files, new: Sequence[Column]) -> Files:
        """The same files, those together that lie near each other by the columns known so far."""
        known, told = self._known, files.containers
        useful = [c for c in new if c.path in told.partition or c.path in told.statistics]
        if files.count < BLOCKS_FROM or not useful or len(known.arranged) >= ARRANGED_BY:
            return files
        first = [c for c in useful if c.path in self.partition_sources]
        rest = [c for c in useful if c not in first]
        known.arranged = (*known.arranged, *first, *rest)[:ARRANGED_BY]
        known.views.clear()
        return replace(files, containers=replace(told, blocks=arranged(told, known.arranged)))


def _of_columns(files: Files, paths: set[Path]) -> Files:
    """The same files with the statistics of some columns alone."""
    told = files.containers
    return replace(
        files,
        containers=replace(
            told,
            statistics={path: i for path, i in told.statistics.items() if path in paths},
            exact={path: e for path, e in told.exact.items() if path in paths},
        ),
    )


def _with(files: Files, read: Files) -> Files:
    """The same files with what was read of more columns."""
    told, more = files.containers, read.containers
    return replace(
        files,
        containers=replace(
            told,
            partition={**told.partition, **more.partition},
            statistics={**told.statistics, **more.statistics},
            exact={**told.exact, **more.exact},
        ),
    )


def _at(files: Files, at: pa.Array) -> Files:
    """Some of the files, in that order."""

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
