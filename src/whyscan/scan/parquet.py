"""Reads Parquet data files: row group by row group, only the needed column chunks."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from whyscan.errors import CorruptFile
from whyscan.scan.columns_of_file import file_columns
from whyscan.scan.ranges import RangeFile
from whyscan.scan.sources import Piece, ReadUnit, errors_of_file, open_bytes, rows_a_batch
from whyscan.tables import budget
from whyscan.tables.parquet.thrift import ThriftReader

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from whyscan.tables.file_columns import DataFile


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
            self._file = pq.ParquetFile(
                self._bytes, coerce_int96_timestamp_unit="us", arrow_extensions_enabled=False
            )
            self._footer = self._file.metadata
            self.columns = file_columns(self._file.schema_arrow)
        counted = [self._footer.row_group(i).num_rows for i in range(self._footer.num_row_groups)]
        self._starts = list(accumulate(counted, initial=0))
        if self.columns and self.columns[-1].leaves[1] != self._footer.num_columns:
            raise CorruptFile(file.shown, "its schema does not count its columns")

    def units(self, ordinals: Sequence[int] | None) -> Iterator[ReadUnit]:
        """One unit per row group."""
        count = len(self._starts) - 1
        for ordinal in range(count) if ordinals is None else ordinals:
            if not 0 <= ordinal < count:
                raise CorruptFile(self._data.shown, f"it has no row group {ordinal}: was replaced?")
            yield ReadUnit(ordinal, self._starts[ordinal])

    def fetch(self, unit: ReadUnit, leaves: Collection[int]) -> None:
        """Read the column chunks from the store, all at once."""
        if isinstance(self._bytes, RangeFile):
            with errors_of_file(self._data):
                self._bytes.fetch(self._chunks(unit, leaves))

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
        keys = [
            c.leaves[0] for c in self.columns if any(c.leaves[0] <= i < c.leaves[1] for i in chosen)
        ]
        group = self._footer.row_group(unit.ordinal)
        if not chosen:
            yield Piece(unit.start, group.num_rows, {})
            return
        size = sum(group.column(leaf).total_uncompressed_size for leaf in chosen)
        start = unit.start
        with errors_of_file(self._data):
            for batch in self._file.reader.iter_batches(
                rows_a_batch(group.num_rows, size),
                row_groups=[unit.ordinal],
                column_indices=chosen,
                use_threads=True,
            ):
                yield Piece(start, batch.num_rows, dict(zip(keys, batch.columns, strict=True)))
                start += batch.num_rows
        self._count(unit, leaves)

    def _count(self, unit: ReadUnit, leaves: Collection[int]) -> None:
        """Count the bytes that were read from disk; a store counts its own reads."""
        chunks = self._chunks(unit, leaves)
        if isinstance(self._bytes, RangeFile):
            self._bytes.release(chunks)
        else:
            self._data.store.meter.count(self._data.path, sum(end - start for start, end in chunks))

    def close(self) -> None:
        self._file.close(force=True)
