"""Footers, read many at once, as Arrow: what they say of a few columns, a row group a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from whyscan.errors import CorruptFile, TableError
from whyscan.predicate.types import FloatType
from whyscan.pruning.containers import ColumnStatistics, believe
from whyscan.tables.parquet import bounds, schemas
from whyscan.tables.parquet.nan import Habit, habit, nan_counts
from whyscan.tables.parquet.thrift import Malformed
from whyscan.tables.storage import Range, Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whyscan.predicate.tree import Column, Path
    from whyscan.predicate.types import Type
    from whyscan.pruning.interval import Interval
    from whyscan.tables.parquet.schemas import FileSchema, Leaf

MAGIC = b"PAR1"
ENCRYPTED_MAGIC = b"PARE"
ENDING = 8
LARGEST_FOOTER = 1 << 28
# In a store a second request costs more than the bytes of the first; on disk it is the reverse.
REMOTE_TAIL = 1 << 16
LOCAL_TAIL = 1 << 14


@dataclass(frozen=True, slots=True)
class Footer:
    """One file's footer: its bytes, PyArrow's view of them, and its schema in our types."""

    path: str
    data: pa.Buffer
    metadata: pq.FileMetaData
    schema: FileSchema


@dataclass(frozen=True, slots=True)
class Measured:
    """What footers say: `file` is the position of each row group's file among those asked for.

    `ranges` are the byte ranges of the asked columns, (start, end) each.
    """

    file: pa.Array
    ordinal: pa.Array
    rows: pa.Array
    bytes: pa.Array
    ranges: pa.Array
    statistics: dict[Path, Interval]
    contradictions: int


def read_footers(store: Store, paths: Sequence[str], sizes: Sequence[int]) -> Iterator[Footer]:
    """The footers of files whose sizes are known, in their order."""
    tail = LOCAL_TAIL if store.folder is not None else REMOTE_TAIL
    known: list[tuple[pa.Buffer, FileSchema]] = []
    ranges = []
    for path, size in zip(paths, sizes, strict=True):
        if size < len(MAGIC) + ENDING:
            raise CorruptFile(store.shown(path), f"{size} bytes are no Parquet file")
        ranges.append(Range(path, max(size - tail, 0), min(tail, size)))
    for piece, end in zip(ranges, store.read_many(ranges), strict=True):
        yield _open(store, piece, end, known)


def _open(
    store: Store, piece: Range, end: pa.Buffer, known: list[tuple[pa.Buffer, FileSchema]]
) -> Footer:
    where = store.shown(piece.path)
    if end.size != piece.length:
        raise CorruptFile(where, "it is shorter than its listing said")
    end, data = _whole(store, piece, end)
    try:
        schema = _schema(data, known)
        metadata = pq.read_metadata(pa.BufferReader(end))
    except (Malformed, UnicodeDecodeError) as error:
        raise CorruptFile(where, f"its footer is damaged ({error})") from None
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise CorruptFile(where, f"its footer is damaged ({_first_line(error)})") from None
    if metadata.num_columns != schema.leaves:
        raise CorruptFile(where, "its schema contradicts itself")
    return Footer(piece.path, data, metadata, schema)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:200]


def _whole(store: Store, piece: Range, end: pa.Buffer) -> tuple[pa.Buffer, pa.Buffer]:
    """The end of the file with all of its footer, and the footer alone."""
    where = store.shown(piece.path)
    ending = bytes(end.slice(end.size - ENDING))
    size = piece.start + piece.length
    if ending[4:] == ENCRYPTED_MAGIC:
        raise CorruptFile(where, "its footer is encrypted")
    if ending[4:] != MAGIC:
        raise CorruptFile(
            where, "it is no Parquet file", hint="name the files by a glob: FOLDER/**/*.parquet"
        )
    length = int.from_bytes(ending[:4], "little")
    if length > min(size - ENDING - len(MAGIC), LARGEST_FOOTER):
        raise CorruptFile(where, f"it declares a footer of {length} bytes")
    needed = length + ENDING
    if needed > end.size:
        end = store.read(piece.path, size - needed, needed)
    return end, end.slice(end.size - needed, length)


def _schema(data: pa.Buffer, known: list[tuple[pa.Buffer, FileSchema]]) -> FileSchema:
    """The footer's schema, decoded once for all footers that begin with the same bytes."""
    for prefix, schema in known:
        if prefix.size <= data.size and data.slice(0, prefix.size).equals(prefix):
            return schema
    whole = bytes(data)
    schema, end = schemas.read_schema(whole)
    known.insert(0, (pa.py_buffer(whole[:end]), schema))
    return schema


@dataclass(slots=True)
class _Statistics:
    """One column's statistics, a row group an entry. `kinds` says by which leaf to decode."""

    column: Column
    leaves: list[Leaf] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    lower: list[Any] = field(default_factory=list)
    upper: list[Any] = field(default_factory=list)
    nulls: list[int | None] = field(default_factory=list)
    nan: list[bool] = field(default_factory=list)

    def kind(self, leaf: Leaf) -> int:
        """The number of the leaf's type and encoding, whatever its position."""
        for number, known in enumerate(self.leaves):
            if known.encoding is leaf.encoding and known.type == leaf.type:
                return number
        self.leaves.append(leaf)
        return len(self.leaves) - 1


@dataclass(slots=True)
class _Collector:
    """Takes footers one by one and keeps of them only what was asked."""

    columns: Sequence[_Statistics]
    projection: Sequence[Path] | None
    file: list[int] = field(default_factory=list)
    ordinal: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    ranges: list[list[tuple[int, int]]] = field(default_factory=list)

    def take(self, position: int, footer: Footer) -> None:
        metadata = footer.metadata
        chosen = self._chosen(footer)
        for ordinal in range(metadata.num_row_groups):
            group = metadata.row_group(ordinal)
            if group.num_rows < 0 or group.num_columns != footer.schema.leaves:
                raise CorruptFile(footer.path, f"its row group {ordinal} contradicts the schema")
            self.file.append(position)
            self.ordinal.append(ordinal)
            self.rows.append(group.num_rows)
            self._measure(group, chosen)
        for column in self.columns:
            _collect(column, footer)

    def _chosen(self, footer: Footer) -> Sequence[int] | None:
        """The positions of the projected columns in the file, None for all."""
        if self.projection is None:
            return None
        found = (_node(footer, path) for path in self.projection)
        leaves = (leaf for node in found if node is not None for leaf in _leaves(node))
        return sorted({leaf.index for leaf in leaves})

    def _measure(self, group: pq.RowGroupMetaData, chosen: Sequence[int] | None) -> None:
        chunks = [group.column(at) for at in range(group.num_columns)]
        sizes = [chunk.total_compressed_size for chunk in chunks]
        self.bytes.append(sum(sizes))
        self.ranges.append(_ranges(chunks, sizes, chosen))


def _ranges(
    chunks: Sequence[pq.ColumnChunkMetaData], sizes: Sequence[int], chosen: Sequence[int] | None
) -> list[tuple[int, int]]:
    """Where the chosen chunks lie, or all of them, which mostly lie side by side."""
    if chosen is None and chunks:
        start, end = _start(chunks[0]), _start(chunks[-1]) + sizes[-1]
        if end - start == sum(sizes):
            return [(start, end)]
    asked = range(len(chunks)) if chosen is None else chosen
    return _merged([(_start(chunks[at]), sizes[at]) for at in asked])


def _start(chunk: pq.ColumnChunkMetaData) -> int:
    dictionary = chunk.dictionary_page_offset
    data = int(chunk.data_page_offset)
    return data if dictionary is None or dictionary <= 0 else min(data, int(dictionary))


def _merged(pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Starts and lengths as (start, end), neighbours joined."""
    merged: list[tuple[int, int]] = []
    for start, length in sorted(pieces):
        if merged and merged[-1][1] == start:
            merged[-1] = (merged[-1][0], start + length)
        else:
            merged.append((start, start + length))
    return merged


def _leaves(node: schemas.Node) -> Iterator[Leaf]:
    if node.leaf is not None:
        yield node.leaf
    for member in node.members:
        yield from _leaves(member)


def _node(footer: Footer, path: Path) -> schemas.Node | None:
    try:
        return schemas.find(footer.schema, path)
    except schemas.Ambiguous as error:
        raise TableError(
            f"{footer.path} has several columns that answer to {error.args[0]!r}",
            hint="names are compared without regard to case; rename one of them",
        ) from None


def _collect(told: _Statistics, footer: Footer) -> None:
    node = _node(footer, told.column.path)
    metadata = footer.metadata
    groups = range(metadata.num_row_groups)
    if node is None:
        # A column that the file does not have is NULL in all of its rows.
        _append(told, len(groups), [metadata.row_group(at).num_rows for at in groups])
    elif node.leaf is None:
        _append(told, len(groups), [None for _ in groups])
    else:
        _collect_leaf(told, footer, node.leaf)


def _append(told: _Statistics, count: int, nulls: Sequence[int | None]) -> None:
    unknown = [None] * count
    told.kinds.extend([-1] * count)
    told.lower.extend(unknown)
    told.upper.extend(unknown)
    told.nulls.extend(nulls)
    told.nan.extend([True] * count)


def _collect_leaf(told: _Statistics, footer: Footer, leaf: Leaf) -> None:
    metadata = footer.metadata
    kind = told.kind(leaf)
    usable = leaf.encoding is not schemas.Encoding.NONE
    for ordinal in range(metadata.num_row_groups):
        found = metadata.row_group(ordinal).column(leaf.index).statistics
        bounded = usable and found is not None and found.has_min_max
        told.kinds.append(kind)
        told.lower.append(found.min_raw if bounded else None)
        told.upper.append(found.max_raw if bounded else None)
        counted = found is not None and found.has_null_count
        told.nulls.append(found.null_count if counted else None)
    if isinstance(leaf.type, FloatType):
        told.nan.extend(_may_be_nan(told, footer, leaf))
    else:
        told.nan.extend([False] * metadata.num_row_groups)


def _may_be_nan(told: _Statistics, footer: Footer, leaf: Leaf) -> list[bool]:
    """For each row group: may a row be NaN?"""
    count = footer.metadata.num_row_groups
    match habit(footer.metadata.created_by or ""):
        case Habit.GREATEST:
            # Without a maximum nothing says that NaN was not the greatest.
            uppers = told.upper[len(told.upper) - count :]
            return [upper is None or upper != upper for upper in uppers]  # noqa: PLR0124  NaN
        case Habit.LEFT_OUT:
            return [True] * count
        case Habit.MAY_COUNT:
            try:
                counts = nan_counts(bytes(footer.data), [leaf.index])
            except Malformed:
                return [True] * count
            return [found != 0 for (found,) in counts]


def measure(
    footers: Iterator[Footer], columns: Sequence[Column], projection: Sequence[Path] | None
) -> Measured:
    """What footers say of `columns`, and where the chunks of `projection` lie (None: of all)."""
    told = [_Statistics(column) for column in columns]
    collector = _Collector(told, projection)
    for position, footer in enumerate(footers):
        try:
            collector.take(position, footer)
        except (pa.ArrowException, OSError, IndexError, OverflowError) as error:
            why = f"its footer is damaged ({_first_line(error)})"
            raise CorruptFile(footer.path, why) from None
    rows = pa.array(collector.rows, pa.int64())
    believed = {t.column.path: _believe(t, rows) for t in told}
    pairs = pa.list_(pa.list_(pa.int64(), 2))
    return Measured(
        pa.array(collector.file, pa.int64()),
        pa.array(collector.ordinal, pa.int64()),
        rows,
        pa.array(collector.bytes, pa.int64()),
        pa.array(collector.ranges, pairs),
        {path: interval for path, (interval, _) in believed.items()},
        sum(contradictions for _, contradictions in believed.values()),
    )


def _believe(told: _Statistics, rows: pa.Array) -> tuple[Interval, int]:
    kind = told.column.type
    found = believe(
        kind,
        ColumnStatistics(
            lower=_decoded(told, told.lower, kind),
            upper=_decoded(told, told.upper, kind),
            null_count=pa.array(told.nulls, pa.int64()),
            nan=pa.array(told.nan, pa.bool_()),
        ),
        rows,
        len(rows),
    )
    return found.interval, found.contradictions


def _decoded(told: _Statistics, raw: Sequence[Any], kind: Type) -> pa.Array | None:
    """The bounds of all row groups in the table's type, each decoded by its own file's."""
    parts = []
    for number, leaf in enumerate(told.leaves):
        mine = raw if len(told.leaves) == 1 else bounds.only(raw, told.kinds, number)
        decoded = bounds.decode(mine, leaf, kind)
        if decoded is not None:
            parts.append(decoded)
    return bounds.join(parts)
