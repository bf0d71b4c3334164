"""Log files where DuckDB can read them: the table's own on this machine, copies of others."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from whyscan.tables.storage import Range

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.tables.delta.actions import Span
    from whyscan.tables.delta.log import LogFile
    from whyscan.tables.storage import Store

_MAGIC = b"PAR1"
_WILDCARDS = frozenset("*?[]{}")
"""DuckDB takes a name with one of these for a pattern, and may read other files than meant."""


class LocalCopies:
    """The log of one table on this machine. Copies are gone when this is.

    Of a file in `spans`, by path, a copy has those rows and the footer; the rest of it is a hole.
    """

    def __init__(self, store: Store, spans: Mapping[str, Span] | None = None) -> None:
        self._store = store
        self._spans = spans or {}
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
        wanted = [(file, piece) for file in files for piece in self._ranges(file)]
        read = self._store.read_many([piece for _, piece in wanted])
        for (file, piece), content in zip(wanted, read, strict=True):
            place = self._scratch() / file.name
            if piece.start == 0:
                place.write_bytes(content)
            else:
                with place.open("r+b") as copy:
                    copy.seek(piece.start)
                    copy.write(content)
            self._places[file.path] = str(place)

    def _ranges(self, file: LogFile) -> list[Range]:
        """What of a file is needed, its beginning first: there the format says its name."""
        span = self._spans.get(file.path)
        if span is None:
            return [Range(file.path, 0, file.size)]
        # A footer may say anything of where its pages are.
        footer = max(file.size - span.footer, len(_MAGIC))
        start = min(max(span.bytes[0], len(_MAGIC)), footer)
        end = min(max(span.bytes[1], start), footer)
        return [
            Range(file.path, 0, len(_MAGIC)),
            Range(file.path, start, end - start),
            Range(file.path, footer, file.size - footer),
        ]

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
