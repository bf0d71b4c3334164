"""Reads Parquet data files: row group by row group, only the needed column chunks or pages."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

from whyscan.errors import CorruptFile
from whyscan.scan.columns_of_file import file_columns
from whyscan.scan.ranges import RangeFile
from whyscan.scan.sources import Piece, ReadUnit, errors_of_file, open_bytes, rows_a_batch
from whyscan.tables import budget
from whyscan.tables.parquet.footers import ENDING, metadata_of
from whyscan.tables.parquet.paged_files import PARQUET_OPTIONS, PagedFile, PagedRowGroup
from whyscan.tables.parquet.thrift import ThriftReader

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import pyarrow as pa

    from whyscan.tables.file_columns import DataFile, RowRanges

_INFLATED, _COMPRESSED = 2, 3
"""The numbers of a page's sizes in its header (parquet.thrift, PageHeader)."""

_PAGE_HEADER = 1 << 18
"""The most bytes of a page's header: writers may put statistics there."""


class ParquetSource:
    """An open Parquet file. Column chunks in a remote store are fetched before decoding."""

    def __init__(self, file: DataFile) -> None:
        self._data = file
        with errors_of_file(file):
            self._bytes = open_bytes(file)
            footer = file.store.footers.find(file.path)
            metadata = None if footer is None else metadata_of(footer)
            self._file = pq.ParquetFile(self._bytes, metadata=metadata, **PARQUET_OPTIONS)
            self._footer = self._file.metadata
            self.columns = file_columns(self._file.schema_arrow)
        counted = [self._footer.row_group(i).num_rows for i in range(self._footer.num_row_groups)]
        self._starts = list(accumulate(counted, initial=0))
        if self.columns and self.columns[-1].leaves[1] != self._footer.num_columns:
            raise CorruptFile(file.shown, "its schema does not count its columns")
        self._paged: dict[int, PagedRowGroup] = {}

    def units(self, ordinals: Sequence[int] | None) -> Iterator[ReadUnit]:
        """One unit per row group."""
        count = len(self._starts) - 1
        for ordinal in range(count) if ordinals is None else ordinals:
            if not 0 <= ordinal < count:
                raise CorruptFile(self._data.shown, f"it has no row group {ordinal}: was replaced?")
            yield ReadUnit(ordinal, self._starts[ordinal])

    def unit_bytes(self, unit: ReadUnit, leaves: Collection[int]) -> int:
        """The bytes of the column chunks."""
        return sum(end - start for start, end in self._chunks(unit, leaves))

    def fetch(self, unit: ReadUnit, leaves: Collection[int]) -> None:
        """Read the column chunks or pages from the store, all at once."""
        with errors_of_file(self._data):
            paged = self._paged_row_group(unit, leaves)
            if paged is not None:
                self._paged[unit.ordinal] = paged
            if isinstance(self._bytes, RangeFile):
                self._bytes.fetch(self._ranges(unit, leaves))

    def _paged_row_group(self, unit: ReadUnit, leaves: Collection[int]) -> PagedRowGroup | None:
        """The pages of a row group, if only some of its rows are needed and these can be read."""
        if unit.rows is None or not leaves:
            return None
        paged: PagedRowGroup | str = "lists and maps are read whole"
        if not any(self._footer.schema.column(leaf).max_repetition_level for leaf in leaves):
            paged = self._read_indexes(unit.ordinal, leaves)
        self._data.store.meter.count_pages(None if isinstance(paged, PagedRowGroup) else paged)
        return paged if isinstance(paged, PagedRowGroup) else None

    def _read_indexes(self, ordinal: int, leaves: Collection[int]) -> PagedRowGroup | str:
        """A row group with its pages, or why there are none."""
        file = PagedFile(self._footer_bytes(), self._bytes.size(), leaves, self._read)
        places = file.index_ranges(ordinal)
        if places is None:
            return "a column chunk has no offset index"
        size = sum(end - begin for begin, end in places)
        budget.check_object_size(size, self._data.shown)
        if isinstance(self._bytes, RangeFile):
            self._bytes.fetch(places)
        else:
            self._data.store.meter.count(self._data.path, size)
        paged = file.row_group(ordinal, places)
        for column in self.columns:
            pages = [c.locations.first_rows for at, c in paged.chunks.items() if column.has(at)]
            if not all(np.array_equal(pages[0], each) for each in pages[1:]):
                return "the pages of a struct's members have other rows"
        return paged

    def _footer_bytes(self) -> bytes:
        footer = self._data.store.footers.find(self._data.path)
        if footer is not None:
            return footer
        size = self._bytes.size()
        length = int.from_bytes(self._read(size - ENDING, size)[:4], "little")
        return self._read(size - ENDING - length, size - ENDING)

    def _read(self, begin: int, end: int) -> bytes:
        content: bytes = self._bytes.read_at(end - begin, begin)
        return content

    def _ranges(self, unit: ReadUnit, leaves: Collection[int]) -> list[tuple[int, int]]:
        """The bytes that are read of a unit."""
        if unit.rows is not None and unit.ordinal in self._paged:
            return self._paged[unit.ordinal].byte_ranges(unit.rows)
        return self._chunks(unit, leaves)

    def _chunks(self, unit: ReadUnit, leaves: Collection[int]) -> list[tuple[int, int]]:
        group = self._footer.row_group(unit.ordinal)
        ranges = []
        for leaf in leaves:
            chunk = group.column(leaf)
            start = chunk.data_page_offset
            if chunk.has_dictionary_page and chunk.dictionary_page_offset:
                start = min(start, chunk.dictionary_page_offset)
            ranges.append((start, start + chunk.total_compressed_size))
        return ranges

    def check_memory(self, unit: ReadUnit, leaves: Collection[int]) -> None:
        """Refuse pages that claim more than the memory limit allows: a page is inflated whole."""
        for start, end in self._chunks(unit, leaves):
            at = start
            while at < end:
                with errors_of_file(self._data):
                    self._bytes.seek(at)
                    page = ThriftReader(self._bytes.read(min(_PAGE_HEADER, end - at)))
                    header = page.struct()
                budget.check_object_size(header.get(_INFLATED, 0), self._data.shown)
                at += page.at + max(header.get(_COMPRESSED, 0), 0)

    def pieces(self, unit: ReadUnit, leaves: Collection[int]) -> Iterator[Piece]:
        """The rows of a row group in batches."""
        chosen = sorted(leaves)
        keys = [c.leaves[0] for c in self.columns if any(map(c.has, chosen))]
        group = self._footer.row_group(unit.ordinal)
        if not chosen:
            yield Piece(unit.start, group.num_rows, {})
            return
        size = sum(group.column(leaf).total_uncompressed_size for leaf in chosen)
        start = unit.start
        with errors_of_file(self._data):
            if unit.rows is not None and unit.ordinal in self._paged:
                yield from self._pieces_of_pages(unit, keys, rows_a_batch(group.num_rows, size))
                self._count(unit, leaves)
                return
            for batch in self._file.reader.iter_batches(
                rows_a_batch(group.num_rows, size),
                row_groups=[unit.ordinal],
                column_indices=chosen,
                use_threads=True,
            ):
                yield Piece(start, batch.num_rows, dict(zip(keys, batch.columns, strict=True)))
                start += batch.num_rows
        self._count(unit, leaves)

    def _pieces_of_pages(
        self, unit: ReadUnit, keys: Sequence[int], batch_rows: int
    ) -> Iterator[Piece]:
        """The needed rows of a row group, about a batch of them at a time."""
        paged = self._paged[unit.ordinal]
        for rows in _batches_of(unit.rows or (), batch_rows):
            columns: dict[int, tuple[RowRanges, pa.ChunkedArray]] = {}
            for covered, leaves, table in paged.tables(rows):
                chosen = [key for key in keys if key in leaves]
                columns |= {k: (covered, a) for k, a in zip(chosen, table.columns, strict=True)}
            for first, end in rows:
                arrays = {
                    key: _rows_of(array, covered, first, end)
                    for key, (covered, array) in columns.items()
                }
                yield Piece(unit.start + first, end - first, arrays)

    def _count(self, unit: ReadUnit, leaves: Collection[int]) -> None:
        """Count the bytes that were read from disk; a store counts its own reads."""
        ranges = self._ranges(unit, leaves)
        self._paged.pop(unit.ordinal, None)
        if isinstance(self._bytes, RangeFile):
            self._bytes.release(ranges)
        else:
            self._data.store.meter.count(self._data.path, sum(end - start for start, end in ranges))

    def close(self) -> None:
        self._file.close(force=True)


def _batches_of(rows: RowRanges, most: int) -> Iterator[RowRanges]:
    """The same rows in the same order, at most so many at a time."""
    chosen: list[tuple[int, int]] = []
    left = most
    for first, end in rows:
        begin = first
        while begin < end:
            stop = min(end, begin + left)
            chosen.append((begin, stop))
            left -= stop - begin
            begin = stop
            if not left:
                yield tuple(chosen)
                chosen, left = [], most
    if chosen:
        yield tuple(chosen)


def _rows_of(array: pa.ChunkedArray, covered: RowRanges, first: int, end: int) -> pa.Array:
    """The rows from `first` to before `end` of an array that has the `covered` rows."""
    before = sum(min(stop, first) - begin for begin, stop in covered if begin < first)
    rows = array.slice(before, end - first)
    return rows.chunk(0) if rows.num_chunks == 1 else rows.combine_chunks()
