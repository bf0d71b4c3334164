"""Log files where DuckDB can read them: the table's own on this machine, copies of others."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from whyscan.tables.storage import Range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tables.delta.log import LogFile
    from whyscan.tables.storage import Store

_WILDCARDS = frozenset("*?[]{}")
"""DuckDB takes a name with one of these for a pattern, and may read other files than meant."""


class LocalCopies:
    """The log of one table on this machine. Copies are gone when this is."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._places: dict[str, str] = {}
        self._folder: Path | None = None

    def places(self, files: Sequence[LogFile]) -> list[str]:
        """The name of each file on this machine; what is not here yet is fetched at once."""
        missing = [file for file in files if file.path not in self._places]
        if self._store.folder is None:
            self._fetch(missing)
        else:
            for file in missing:
                self._store.meter.count(file.path, file.size)
                self._places[file.path] = self._linked(f"{self._store.folder}/{file.path}")
        return [self._places[file.path] for file in files]

    def _fetch(self, files: Sequence[LogFile]) -> None:
        ranges = [Range(file.path, 0, file.size) for file in files]
        for file, content in zip(files, self._store.read_many(ranges), strict=True):
            place = self._scratch() / file.name
            place.write_bytes(content)
            self._places[file.path] = str(place)

    def _linked(self, place: str) -> str:
        if not _WILDCARDS & set(place):
            return place
        link = self._scratch() / Path(place).name
        link.symlink_to(Path(place).absolute())
        return str(link)

    def _scratch(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="whyscan-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder
