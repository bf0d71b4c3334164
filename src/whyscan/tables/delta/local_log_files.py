"""Log files on the local disk, where DuckDB reads them: the original files, or copies."""

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
    """A byte range: start, and end (exclusive)."""

_END = 1 << 17
"""The last bytes of most checkpoints: the footer, and the columns that describe the table."""
_PIECE = 1 << 23
_WILDCARDS = frozenset("*?[]{}")
"""DuckDB reads a name with one of these as a pattern, which may match other files."""


class LocalCopies:
    """Local copies of the log files of one table. They are deleted together with this object.

    A copy may have holes: byte ranges that were not fetched. The copy of a file in `spans` (by
    path) has only the rows of the span and the footer. Holes of other copies are filled on request.
    Parquet files are copied without holes if they have at most `fetched_whole` bytes in total.
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
        """The local path of each file. Files without a copy are fetched in parallel."""
        missing = [file for file in files if file.path not in self._places]
        if self._store.folder is None:
            self._fetch([(file, piece) for file in missing for piece in self._ranges(file)])
        else:
            for file in missing:
                self._store.meter.count(file.path, file.size)
                self._places[file.path] = self._linked(f"{self._store.folder}/{file.path}")
        return [self._places[file.path] for file in files]

    def outline(self, files: Sequence[LogFile]) -> list[LogFile]:
        """Fetch only the footers if the Parquet files are large in total; return these files.

        A file without Parquet's last bytes is fetched completely: its reader reports the error.
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
        """Fill all holes of the files. Several threads may call this at the same time."""
        with self._filling:
            self.fill([(file, (0, file.size)) for file in files if file.path in self._holes])

    def fill(self, ranges: Sequence[tuple[LogFile, Bytes]]) -> None:
        """Fetch the parts of these byte ranges that are holes."""
        missing = [
            (file, piece)
            for file, (start, end) in ranges
            for first, last in self._holes[file.path]
            for piece in self._pieces(file, max(first, start), min(last, end))
        ]
        self._fetch(missing)
        for file, filled in ranges:
            self._holes[file.path] = tuple(_without_range(self._holes[file.path], filled))

    def _pieces(self, file: LogFile, start: int, end: int) -> Iterator[ByteRange]:
        """Ranges to read in parallel; one range if the file is too large for the disk cache."""
        cache = self._store.cache
        piece_bytes = _PIECE if cache is None or cache.takes(file.size) else file.size
        for at in range(start, end, max(piece_bytes, 1)):
            yield ByteRange(file.path, at, min(piece_bytes, end - at))

    def _fetch(self, ranges: Sequence[tuple[LogFile, ByteRange]]) -> None:
        contents = self._store.read_many([piece for _, piece in ranges])
        for (file, piece), content in zip(ranges, contents, strict=True):
            place = self._scratch() / file.name
            with place.open("r+b" if place.exists() else "wb") as copy:
                copy.seek(piece.start)
                copy.write(content)
            self._places[file.path] = str(place)

    def _footer(self, file: LogFile) -> int:
        """The position of a file's footer, from its last bytes; 0 if they are not Parquet's."""
        with Path(self._places[file.path]).open("rb") as copy:
            size = copy.seek(0, 2)
            copy.seek(max(size - ENDING, 0))
            ending = copy.read()
        length = int.from_bytes(ending[:4], "little") + ENDING
        is_parquet = ending[4:] == MAGIC and length <= min(size - len(MAGIC), LARGEST_FOOTER)
        return size - length if is_parquet else 0

    def _ranges(self, file: LogFile) -> list[ByteRange]:
        """The byte ranges of a file that are needed; the first has the format's magic bytes."""
        span = self._spans.get(file.path)
        if span is None:
            return [ByteRange(file.path, 0, file.size)]
        # The offsets in a footer may be wrong.
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


def _without_range(holes: Sequence[Bytes], filled: Bytes) -> Iterator[Bytes]:
    """The holes without the range that was filled."""
    start, end = filled
    for first, last in holes:
        for rest in ((first, min(last, start)), (max(first, end), last)):
            if rest[0] < rest[1]:
                yield rest
