"""The level below row groups: the rows between two page borders, with the statistics of pages.

The pages of different columns do not begin with the same rows. So a row group is cut wherever a
page of one of the predicate's columns begins, and each piece has for every column the bounds of
the page that it is in. What holds for all rows of a page holds for the rows of a piece: AND, OR
and NOT over several columns need no rule of their own. With one column, pieces are pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import replace

from whyscan.errors import CorruptFile
from whyscan.pruning.interval import meet
from whyscan.pruning.mask import either
from whyscan.tables import budget
from whyscan.tables.counts import is_number
from whyscan.tables.parquet import trust
from whyscan.tables.parquet.chunk_patterns import (
    COLUMN_INDEX,
    COLUMN_INDEX_SIZE,
    OFFSET_INDEX,
    OFFSET_INDEX_SIZE,
    SIZE,
)
from whyscan.tables.parquet.footers import ENDING, all_bytes
from whyscan.tables.parquet.metadata import number, start
from whyscan.tables.parquet.page_indexes import page_locations, page_statistics
from whyscan.tables.parquet.raw_statistics import RawStatistics
from whyscan.tables.parquet.thrift import MalformedThrift
from whyscan.tables.snapshot import BytePieces, ContainersBelow, RowGroups, Unreached
from whyscan.tables.storage.store import ByteRange, joined_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from whyscan.pruning.interval import Interval
    from whyscan.pruning.mask import Mask, Vector
    from whyscan.tables.parquet.metadata import FooterMetadata, RowGroup
    from whyscan.tables.parquet.page_indexes import PageLocations, PageStatistics
    from whyscan.tables.parquet.schemas import ParquetColumn
    from whyscan.tables.parquet.statistics import FileFooter
    from whyscan.tables.parquet.thrift import Fields
    from whyscan.tables.storage.store import Store
    from whyscan.tree.nodes import Column

    Numbers = npt.NDArray[np.int64]

PAGES = "pages"
WITHOUT_INDEX = "without a page index"
UNREADABLE_INDEX = "damaged in a page index"

_SHORT = 256
"""Bounds of so many bytes are repeated however many pieces there are: a writer cuts at fewer."""

_OFFSETS = (OFFSET_INDEX, OFFSET_INDEX_SIZE)
_BOUNDS = (COLUMN_INDEX, COLUMN_INDEX_SIZE)


def pages_below(
    store: Store, above: RowGroups | ContainersBelow, opened: pa.Array, columns: Sequence[Column]
) -> ContainersBelow | None:
    """The pages of the row groups at the positions `opened`, if their footers were kept.

    The indexes of a file are read with one request where its writer put them side by side.
    """
    if not isinstance(above, RowGroups) or above.footers is None:
        return None
    groups = _groups_by_file(above, opened)
    files = [_IndexedFile.of(above.footers[at], ordinals) for at, ordinals in groups.items()]
    collector = _PageCollector(above, [_PagesOfColumn(RawStatistics(column)) for column in columns])
    for file in files:
        budget.check_object_size(file.size, file.footer.footer.path)
    contents = store.read_many([r for file in files for r in file.ranges], keep=all_bytes)
    for file, owners in zip(files, _owners(above, opened, groups), strict=True):
        blocks = [(r.start, bytes(next(contents))) for r in file.ranges]
        try:
            collector.add(file, blocks, owners)
        except MalformedThrift as error:
            why = f"its footer is damaged: {error}"
            raise CorruptFile(file.footer.footer.path, why) from None
    return collector.containers(len(files))


def _groups_by_file(above: RowGroups, opened: pa.Array) -> dict[int, list[int]]:
    """The ordinals of the row groups at `opened`, for each position of a file."""
    groups: dict[int, list[int]] = {}
    files, ordinals = (values.take(opened).to_pylist() for values in (above.file, above.ordinal))
    for file, ordinal in zip(files, ordinals, strict=True):
        groups.setdefault(file, []).append(ordinal)
    return groups


def _owners(
    above: RowGroups, opened: pa.Array, groups: Mapping[int, list[int]]
) -> Iterator[list[int]]:
    """For each file the positions of its row groups, in the order of `groups`."""
    positions: dict[int, list[int]] = {file: [] for file in groups}
    for position, file in zip(opened.to_pylist(), above.file.take(opened).to_pylist(), strict=True):
        positions[file].append(position)
    yield from positions.values()


class _IndexedFile(Struct, frozen=True):
    """One file: the row groups whose pages are read, and where the indexes of its chunks are."""

    footer: FileFooter
    ordinals: list[int]
    ranges: tuple[ByteRange, ...]

    @classmethod
    def of(cls, footer: FileFooter, ordinals: list[int]) -> _IndexedFile:
        leaves = {leaf.index for leaf in footer.leaves.values()}
        wanted: list[tuple[int, int]] = []
        for ordinal in ordinals:
            chunks = footer.metadata.row_groups[ordinal].chunks
            located = chunks if footer.projected is None else {*footer.projected, *leaves}
            for at in located:
                wanted.extend(index_place(chunks[at], _OFFSETS, footer.footer.size))
                if at in leaves:
                    wanted.extend(index_place(chunks[at], _BOUNDS, footer.footer.size))
        # Indexes that overlap would take more memory than the file has bytes: none is read.
        joined = joined_ranges(wanted) if _size(wanted) == _size(joined_ranges(wanted, 0)) else []
        ranges = (ByteRange(footer.footer.key, begin, end - begin) for begin, end in joined)
        return cls(footer, ordinals, tuple(ranges))

    @property
    def size(self) -> int:
        """How many bytes of the file are read."""
        return sum(piece.length for piece in self.ranges)


def _size(ranges: Sequence[tuple[int, int]]) -> int:
    return sum(end - begin for begin, end in ranges)


def index_place(chunk: Fields, keys: tuple[int, int], size: int) -> Iterator[tuple[int, int]]:
    """Where an index is, if the chunk has one that lies inside the file of `size` bytes."""
    offset, length = (chunk.get(key) for key in keys)
    if not is_number(offset) or not is_number(length) or offset <= 0 or length <= 0:
        return
    if length <= size - ENDING - offset:
        yield offset, offset + length


class _PagesOfColumn(Struct):
    """The statistics of one column's pages, and for each piece of a row group its page."""

    statistics: RawStatistics
    rows: list[int] = field(default_factory=list)
    page_of_piece: list[Numbers] = field(default_factory=list)

    def unknown(self, pieces: int, rows: int) -> None:
        """A row group of which no page of the column has statistics."""
        self.page_of_piece.append(np.full(pieces, len(self.rows)))
        self.statistics.append()
        self.rows.append(rows)

    def add(self, chunk: _ChunkPages, metadata: FooterMetadata, starts: Numbers, rows: int) -> None:
        """The pages of a column chunk in a row group with `rows` rows that is cut at `starts`."""
        first = len(self.rows)
        at = np.searchsorted(chunk.locations.first_rows, starts, "right") - 1
        self.page_of_piece.append(at + first)
        counts = chunk.locations.row_counts(rows).tolist()
        self.rows.extend(counts)
        for page, count in enumerate(counts):
            self.statistics.add(chunk.as_chunk(page, count), chunk.leaf, metadata)

    def intervals(self) -> tuple[Interval, Mask, Mask]:
        """For each piece the interval of its page, and whether the page's statistics are wrong."""
        rows = pa.array(self.rows, pa.int64())
        checked, unreadable = self.statistics.encoded().believed(rows)
        at = pa.array(np.concatenate(self.page_of_piece) if self.page_of_piece else [], pa.int64())
        interval, left_out = _spread(checked.interval, at)
        return interval, _taken(checked.contradicted, at), either(left_out, _taken(unreadable, at))


def _spread(interval: Interval, at: pa.Array) -> tuple[Interval, Mask]:
    """The interval at the positions `at`, of which there may be many for one bound.

    Bounds that take more memory in all than an object may are unknown where they are long. Also
    where that is.
    """
    shortened = interval.map_bounds(lambda bound: _short(bound, at))
    left_out = either(
        _lost(interval.lower, shortened.lower), _lost(interval.upper, shortened.upper)
    )
    return shortened.map(lambda values: values.take(at)), _taken(left_out, at)


def _short(bound: Vector | None, at: pa.Array) -> Vector | None:
    """The bound, unknown where it is too long to be repeated at the positions `at`."""
    if not isinstance(bound, pa.Array) or not _has_any_length(bound.type):
        return bound
    lengths, most = pc.binary_length(bound), budget.largest_object()
    # PyArrow takes memory for as many bounds of the mean length before it looks at them.
    mean = pc.mean(lengths).as_py() or 0
    if max(pc.sum(lengths.take(at)).as_py() or 0, mean * len(at)) <= most:
        return bound
    is_short = pc.less_equal(lengths, max(_SHORT, most // len(at)))
    shortened = pc.if_else(is_short, bound, pa.scalar(None, bound.type))
    # Made anew: PyArrow keeps the bytes of the others.
    return pa.array(shortened.to_pylist(), bound.type)


def _has_any_length(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))


def _lost(before: Vector | None, after: Vector | None) -> Mask:
    """True where `before` is known and `after` is unknown."""
    if before is after or not isinstance(before, pa.Array) or not isinstance(after, pa.Array):
        return False
    return pc.and_(before.is_valid(), after.is_null())


def _taken(mask: Mask, at: pa.Array) -> Mask:
    return mask if isinstance(mask, bool) else mask.take(at)


class _ChunkPages(Struct, frozen=True):
    """The pages of one column chunk with their statistics."""

    leaf: ParquetColumn
    locations: PageLocations
    statistics: PageStatistics

    def as_chunk(self, page: int, rows: int) -> Fields:
        """The statistics of a page in the form of a chunk's, so that the same rules hold for both.

        A page that is flagged to have only NULLs has nothing else, unless the number of NULLs
        contradicts the flag; then nothing is known about the page.
        """
        recorded = self.statistics
        nulls = None if recorded.nulls is None else int(recorded.nulls[page])
        if recorded.only_null[page]:
            return {trust.NULL_COUNT: rows} if nulls in {None, rows} else {}
        bounds = {trust.MIN: recorded.lower[page], trust.MAX: recorded.upper[page]}
        return bounds if nulls is None else {**bounds, trust.NULL_COUNT: nulls}


class _Placed(Struct, frozen=True):
    """The pages of a chunk in the row group `owner`: see `BytePieces`."""

    owner: int
    first: Numbers
    end: Numbers
    begin: Numbers
    stop: Numbers


class _PageCollector(Struct):
    """Collects the pieces of row groups, and where the pages are that hold them."""

    above: RowGroups
    columns: list[_PagesOfColumn]
    owners: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    rows: list[Numbers] = field(default_factory=list)
    placed: list[_Placed] = field(default_factory=list)
    total: int = 0
    files_without: int = 0
    files_unreadable: int = 0

    def add(
        self, file: _IndexedFile, blocks: Sequence[tuple[int, bytes]], owners: Sequence[int]
    ) -> None:
        """Add the row groups of one file, whose positions among all row groups are `owners`."""
        indexes = _Indexes(file.footer, blocks)
        complete = True
        for ordinal, owner in zip(file.ordinals, owners, strict=True):
            group = file.footer.metadata.row_groups[ordinal]
            complete &= self._add_group(indexes, group, owner)
        self.files_unreadable += indexes.damaged
        self.files_without += not complete and not indexes.damaged

    def _add_group(self, indexes: _Indexes, group: RowGroup, owner: int) -> bool:
        """Add a row group; False if no page of the predicate's columns has statistics."""
        leaves = indexes.footer.leaves
        paths = [pages.statistics.column.path for pages in self.columns]
        chunks = [indexes.pages(group, leaves[path]) if path in leaves else None for path in paths]
        borders = [chunk.locations.first_rows for chunk in chunks if chunk is not None]
        if not borders or not group.rows:
            return not group.rows
        starts = np.unique(np.concatenate(borders))
        starts = starts[starts < group.rows]
        for column, chunk in zip(self.columns, chunks, strict=True):
            if chunk is None:
                column.unknown(len(starts), group.rows)
            else:
                column.add(chunk, indexes.footer.metadata, starts, group.rows)
        self.owners.append(owner)
        self.counts.append(len(starts))
        self.rows.append(np.diff(starts, append=group.rows))
        for first_rows, begin, end in indexes.byte_pieces(group):
            first = np.searchsorted(starts, first_rows, "right") - 1
            last = np.searchsorted(starts, np.append(first_rows[1:], group.rows), "left")
            self.placed.append(_Placed(owner, first + self.total, last + self.total, begin, end))
        self.total += len(starts)
        return True

    def containers(self, files: int) -> ContainersBelow:
        """The pieces as containers, with what metadata says about the row groups around them."""
        owners = pa.array(np.repeat(np.array(self.owners, np.int64), self.counts), pa.int64())
        outside = self.above.containers
        around = replace(outside, statistics={}).take(owners)
        spread = {path: _spread(interval, owners) for path, interval in outside.statistics.items()}
        statistics, contradicted = {path: interval for path, (interval, _) in spread.items()}, {}
        unreadable = {path: left_out for path, (_, left_out) in spread.items()}
        for column in self.columns:
            path = column.statistics.column.path
            interval, contradicted[path], unread = column.intervals()
            unreadable[path] = either(unreadable.get(path, False), unread)
            outer = statistics.get(path)
            statistics[path] = interval if outer is None else meet(outer, interval)
        return ContainersBelow(
            name=PAGES,
            owners=owners,
            bytes=None,
            containers=replace(
                around,
                rows=pa.array(_joined(self.rows), pa.int64()),
                statistics=statistics,
                exact={},
                contradicted=contradicted,
                unreadable=unreadable,
            ),
            unchecked=tuple(
                Unreached(why, count, files)
                for why, count in (
                    (WITHOUT_INDEX, self.files_without),
                    (UNREADABLE_INDEX, self.files_unreadable),
                )
                if count
            ),
            pieces=self._pieces(),
        )

    def _pieces(self) -> BytePieces:
        return BytePieces(
            _joined([np.full(len(placed.first), placed.owner) for placed in self.placed]),
            _joined([placed.first for placed in self.placed]),
            _joined([placed.end for placed in self.placed]),
            _joined([placed.begin for placed in self.placed]),
            _joined([placed.stop for placed in self.placed]),
        )


def _joined(arrays: Sequence[Numbers]) -> Numbers:
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)


class _Indexes(Struct):
    """The indexes of one file, as bytes; `damaged` says that one of them cannot be read."""

    footer: FileFooter
    blocks: Sequence[tuple[int, bytes]]
    damaged: bool = False

    def pages(self, group: RowGroup, leaf: ParquetColumn) -> _ChunkPages | None:
        """The pages of a column in a row group; None without both indexes."""
        chunk = group.chunks[leaf.index]
        encoded = self._bytes(chunk, _BOUNDS)
        locations = self.locations(group, chunk)
        if encoded is None or locations is None:
            return None
        try:
            return _ChunkPages(leaf, locations, page_statistics(encoded, locations.count))
        except MalformedThrift:
            self.damaged = True
            return None

    def locations(self, group: RowGroup, chunk: Fields) -> PageLocations | None:
        """Where the pages of a chunk are; None without an offset index."""
        encoded = self._bytes(chunk, _OFFSETS)
        if encoded is None:
            return None
        begin = start(chunk)
        extent = begin, begin + number(chunk, SIZE)
        try:
            return page_locations(encoded, group.rows, extent)
        except MalformedThrift:
            self.damaged = True
            return None

    def byte_pieces(self, group: RowGroup) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
        """For each projected chunk the first rows of its pages, their first bytes, their ends.

        The dictionary page is read with any page of its chunk, as is a chunk without an index.
        """
        projected = self.footer.projected
        for at in group.chunks if projected is None else projected:
            chunk = group.chunks[at]
            begin = start(chunk)
            end = begin + number(chunk, SIZE)
            locations = self.locations(group, chunk)
            none = np.zeros(1, np.int64)
            if locations is None:
                yield none, np.array([begin]), np.array([end])
                continue
            if locations.offsets[0] > begin:
                yield none, np.array([begin]), locations.offsets[:1]
            yield locations.first_rows, locations.offsets, locations.offsets + locations.sizes

    def _bytes(self, chunk: Fields, keys: tuple[int, int]) -> bytes | None:
        if keys[0] not in chunk:
            return None
        for begin, end in index_place(chunk, keys, self.footer.footer.size):
            for first, block in self.blocks:
                if first <= begin and end <= first + len(block):
                    return block[begin - first : end - first]
        self.damaged = True
        return None
