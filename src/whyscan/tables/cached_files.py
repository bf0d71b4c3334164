"""A cache of the files of an open table, for the next query on the same columns.

A snapshot never changes, so a cached result stays right. The cache is bounded; the entry that was
used least recently is dropped first.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Callable

    from whyscan.tables.snapshot import Files

BOUND = 1 << 28
"""How many bytes of columns an open table caches. Paths come on top once they were read."""


class CachedFiles(Struct):
    """Files by the key of the request, the one used last at the end; `pending` are being read."""

    bound: int = BOUND
    cached: dict[Hashable, Files] = field(default_factory=dict)
    pending: dict[Hashable, Future[Files]] = field(default_factory=dict)

    def expect(self, key: Hashable, read: Callable[[], Files]) -> None:
        """Begin to read the files of the next request, which waits for them and gets the errors."""
        # The thread is no daemon: an interpreter that ends must not stop it while DuckDB runs.
        self.pending = {key: ThreadPoolExecutor(1).submit(read)}

    def files(self, key: Hashable, read: Callable[[], Files]) -> Files:
        """The result of `read`, or the cached one. Two threads may both read it."""
        files = self.cached.pop(key, None)
        if files is None:
            pending = self.pending.pop(key, None)
            files = read() if pending is None else pending.result()
        self.cached[key] = files
        self._evict()
        return files

    def _evict(self) -> None:
        entries = list(self.cached.items())
        total = sum(size(files) for _, files in entries)
        for key, files in entries:
            if total <= self.bound:
                return
            self.cached.pop(key, None)
            total -= size(files)


def size(value: Any) -> int:
    """The bytes of all Arrow columns in a value."""
    match value:
        case pa.Array() | pa.ChunkedArray() | pa.Table():
            return int(value.nbytes)
        case Mapping():
            return sum(size(member) for member in value.values())
        case tuple():
            return sum(size(member) for member in value)
        case Struct():
            return sum(size(getattr(value, member)) for member in value.__struct_fields__)
        case _:
            return 0
