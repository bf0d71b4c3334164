"""The one bounded cache of this package: values by key, within a number of bytes or of entries."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pyarrow as pa
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator
    from concurrent.futures import Future

V = TypeVar("V")

BOUND = 1 << 28
"""How many bytes of columns an open table caches. Paths come on top once they were read."""


def size(value: Any) -> int:
    """The bytes of all Arrow columns in a value."""
    match value:
        case pa.Array() | pa.ChunkedArray() | pa.Table():
            return int(value.nbytes)
        case Mapping():
            return sum(size(member) for member in value.values())
        case tuple() | list():
            return sum(size(member) for member in value)
        case Struct():
            return sum(size(getattr(value, member)) for member in value.__struct_fields__)
        case _:
            return 0


class BoundedCache(Generic[V]):
    """Values by key, the one used last at the end; the one used least recently is dropped first.

    The weights of all values sum up to at most `bound`. A value's weight is computed when the value
    is put into the cache: its bytes, or one for each entry (`weight=count`).
    """

    def __init__(self, bound: int = BOUND, weight: Callable[[V], int] = size) -> None:
        self.bound = bound
        self._weight = weight
        self._entries: dict[Hashable, tuple[V, int]] = {}
        self._begun: dict[Hashable, Future[V]] = {}

    def __iter__(self) -> Iterator[Hashable]:
        return iter(list(self._entries))

    def values(self) -> list[V]:
        """The cached values."""
        return [value for value, _ in list(self._entries.values())]

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        self._entries.clear()

    def begin(self, key: Hashable, make: Callable[[], V]) -> None:
        """Begin to make the value of the next request, which waits for it and gets the errors."""
        # The thread is no daemon: an interpreter that ends must not stop it while DuckDB runs.
        self._begun = {key: ThreadPoolExecutor(1).submit(make)}

    def find(self, key: Hashable) -> V | None:
        """The cached value, which is now the one used last; None if there is none."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        self._entries[key] = entry
        return entry[0]

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The cached value, else the result of `make`. Two threads may both make it."""
        value = self.find(key)
        if value is not None:
            return value
        begun = self._begun.pop(key, None)
        return self.put(key, make() if begun is None else begun.result())

    def put(self, key: Hashable, value: V) -> V:
        """Put a value into the cache, in the place of the present one."""
        self._entries.pop(key, None)
        self._entries[key] = (value, self._weight(value))
        entries = list(self._entries.items())
        total = sum(weight for _, (_, weight) in entries)
        for other, (_, weight) in entries:
            if total <= self.bound:
                break
            self._entries.pop(other, None)
            total -= weight
        return value


def count(_: object) -> int:
    """The weight of a value in a cache that is bounded by its number of entries."""
    return 1
