"""A file of a store that can be read and seeked. Ranges that were fetched come from a cache."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from whyscan.errors import CorruptFile, StorageError, TableError
from whyscan.tables.storage.store import ByteRange, joined_ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from whyscan.tables.storage.store import Store

_TAIL = 1 << 16


class RangeFile(io.RawIOBase):
    """Random access to a file of a store by byte ranges.

    `size` None means that the store is asked for it, which takes a request. The end of the file is
    read at once, unless `with_end` says that it is not needed.
    """

    def __init__(
        self, store: Store, path: str, size: int | None = None, *, with_end: bool = True
    ) -> None:
        super().__init__()
        self._store, self._path = store, path
        self._size = self._size_in_store() if size is None else size
        self._at = 0
        self._cache: dict[tuple[int, int], pa.Buffer] = {}
        if not with_end:
            return
        tail = min(self._size, _TAIL)
        try:
            self.fetch([(self._size - tail, self._size)])
        except StorageError:
            self._size_in_store()  # raises if the file is missing
            raise

    def _size_in_store(self) -> int:
        size = self._store.sizes([self._path])[0]
        if size is None:
            raise missing(self._store, self._path)
        return size

    def fetch(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Read these (start, end) ranges into the cache."""
        joined = [piece for piece in joined_ranges(ranges) if self._find(*piece) is None]
        requested = [ByteRange(self._path, start, end - start) for start, end in joined]
        for piece, content in zip(joined, self._store.read_many(requested), strict=True):
            self._cache[piece] = content

    def release(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Remove these ranges from the cache."""
        for piece in joined_ranges(ranges):
            self._cache.pop(piece, None)

    def _find(self, start: int, end: int) -> pa.Buffer | None:
        for (first, last), content in list(self._cache.items()):
            if first <= start and end <= last and len(content) == last - first:
                return content.slice(start - first, end - start)
        return None

    def readinto(self, into: bytearray) -> int:  # type: ignore[override]
        end = min(self._at + len(into), self._size)
        if end <= self._at:
            return 0
        content = self._content(self._at, end)
        into[: len(content)] = memoryview(content)
        self._at = end
        return len(content)

    def read_at(self, count: int, offset: int) -> bytes:
        """So many bytes from an offset on. The position stays: several threads may read so."""
        return bytes(self._content(offset, offset + count))

    def _content(self, start: int, end: int) -> pa.Buffer:
        content = self._find(start, end) or self._store.read(self._path, start, end - start)
        if len(content) != end - start:
            raise CorruptFile(self._store.shown(self._path), "it is shorter than its store said")
        return content

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def size(self) -> int:
        return self._size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def missing(store: Store, path: str) -> TableError:
    """The error for a file that the table names and the store lacks."""
    return TableError(
        f"{store.shown(path)} is missing, and the plan reads it",
        hint="was it vacuumed? a newer version of the table may be whole",
    )
