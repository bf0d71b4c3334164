"""Collects the statistics of some columns from footers into Arrow arrays, one row per row group.

Footers are read one by one, and only the values of the requested columns are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from whyscan.errors import CorruptFile
from whyscan.pruning.containers import ColumnStatistics, Containers, checked
from whyscan.pruning.functions.text.utf8 import text_or_unknown
from whyscan.pruning.mask import Mask, either
from whyscan.tables.column_finder import ambiguous
from whyscan.tables.parquet import bounds, schemas, trust
from whyscan.tables.parquet.chunk_patterns import SIZE
from whyscan.tables.parquet.metadata import Decoder, number, start
from whyscan.tables.parquet.nan import may_be_nan, nan_is_greatest
from whyscan.tables.parquet.thrift import Fields, MalformedThrift
from whyscan.tables.snapshot import EachColumn, RowGroups
from whyscan.tables.storage.store import joined_ranges
from whyscan.tree.names import AmbiguousName
from whyscan.tree.types import FloatType, StringType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from whyscan.pruning.containers import CheckedStatistics
    from whyscan.pruning.exact import Exact
    from whyscan.pruning.interval import Interval
    from whyscan.tables.parquet.footers import Footer
    from whyscan.tables.parquet.metadata import FooterMetadata, RowGroup
    from whyscan.tables.parquet.schemas import FileSchema, Node, ParquetColumn
    from whyscan.tables.snapshot import Unreached
    from whyscan.tree.nodes import Column, Path

    Find = Callable[[FileSchema, Path], Node | None]

_RANGES = pa.list_(pa.list_(pa.int64(), 2))
_CHUNKS = pa.list_(pa.list_(pa.int64(), 3))


class FooterStatistics(Struct, frozen=True):
    """The statistics of footers, one row per row group.

    `file` is the position of the row group's file among the requested files. `ranges` are the byte
    ranges of the projected columns, (start, end) each. `chunks` are those of an `EachColumn`
    projection, (position of the column, start, end) each.
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
) -> FooterStatistics:
    """The statistics of `columns` and the byte ranges of `projection` (None: all columns).

    `find` returns the node of a path in a file's schema: None for a column that is NULL in all
    rows of the file, a node without a leaf for a column without statistics.
    """
    decoder = Decoder()
    collector = _Collector([_Statistics(column) for column in columns], projection, find)
    for position, footer in enumerate(footers):
        try:
            wanted = collector.in_schema(decoder.schema(footer.data))
            collector.take(position, decoder.decode(footer.data, wanted.positions), wanted)
        except (MalformedThrift, UnicodeDecodeError) as error:
            raise _damaged(footer, error) from None
        except AmbiguousName as error:
            raise ambiguous(footer.path, error) from None
    return collector.measured()


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

    columns: Sequence[_Statistics]
    projection: Sequence[Path] | None
    find: Find
    file: list[int] = field(default_factory=list)
    ordinal: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    ranges: list[list[tuple[int, int]]] = field(default_factory=list)
    chunks: list[list[tuple[int, int, int]]] = field(default_factory=list)
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

    def measured(self) -> FooterStatistics:
        rows = pa.array(self.rows, pa.int64())
        believed = {
            statistics.column.path: statistics.believed(rows) for statistics in self.columns
        }
        return FooterStatistics(
            pa.array(self.file, pa.int64()),
            pa.array(self.ordinal, pa.int64()),
            rows,
            pa.array(self.bytes, pa.int64()),
            pa.array(self.ranges, _RANGES),
            {path: column.interval for path, column in believed.items()},
            {path: column.exact for path, column in believed.items()},
            {path: column.contradicted for path, column in believed.items()},
            {statistics.column.path: statistics.unreadable for statistics in self.columns},
            pa.array(self.chunks, _CHUNKS) if isinstance(self.projection, EachColumn) else None,
        )


class _Statistics(Struct):
    """The statistics of one column, one entry per row group in each list.

    `kinds` is the index in `leaves` of the file column that decodes the entry, -1 without one.
    `greatest` says whether the writer would have made NaN the maximum.
    """

    column: Column
    leaves: list[ParquetColumn] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    lower: list[bytes | None] = field(default_factory=list)
    upper: list[bytes | None] = field(default_factory=list)
    nulls: list[int | None] = field(default_factory=list)
    nan_counts: list[int | None] = field(default_factory=list)
    greatest: list[bool] = field(default_factory=list)
    unreadable: Mask = False

    def add(self, chunk: Fields, leaf: ParquetColumn, footer: FooterMetadata) -> None:
        """Add the statistics of one column chunk."""
        lower, upper = trust.bounds(chunk, leaf, footer)
        self.append(self._kind(leaf), lower, upper, nulls=_count(chunk, trust.NULL_COUNT))
        counted = _count(chunk, trust.NAN_COUNT)
        self.nan_counts[-1] = None if counted is None or counted < 0 else counted
        self.greatest[-1] = nan_is_greatest(footer.created_by)

    def append(
        self,
        kind: int = -1,
        lower: bytes | None = None,
        upper: bytes | None = None,
        nulls: int | None = None,
    ) -> None:
        self.kinds.append(kind)
        self.lower.append(lower)
        self.upper.append(upper)
        self.nulls.append(nulls)
        self.nan_counts.append(None)
        self.greatest.append(False)

    def _kind(self, leaf: ParquetColumn) -> int:
        """The index in `leaves` of a column with this type and encoding; adds a new one."""
        for kind, other in enumerate(self.leaves):
            if other is leaf or (other.encoding is leaf.encoding and other.type == leaf.type):
                return kind
        self.leaves.append(leaf)
        return len(self.leaves) - 1

    def believed(self, rows: pa.Array) -> CheckedStatistics:
        """One interval per row group, without statistics that cannot be true."""
        (lower, no_lower), (upper, no_upper) = map(self._decoded, (self.lower, self.upper))
        if isinstance(self.column.type, StringType) and lower is not None and upper is not None:
            before = lower, upper
            lower, upper = text_or_unknown(*before)
            no_lower = either(no_lower, _lost(before[0], lower))
            no_upper = either(no_upper, _lost(before[1], upper))
        self.unreadable = either(no_lower, no_upper)
        statistics = ColumnStatistics(
            lower=lower,
            upper=upper,
            null_count=pa.array(self.nulls, pa.int64()),
            nan=self._nan(upper),
            attained=self._attained(),
        )
        return checked(self.column.type, statistics, rows)

    def _decoded(self, raw: bounds.Raw) -> tuple[pa.Array | None, Mask]:
        """The bounds in the table's type, each decoded by the type of its file.

        Also whether the bound of each row group is no value of its file's type.
        """
        parts = []
        unreadable: Mask = False
        for kind, leaf in enumerate(self.leaves):
            of_kind = raw if len(self.leaves) == 1 else bounds.only(raw, self.kinds, kind)
            decoded = bounds.decode(of_kind, leaf, self.column.type)
            if decoded is not None:
                unreadable = either(unreadable, bounds.unreadable(of_kind, leaf, decoded))
                parts.append(decoded)
        return bounds.join(parts), unreadable

    def _attained(self) -> Mask:
        """Where a row has the bound itself as its value. Bounds of text and bytes may be cut."""
        cut = [k for k, leaf in enumerate(self.leaves) if bounds.may_be_cut(leaf)]
        if not cut:
            return True
        return pa.array([kind not in cut for kind in self.kinds], pa.bool_())

    def _nan(self, upper: pa.Array | None) -> Mask:
        if not isinstance(self.column.type, FloatType):
            return False
        possible = may_be_nan(
            pa.array(self.nan_counts, pa.int64()), pa.array(self.greatest, pa.bool_()), upper
        )
        not_float = {
            k for k, leaf in enumerate(self.leaves) if not isinstance(leaf.type, FloatType)
        }
        return pc.and_(
            possible, pa.array([kind not in not_float for kind in self.kinds], pa.bool_())
        )


def _lost(before: pa.Array, after: pa.Array) -> Mask:
    """Where `before` has a value and `after` has none."""
    if before.null_count == after.null_count:
        return False
    return pc.and_(before.is_valid(), after.is_null())


def _count(chunk: Fields, key: int) -> int | None:
    value = chunk.get(key)
    return value if isinstance(value, int) and abs(value) < 1 << 62 else None


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
