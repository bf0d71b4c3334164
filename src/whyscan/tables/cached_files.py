"""The files that an open table was asked for, kept for the next question on the same columns.

A snapshot never changes, so that what was read of it once stays right. What is kept is bounded,
and what was used least recently goes first.
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
"""How many bytes of columns an open table keeps; paths come on top once somebody asked for them."""


class CachedFiles(Struct):
    """Files by what was asked of them, the one used last at the end; `coming` are being read."""

    bound: int = BOUND
    kept: dict[Hashable, Files] = field(default_factory=dict)
    coming: dict[Hashable, Future[Files]] = field(default_factory=dict)

    def expect(self, asked: Hashable, read: Callable[[], Files]) -> None:
        """Begin to read what will be asked for next. Whoever asks waits, and gets its errors."""
        # Its thread is no daemon: an interpreter that ends must not pull it out of DuckDB's hands.
        self.coming = {asked: ThreadPoolExecutor(1).submit(read)}

    def files(self, asked: Hashable, read: Callable[[], Files]) -> Files:
        """What `read` gives, read once. Threads that ask at once may each read it."""
        found = self.kept.pop(asked, None)
        if found is None:
            coming = self.coming.pop(asked, None)
            found = read() if coming is None else coming.result()
        self.kept[asked] = found
        self._evict()
        return found

    def _evict(self) -> None:
        held = list(self.kept.items())
        total = sum(size(files) for _, files in held)
        for asked, files in held:
            if total <= self.bound:
                return
            self.kept.pop(asked, None)
            total -= size(files)


def size(value: Any) -> int:
    """The bytes of all Arrow columns in a value."""
    match value:
        case pa.Array() | pa.ChunkedArray() | pa.Table():
            return int(value.nbytes)
        case Mapping():
            return sum(size(part) for part in value.values())
        case tuple():
            return sum(size(part) for part in value)
        case Struct():
            return sum(size(getattr(value, part)) for part in value.__struct_fields__)
        case _:
            return 0
