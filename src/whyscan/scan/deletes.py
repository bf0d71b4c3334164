"""Rows that were deleted: by position, by deletion vector, by equality."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.errors import CorruptFile, TableError
from whyscan.scan import bitmaps
from whyscan.scan.file_reader import open_file
from whyscan.scan.projection import value_at
from whyscan.tables.storage import Range
from whyscan.tables.stored import (
    EqualityDeletes,
    InlineVector,
    Naming,
    PositionDeletes,
    StoredColumn,
    VectorInFile,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whyscan.scan.bitmaps import Positions
    from whyscan.tables.stored import DataFile

Flags = npt.NDArray[np.bool_]

_PATH = StoredColumn("file_path", pa.string(), id=2_147_483_546)
_POSITION = StoredColumn("pos", pa.int64(), id=2_147_483_545)
_SIZE = _CHECKSUM = 4
_KEPT_FILES = 8
"""So many delete files are held: a few stand for many data files."""


class Compared(Struct, frozen=True):
    """Equality deletes as they apply to a data file.

    `columns` are the ones to read for them, each pruned to the member that is compared, and
    `paths` lead to it.
    """

    columns: tuple[StoredColumn, ...]
    paths: tuple[tuple[str, ...], ...]
    rows: EqualRows

    def deletes(self, arrays: Sequence[pa.Array]) -> Flags:
        pairs = zip(self.columns, arrays, self.paths, strict=True)
        return self.rows.hit([value_at({c.name: a}, path) for c, a, path in pairs])


class Deleted(Struct, frozen=True):
    """What is deleted of one data file: positions in order, and rows that equal others."""

    positions: Positions
    compared: tuple[Compared, ...]

    def by_position(self, start: int, count: int) -> Flags | None:
        """Which of some rows are; None for none."""
        first, end = np.searchsorted(self.positions, (start, start + count))
        if first == end:
            return None
        found = np.zeros(count, np.bool_)
        found[self.positions[first:end] - start] = True
        return found


class DeleteReader:
    """Reads what data files name as their deletes; what several name is read once."""

    def __init__(self, naming: Naming) -> None:
        self._naming = naming
        self._held: dict[Any, Any] = {}

    def read(self, file: DataFile) -> Deleted:
        """The deletes of a data file."""
        found: list[Positions] = [np.empty(0, np.int64)]
        compared = []
        for delete in file.deletes:
            match delete:
                case InlineVector(content):
                    found.append(_vector(file.shown, content))
                case VectorInFile():
                    found.append(_vector_in_file(delete))
                case PositionDeletes():
                    found.append(self._positions(delete))
                case EqualityDeletes():
                    compared.append(self._compared(delete))
        return Deleted(np.unique(np.concatenate(found)), tuple(compared))

    def _once(self, key: Any, read: Callable[[], Any]) -> Any:
        if key not in self._held:
            while len(self._held) >= _KEPT_FILES:
                self._held.pop(next(iter(self._held)), None)
            self._held[key] = read()
        return self._held.get(key) or read()

    def _positions(self, delete: PositionDeletes) -> Positions:
        def read() -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
            parts = list(open_file(delete.file, self._naming).everything([_PATH, _POSITION]))
            paths, places = (
                pa.chunked_array([part[at] for part in parts], kind)
                for at, kind in enumerate((pa.string(), pa.int64()))
            )
            return paths.dictionary_encode(), places

        paths, places = self._once(delete.file.path, read)
        mine = places.filter(pc.equal(paths.cast(pa.string()), delete.target))
        if mine.null_count:
            raise CorruptFile(delete.file.shown, "a deleted row has no position")
        found: Positions = mine.to_numpy()
        return found

    def _compared(self, delete: EqualityDeletes) -> Compared:
        columns = tuple(_chain(chain) for chain in delete.columns)
        paths = tuple(tuple(step.name for step in chain) for chain in delete.columns)

        def read() -> EqualRows:
            parts = list(open_file(delete.file, self._naming).everything(columns))
            values = [
                pa.chunked_array([value_at({c.name: part[at]}, path) for part in parts], kind)
                for at, (c, path, kind) in enumerate(
                    zip(columns, paths, (chain[-1].type for chain in delete.columns), strict=True)
                )
            ]
            return EqualRows.of(values)

        return Compared(columns, paths, self._once((delete.file.path, paths), read))


def _chain(chain: Sequence[StoredColumn]) -> StoredColumn:
    """The top-level column with nothing but the one that a chain leads to."""
    found = chain[-1]
    for above in reversed(chain[:-1]):
        found = above.only((found,))
    return found


class EqualRows(Struct, frozen=True):
    """Rows as numbers: each column's value by its place among the distinct ones."""

    distinct: tuple[pa.Array, ...]
    codes: npt.NDArray[np.int64]

    @classmethod
    def of(cls, columns: Sequence[pa.ChunkedArray]) -> EqualRows:
        plain = [_plain(column.combine_chunks()) for column in columns]
        distinct = tuple(column.unique() for column in plain)
        codes, _ = _coded(plain, distinct)
        return cls(distinct, np.unique(codes))

    def hit(self, columns: Sequence[pa.Array]) -> Flags:
        """The rows that equal one of them in every column, NULL being equal to NULL."""
        codes, known = _coded([_plain(column) for column in columns], self.distinct)
        found: Flags = known & np.isin(codes, self.codes)
        return found


def _plain(column: pa.Array) -> pa.Array:
    return column.storage if isinstance(column, pa.ExtensionArray) else column


def _coded(
    columns: Sequence[pa.Array], distinct: Sequence[pa.Array]
) -> tuple[npt.NDArray[np.int64], Flags]:
    codes = np.zeros(len(columns[0]), np.int64)
    known = np.ones(len(columns[0]), np.bool_)
    for column, values in zip(columns, distinct, strict=True):
        at = pc.index_in(column, value_set=values).fill_null(-1).to_numpy(zero_copy_only=False)
        if len(values) and int(codes.max(initial=0)) > np.iinfo(np.int64).max // (len(values) + 1):
            raise TableError("equality deletes compare more values than can be numbered")
        codes = codes * len(values) + at
        known &= at >= 0
    return codes, known


def _vector(shown: str, content: bytes) -> Positions:
    try:
        return bitmaps.positions(content)
    except bitmaps.Malformed as error:
        raise CorruptFile(shown, str(error)) from None


def _vector_in_file(delete: VectorInFile) -> Positions:
    """Its size, the vector, and the vector's CRC-32: alike in Delta's files and in Puffin's."""
    shown = delete.store.shown(delete.path)
    asked = Range(delete.path, delete.start, _SIZE + delete.length + _CHECKSUM)
    content = next(delete.store.read_many([asked])).to_pybytes()
    if delete.length < 0 or len(content) != asked.length:
        raise CorruptFile(shown, "it is shorter than its deletion vectors")
    size = int.from_bytes(content[:_SIZE], "big")
    vector, checksum = content[_SIZE:-_CHECKSUM], int.from_bytes(content[-_CHECKSUM:], "big")
    if size != delete.length:
        raise CorruptFile(
            shown, f"a deletion vector has {size} bytes, and the table says {delete.length}"
        )
    if zlib.crc32(vector) != checksum:
        raise CorruptFile(shown, "a deletion vector does not have the checksum that it says")
    return _vector(shown, vector)
