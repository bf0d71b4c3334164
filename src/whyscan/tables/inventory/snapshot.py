"""A snapshot of a table from the rows that an inventory has of its containers.

It is planned like the table itself, and gives the same plan without the table. What the inventory
does not have is unknown: row groups if it was written without them, the rows of the table, and
the modification times of files.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import UsageError
from whyscan.masking import MASK
from whyscan.pruning.containers import Containers
from whyscan.pruning.interval import Interval, anything, between
from whyscan.pruning.mask import simplified
from whyscan.pruning.transforms import IdentityTransform
from whyscan.tables.bounded_cache import BoundedCache
from whyscan.tables.inventory.container_rows import ContainerFiles, LevelRows
from whyscan.tables.inventory.container_schema import (
    FILE,
    FOOTER_READ,
    MANIFEST,
    OUT_OF_REACH,
    ROW_GROUP,
)
from whyscan.tables.parquet import metadata_columns, partitions
from whyscan.tables.parquet.paths import read_keys
from whyscan.tables.snapshot import Collected, Files, Manifests, Recording, RowGroups, Unreached
from whyscan.tables.storage.store import Store, joined_ranges
from whyscan.tree import zones
from whyscan.tree.arrow import arrow_type
from whyscan.tree.lazy import lazy
from whyscan.tree.nodes import leaves_within
from whyscan.tree.types import BIGINT, STRING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from whyscan.tables.file_columns import FileReading
    from whyscan.tables.inventory.description import TableDescription
    from whyscan.tables.snapshot import Spec, SpecLine, Traffic
    from whyscan.tree.nodes import Column, Path
    from whyscan.tree.types import Schema
    from whyscan.tree.zones import Zone

_UTC = zones.zone("UTC")
_RANGES = pa.list_(pa.list_(pa.int64(), 2))
_NO_FOOTERS = "the inventory was written without --depth row-groups"
_NOT_READ = "in the inventory without their row groups"
_DECIMAL = re.compile(r"decimal128\((\d+), (-?\d+)\)")
_PATHS = frozenset({metadata_columns.FILE_PATH, metadata_columns.FILE_NAME})


class InventorySnapshot(Struct, frozen=True, eq=False, dict=True):
    """A table at one snapshot, or a part of it, as an inventory at `place` has it.

    The table was written in `parts` parts with `file_count` files together. `row_groups_read`:
    the footers of its files were read.
    """

    place: str
    read_at: str
    description: TableDescription
    containers: ContainerFiles
    parts_written: int
    file_count: int
    row_groups_read: bool

    below: ClassVar[None] = None

    @property
    def uri(self) -> str:
        return self.description.uri

    @property
    def format(self) -> str:
        return self.description.format

    @property
    def version(self) -> int | None:
        return self.description.version

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the table, and what the inventory cannot know."""
        doubtful = ", ".join(sorted(name for name, count in self._spellings.items() if count > 1))
        unknown = f"the inventory cannot tell columns called {doubtful} apart" if doubtful else ""
        source = f"the metadata is of {self.read_at}, from the inventory at {self.place}"
        return (*self.description.notes, source, *([unknown] if unknown else []))

    @property
    def partition_sources(self) -> tuple[Path, ...]:
        return self.description.partition_sources

    @lazy
    def specs(self) -> tuple[Spec, ...]:
        return self.description.partition_specs()

    @lazy
    def numbered_specs(self) -> tuple[SpecLine, ...]:
        return self.description.spec_lines()

    @property
    def footers_describe_files(self) -> bool:
        return self.description.footers_describe_files and self.row_groups_read

    def require_version(self, number: int | None) -> None:
        """Raise an error unless this is the version or snapshot id `number`.

        None is a branch, a tag or a time, which an inventory does not know.
        """
        if number is not None and number == self.version:
            return
        only = "one version" if self.version is None else f"version {self.version} alone"
        raise UsageError(
            f"the inventory {self.place} has {only} of {self.uri}",
            hint="leave the version out, or read the table itself",
        )

    def schema(self, named: Sequence[str] = ()) -> Schema:  # noqa: ARG002 - nothing more can be read
        return self._schema

    @lazy
    def _schema(self) -> Schema:
        return self.description.schema()

    @lazy
    def _spellings(self) -> Counter[str]:
        return Counter(".".join(column.path) for column in leaves_within(self._schema.fields))

    @lazy
    def _columns(self) -> Mapping[Path, Column]:
        """The columns that the lines of containers can be about."""
        return {
            column.path: column
            for column in leaves_within(self._schema.fields)
            if self._spellings[".".join(column.path)] == 1
        }

    @lazy
    def _cached_files(self) -> BoundedCache[Files]:
        return BoundedCache()

    def manifests(self) -> Manifests | None:
        """The manifests with their partition summaries; None if the table format has none."""
        return self._manifests if self.format == "iceberg" else None

    @lazy
    def _manifests(self) -> Manifests:
        sources = self._columns_at(self.partition_sources)
        level = self.containers.level(MANIFEST, sources)
        partition = {c.path: self._partition(level, c) for c in sources}
        files = level.values("files")
        return Manifests(
            paths=level.values("path"),
            files=files,
            rows=level.values("rows"),
            containers=Containers(
                level.count,
                files,
                partition={path: i for path, i in partition.items() if i is not None},
                buckets=level.buckets(sources),
            ),
        )

    def _columns_at(self, paths: Sequence[Path]) -> list[Column]:
        return [self._columns[path] for path in dict.fromkeys(paths) if path in self._columns]

    def files(
        self, columns: Sequence[Column], zone: Zone | None = None, manifests: pa.Array | None = None
    ) -> Files:
        """The live files of the manifests at the positions `manifests`; None stands for all."""
        paths = frozenset(column.path for column in columns)
        opened = None if manifests is None else tuple(manifests.to_pylist())
        name = None if zone is None else zone.name
        return self._cached_files.get(
            (paths, name, opened), lambda: self._read_files(paths, zone, manifests)
        )

    def _read_files(
        self, paths: frozenset[Path], zone: Zone | None, manifests: pa.Array | None
    ) -> Files:
        wanted = self._columns_at(
            [*paths, *(self.partition_sources if self.format == "iceberg" else ())]
        )
        by_footers = self.description.footers_describe_files
        level = self.containers.level(FILE, [] if by_footers else wanted)
        if manifests is not None:
            opened = self._manifests.paths.take(manifests)
            level = level.filtered(pc.is_in(level.values("manifest"), opened))
        files = self._files(level)
        if by_footers:
            keyed = self._folders(level)
            partition, table = keyed.intervals(zone), keyed.table(zone or _UTC)
            containers = Containers(level.count, partition=partition)
        else:
            table = _partition_table(level) if level.count else self._no_partition_values()
            containers = self._containers(level, wanted, paths)
        constants = dict(self._constants(files, paths))
        partition = {**containers.partition, **constants}
        return replace(files, partition=table, containers=replace(containers, partition=partition))

    def _no_partition_values(self) -> pa.Table:
        """The partition values of no file: a part may be empty, and has the columns of the others.

        Delta's have the names of their columns; those of Iceberg are in the files alone.
        """
        paths = self.partition_sources if self.format == "delta" else ()
        named = [path for path in paths if self.specs[0].get(path) == (IdentityTransform(),)]
        return pa.table({".".join(path): pa.array([], pa.string()) for path in named})

    def _folders(self, level: LevelRows) -> partitions.Partitions:
        """The partition columns of the files' folders, with the types that the table had."""
        types = {f.name: f.type for f in self._schema.fields}
        named = {path[0]: types[path[0]] for path in self.partition_sources}
        keyed = read_keys(level.values("path"))
        return partitions.typed(keyed, {n: k for n, k in named.items() if n in keyed.names})

    def _files(self, level: LevelRows) -> Files:
        """The files without their containers."""
        deleted, maybe = level.values("deleted"), level.values("maybe_deleted")
        paths = self._manifests.paths if self.format == "iceberg" else None
        listed = None if paths is None else pc.index_in(level.values("manifest"), paths)
        return Files(
            read_paths=partial(level.values, "path"),
            bytes=level.values("bytes"),
            rows=level.values("rows"),
            partition=level.rows.select([]),
            containers=Containers(level.count),
            deleted=None if deleted.null_count == len(deleted) else deleted.fill_null(0),
            maybe_deleted=None if pc.all(pc.equal(maybe, 0), skip_nulls=False).as_py() else maybe,
            formats=_where_recorded(level.values("file_format")),
            manifest=None if listed is None or listed.null_count else listed.cast(pa.int64()),
            spec=_where_recorded(level.values("spec")),
            wrong_counts=pc.sum(level.values("wrong_counts")).as_py() or 0,
        )

    def _containers(
        self, level: LevelRows, columns: Sequence[Column], named: frozenset[Path]
    ) -> Containers:
        measured = _measured(
            level, [c for c in columns if c.path in named], level.values("live_rows")
        )
        return replace(
            measured,
            partition={c.path: i for c in columns if (i := self._partition(level, c)) is not None},
            buckets=level.buckets(columns),
        )

    def _partition(self, level: LevelRows, column: Column) -> Interval | None:
        """What partition values say of a column; None if it is the source of no partition field."""
        interval = level.partition(column)
        if interval is None and column.path in self.partition_sources:
            unknown = pa.nulls(level.count, arrow_type(column.type))
            interval = replace(anything(column.type), lower=unknown, upper=unknown)
        return interval

    def _constants(self, files: Files, paths: frozenset[Path]) -> Iterator[tuple[Path, Interval]]:
        """The columns of Spark's `_metadata` with one value per file, as the formats give them."""
        if metadata_columns.FILE_SIZE in paths:
            yield metadata_columns.FILE_SIZE, between(BIGINT, files.bytes, files.bytes)
        if paths.isdisjoint(_PATHS):
            return
        addresses = [self._address(path) for path in files.paths.to_pylist()]
        names = [None if a is None else a.rpartition("/")[2] for a in addresses]
        for path, texts in (
            (metadata_columns.FILE_PATH, addresses),
            (metadata_columns.FILE_NAME, names),
        ):
            if path in paths:
                values = pa.array([None if t is None else t.encode() for t in texts], pa.binary())
                yield path, between(STRING, values, values)

    def _address(self, path: str) -> str | None:
        """The address of a file in Spark's spelling; None if it is unknown."""
        if MASK in path:
            return None
        if self.format == "iceberg":
            return path
        if self.format == "delta" and (path.startswith("/") or ":" in path.partition("/")[0]):
            return None
        folder = self.uri if self.uri.startswith("/") else None
        return metadata_columns.uri(Store(self.uri, None, folder=folder), path)

    @lazy
    def _footers(self) -> Mapping[str, str]:
        """Whether the footer of each file was read, or why not, by the path of the file."""
        level = self.containers.level(FILE)
        paths = level.values("path").to_pylist()
        footers = level.values("footer").fill_null(_NOT_READ).to_pylist()
        repeated = Counter(paths)
        return {
            path: footer if repeated[path] == 1 else OUT_OF_REACH
            for path, footer in zip(paths, footers, strict=True)
        }

    def row_groups(
        self,
        files: Files,
        opened: pa.Array,
        columns: Sequence[Column],
        projection: Sequence[Path] | None,
        *,
        keep_footers: bool = False,  # noqa: ARG002 - there are none
    ) -> RowGroups:
        """The row groups of the files at the positions `opened`, if the inventory has them."""
        paths = files.paths.take(opened)
        footers = [self._footers[path] for path in paths.to_pylist()]
        is_read = pa.array([footer == FOOTER_READ for footer in footers], pa.bool_())
        reached = opened.filter(is_read).cast(pa.int64())
        reached_paths = paths.filter(is_read)
        wanted = [] if not len(reached) else self._columns_at([column.path for column in columns])
        with_chunks = projection is None or len(projection) > 0
        containers = self.containers if len(reached) else ContainerFiles(())
        level = containers.level(ROW_GROUP, wanted, chunks=with_chunks)
        level = level.filtered(pc.is_in(level.values("path"), reached_paths))
        file = pc.index_in(level.values("path"), reached_paths)
        order = np.lexsort([level.values("ordinal").to_numpy(), file.to_numpy()])
        level = level.ordered(order)
        file = file.take(pa.array(order)).cast(pa.int64())
        owners = files.containers.take(reached.take(file))
        measured = _measured(level, wanted, level.values("rows"))
        return RowGroups(
            opened=reached,
            file=file,
            ordinal=level.values("ordinal"),
            bytes=level.values("bytes"),
            ranges=self._ranges(level, projection),
            containers=replace(measured, partition=owners.partition, buckets=owners.buckets),
            unchecked=tuple(
                Unreached(why, count, len(opened))
                for why, count in Counter(footers).items()
                if why != FOOTER_READ
            ),
        )

    def _ranges(self, level: LevelRows, projection: Sequence[Path] | None) -> pa.Array:
        """The byte ranges of the projected columns in each row group, adjacent ones joined."""
        if projection is not None and not projection:
            return pa.array([[]] * level.count, _RANGES)
        names = {
            ".".join(column.path)
            for column in leaves_within(self._schema.fields)
            if projection is None or any(column.path[: len(p)] == p for p in projection)
        }
        if any(self._spellings[name] > 1 for name in names):
            return pa.array([[[None, None]]] * level.count, _RANGES)
        lists = level.values("chunks").to_pylist()
        return pa.array([_ranges(chunks or (), names) for chunks in lists], _RANGES)

    def reading(self, files: Files, at: pa.Array, zone: Zone) -> FileReading:  # noqa: ARG002 - no rows
        """Raise an error: an inventory has no rows of the table."""
        raise UsageError(
            f"the inventory {self.place} has no rows of {self.uri}", hint="read the table itself"
        )

    def recording(self, column: Column) -> Recording:
        """The statistics of a column that the table's properties tell writers to record."""
        if self.description.footers_describe_files and not self.row_groups_read:
            return Recording(Collected.LEFT_OUT, _NO_FOOTERS)
        name = ".".join(column.path)
        if self._spellings[name] > 1:
            return Recording(
                Collected.LEFT_OUT, f"the inventory cannot tell columns called {name} apart"
            )
        return self._recordings.get(column.path) or Recording(Collected.YES)

    @lazy
    def _recordings(self) -> Mapping[Path, Recording]:
        return {line.column: line.recording for line in self.description.recordings}

    def traffic(self) -> Traffic:
        return self.containers.traffic()

    def parts(self, files_each: int) -> tuple[InventorySnapshot, ...]:
        """Parts of about `files_each` files; none is smaller than a part of the inventory's run."""
        count = max(1, min(self.parts_written, -(-self.file_count // files_each)))
        numbers = np.array_split(np.arange(self.parts_written), count)
        return tuple(
            replace(
                self,
                containers=replace(self.containers, parts=frozenset(map(int, chosen))),
                file_count=self.file_count // count,
                parts_written=len(chosen),
            )
            for chosen in numbers
        )


def _measured(level: LevelRows, columns: Sequence[Column], rows: pa.Array) -> Containers:
    """The containers of a level with the statistics of the columns.

    A column that no container has a line about has statistics of which nothing is known, unless it
    is known by partition values alone.
    """
    statistics: dict[Path, Interval] = {}
    for column in columns:
        interval = level.statistics(column)
        if interval is None and level.partition(column) is None:
            interval = replace(anything(column.type), counted=False)
        if interval is not None:
            statistics[column.path] = interval
    measured = [column for column in columns if column.path in statistics]
    unread = simplified(level.values("rows_unreadable").fill_null(fill_value=False))
    return Containers(
        level.count,
        rows,
        statistics=statistics,
        exact={column.path: level.exact(column) for column in measured},
        contradicted={column.path: level.contradicted(column) for column in measured},
        unreadable={(): unread, **{column.path: level.unreadable(column) for column in columns}},
    )


def _partition_table(level: LevelRows) -> pa.Table:
    """The partition values in their types, one row per file."""
    texts, types = level.values("partition"), level.values("partition_types")
    names = pc.unique(texts.keys).to_pylist()
    if not names:
        return level.rows.select([])
    return pa.table(
        {name: _typed(pc.map_lookup(texts, name, "first"), _types(types, name)) for name in names}
    )


def _types(types: pa.MapArray, name: str) -> list[str]:
    kinds = pc.unique(pc.map_lookup(types, name, "first"))
    return [kind for kind in kinds.to_pylist() if kind is not None]


def _typed(texts: pa.Array, types: Sequence[str]) -> pa.Array:
    """The values in their Arrow type; text if files disagree about it, as in the table itself."""
    if len(types) != 1:
        return texts
    try:
        decimal = _DECIMAL.fullmatch(types[0])
        return texts.cast(
            pa.type_for_alias(types[0])
            if decimal is None
            else pa.decimal128(int(decimal[1]), int(decimal[2]))
        )
    except (pa.ArrowInvalid, ValueError):
        return texts


def _where_recorded(values: pa.Array) -> pa.Array | None:
    return None if values.null_count == len(values) else values


def _ranges(chunks: Sequence[Mapping[str, Any]], names: Collection[str]) -> list[tuple[int, int]]:
    """The ranges of the named chunks, in the order of the file; adjacent ranges are joined."""
    return joined_ranges(((c["start"], c["end"]) for c in chunks if c["column"] in names), gap=0)
