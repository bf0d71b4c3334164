"""Data files, opened: which columns they hold, and some of them, a few rows at a time."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
from msgspec import Struct

from whyscan.errors import CorruptFile, TableError, WhyscanError
from whyscan.scan.ranges import RangeFile, missing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from whyscan.scan.column_finder import FileColumn
    from whyscan.tables.file_columns import DataFile

ROWS_AT_MOST = 1 << 17
ROWS_AT_LEAST = 1 << 10
BYTES_ABOUT = 1 << 26
"""A batch has so many rows as take about this many bytes."""


class Piece(Struct, frozen=True):
    """Rows in the order of their file, from `start` on; columns by the first of their leaves."""

    start: int
    count: int
    arrays: Mapping[int, pa.Array]


class ReadUnit(Struct, frozen=True):
    """A part of a file that is read in one go: a row group, a stripe, or a whole file."""

    ordinal: int
    start: int


class OpenedFile(Protocol):
    """An opened data file."""

    @property
    def columns(self) -> tuple[FileColumn, ...]: ...
    def units(self, ordinals: Sequence[int] | None) -> Iterator[ReadUnit]:
        """The parts of those numbers, None being all."""
        ...

    def fetch(self, unit: ReadUnit, leaves: Collection[int]) -> None:
        """Have the bytes of some columns at hand; for stores that are far away."""
        ...

    def pieces(self, unit: ReadUnit, leaves: Collection[int]) -> Iterator[Piece]:
        """The rows of a part, with at least the columns of those leaves."""
        ...

    def close(self) -> None: ...


def open_source(file: DataFile) -> OpenedFile:
    """A data file by its format."""
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


def open_bytes(file: DataFile) -> Any:
    """The bytes of a file: on disk, or in its store by ranges."""
    if file.store.folder is None:
        return RangeFile(file.store, file.path)
    place = Path(file.store.folder, file.path)
    if not place.is_file():
        raise missing(file.store, file.path)
    return pa.memory_map(str(place))


@contextmanager
def errors_of_file(file: DataFile) -> Iterator[None]:
    """What a reader stumbles over in a file is that file's error."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, EOFError) as error:
        if isinstance(error, WhyscanError):
            raise
        lines = str(error).splitlines() or [type(error).__name__]
        raise CorruptFile(file.shown, lines[0]) from error


def rows_a_batch(rows: int, size: int) -> int:
    """How many of `rows` that take `size` bytes are read at once."""
    fitting = BYTES_ABOUT * max(rows, 1) // max(size, 1)
    return max(ROWS_AT_LEAST, min(ROWS_AT_MOST, fitting))
