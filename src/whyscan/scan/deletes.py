"""The deleted rows of data files: by position, by deletion vector or by equality."""

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
from whyscan.tables import budget
from whyscan.tables.bounded_cache import BoundedCache, count
from whyscan.tables.file_columns import (
    EqualityDeletes,
    InlineVector,
    PositionDeletes,
    ReadColumn,
    VectorInFile,
)
from whyscan.tables.storage.store import ByteRange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from whyscan.scan.bitmaps import Vector
    from whyscan.tables.column_finder import Naming
    from whyscan.tables.file_columns import DataFile

Flags = npt.NDArray[np.bool_]
Positions = npt.NDArray[np.int64]

_PATH = ReadColumn("file_path", pa.string(), id=2_147_483_546)
_POSITION = ReadColumn("pos", pa.int64(), id=2_147_483_545)
_SIZE = _CHECKSUM = 4
_KEPT_FILES = 8
"""The number of delete files in the cache: one delete file often serves many data files."""


class EqualityDeleteSet(Struct, frozen=True):
    """Equality deletes for one data file.

    `columns` are the columns to read, each pruned to the member that is compared; `paths` lead to
    that member.
    """

    columns: tuple[ReadColumn, ...]
    paths: tuple[tuple[str, ...], ...]
    rows: EqualRows

    def deletes(self, arrays: Sequence[pa.Array]) -> Flags:
        pairs = zip(self.columns, arrays, self.paths, strict=True)
        return self.rows.hit([value_at({c.name: a}, path) for c, a, path in pairs])


class Deleted(Struct, frozen=True):
    """The deleted rows of one data file: sorted positions, vectors and equality deletes."""

    positions: Positions
    vectors: tuple[Vector, ...]
    compared: tuple[EqualityDeleteSet, ...]

    def by_position(self, start: int, count: int) -> Flags | None:
        """One boolean per row: deleted by position or vector. None if no row is."""
        deleted = [flags for v in self.vectors if (flags := v.flags(start, count)) is not None]
        first, end = np.searchsorted(self.positions, (start, start + count))
        if first < end:
            listed = np.zeros(count, np.bool_)
            listed[self.positions[first:end] - start] = True
            deleted.append(listed)
        return np.logical_or.reduce(deleted) if deleted else None


NOTHING_DELETED = Deleted(np.empty(0, np.int64), (), ())


class DeleteReader:
    """Reads the delete files of data files. A delete file of several data files is read once."""

    def __init__(self, naming: Naming) -> None:
        self._naming = naming
        self._cache: BoundedCache[Any] = BoundedCache(_KEPT_FILES, count)

    def read(self, file: DataFile) -> Deleted:
        """The deleted rows of a data file."""
        positions: list[Positions] = [np.empty(0, np.int64)]
        compared, vectors = [], []
        for delete in file.deletes:
            match delete:
                case InlineVector(content):
                    vectors.append(_vector(file.shown, content))
                case VectorInFile():
                    vectors.append(_vector_in_file(delete))
                case PositionDeletes():
                    positions.append(self._positions(delete))
                case EqualityDeletes():
                    compared.append(self._compared(delete))
        return Deleted(np.unique(np.concatenate(positions)), tuple(vectors), tuple(compared))

    def _positions(self, delete: PositionDeletes) -> Positions:
        def read() -> _ListedPositions:
            parts = open_file(delete.file, self._naming).everything([_PATH, _POSITION])
            # Few paths serve many rows: a dictionary holds each path once per array.
            short = ([paths.dictionary_encode(), places] for paths, places in parts)
            return _ListedPositions(list(_within_limit(short, delete.file)))

        listed: _ListedPositions = self._cache.get(delete.file.path, read)
        positions = listed.positions(delete.target)
        if positions.null_count:
            raise CorruptFile(delete.file.shown, "a deleted row has no position")
        result: Positions = positions.to_numpy()
        return result

    def _compared(self, delete: EqualityDeletes) -> EqualityDeleteSet:
        columns = tuple(_chain(chain) for chain in delete.columns)
        paths = tuple(tuple(step.name for step in chain) for chain in delete.columns)

        def read() -> EqualRows:
            read = open_file(delete.file, self._naming).everything(columns)
            parts = list(_within_limit(read, delete.file))
            values = [
                pa.chunked_array([value_at({c.name: part[at]}, path) for part in parts], kind)
                for at, (c, path, kind) in enumerate(
                    zip(columns, paths, (chain[-1].type for chain in delete.columns), strict=True)
                )
            ]
            return EqualRows.of(values)

        return EqualityDeleteSet(columns, paths, self._cache.get((delete.file.path, paths), read))


class _ListedPositions(Struct, frozen=True):
    """The content of a position delete file: pairs of arrays, data file paths and row positions."""

    parts: Sequence[Sequence[pa.Array]]

    def positions(self, path: str) -> pa.ChunkedArray:
        """The deleted positions of one data file."""
        positions = []
        for paths, places in self.parts:
            number = pc.index(paths.dictionary, path).as_py()
            if number >= 0:
                positions.append(places.filter(pc.equal(paths.indices, number)))
        return pa.chunked_array(positions, pa.int64())


def _within_limit(
    parts: Iterable[Sequence[pa.Array]], file: DataFile
) -> Iterator[Sequence[pa.Array]]:
    """The same arrays; an error as soon as they exceed the memory limit together."""
    size = 0
    for part in parts:
        size += sum(column.nbytes for column in part)
        budget.check(_COPIES * size, file.shown, "its deleted rows take")
        yield part


_COPIES = 3
"""Deletes are in memory three times: as they are read, concatenated, and sorted."""


def _chain(chain: Sequence[ReadColumn]) -> ReadColumn:
    """The top-level column, pruned to the member at the end of the chain."""
    pruned = chain[-1]
    for above in reversed(chain[:-1]):
        pruned = above.only((pruned,))
    return pruned


class EqualRows(Struct, frozen=True):
    """Deleted rows as one integer per row, a code of the values in all compared columns."""

    distinct: tuple[pa.Array, ...]
    codes: npt.NDArray[np.int64]

    @classmethod
    def of(cls, columns: Sequence[pa.ChunkedArray]) -> EqualRows:
        plain = [_plain(column.combine_chunks()) for column in columns]
        distinct = tuple(column.unique() for column in plain)
        codes, _ = _coded(plain, distinct)
        return cls(distinct, np.unique(codes))

    def hit(self, columns: Sequence[pa.Array]) -> Flags:
        """One boolean per row: it equals a deleted row in every column. NULL equals NULL."""
        codes, coded = _coded([_plain(column) for column in columns], self.distinct)
        hits: Flags = coded & np.isin(codes, self.codes)
        return hits


def _plain(column: pa.Array) -> pa.Array:
    return column.storage if isinstance(column, pa.ExtensionArray) else column


def _coded(
    columns: Sequence[pa.Array], distinct: Sequence[pa.Array]
) -> tuple[npt.NDArray[np.int64], Flags]:
    codes = np.zeros(len(columns[0]), np.int64)
    coded = np.ones(len(columns[0]), np.bool_)
    for column, values in zip(columns, distinct, strict=True):
        at = pc.index_in(column, value_set=values).fill_null(-1).to_numpy(zero_copy_only=False)
        if len(values) and int(codes.max(initial=0)) > np.iinfo(np.int64).max // (len(values) + 1):
            raise TableError("equality deletes compare more values than can be numbered")
        codes = codes * len(values) + at
        coded &= at >= 0
    return codes, coded


def _vector(shown: str, content: bytes) -> Vector:
    try:
        return bitmaps.read_vector(content)
    except bitmaps.MalformedBitmap as error:
        raise CorruptFile(shown, str(error)) from None


def _vector_in_file(delete: VectorInFile) -> Vector:
    """A deletion vector from a file: its size, its bytes and their CRC-32.

    Delta's files and Iceberg's Puffin files have the same layout.
    """
    shown = delete.store.shown(delete.path)
    if delete.length < 0 or delete.start < 0:
        where = f"{delete.length} bytes from {delete.start} on"
        raise CorruptFile(shown, f"the table says that a deletion vector has {where}")
    budget.check_object_size(delete.length, shown)
    requested = ByteRange(delete.path, delete.start, _SIZE + delete.length + _CHECKSUM)
    content = next(delete.store.read_many([requested])).to_pybytes()
    if len(content) != requested.length:
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
