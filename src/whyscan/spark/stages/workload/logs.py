"""List the logs in files, folders and globs that a user names.

Files that belong together are one log: the pieces of a rolling event log in order, and dbt's
manifest with the results of its run.
"""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from whyscan.errors import StorageError, TableError, UsageError
from whyscan.tables.storage.connections import portable_options
from whyscan.tables.storage.disk import is_folder, is_there, require_regular
from whyscan.tables.storage.locations import glob_regex, parse, recorded_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from whyscan.tables.storage.locations import Location
    from whyscan.tables.storage.store import Store

CHUNK = 1 << 22
DBT_FILES = ("manifest.json", "run_results.json")

_ROLLING = re.compile(r"events_(?P<at>\d+)_.+?(?P<compact>\.compact)?")
_NO_LOG = re.compile(r"[._].*|appstatus_.*|.*\.crc")


class QueryLogFile(Struct, frozen=True):
    """One file: its folder, its path in the folder, and the storage options.

    `content` is the whole file if Spark has read it, from a store that only Spark can open.
    """

    folder: str
    path: str
    size: int
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    content: bytes | None = None

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def shown(self) -> str:
        """The full path, for people."""
        return f"{self.folder.rstrip('/')}/{self.path}"

    def __repr__(self) -> str:
        """Without the options: some of them are secrets."""
        return f"QueryLogFile({self.shown!r})"

    def __reduce__(self) -> tuple[type[QueryLogFile], tuple[Any, ...]]:
        return QueryLogFile, (self.folder, self.path, self.size, dict(self.options), self.content)

    def on_disk(self) -> Path | None:
        """The path on this machine; None in an object store."""
        if self.content is not None:
            return None
        store = recorded_folder(self.folder, self.options)
        return None if store.folder is None else Path(store.folder, self.path)

    def chunks(self) -> Iterator[bytes]:
        """The bytes in chunks of 4 MB."""
        if self.content is not None:
            for start in range(0, len(self.content), CHUNK):
                yield self.content[start : start + CHUNK]
            return
        store = recorded_folder(self.folder, self.options)
        if store.folder is not None:
            yield from self._local_chunks(Path(store.folder, self.path))
            return
        for start in range(0, self.size, CHUNK):
            yield bytes(store.read(self.path, start, min(CHUNK, self.size - start)))

    def _local_chunks(self, path: Path) -> Iterator[bytes]:
        try:
            with path.open("rb") as file:
                while chunk := file.read(CHUNK):
                    yield chunk
        except OSError as error:
            why = error.strerror or str(error)
            raise StorageError(f"cannot read {self.shown}: {why.lower()}") from error

    def beginning(self) -> bytes:
        """The first chunk, which shows the kind of the file."""
        return next(self.chunks(), b"")


class QueryLog(Struct, frozen=True):
    """One log: a file, or several files that belong together, in order."""

    files: tuple[QueryLogFile, ...]

    @property
    def name(self) -> str:
        """The name in the origins of its entries: the file, or the folder of several files."""
        first = self.files[0]
        if len(self.files) > 1 or is_rolling(first):
            return first.shown.split("/")[-2]
        return first.name


def is_rolling(file: QueryLogFile) -> bool:
    """Whether a file is a piece of a rolling event log of Spark."""
    folder = file.shown.split("/")[-2:-1]
    return folder != [] and folder[0].startswith("eventlog_v2_")


def find_logs(
    named: str | Sequence[str], options: Mapping[str, Any] | None = None
) -> tuple[QueryLog, ...]:
    """The logs in some paths, each once; an error if a path has none."""
    # A string is a sequence too: its first item could be "/".
    named = [named] if isinstance(named, str) else named
    if not named:
        raise UsageError("no workload was named", hint="name a file, a folder or a glob")
    files_by_name: dict[str, QueryLogFile] = {}
    for text in named:
        files = list(_files(text, portable_options(text, options or {})))
        if not files:
            raise TableError(f"there is no log in {text}")
        files_by_name |= {file.shown: file for file in files}
    return logs_of(files_by_name.values())


def _files(text: str, options: Mapping[str, Any]) -> Iterator[QueryLogFile]:
    place = parse(text)
    folder = f"{place.store}/{place.path}" if place.store else place.path
    if place.pattern is None:
        file = _one_file(place, options)
        if file is not None:
            yield file
            return
    store = recorded_folder(folder, options)
    matches = re.compile("" if place.pattern is None else f"{glob_regex(place.pattern)}(/|$)")
    for path, size in _listed(store):
        if matches.match(path) and not is_hidden(path):
            yield QueryLogFile(store.uri, path, size, options)


def _one_file(place: Location, options: Mapping[str, Any]) -> QueryLogFile | None:
    """The file at a location, None if it is a folder."""
    folder, _, name = place.path.rpartition("/")
    above = f"{place.store}/{folder}" if place.store else folder or "/"
    if not place.store:
        if not is_there(place.path):
            raise TableError(
                f"there is no {place.path}", hint="a workload is a file, a folder or a quoted glob"
            )
        if is_folder(place.path):
            return None
        require_regular(place.path)
        return QueryLogFile(above, name, Path(place.path).stat().st_size, options)
    listing = recorded_folder(above, options).find(name)
    sizes = listing["size"].to_pylist()
    return QueryLogFile(above, name, sizes[0], options) if sizes else None


def _listed(store: Store) -> Iterator[tuple[str, int]]:
    listing = store.list().sort_by("path")
    yield from zip(listing["path"].to_pylist(), listing["size"].to_pylist(), strict=True)


def is_hidden(path: str) -> bool:
    """Whether the name of a file or of a folder above it shows that it is no log."""
    return any(_NO_LOG.fullmatch(part) for part in path.split("/"))


def logs_of(files: Iterable[QueryLogFile]) -> tuple[QueryLog, ...]:
    """The files as logs, ordered by name."""
    return tuple(_logs(files))


def _logs(files: Iterable[QueryLogFile]) -> Iterator[QueryLog]:
    ordered = sorted(files, key=lambda file: file.shown)
    for _, of_folder in groupby(ordered, key=lambda file: file.shown.rpartition("/")[0]):
        files_of_folder = list(of_folder)
        if all(map(is_rolling, files_of_folder)):
            yield QueryLog(tuple(_pieces(files_of_folder)))
            continue
        dbt = [file for file in files_of_folder if file.name in DBT_FILES]
        if dbt:
            yield QueryLog(tuple(dbt))
        yield from (QueryLog((file,)) for file in files_of_folder if file not in dbt)


def _pieces(files: Sequence[QueryLogFile]) -> list[QueryLogFile]:
    """The pieces of a rolling log in order; a compacted piece replaces all before it."""
    named = [(file, _ROLLING.fullmatch(file.name)) for file in files]
    pieces = [(int(match["at"]), match["compact"], file) for file, match in named if match]
    begin = max((at for at, compact, _ in pieces if compact), default=0)
    kept = [piece for piece in pieces if piece[0] > begin or (piece[0] == begin and piece[1])]
    return [file for _, _, file in sorted(kept or pieces, key=lambda piece: piece[0])]
