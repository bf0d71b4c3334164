"""What footers say of a few columns, as Arrow: a row group a row.

Footers are taken one by one, and only what was asked for is kept of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from whyscan.errors import CorruptFile, TableError
from whyscan.pruning.containers import ColumnStatistics, Containers, believe
from whyscan.pruning.functions.text.utf8 import text_or_unknown
from whyscan.tables.parquet import bounds, schemas, trust
from whyscan.tables.parquet.chunk_patterns import SIZE
from whyscan.tables.parquet.metadata import Decoder, number, start
from whyscan.tables.parquet.nan import may_be_nan, nan_is_greatest
from whyscan.tables.parquet.thrift import Fields, MalformedThrift
from whyscan.tables.snapshot import RowGroups
from whyscan.tree.types import FloatType, StringType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from whyscan.pruning.containers import Believed
    from whyscan.pruning.exact import Exact
    from whyscan.pruning.interval import Interval
    from whyscan.pruning.mask import Mask
    from whyscan.tables.parquet.footers import Footer
    from whyscan.tables.parquet.metadata import FooterMetadata, RowGroup
    from whyscan.tables.parquet.schemas import FileSchema, Node, ParquetColumn
    from whyscan.tables.snapshot import Unreached
    from whyscan.tree.nodes import Column, Path

    Find = Callable[[FileSchema, Path], Node | None]

_RANGES = pa.list_(pa.list_(pa.int64(), 2))


class Measured(Struct, frozen=True):
    """What footers say: `file` is the position of each row group's file among those asked for.

    `ranges` are the byte ranges of the asked columns, (start, end) each.
    """

    file: pa.Array
    ordinal: pa.Array
    rows: pa.Array
    bytes: pa.Array
    ranges: pa.Array
    statistics: dict[Path, Interval]
    exact: dict[Path, Exact]
    contradictions: int
    unreadable: int = 0

    def row_groups(
        self, opened: pa.Array, files: Containers, unchecked: tuple[Unreached, ...] = ()
    ) -> RowGroups:
        """As row groups of those `files` that stand at `opened`, in their partitions."""
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
            ),
            contradictions=self.contradictions,
            unreadable=self.unreadable,
            unchecked=unchecked,
        )


def read_schemas(footers: Iterator[Footer]) -> Iterator[FileSchema]:
    """The schema of each footer; those that begin with the same bytes share one."""
    decoder = Decoder()
    for footer in footers:
        try:
            yield decoder.schema(footer.data)
        except (MalformedThrift, UnicodeDecodeError) as error:
            raise _damaged(footer, error) from None


def measure(
    footers: Iterator[Footer],
    columns: Sequence[Column],
    projection: Sequence[Path] | None,
    find: Find = schemas.find,
) -> Measured:
    """What footers say of `columns`, and where the chunks of `projection` lie (None: of all).

    `find` gives the node of a path in a file's schema: None for a column that is NULL in all of
    its rows, a node without a leaf for one of which nothing is known.
    """
    decoder = Decoder()
    collector = _Collector([_Statistics(column) for column in columns], projection, find)
    for position, footer in enumerate(footers):
        try:
            asked = collector.asked(decoder.schema(footer.data))
            collector.take(position, decoder.decode(footer.data, asked.positions), asked)
        except (MalformedThrift, UnicodeDecodeError) as error:
            raise _damaged(footer, error) from None
        except schemas.Ambiguous as error:
            raise TableError(
                f"{footer.path} has several columns that answer to {error.args[0]!r}",
                hint="names are compared without regard to case; rename one of them",
            ) from None
    return collector.measured()


def _damaged(footer: Footer, error: Exception) -> CorruptFile:
    why = str(error) if isinstance(error, MalformedThrift) else "a name that is not UTF-8"
    return CorruptFile(footer.path, f"its footer is damaged: {why}")


class _SchemaColumns(Struct, frozen=True):
    """Which columns of one schema matter: `nodes` by what was asked, `chosen` for their ranges.

    A node of None is a column that the file does not have.
    """

    nodes: tuple[Node | None, ...]
    chosen: tuple[int, ...] | None
    positions: frozenset[int]


class _Collector(Struct):
    columns: Sequence[_Statistics]
    projection: Sequence[Path] | None
    find: Find
    file: list[int] = field(default_factory=list)
    ordinal: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    ranges: list[list[tuple[int, int]]] = field(default_factory=list)
    _asked: dict[int, tuple[FileSchema, _SchemaColumns]] = field(default_factory=dict)

    def asked(self, schema: FileSchema) -> _SchemaColumns:
        """What was asked, in terms of one schema; worked out once for each."""
        known = self._asked.get(id(schema))
        if known is None:
            known = self._asked[id(schema)] = (schema, self._ask(schema))
        return known[1]

    def _ask(self, schema: FileSchema) -> _SchemaColumns:
        nodes = tuple(self.find(schema, told.column.path) for told in self.columns)
        chosen = None
        if self.projection is not None:
            named = (self.find(schema, path) for path in self.projection)
            chosen = tuple(sorted({leaf.index for node in named for leaf in _leaves(node)}))
        own = (node.leaf.index for node in nodes if node is not None and node.leaf is not None)
        return _SchemaColumns(nodes, chosen, frozenset((*own, *(chosen or ()))))

    def take(self, position: int, footer: FooterMetadata, asked: _SchemaColumns) -> None:
        """Keep what one footer says."""
        for ordinal, group in enumerate(footer.row_groups):
            self.file.append(position)
            self.ordinal.append(ordinal)
            self.rows.append(group.rows)
            self.bytes.append(group.size)
            self.ranges.append(_ranges(group, asked.chosen))
            for told, node in zip(self.columns, asked.nodes, strict=True):
                if node is None:
                    # A column that the file does not have is NULL in all of its rows.
                    told.append(nulls=group.rows)
                elif node.leaf is None:
                    told.append()
                else:
                    told.add(group.chunks[node.leaf.index], node.leaf, footer)

    def measured(self) -> Measured:
        rows = pa.array(self.rows, pa.int64())
        believed = {told.column.path: told.believed(rows) for told in self.columns}
        return Measured(
            pa.array(self.file, pa.int64()),
            pa.array(self.ordinal, pa.int64()),
            rows,
            pa.array(self.bytes, pa.int64()),
            pa.array(self.ranges, _RANGES),
            {path: found.interval for path, found in believed.items()},
            {path: found.exact for path, found in believed.items()},
            sum(found.contradictions for found in believed.values()),
            sum(told.unreadable for told in self.columns),
        )


class _Statistics(Struct):
    """One column's statistics, a row group an entry. `kinds` says by which leaf to decode."""

    column: Column
    leaves: list[ParquetColumn] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    lower: list[bytes | None] = field(default_factory=list)
    upper: list[bytes | None] = field(default_factory=list)
    nulls: list[int | None] = field(default_factory=list)
    nan_counts: list[int | None] = field(default_factory=list)
    greatest: list[bool] = field(default_factory=list)
    unreadable: int = 0

    def add(self, chunk: Fields, leaf: ParquetColumn, footer: FooterMetadata) -> None:
        """What one chunk says."""
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
        """The number of the leaf's type and encoding, whatever its position."""
        for known_as, known in enumerate(self.leaves):
            if known is leaf or (known.encoding is leaf.encoding and known.type == leaf.type):
                return known_as
        self.leaves.append(leaf)
        return len(self.leaves) - 1

    def believed(self, rows: pa.Array) -> Believed:
        (lower, no_lower), (upper, no_upper) = map(self._decoded, (self.lower, self.upper))
        if isinstance(self.column.type, StringType) and lower is not None and upper is not None:
            before = lower, upper
            lower, upper = text_or_unknown(*before)
            no_lower |= _lost(before[0], lower)
            no_upper |= _lost(before[1], upper)
        self.unreadable = len(no_lower | no_upper)
        told = ColumnStatistics(
            lower=lower,
            upper=upper,
            null_count=pa.array(self.nulls, pa.int64()),
            nan=self._nan(upper),
            attained=self._attained(),
        )
        return believe(self.column.type, told, rows, len(rows))

    def _decoded(self, raw: bounds.Raw) -> tuple[pa.Array | None, set[int]]:
        """The bounds in the table's type, each decoded by its own file's.

        Also the row groups that have a bound which is no value of its file's type.
        """
        parts = []
        unreadable: set[int] = set()
        for kind, leaf in enumerate(self.leaves):
            mine = raw if len(self.leaves) == 1 else bounds.only(raw, self.kinds, kind)
            decoded = bounds.decode(mine, leaf, self.column.type)
            if decoded is not None:
                unreadable |= bounds.unreadable(mine, leaf, decoded)
                parts.append(decoded)
        return bounds.join(parts), unreadable

    def _attained(self) -> Mask:
        """Text and bytes may be cut; whether they are most writers do not say."""
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
        whole = {k for k, leaf in enumerate(self.leaves) if not isinstance(leaf.type, FloatType)}
        return pc.and_(possible, pa.array([kind not in whole for kind in self.kinds], pa.bool_()))


def _lost(before: pa.Array, after: pa.Array) -> set[int]:
    """Where there was a bound that is none any more."""
    if before.null_count == after.null_count:
        return set()
    return set(pc.indices_nonzero(pc.and_(before.is_valid(), after.is_null())).to_pylist())


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
    """Where the chosen chunks lie, (start, end) each, neighbours joined."""
    if chosen is None and group.contiguous is not None:
        return [group.contiguous]
    merged: list[tuple[int, int]] = []
    asked = group.chunks if chosen is None else chosen
    for begin, size in sorted(
        (start(group.chunks[at]), number(group.chunks[at], SIZE)) for at in asked
    ):
        if merged and merged[-1][1] == begin:
            merged[-1] = (merged[-1][0], begin + size)
        else:
            merged.append((begin, begin + size))
    return merged
