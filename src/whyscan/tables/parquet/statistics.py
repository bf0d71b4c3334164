"""Collects the statistics of some columns from footers into Arrow arrays, one row per row group.

Footers are read one by one, and only the values of the requested columns are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import replace

from whyscan.errors import CorruptFile
from whyscan.pruning.containers import Containers
from whyscan.tables.column_finder import ambiguous
from whyscan.tables.parquet import schemas
from whyscan.tables.parquet.chunk_patterns import LOCATION_KEYS, SIZE, STATISTICS_KEYS
from whyscan.tables.parquet.metadata import Decoder, FooterMetadata, number, start
from whyscan.tables.parquet.raw_statistics import RawStatistics
from whyscan.tables.parquet.thrift import MalformedThrift
from whyscan.tables.snapshot import EachColumn, RowGroups
from whyscan.tables.storage.store import joined_ranges
from whyscan.tree.names import AmbiguousName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from whyscan.pruning.exact import Exact
    from whyscan.pruning.interval import Interval
    from whyscan.pruning.mask import Mask
    from whyscan.tables.parquet.footers import Footer
    from whyscan.tables.parquet.metadata import RowGroup
    from whyscan.tables.parquet.schemas import FileSchema, Node, ParquetColumn
    from whyscan.tables.snapshot import Unreached
    from whyscan.tree.nodes import Column, Path

    Find = Callable[[FileSchema, Path], Node | None]

_RANGES = pa.list_(pa.list_(pa.int64(), 2))
_CHUNKS = pa.list_(pa.list_(pa.int64(), 3))


class FileFooter(Struct, frozen=True):
    """A decoded footer, for levels below row groups.

    `leaves` are the requested columns that the file has, `projected` the positions of the
    projected columns in a row group (None: all).
    """

    footer: Footer
    metadata: FooterMetadata
    leaves: Mapping[Path, ParquetColumn]
    projected: tuple[int, ...] | None


class FooterStatistics(Struct, frozen=True):
    """The statistics of footers, one row per row group.

    `file` is the position of the row group's file among the requested files. `ranges` are the byte
    ranges of the projected columns, (start, end) each. `chunks` are those of an `EachColumn`
    projection, (position of the column, start, end) each. `footers` are the footers themselves if
    they are to be kept.
    """

    file: pa.Array
    ordinal: pa.Array
    rows: pa.Array
    bytes: pa.Array
    ranges: pa.Array
    statistics: dict[Path, Interval]
    exact: dict[Path, Exact]
    contradicted: dict[Path, Mask]
    unreadable: dict[Path, Mask]
    chunks: pa.Array | None = None
    footers: tuple[FileFooter, ...] | None = None

    def row_groups(
        self, opened: pa.Array, files: Containers, unchecked: tuple[Unreached, ...] = ()
    ) -> RowGroups:
        """The row groups of the files at `opened`, with the partition values of `files`."""
        at = opened.cast(pa.int64())
        owners = files.take(at.take(self.file))
        return RowGroups(
            opened=at,
            file=self.file,
            ordinal=self.ordinal,
            bytes=self.bytes,
            ranges=self.ranges,
            containers=Containers(
                len(self.file),
                self.rows,
                partition=owners.partition,
                statistics=self.statistics,
                buckets=owners.buckets,
                exact=self.exact,
                contradicted=self.contradicted,
                unreadable=self.unreadable,
            ),
            unchecked=unchecked,
            chunks=self.chunks,
            footers=self.footers,
        )


def read_schemas(footers: Iterator[Footer]) -> Iterator[FileSchema]:
    """The schema of each footer; footers that begin with the same bytes share one object."""
    decoder = Decoder()
    for footer in footers:
        try:
            yield decoder.schema(footer.data)
        except (MalformedThrift, UnicodeDecodeError) as error:
            raise _damaged(footer, error) from None


def read_statistics(
    footers: Iterator[Footer],
    columns: Sequence[Column],
    projection: Sequence[Path] | None,
    find: Find = schemas.find_by_name,
    *,
    keep_footers: bool = False,
) -> FooterStatistics:
    """The statistics of `columns` and the byte ranges of `projection` (None: all columns).

    `find` returns the node of a path in a file's schema: None for a column that is NULL in all
    rows of the file, a node without a leaf for a column without statistics. With `keep_footers`
    the result has the footers, with the chunks of `columns` and `projection`.
    """
    decoder = Decoder(keys=LOCATION_KEYS if keep_footers else STATISTICS_KEYS)
    collector = _Collector([RawStatistics(column) for column in columns], projection, find)
    for position, footer in enumerate(footers):
        try:
            wanted = collector.in_schema(decoder.schema(footer.data))
            every = keep_footers and projection is None
            metadata = decoder.decode(footer.data, None if every else wanted.positions)
            collector.take(position, metadata, wanted)
            if keep_footers:
                collector.keep(footer, metadata, wanted)
        except (MalformedThrift, UnicodeDecodeError) as error:
            raise _damaged(footer, error) from None
        except AmbiguousName as error:
            raise ambiguous(footer.path, error) from None
    return collector.measured(keep_footers=keep_footers)


def _damaged(footer: Footer, error: Exception) -> CorruptFile:
    why = str(error) if isinstance(error, MalformedThrift) else "a name that is not UTF-8"
    return CorruptFile(footer.path, f"its footer is damaged: {why}")


class _SchemaColumns(Struct, frozen=True):
    """The requested columns in one file schema.

    `nodes` has one node per requested column, None if the file does not have the column. `chosen`
    are the positions of the projected columns, None for all. `positions` are all of these. `each`
    has the positions of each column of an `EachColumn` projection.
    """

    nodes: tuple[Node | None, ...]
    chosen: tuple[int, ...] | None
    each: tuple[tuple[int, ...], ...]
    positions: frozenset[int]


class _Collector(Struct):
    """Collects one entry per row group in each list."""

    columns: Sequence[RawStatistics]
    projection: Sequence[Path] | None
    find: Find
    file: list[int] = field(default_factory=list)
    ordinal: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    ranges: list[list[tuple[int, int]]] = field(default_factory=list)
    chunks: list[list[tuple[int, int, int]]] = field(default_factory=list)
    footers: list[FileFooter] = field(default_factory=list)
    _by_schema: dict[int, tuple[FileSchema, _SchemaColumns]] = field(default_factory=dict)

    def in_schema(self, schema: FileSchema) -> _SchemaColumns:
        """The requested columns in one schema, computed once for each schema."""
        entry = self._by_schema.get(id(schema))
        if entry is None:
            entry = self._by_schema[id(schema)] = (schema, self._find_columns(schema))
        return entry[1]

    def _find_columns(self, schema: FileSchema) -> _SchemaColumns:
        nodes = tuple(self.find(schema, statistics.column.path) for statistics in self.columns)
        chosen = None
        each: tuple[tuple[int, ...], ...] = ()
        if self.projection is not None:
            projected = [self.find(schema, path) for path in self.projection]
            each = tuple(tuple(leaf.index for leaf in _leaves(node)) for node in projected)
            chosen = tuple(sorted({index for indices in each for index in indices}))
        with_bounds = (
            node.leaf.index for node in nodes if node is not None and node.leaf is not None
        )
        return _SchemaColumns(nodes, chosen, each, frozenset((*with_bounds, *(chosen or ()))))

    def take(self, position: int, footer: FooterMetadata, wanted: _SchemaColumns) -> None:
        """Add the row groups of one footer."""
        for ordinal, group in enumerate(footer.row_groups):
            self.file.append(position)
            self.ordinal.append(ordinal)
            self.rows.append(group.rows)
            self.bytes.append(group.size)
            self.ranges.append(_ranges(group, wanted.chosen))
            if isinstance(self.projection, EachColumn):
                self.chunks.append(
                    [
                        (at, start, end)
                        for at, positions in enumerate(wanted.each)
                        for start, end in _ranges(group, positions)
                    ]
                )
            for statistics, node in zip(self.columns, wanted.nodes, strict=True):
                if node is None:
                    # A column that the file does not have is NULL in all of its rows.
                    statistics.append(nulls=group.rows)
                elif node.leaf is None:
                    statistics.append()
                else:
                    statistics.add(group.chunks[node.leaf.index], node.leaf, footer)

    def keep(self, footer: Footer, metadata: FooterMetadata, wanted: _SchemaColumns) -> None:
        """Keep a footer; its bytes are not needed again."""
        leaves = {
            statistics.column.path: node.leaf
            for statistics, node in zip(self.columns, wanted.nodes, strict=True)
            if node is not None and node.leaf is not None
        }
        bare = replace(footer, data=b"")
        self.footers.append(FileFooter(bare, metadata, leaves, wanted.chosen))

    def measured(self, *, keep_footers: bool = False) -> FooterStatistics:
        rows = pa.array(self.rows, pa.int64())
        believed, unreadable = {}, {}
        for statistics in self.columns:
            path = statistics.column.path
            believed[path], unreadable[path] = statistics.encoded().believed(rows)
        return FooterStatistics(
            pa.array(self.file, pa.int64()),
            pa.array(self.ordinal, pa.int64()),
            rows,
            pa.array(self.bytes, pa.int64()),
            pa.array(self.ranges, _RANGES),
            {path: column.interval for path, column in believed.items()},
            {path: column.exact for path, column in believed.items()},
            {path: column.contradicted for path, column in believed.items()},
            unreadable,
            pa.array(self.chunks, _CHUNKS) if isinstance(self.projection, EachColumn) else None,
            tuple(self.footers) if keep_footers else None,
        )


def _leaves(node: Node | None) -> Iterator[ParquetColumn]:
    if node is None:
        return
    if node.leaf is not None:
        yield node.leaf
    for member in node.members:
        yield from _leaves(member)


def _ranges(group: RowGroup, chosen: Sequence[int] | None) -> list[tuple[int, int]]:
    """The byte ranges of the chosen chunks, (start, end) each; adjacent ranges are joined."""
    if chosen is None and group.contiguous is not None:
        return [group.contiguous]
    positions = group.chunks if chosen is None else chosen
    starts = ((start(group.chunks[at]), number(group.chunks[at], SIZE)) for at in positions)
    return joined_ranges(((first, first + size) for first, size in starts), gap=0)
