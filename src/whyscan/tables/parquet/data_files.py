"""Finds out which data files that a table's metadata names can be opened, and why others cannot.

Metadata is untrusted input. A path that leads out of the table is not followed: the user of
whyscan may have rights that the writer of the metadata does not have.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import StorageError
from whyscan.tables.parquet.footers import read_footers
from whyscan.tables.snapshot import Unreached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from whyscan.tables.parquet.footers import Footer
    from whyscan.tables.parquet.statistics import FooterStatistics
    from whyscan.tables.snapshot import Files, RowGroups
    from whyscan.tables.storage.store import Store

    Below = Callable[[str], str | None]
    """Turns a recorded path into one below the table's folder, None for a path elsewhere."""
_PARQUET = "parquet"


class Reached(Struct, frozen=True):
    """Files whose footers can be read: the position of each among all files, path and size.

    `unchecked` counts the other files by reason.
    """

    at: tuple[int, ...]
    paths: tuple[str, ...]
    sizes: tuple[int, ...]
    unchecked: tuple[Unreached, ...] = ()


class DataFiles(Struct, frozen=True):
    """The files at the positions `opened` of all live files, in one store."""

    store: Store
    files: Files
    opened: pa.Array
    below: Below

    def row_groups(self, measure: Callable[[Iterator[Footer]], FooterStatistics]) -> RowGroups:
        """The row groups of the files that can be reached, with what `measure` gets from footers.

        In an object store it costs a request to look for a file, so the metadata is trusted
        until a read fails.
        """
        on_disk = self.store.folder is not None
        try:
            return self._row_groups(self.reached(look=on_disk), measure)
        except StorageError:
            if on_disk:
                raise
        return self._row_groups(self.reached(look=True), measure)

    def _row_groups(
        self, reached: Reached, measure: Callable[[Iterator[Footer]], FooterStatistics]
    ) -> RowGroups:
        measured = measure(read_footers(self.store, reached.paths, reached.sizes))
        positions = pa.array(reached.at, pa.int64())
        return measured.row_groups(positions, self.files.containers, reached.unchecked)

    def reached(self, *, look: bool) -> Reached:
        """Check the files. `look` asks the store for each; else recorded sizes are trusted."""
        positions = self.opened.to_pylist()
        recorded = self.files.paths.take(self.opened).to_pylist()
        paths = [self.below(path) for path in recorded]
        sizes = self.files.bytes.take(self.opened).to_pylist()
        if look:
            sizes = self.store.sizes([path or "" for path in paths])
        reached: list[tuple[int, str, int]] = []
        why: Counter[str] = Counter()
        for row in zip(positions, paths, sizes, self._formats(), strict=True):
            match row:
                case (_, _, _, kind) if kind != _PARQUET:
                    why[f"of the format {kind}"] += 1
                case (_, None, _, _):
                    why["outside of the table's folder"] += 1
                case (_, _, None, _):
                    why["missing"] += 1
                case (position, str() as path, size, _):
                    reached.append((position, path, size))
        unchecked = (Unreached(reason, count, len(positions)) for reason, count in why.items())
        return replace(
            Reached(*(zip(*reached, strict=True) if reached else ((), (), ()))),
            unchecked=tuple(unchecked),
        )

    def _formats(self) -> list[str]:
        if self.files.formats is None:
            return [_PARQUET] * len(self.opened)
        formats: list[str] = self.files.formats.take(self.opened).to_pylist()
        return formats
