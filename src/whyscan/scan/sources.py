"""Open data files of any format: their columns, and their rows in pieces."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
from msgspec import Struct

from whyscan.errors import CorruptFile, WhyscanError
from whyscan.scan.ranges import RangeFile, missing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from whyscan.scan.columns_of_file import FileColumn
    from whyscan.tables.file_columns import DataFile, RowRanges

ROWS_AT_MOST = 1 << 17
ROWS_AT_LEAST = 1 << 10
BYTES_ABOUT = 1 << 26
"""About the size of a batch."""


class Piece(Struct, frozen=True):
    """Consecutive rows of a file from `start` on; `arrays` by the first leaf of each column."""

    start: int
    count: int
    arrays: Mapping[int, pa.Array]


class ReadUnit(Struct, frozen=True):
    """A range of a file that is read at once: a row group, or the whole file.

    `rows` are the (first, end) of the rows that are needed, by their numbers in the unit; None
    means all rows. A file may give others, too.
    """

    ordinal: int
    start: int
    rows: RowRanges | None = None


class OpenedFile(Protocol):
    """An opened data file."""

    @property
    def columns(self) -> tuple[FileColumn, ...]: ...
    def units(self, ordinals: Sequence[int] | None) -> Iterator[ReadUnit]:
        """The units with these ordinals; None means all."""
        ...

    def unit_bytes(self, unit: ReadUnit, leaves: Collection[int]) -> int:
        """About how many bytes `fetch` loads."""
        ...

    def fetch(self, unit: ReadUnit, leaves: Collection[int]) -> None:
        """Load the bytes of these leaves, if the file is in a remote store."""
        ...

    def check_memory(self, unit: ReadUnit, leaves: Collection[int]) -> None:
        """Refuse a unit of which some part takes more memory than the limit allows."""
        ...

    def pieces(self, unit: ReadUnit, leaves: Collection[int]) -> Iterator[Piece]:
        """The rows of a unit, with at least the columns of these leaves."""
        ...

    def close(self) -> None: ...


def open_bytes(file: DataFile) -> Any:
    """The bytes of a file: a memory map of a local file, or ranges of a remote one."""
    if file.store.folder is None:
        with_end = file.store.footers.find(file.path) is None
        return RangeFile(file.store, file.path, file.size, with_end=with_end)
    place = Path(file.store.folder, file.path)
    if not place.is_file():
        raise missing(file.store, file.path)
    return pa.memory_map(str(place))


@contextmanager
def errors_of_file(file: DataFile) -> Iterator[None]:
    """Turn the errors of a reader into a `CorruptFile` error of this file."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, EOFError) as error:
        if isinstance(error, WhyscanError):
            raise
        lines = str(error).splitlines() or [type(error).__name__]
        raise CorruptFile(file.shown, lines[0]) from error


def rows_a_batch(rows: int, size: int) -> int:
    """The number of rows per batch, for `rows` rows that take `size` bytes."""
    fitting = BYTES_ABOUT * max(rows, 1) // max(size, 1)
    return max(ROWS_AT_LEAST, min(ROWS_AT_MOST, fitting))
