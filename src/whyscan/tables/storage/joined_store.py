"""A folder together with folders in other places, which are read as one store."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import field
from msgspec.structs import replace

from whyscan.tables.storage.object_versions import ObjectVersions
from whyscan.tables.storage.store import Meter, Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from whyscan.tables.storage.store import ByteRange, Keep


class JoinedStore(Store, frozen=True, eq=False):
    """A folder, and stores of other places by their addresses ('' is the disk).

    The path of an object in the folder is relative, as in any store. The path of an object in
    another place is its whole address. All of them count their reads together.
    """

    elsewhere: Mapping[str, Store] = field(default_factory=dict)

    def place(self, path: str) -> tuple[Store, str]:
        for address, store in self.elsewhere.items():
            if path.startswith(f"{address}/"):
                return store, path[len(address) + 1 :]
        return self, path

    def read_many(
        self, ranges: Sequence[ByteRange], keep: Keep | None = None
    ) -> Iterator[pa.Buffer]:
        """The bytes of each range, in order; neighbours in one store are read at the same time."""
        for _, run in groupby(ranges, lambda piece: id(self.place(piece.path)[0])):
            pieces = list(run)
            store = self.place(pieces[0].path)[0]
            if store is self:
                yield from Store.read_many(self, pieces, keep)
            else:
                there = [replace(piece, path=self.place(piece.path)[1]) for piece in pieces]
                yield from store.read_many(there, keep)

    def find(self, path: str) -> pa.Table:
        store, below = self.place(path)
        return Store.find(self, path) if store is self else store.find(below)

    def sizes(self, paths: Sequence[str]) -> Sequence[int | None]:
        listings = map(self.find, paths)
        return [next(iter(listing["size"].to_pylist()), None) for listing in listings]

    def shown(self, path: str) -> str:
        store, below = self.place(path)
        return Store.shown(self, path) if store is self else store.shown(below)

    def unread_copy(self, unchanged: Sequence[str] = ()) -> JoinedStore:
        del unchanged  # Only a Delta log, which is in one folder, is watched for changes.
        meter = Meter()
        elsewhere = {
            address: replace(store, meter=meter, versions=ObjectVersions())
            for address, store in self.elsewhere.items()
        }
        return replace(self, meter=meter, versions=ObjectVersions(), elsewhere=elsewhere)
