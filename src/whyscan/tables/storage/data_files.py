"""Data files that a table's metadata names: which of them can be opened, and why not the others.

Metadata is input. A path that leads out of the table is not followed, as the operator's rights
would open what its writer could not.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import StorageError
from whyscan.tables.snapshot import Unreached

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    import pyarrow as pa

    from whyscan.tables.snapshot import Files
    from whyscan.tables.storage.store import Store

    Below = Callable[[str], str | None]
    """A recorded path as one below the table's folder, None for one that lies elsewhere."""

    T = TypeVar("T")

_PARQUET = "parquet"


class Reached(Struct, frozen=True):
    """Files whose footers can be read: where each is among all files, its path, its bytes.

    `unchecked` says of the others how many there are, and why.
    """

    at: tuple[int, ...]
    paths: tuple[str, ...]
    sizes: tuple[int, ...]
    unchecked: tuple[Unreached, ...] = ()


class DataFiles(Struct, frozen=True):
    """The files at `opened` among all live ones, in one store."""

    store: Store
    files: Files
    opened: pa.Array
    below: Below

    def read(self, work: Callable[[Reached], T]) -> tuple[Reached, T]:
        """What `work` makes of the files that can be reached.

        In a store it costs a request to look for a file, so that what the metadata says is
        taken for true until a read fails.
        """
        on_disk = self.store.folder is not None
        reached = self.reached(look=on_disk)
        try:
            return reached, work(reached)
        except StorageError:
            if on_disk:
                raise
        reached = self.reached(look=True)
        return reached, work(reached)

    def reached(self, *, look: bool) -> Reached:
        """`look` asks the store for each file; else the recorded sizes are taken for true."""
        positions = self.opened.to_pylist()
        places = [self.below(path) for path in self.files.paths.take(self.opened).to_pylist()]
        sizes = self.files.bytes.take(self.opened).to_pylist()
        if look:
            sizes = self.store.sizes([place or "" for place in places])
        found: list[tuple[int, str, int]] = []
        why: Counter[str] = Counter()
        for row in zip(positions, places, sizes, self._formats(), strict=True):
            match row:
                case (_, _, _, kind) if kind != _PARQUET:
                    why[f"of the format {kind}"] += 1
                case (_, None, _, _):
                    why["outside of the table's folder"] += 1
                case (_, _, None, _):
                    why["missing"] += 1
                case (position, str() as place, size, _):
                    found.append((position, place, size))
        told = (Unreached(reason, count, len(positions)) for reason, count in why.items())
        at, paths, known = zip(*found, strict=True) if found else ((), (), ())
        return replace(Reached(at, paths, known), unchecked=tuple(told))

    def _formats(self) -> list[str]:
        if self.files.formats is None:
            return [_PARQUET] * len(self.opened)
        formats: list[str] = self.files.formats.take(self.opened).to_pylist()
        return formats
