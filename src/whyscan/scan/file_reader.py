"""Reads one data file, and shapes its columns into the columns of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.errors import CorruptFile, TableError
from whyscan.scan.columns_of_file import FileColumn, wanted_leaves
from whyscan.scan.shaping import Shaper, Unshapeable
from whyscan.tables.column_finder import Finder, ambiguous, finder
from whyscan.tree.names import AmbiguousName

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from whyscan.scan.sources import OpenedFile, Piece
    from whyscan.tables.column_finder import Naming
    from whyscan.tables.file_columns import DataFile, ReadColumn


class FileColumns(Struct, frozen=True):
    """The columns of a file, which are shaped into those of the table."""

    file: DataFile
    naming: Naming
    finder: Finder[FileColumn]

    def leaves(self, columns: Iterable[ReadColumn]) -> frozenset[int]:
        """The leaves of the file that these columns need."""
        wanted = tuple(columns)
        names = {column.name.lower(): column.name for column in wanted}
        twice = next((c.name for c in wanted if names[c.name.lower()] != c.name), None)
        if twice is not None and not self.finder.by_id:
            # Two columns of the table must not be read from one column of the file.
            raise ambiguous("the table", AmbiguousName(twice))
        try:
            return frozenset(leaf for column in wanted for leaf in self._leaves(column))
        except AmbiguousName as error:
            raise ambiguous(self.file.shown, error) from None

    def _leaves(self, column: ReadColumn) -> Iterator[int]:
        file_column = self._find(column)
        if file_column is not None:
            yield from wanted_leaves(file_column, column, self.finder)

    def shaped(self, piece: Piece, columns: Sequence[ReadColumn]) -> list[pa.Array]:
        """The columns of a piece in the types of the table."""
        shaper = Shaper(self.finder, self.file.constants)
        try:
            return [self._column(piece, column, shaper) for column in columns]
        except Unshapeable as error:
            raise CorruptFile(self.file.shown, str(error)) from None

    def _column(self, piece: Piece, column: ReadColumn, shaper: Shaper) -> pa.Array:
        file_column = self._find(column)
        if file_column is None:
            return shaper.missing(column, (column.name,), piece.count)
        return shaper.column(piece.arrays[file_column.leaves[0]], file_column, column)

    def _find(self, column: ReadColumn) -> FileColumn | None:
        """The column of the file; None if metadata has the value, or if the file lacks it."""
        if self.naming.constants_win and (column.name,) in self.file.constants:
            return None
        return self.finder.find([column.key])


class FileReader(FileColumns, frozen=True):
    """An open file with the finder of its columns."""

    source: OpenedFile

    def everything(self, columns: Sequence[ReadColumn]) -> Iterator[list[pa.Array]]:
        """The columns of all rows of the file, whose parts must fit into the memory limit."""
        leaves = self.leaves(columns)
        for unit in self.source.units(None):
            self.source.fetch(unit, leaves)
            self.source.check_memory(unit, leaves)
            for piece in self.source.pieces(unit, leaves):
                yield self.shaped(piece, columns)
        self.source.close()


def open_file(file: DataFile, naming: Naming) -> FileReader:
    """Open a data file or a delete file."""
    source = open_source(file)
    return FileReader(file, naming, finder(source.columns, naming), source)


def open_source(file: DataFile) -> OpenedFile:
    """Open a data file by its format."""
    match file.format:
        case "parquet":
            from whyscan.scan.parquet import ParquetSource

            return ParquetSource(file)
        case "orc":
            from whyscan.scan.orc import OrcSource

            return OrcSource(file)
        case "avro":
            from whyscan.scan.avro import AvroSource

            return AvroSource(file)
        case _:
            raise TableError(f"{file.shown} is of the format {file.format}, which cannot be read")
