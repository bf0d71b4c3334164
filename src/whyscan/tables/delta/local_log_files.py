"""Log files where DuckDB can read them: the table's own on this machine, copies of others."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from whyscan.tables.parquet.footers import ENDING, LARGEST_FOOTER, MAGIC
from whyscan.tables.parts import FETCHED_WHOLE
from whyscan.tables.storage.store import ByteRange

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from whyscan.tables.delta.actions import RowSpan
    from whyscan.tables.delta.log import LogFile
    from whyscan.tables.storage.store import Store

    Bytes = tuple[int, int]
    """From the first to before the second."""

_END = 1 << 17
"""Holds most footers, and the columns before them, which in most checkpoints describe the table."""
_PIECE = 1 << 23
_WILDCARDS = frozenset("*?[]{}")
"""DuckDB takes a name with one of these for a pattern, and may read other files than meant."""


class LocalCopies:
    """The log of one table on this machine. Copies are gone when this is.

    Of a file in `spans`, by path, a copy has those rows and the footer; the rest of it is a hole.
    Holes of other copies are filled on request. Parquet files of up to `fetched_whole` bytes
    together have none.
    """

    def __init__(
        self,
        store: Store,
        spans: Mapping[str, RowSpan] | None = None,
        fetched_whole: int = FETCHED_WHOLE,
    ) -> None:
        self._store = store
        self._spans = spans or {}
        self._fetched_whole = max(fetched_whole, _END)
        self._places: dict[str, str] = {}
        self._holes: dict[str, tuple[Bytes, ...]] = {}
        self._filling = Lock()
        self._folder: Path | None = None

    def places(self, files: Sequence[LogFile]) -> list[str]:
        """The name of each file on this machine; what is not here yet is fetched at once."""
        missing = [file for file in files if file.path not in self._places]
        if self._store.folder is None:
            self._fetch([(file, piece) for file in missing for piece in self._ranges(file)])
        else:
            for file in missing:
                self._store.meter.count(file.path, file.size)
                self._places[file.path] = self._linked(f"{self._store.folder}/{file.path}")
        return [self._places[file.path] for file in files]

    def outline(self, files: Sequence[LogFile]) -> list[LogFile]:
        """Fetch the footers alone of Parquet files that are large together; which files those are.

        What does not end as Parquet does is fetched whole: its reader says what is wrong.
        """
        missing = [f for f in files if f.path not in self._places and f.size and not f.is_json]
        size = sum(file.size for file in missing)
        if self._store.folder is not None or size <= self._fetched_whole:
            return []
        self._holes.update({file.path: ((0, file.size),) for file in missing})
        self.fill([(file, (max(file.size - _END, 0), file.size)) for file in missing])
        self.fill([(file, (self._footer(file), file.size)) for file in missing])
        return missing

    def complete(self, files: Sequence[LogFile]) -> None:
        """Fill what is left of holes; threads may ask for it at once."""
        with self._filling:
            self.fill([(file, (0, file.size)) for file in files if file.path in self._holes])

    def fill(self, wanted: Sequence[tuple[LogFile, Bytes]]) -> None:
        """Fetch those bytes of files, where they are holes."""
        asked = [
            (file, piece)
            for file, (start, end) in wanted
            for first, last in self._holes[file.path]
            for piece in self._pieces(file, max(first, start), min(last, end))
        ]
        self._fetch(asked)
        for file, filled in wanted:
            self._holes[file.path] = tuple(_without(self._holes[file.path], filled))

    def _pieces(self, file: LogFile, start: int, end: int) -> Iterator[ByteRange]:
        """Several at once come sooner, but what is too large to be kept stays so."""
        cache = self._store.cache
        each = _PIECE if cache is None or cache.takes(file.size) else file.size
        for at in range(start, end, max(each, 1)):
            yield ByteRange(file.path, at, min(each, end - at))

    def _fetch(self, wanted: Sequence[tuple[LogFile, ByteRange]]) -> None:
        read = self._store.read_many([piece for _, piece in wanted])
        for (file, piece), content in zip(wanted, read, strict=True):
            place = self._scratch() / file.name
            with place.open("r+b" if place.exists() else "wb") as copy:
                copy.seek(piece.start)
                copy.write(content)
            self._places[file.path] = str(place)

    def _footer(self, file: LogFile) -> int:
        """Where a file's footer begins, by its last bytes; 0 where they are no end of Parquet."""
        with Path(self._places[file.path]).open("rb") as copy:
            size = copy.seek(0, 2)
            copy.seek(max(size - ENDING, 0))
            ending = copy.read()
        length = int.from_bytes(ending[:4], "little") + ENDING
        right = ending[4:] == MAGIC and length <= min(size - len(MAGIC), LARGEST_FOOTER)
        return size - length if right else 0

    def _ranges(self, file: LogFile) -> list[ByteRange]:
        """What of a file is needed, its beginning first: there the format says its name."""
        span = self._spans.get(file.path)
        if span is None:
            return [ByteRange(file.path, 0, file.size)]
        # A footer may say anything of where its pages are.
        footer = max(file.size - span.footer, len(MAGIC))
        start = min(max(span.bytes[0], len(MAGIC)), footer)
        end = min(max(span.bytes[1], start), footer)
        return [
            ByteRange(file.path, 0, len(MAGIC)),
            ByteRange(file.path, start, end - start),
            ByteRange(file.path, footer, file.size - footer),
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


def _without(holes: Sequence[Bytes], filled: Bytes) -> Iterator[Bytes]:
    """What is left of holes."""
    start, end = filled
    for first, last in holes:
        for rest in ((first, min(last, start)), (max(first, end), last)):
            if rest[0] < rest[1]:
                yield rest
