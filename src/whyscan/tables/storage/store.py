"""Where the bytes are: a folder on disk or in an object store, listed whole and read by range.

Reading goes through obstore wherever the folder is, and is whole or an error. What a store holds
that cannot change is kept on this machine; what a disk holds is not.
"""

from __future__ import annotations

import json
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import replace

from whyscan.errors import CorruptFile, StorageError
from whyscan.tables.snapshot import Traffic
from whyscan.tables.storage import disk
from whyscan.tables.storage.disk import LISTING
from whyscan.tables.storage.object_versions import ObjectVersions, is_metadata, tag_of, written_once
from whyscan.tables.storage.refusals import refusals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from whyscan.tables.storage.disk_cache import Cache

    Keep = Callable[[memoryview], memoryview]
    """What of some bytes is metadata and may be kept: an end of them."""

# Threads wait outside of Python: asyncio was measured against an S3 server, and is little quicker.
REMOTE_AT_ONCE = 64
# Measured on two cores: reading is the smaller part of the work and the rest holds the
# interpreter, so that more threads only wait for each other.
LOCAL_AT_ONCE = 2
LOCAL_BATCH = 32
_LISTED_AT_ONCE = 10_000
_PAGE = 1_000
_ATTEMPTS = 2


class ByteRange(Struct, frozen=True):
    """`length` bytes of an object from `start`."""

    path: str
    start: int
    length: int


class _Piece(Struct, frozen=True):
    content: pa.Buffer
    from_cache: bool = False


class Meter(Struct):
    """What was read so far: which objects, which of them from their store, how many bytes."""

    paths: set[str] = field(default_factory=set)
    fetched: set[str] = field(default_factory=set)
    bytes: int = 0

    def count(self, path: str, size: int) -> None:
        self.fetched.add(path)
        self.recall(path, size)

    def recall(self, path: str, size: int) -> None:
        """Count what came from the cache."""
        self.paths.add(path)
        self.bytes += size

    def traffic(self) -> Traffic:
        return Traffic(len(self.paths), self.bytes, len(self.paths) - len(self.fetched))


class Store(Struct, frozen=True, eq=False):
    """One folder of a store. Paths are relative to it, and `uri` is its name without secrets.

    `folder` is the folder on disk, None in an object store, where `prefix` leads to it. `identity`
    tells the store from others that go by the same name; `cache` None keeps nothing.
    """

    uri: str
    backend: Any
    folder: str | None = None
    prefix: str = ""
    identity: str = ""
    at_once: int = REMOTE_AT_ONCE
    cache: Cache | None = None
    meter: Meter = field(default_factory=Meter)
    versions: ObjectVersions = field(default_factory=ObjectVersions)

    def list(self, under: str = "", enter: Callable[[str], bool] = lambda _: True) -> pa.Table:
        """Every object at any depth below `under`; folders whose name `enter` refuses stay shut.

        In an object store they are listed all the same: it has no folders to leave out.
        """
        if self.folder is not None:
            return disk.walk(self.folder, under, enter)
        return self._list_objects(under)

    def _list_objects(self, under: str) -> pa.Table:
        import obstore

        start = len(self.prefix) + 1 if self.prefix else 0
        batches = []
        with refusals(self.shown(under)):
            for found in obstore.list(
                self.backend, self._key(under) or None, chunk_size=_LISTED_AT_ONCE
            ):
                paths = pa.array([entry["path"][start:] for entry in found], pa.string())
                sizes = [entry["size"] for entry in found]
                times = [entry["last_modified"].replace(tzinfo=None) for entry in found]
                batches.append(pa.record_batch([paths, sizes, times], schema=LISTING))
                if self.cache is not None:
                    self.versions.note_listing(paths, pa.array(map(tag_of, found), pa.string()))
        return pa.Table.from_batches(batches, LISTING)

    def find(self, path: str) -> pa.Table:
        """The object of exactly that path as a listing of one, or of none."""
        if self.folder is not None:
            return disk.entry(self.folder, path)
        import obstore

        with refusals(self.shown(path)):
            try:
                found = obstore.head(self.backend, self._key(path))
            except FileNotFoundError:
                return LISTING.empty_table()
        self.versions.note(path, tag_of(found))
        modified = found["last_modified"].replace(tzinfo=None)
        return pa.table([[path], [found["size"]], [modified]], schema=LISTING)

    def sizes(self, paths: Sequence[str]) -> Sequence[int | None]:
        """The bytes of each object, None where there is none."""
        if self.folder is not None:
            return disk.sizes(self.folder, paths)
        with ThreadPoolExecutor(self.at_once) as pool:
            found = pool.map(self.find, paths)
            return [next(iter(listing["size"].to_pylist()), None) for listing in found]

    def holds(self, folder: str) -> bool:
        """Whether there is anything in a folder."""
        return self.which_hold([folder])[0]

    def which_hold(self, folders: Sequence[str]) -> Sequence[bool]:
        """Whether there is anything in each folder; a store is asked for all of them at once."""
        if self.folder is not None:
            return [disk.is_folder(Path(self.folder, folder)) for folder in folders]
        with ThreadPoolExecutor(len(folders)) as pool:
            return list(pool.map(self._holds_objects, folders))

    def _holds_objects(self, folder: str) -> bool:
        import obstore

        with refusals(self.shown(folder)):
            return any(obstore.list(self.backend, self._key(folder), chunk_size=1))

    def names(self, folder: str, at_most: int) -> Iterator[str]:
        """The names in a folder of an object store, `at_most` so many, in the store's order."""
        import obstore

        key = self._key(folder)
        with refusals(self.shown(folder)):
            stream = obstore.list(self.backend, key, chunk_size=_PAGE)
            for entry in islice(chain.from_iterable(stream), at_most):
                yield entry["path"][len(key) + 1 :]

    def whole(self, path: str, at_most: int) -> pa.Buffer | None:
        """An object, or its first `at_most` bytes; None where there is none.

        Where nothing of it is kept, one request is enough: its size need not be known.
        """
        if self.folder is None and (self.cache is None or not is_metadata(path)):
            import obstore

            # An empty object has no range: as after any other refusal, its size is asked for.
            with refusals(self.shown(path)), suppress(obstore.exceptions.BaseError):
                try:
                    content, _ = self._ask(ByteRange(path, 0, at_most))
                except FileNotFoundError:
                    return None
                self.meter.count(path, len(content))
                return content
        sizes = self.find(path)["size"].to_pylist()
        return self.read(path, 0, min(sizes[0], at_most)) if sizes else None

    def read(self, path: str, start: int, length: int) -> pa.Buffer:
        """Some bytes of one object."""
        return next(self.read_many([ByteRange(path, start, length)]))

    def read_many(
        self, ranges: Sequence[ByteRange], keep: Keep | None = None
    ) -> Iterator[pa.Buffer]:
        """The bytes of each range in order, many under way at once, few of them held.

        Metadata is kept whole. Of other objects only what `keep` says is: a range that was read
        before comes back as that end of it.
        """
        if self.cache is not None:
            self.versions.learn([piece.path for piece in ranges])
        for asked, piece in zip(ranges, self._pieces(ranges, keep), strict=True):
            count = self.meter.recall if piece.from_cache else self.meter.count
            count(asked.path, len(piece.content))
            yield piece.content

    def _pieces(self, ranges: Sequence[ByteRange], keep: Keep | None) -> Iterator[_Piece]:
        batch = LOCAL_BATCH if self.folder is not None else 1
        width = LOCAL_AT_ONCE if self.folder is not None else self.at_once
        if len(ranges) <= batch:
            yield from (self._piece(asked, keep) for asked in ranges)
            return
        pool = ThreadPoolExecutor(width)
        try:
            pending: deque[Future[Sequence[_Piece]]] = deque()
            for start in range(0, len(ranges), batch):
                asked = ranges[start : start + batch]
                pending.append(pool.submit(self._batch, asked, keep))
                if len(pending) > 2 * width:
                    yield from pending.popleft().result()
            while pending:
                yield from pending.popleft().result()
        finally:
            # After an error nobody waits for what was not begun.
            pool.shutdown(cancel_futures=True)

    def _batch(self, ranges: Sequence[ByteRange], keep: Keep | None) -> Sequence[_Piece]:
        return [self._piece(asked, keep) for asked in ranges]

    def _piece(self, asked: ByteRange, keep: Keep | None) -> _Piece:
        if asked.length == 0:
            return _Piece(pa.py_buffer(b""))
        local = self.folder is not None
        piece = _Piece(self._fetch_local(asked)) if local else self._kept(asked, keep)
        if keep is not None and not piece.from_cache and len(piece.content) != asked.length:
            raise CorruptFile(self.shown(asked.path), "it is shorter than its listing said")
        return piece

    def _kept(self, asked: ByteRange, keep: Keep | None) -> _Piece:
        """From the cache, or into it."""
        tag = self.versions.of(asked.path)
        key = self._cache_key(asked, tag, keep)
        if self.cache is None or key is None:
            return _Piece(self._fetch(asked)[0])
        if (stored := self.cache.get(key)) is not None:
            if tag is not None:
                self._refuse_another(asked.path, tag)
            return _Piece(stored, from_cache=True)
        content, found = self._fetch(asked)
        # Another tag: the object was written again since it was listed.
        if tag in {None, found} and len(content) == asked.length:
            whole = memoryview(content)
            self.cache.put(key, whole if keep is None else keep(whole))
        return _Piece(content)

    def _cache_key(self, asked: ByteRange, tag: str | None, keep: Keep | None) -> str | None:
        """What the bytes are kept under; None where nothing tells an object's contents apart."""
        if keep is None and not is_metadata(asked.path):
            return None
        mark = written_once(asked.path) if tag is None else tag
        if mark is None:
            return None
        return json.dumps([self.identity, self._key(asked.path), asked.start, asked.length, mark])

    def _fetch_local(self, asked: ByteRange) -> pa.Buffer:
        import obstore

        disk.require_regular(f"{self.folder}/{asked.path}")
        with refusals(self.shown(asked.path)):
            return pa.py_buffer(
                obstore.get_range(self.backend, asked.path, start=asked.start, length=asked.length)
            )

    def _fetch(self, asked: ByteRange) -> tuple[pa.Buffer, str]:
        with refusals(self.shown(asked.path)):
            content, tag = self._ask(asked)
        self._refuse_another(asked.path, tag)
        return content, tag

    def _refuse_another(self, path: str, tag: str) -> None:
        if self.versions.is_another(path, tag):
            raise StorageError(
                f"{self.shown(path)} was written again while it was read",
                hint="open the table again",
            )

    def _ask(self, asked: ByteRange) -> tuple[pa.Buffer, str]:
        """The bytes and their tag. A body that is cut off is asked for once more, then refused.

        An object may be shorter than its table says: then it came whole, and its reader decides.
        """
        import obstore

        end = asked.start + asked.length
        for _ in range(_ATTEMPTS):
            answer = obstore.get(
                self.backend, self._key(asked.path), options={"range": (asked.start, end)}
            )
            with suppress(obstore.exceptions.BaseError):
                content = answer.bytes()
                if len(content) == min(end, answer.meta["size"]) - asked.start:
                    return pa.py_buffer(content), tag_of(answer.meta)
        raise StorageError(
            f"cannot read {self.shown(asked.path)}: the answer was cut off, {_ATTEMPTS} times"
        )

    def afresh(self, unchanged: Sequence[str] = ()) -> Store:
        """The same folder, of which nothing was read: it is little to pickle.

        Metadata that is `unchanged` is refused where it is not what was read here.
        """
        read = {path: tag for path, tag in self.versions.read.items() if path in unchanged}
        return replace(self, meter=Meter(), versions=ObjectVersions(read=read))

    def shown(self, path: str) -> str:
        """An object's full name, for people."""
        return f"{self.uri}/{path}" if path else self.uri

    def _key(self, path: str) -> str:
        return "/".join(part for part in (self.prefix, path) if part)


def local_store(folder: str) -> Store:
    """The store of a folder on this machine."""
    from obstore.store import LocalStore

    return Store(folder, LocalStore(prefix=folder), folder=folder)
