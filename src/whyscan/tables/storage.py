"""Where the bytes are: a folder on disk or in an object store, listed whole and read by range.

Reading goes through obstore wherever the folder is. Listing a disk does not: obstore stops at
the first name that is not plain Unicode, and takes twice as long.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whyscan.errors import StorageError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

LISTING = pa.schema([("path", pa.string()), ("size", pa.int64()), ("modified", pa.timestamp("us"))])
"""A row an object: its path below the store's folder, its bytes, when it was written (UTC)."""

REMOTE_AT_ONCE = 64
# Measured on two cores: reading is the smaller part of the work and the rest holds the
# interpreter, so that more threads only wait for each other.
LOCAL_AT_ONCE = 2
LOCAL_BATCH = 32
_LISTED_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Range:
    """`length` bytes of an object from `start`."""

    path: str
    start: int
    length: int


@dataclass(slots=True)
class Meter:
    """What was read so far: which objects, how many bytes."""

    paths: set[str] = field(default_factory=set)
    bytes: int = 0

    def count(self, path: str, size: int) -> None:
        self.paths.add(path)
        self.bytes += size


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """One folder of a store. Paths are relative to it, and `uri` is its name without secrets.

    `folder` is the folder on disk, None in an object store, where `prefix` leads to it.
    """

    uri: str
    backend: Any
    folder: str | None = None
    prefix: str = ""
    meter: Meter = field(default_factory=Meter)

    def list(self, under: str = "", enter: Callable[[str], bool] = lambda _: True) -> pa.Table:
        """Every object at any depth below `under`; folders whose name `enter` refuses stay shut.

        In an object store they are listed all the same: it has no folders to leave out.
        """
        if self.folder is not None:
            return _walk(self.folder, under, enter)
        return self._list_objects(under)

    def _list_objects(self, under: str) -> pa.Table:
        import obstore

        start = len(self.prefix) + 1 if self.prefix else 0
        batches = []
        try:
            for found in obstore.list(
                self.backend, self._key(under) or None, chunk_size=_LISTED_AT_ONCE
            ):
                paths = [entry["path"][start:] for entry in found]
                sizes = [entry["size"] for entry in found]
                times = [entry["last_modified"].replace(tzinfo=None) for entry in found]
                batches.append(pa.record_batch([paths, sizes, times], schema=LISTING))
        except obstore.exceptions.BaseError as error:
            raise _refused(f"{self.uri}/{under}".rstrip("/"), error) from None
        return pa.Table.from_batches(batches, LISTING)

    def find(self, path: str) -> pa.Table:
        """The object of exactly that path as a listing of one, or of none."""
        if self.folder is not None:
            return _entry(self.folder, path)
        import obstore

        try:
            found = obstore.head(self.backend, self._key(path))
        except FileNotFoundError:
            return LISTING.empty_table()
        except obstore.exceptions.BaseError as error:
            raise _refused(f"{self.uri}/{path}", error) from None
        modified = found["last_modified"].replace(tzinfo=None)
        return pa.table([[path], [found["size"]], [modified]], schema=LISTING)

    def sizes(self, paths: Sequence[str]) -> Sequence[int | None]:
        """The bytes of each object, None where there is none."""
        if self.folder is not None:
            return [_size(self.folder, path) for path in paths]
        with ThreadPoolExecutor(REMOTE_AT_ONCE) as pool:
            found = pool.map(self.find, paths)
            return [next(iter(listing["size"].to_pylist()), None) for listing in found]

    def holds(self, folder: str) -> bool:
        """Whether there is anything in a folder."""
        if self.folder is not None:
            return Path(self.folder, folder).is_dir()
        import obstore

        try:
            found = obstore.list_with_delimiter(self.backend, self._key(folder))
        except obstore.exceptions.BaseError as error:
            raise _refused(f"{self.uri}/{folder}", error) from None
        return bool(found["objects"] or found["common_prefixes"])

    def read(self, path: str, start: int, length: int) -> pa.Buffer:
        """Some bytes of one object."""
        piece = self._fetch(Range(path, start, length))
        self.meter.count(path, len(piece))
        return piece

    def read_many(self, ranges: Sequence[Range]) -> Iterator[pa.Buffer]:
        """The bytes of each range in order, many under way at once, few of them held."""
        batch = LOCAL_BATCH if self.folder is not None else 1
        width = LOCAL_AT_ONCE if self.folder is not None else REMOTE_AT_ONCE
        if len(ranges) <= batch:
            yield from (self.read(r.path, r.start, r.length) for r in ranges)
            return
        with ThreadPoolExecutor(width) as pool:
            pending: deque[Future[Sequence[pa.Buffer]]] = deque()
            for start in range(0, len(ranges), batch):
                pending.append(pool.submit(self._fetch_all, ranges[start : start + batch]))
                if len(pending) > 2 * width:
                    yield from pending.popleft().result()
            while pending:
                yield from pending.popleft().result()
        for piece in ranges:
            self.meter.count(piece.path, piece.length)

    def _fetch_all(self, ranges: Sequence[Range]) -> Sequence[pa.Buffer]:
        return [self._fetch(piece) for piece in ranges]

    def _fetch(self, piece: Range) -> pa.Buffer:
        import obstore

        if not piece.length:
            return pa.py_buffer(b"")
        end = piece.start + piece.length
        try:
            got = obstore.get_range(self.backend, self._key(piece.path), start=piece.start, end=end)
        except (obstore.exceptions.BaseError, OSError, ValueError) as error:
            raise _refused(self.shown(piece.path), error) from None
        return pa.py_buffer(got)

    def shown(self, path: str) -> str:
        """An object's full name, for people."""
        return f"{self.uri}/{path}" if path else self.uri

    def _key(self, path: str) -> str:
        return "/".join(part for part in (self.prefix, path) if part)


def local_store(folder: str) -> Store:
    """The store of a folder on this machine."""
    from obstore.store import LocalStore

    return Store(folder, LocalStore(prefix=folder), folder=folder)


def _walk(folder: str, under: str, enter: Callable[[str], bool]) -> pa.Table:
    top = str(Path(folder, under))
    paths: list[str] = []
    sizes: list[int] = []
    times: list[int] = []
    pending = [(top, f"{under}/" if under else "", frozenset[tuple[int, int]]())]
    while pending:
        place, prefix, above = pending.pop()
        try:
            with os.scandir(place) as entries:
                seen = above | {_identity(Path(place).stat())}
                for entry in entries:
                    if entry.is_dir():
                        if enter(entry.name) and not _is_loop(entry, seen):
                            pending.append((entry.path, f"{prefix}{entry.name}/", seen))
                    elif entry.is_file():
                        facts = entry.stat()
                        paths.append(prefix + entry.name)
                        sizes.append(facts.st_size)
                        times.append(facts.st_mtime_ns // 1000)
        except OSError as error:
            raise _refused(place, error) from None
    return _listing(folder, paths, sizes, times)


def _identity(facts: os.stat_result) -> tuple[int, int]:
    return facts.st_dev, facts.st_ino


def _is_loop(entry: os.DirEntry[str], above: frozenset[tuple[int, int]]) -> bool:
    """A link to one of the folders that it lies in."""
    return entry.is_symlink() and _identity(entry.stat()) in above


def _entry(folder: str, path: str) -> pa.Table:
    place = Path(folder, path)
    try:
        facts = place.stat()
    except FileNotFoundError:
        return LISTING.empty_table()
    except OSError as error:
        raise _refused(str(place), error) from None
    # Opening a pipe would wait for ever.
    if not stat.S_ISREG(facts.st_mode):
        raise TableError(f"{place} is not a regular file")
    return _listing(folder, [path], [facts.st_size], [facts.st_mtime_ns // 1000])


def _size(folder: str, path: str) -> int | None:
    try:
        facts = Path(folder, path).stat()
    except OSError:
        return None
    return facts.st_size if stat.S_ISREG(facts.st_mode) else None


def _listing(folder: str, paths: list[str], sizes: list[int], times: list[int]) -> pa.Table:
    try:
        names = pa.array(paths, pa.string())
    except UnicodeEncodeError as error:
        name = ascii(error.object)
        raise TableError(
            f"{folder} holds a name that is not Unicode: {name}", hint="rename the file"
        ) from None
    moments = pa.array(times, pa.int64()).view(pa.timestamp("us"))
    return pa.table([names, pa.array(sizes, pa.int64()), moments], schema=LISTING)


_REASONS = {
    "FileNotFoundError": "it is not there",
    "NotFoundError": "it is not there",
    "PermissionError": "permission denied",
    "PermissionDeniedError": "permission denied",
    "UnauthenticatedError": "the store does not accept the credentials",
    "InvalidPathError": "its name cannot be asked for",
    "UnknownConfigurationKeyError": "an option that this store does not know",
}


def _refused(what: str, error: Exception) -> StorageError:
    """The error as ours. A store's own text may hold addresses and tokens: it is left behind."""
    why = _REASONS.get(type(error).__name__)
    if why is None and isinstance(error, OSError) and error.strerror is not None:
        why = error.strerror.lower()
    return StorageError(f"cannot read {what}: {why or 'the store did not answer'}")
