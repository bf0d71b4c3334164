"""Reads only the pages of a row group that have needed rows, by the offset index.

PyArrow reads whole column chunks. So the needed pages are put together as a Parquet file in memory:
the footer of the file with one row group, whose column chunks have these pages and no others. The
pages of two columns may have different rows, so only columns with the same rows are read together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from whyscan.tables.parquet import thrift
from whyscan.tables.parquet.chunk_patterns import (
    DATA_PAGE,
    DICTIONARY_PAGE,
    LOCATION_KEYS,
    OFFSET_INDEX,
    OFFSET_INDEX_SIZE,
    SIZE,
)
from whyscan.tables.parquet.footers import MAGIC, file_of_footer
from whyscan.tables.parquet.metadata import Decoder, number, start
from whyscan.tables.parquet.page_indexes import page_locations
from whyscan.tables.parquet.pages import index_place
from whyscan.tables.parquet.thrift import MalformedThrift, ThriftReader

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    import numpy.typing as npt

    from whyscan.tables.file_columns import RowRanges
    from whyscan.tables.parquet.page_indexes import PageLocations
    from whyscan.tables.parquet.thrift import Fields

    ByteRanges = list[tuple[int, int]]
    Change = Callable[[ThriftReader], bytes]
    Flags = npt.NDArray[np.bool_]

PARQUET_OPTIONS = {"coerce_int96_timestamp_unit": "us", "arrow_extensions_enabled": False}

_ROW_GROUPS, _COLUMNS, _METADATA, _VALUES = 4, 1, 3, 5
"""Fields of FileMetaData, RowGroup, ColumnChunk and ColumnMetaData (parquet.thrift)."""
_COMPRESSED_SIZE, _DATA_PAGES, _VALUE_COUNT = 3, (5, 8), 1
"""Fields of PageHeader, and of both kinds of DataPageHeader."""


class PagedChunk(Struct, frozen=True):
    """A column chunk of `rows` rows with its pages, before which may be a dictionary page."""

    chunk: Fields
    locations: PageLocations
    rows: int

    def needed(self, rows: RowRanges) -> Flags:
        """One boolean per page: it has one of the rows."""
        first_rows = self.locations.first_rows
        flags = np.zeros(len(first_rows), np.bool_)
        for first, end in rows:
            page = int(np.searchsorted(first_rows, first, "right")) - 1
            flags[page : int(np.searchsorted(first_rows, end, "left"))] = True
        return flags

    def byte_ranges(self, rows: RowRanges) -> ByteRanges:
        """The bytes of the dictionary page, if there is one, and of the pages with these rows."""
        needed, offsets = self.needed(rows), self.locations.offsets
        ends = (offsets + self.locations.sizes)[needed].tolist()
        begin, first_page = start(self.chunk), int(offsets[0])
        dictionary = [(begin, first_page)] if begin < first_page else []
        return [*dictionary, *zip(offsets[needed].tolist(), ends, strict=True)]

    def covered(self, rows: RowRanges) -> RowRanges:
        """The rows of each page that has one of these rows."""
        needed, first_rows = self.needed(rows), self.locations.first_rows
        ends = np.append(first_rows[1:], self.rows)[needed].tolist()
        return tuple(zip(first_rows[needed].tolist(), ends, strict=True))


class PagedRowGroup(Struct, frozen=True):
    """A row group of which single pages can be read: the paged chunks of some leaves.

    `span` is where it is in the footer, and `head` where the list of row groups begins there.
    """

    footer: bytes
    head: tuple[int, int]
    span: tuple[int, int]
    chunks: Mapping[int, PagedChunk]
    read: Callable[[int, int], bytes]

    def byte_ranges(self, rows: RowRanges) -> ByteRanges:
        """The bytes of all pages with these rows."""
        return [piece for chunk in self.chunks.values() for piece in chunk.byte_ranges(rows)]

    def tables(self, rows: RowRanges) -> Iterator[tuple[RowRanges, frozenset[int], pa.Table]]:
        """The pages with these rows, decoded: the rows that were read of some leaves, and them."""
        parts, size = [MAGIC], len(MAGIC)
        changes: dict[int, dict[int, Change]] = {}
        for leaf, paged in self.chunks.items():
            pages = [self.read(begin, end) for begin, end in paged.byte_ranges(rows)]
            covered = paged.covered(rows)
            _check_pages(pages[-len(covered) :], covered)
            dictionary_size = sum(map(len, pages[: -len(covered)]))
            length = sum(map(len, pages))
            has_dictionary = (paged.chunk.get(DICTIONARY_PAGE) or 0) > 0
            changes[leaf] = {
                _VALUES: _number(sum(end - first for first, end in covered)),
                SIZE: _number(length),
                DATA_PAGE: _number(size + dictionary_size if has_dictionary else size),
                **({DICTIONARY_PAGE: _number(size)} if has_dictionary else {}),
            }
            parts += pages
            size += length
        parts.append(file_of_footer(self._footer_of(changes))[len(MAGIC) :])
        file = pq.ParquetFile(pa.BufferReader(b"".join(parts)), **PARQUET_OPTIONS)
        by_rows: dict[RowRanges, set[int]] = {}
        for leaf, paged in self.chunks.items():
            by_rows.setdefault(paged.covered(rows), set()).add(leaf)
        for covered, leaves in by_rows.items():
            table = file.reader.read_row_group(0, column_indices=sorted(leaves), use_threads=True)
            if table.num_rows != sum(end - first for first, end in covered):
                raise MalformedThrift("pages with other rows than the offset index says")
            yield covered, frozenset(leaves), table

    def _footer_of(self, changes: Mapping[int, Mapping[int, Change]]) -> bytes:
        """The footer with this row group alone, and with these changes of its chunks."""

        def columns(reader: ThriftReader) -> bytes:
            begin = reader.at
            count = reader.list_head()[1]
            head = reader.data[begin : reader.at]
            chunks = (
                _changed(reader, {_METADATA: lambda r, at=at: _changed(r, changes.get(at, {}))})  # type: ignore[misc]
                for at in range(count)
            )
            return b"".join((head, *chunks))

        group = _changed(ThriftReader(self.footer, self.span[0]), {_COLUMNS: columns})
        begin, end = self.head
        only_one = bytes([1 << 4 | thrift.STRUCT])
        return b"".join((self.footer[:begin], only_one, group, self.footer[end:]))


def _check_pages(pages: list[bytes], covered: RowRanges) -> None:
    """Raise if a page has other rows than the offset index says: others would be dropped for it."""
    for page, (first, end) in zip(pages, covered, strict=True):
        reader = ThriftReader(page)
        header = reader.struct()
        data = next((header[kind] for kind in _DATA_PAGES if kind in header), None)
        is_whole = reader.at + header.get(_COMPRESSED_SIZE, 0) == len(page)
        if not is_whole or not isinstance(data, dict) or data.get(_VALUE_COUNT) != end - first:
            raise MalformedThrift("pages with other rows than the offset index says")


def _changed(reader: ThriftReader, changes: Mapping[int, Change]) -> bytes:
    """The next struct of the reader, with other values of some of its fields."""
    parts, begin = [], reader.at
    for field, kind in reader.fields():
        if field in changes:
            parts.append(reader.data[begin : reader.at])
            parts.append(changes[field](reader))
            begin = reader.at
        else:
            reader.value(kind, 0)
    return b"".join((*parts, reader.data[begin : reader.at]))


def _number(value: int) -> Change:
    """Write this number, which is not negative, in the place of another one."""

    def write(reader: ThriftReader) -> bytes:
        reader.varint()
        rest, encoded = value << 1, bytearray()
        while rest >= 1 << 7:
            encoded.append(rest & 0x7F | 0x80)
            rest >>= 7
        return bytes((*encoded, rest))

    return write


class PagedFile:
    """Some leaves of a Parquet file of `size` bytes, of which single pages can be read.

    `read` gives the bytes from one offset to before another one.
    """

    def __init__(
        self,
        footer: bytes,
        size: int,
        leaves: Collection[int],
        read: Callable[[int, int], bytes],
    ) -> None:
        self._footer = footer
        self._size = size
        self._leaves = sorted(leaves)
        self._read = read
        self._metadata = Decoder(keys=LOCATION_KEYS).decode(footer, leaves)
        self._head, self._spans = _row_group_places(footer)

    def _chunks(self, ordinal: int) -> Iterator[tuple[int, Fields]]:
        chunks = self._metadata.row_groups[ordinal].chunks
        yield from ((leaf, chunks[leaf]) for leaf in self._leaves)

    def index_ranges(self, ordinal: int) -> ByteRanges | None:
        """Where the offset index of each leaf is; None if a leaf has none."""
        keys = (OFFSET_INDEX, OFFSET_INDEX_SIZE)
        places = [tuple(index_place(c, keys, self._size)) for _, c in self._chunks(ordinal)]
        return [place for (place,) in places] if all(places) else None

    def row_group(self, ordinal: int, places: ByteRanges) -> PagedRowGroup:
        """A row group with its pages, by the offset indexes at these places."""
        rows = self._metadata.row_groups[ordinal].rows
        chunks = {}
        for (leaf, chunk), place in zip(self._chunks(ordinal), places, strict=True):
            extent = start(chunk), start(chunk) + number(chunk, SIZE)
            locations = page_locations(self._read(*place), rows, extent)
            chunks[leaf] = PagedChunk(chunk, locations, rows)
        return PagedRowGroup(self._footer, self._head, self._spans[ordinal], chunks, self._read)


def _row_group_places(footer: bytes) -> tuple[tuple[int, int], list[tuple[int, int]]]:
    """Where in a footer the list of row groups is, and where each row group is."""
    reader = ThriftReader(footer)
    for field, kind in reader.fields():
        if field != _ROW_GROUPS:
            reader.value(kind, 0)
            continue
        head, spans = reader.at, []
        for _ in range(reader.list_head()[1]):
            begin = reader.at
            reader.struct()
            spans.append((begin, reader.at))
        return (head, reader.at), spans
    raise MalformedThrift("no row groups")
