"""A store: one folder on disk or in an object store, which is listed and read by byte ranges.

All reads go through obstore. A read gives all bytes of its range or raises an error. Objects of an
object store that cannot change are cached on this machine; files on disk are not cached.
"""

from __future__ import annotations

import json
from collections import Counter, deque
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
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from whyscan.tables.storage.disk_cache import Cache

    Keep = Callable[[memoryview], memoryview]
    """Returns the last bytes of a range, those that are metadata and may be cached."""

# Threads wait outside of Python: asyncio is only a little quicker, measured with an S3 server.
REMOTE_AT_ONCE = 64
# Measured on two cores: reading is the smaller part of the work. The rest keeps the interpreter's
# lock, so more threads only wait for each other.
LOCAL_AT_ONCE = 2
LOCAL_BATCH = 32
_FOOTER_BYTES = 1 << 25
_LISTED_AT_ONCE = 10_000
_PAGE = 1_000
_ATTEMPTS = 2


class ByteRange(Struct, frozen=True):
    """`length` bytes of an object from `start`."""

    path: str
    start: int
    length: int


NEAR = 1 << 16
"""Two ranges with at most this many bytes between them are read with one request."""


def joined_ranges(ranges: Iterable[tuple[int, int]], gap: int = NEAR) -> list[tuple[int, int]]:
    """The same bytes in fewer (start, end) ranges, which include gaps of at most `gap` bytes."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1] + gap:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


class _Piece(Struct, frozen=True):
    content: pa.Buffer
    from_cache: bool = False


class Meter(Struct):
    """Counts the reads so far: `paths` of all objects, `fetched` those from their store, bytes.

    `requests` counts the ranges that were read from their store. `paged` counts the row groups of
    which only the needed pages were read, and `whole` by reason those that were read whole though
    pages of them were skipped.
    """

    paths: set[str] = field(default_factory=set)
    fetched: set[str] = field(default_factory=set)
    bytes: int = 0
    requests: int = 0
    paged: int = 0
    whole: Counter[str] = field(default_factory=Counter)

    def count(self, path: str, size: int) -> None:
        self.fetched.add(path)
        self.requests += 1
        self.recall(path, size)

    def recall(self, path: str, size: int) -> None:
        """Count bytes that came from the cache."""
        self.paths.add(path)
        self.bytes += size

    def count_pages(self, why_whole: str | None) -> None:
        """Count a row group with skipped pages, and why it is read whole; None if it is not."""
        if why_whole is None:
            self.paged += 1
        else:
            self.whole[why_whole] += 1

    def traffic(self) -> Traffic:
        from_cache = len(self.paths) - len(self.fetched)
        return Traffic(
            len(self.paths), self.bytes, from_cache, self.paged, tuple(self.whole.items())
        )


class ReadFooters(Struct):
    """Footers of data files that a plan has read, by path: a reader needs no request for them.

    They take at most `_FOOTER_BYTES`; those that were read first go first.
    """

    by_path: dict[str, bytes] = field(default_factory=dict)
    size: int = 0

    def find(self, path: str) -> bytes | None:
        return self.by_path.get(path)

    def put(self, path: str, footer: bytes) -> Iterator[str]:
        """Keep a footer. Yield the paths whose footers are dropped for it."""
        self.size += len(footer) - len(self.by_path.pop(path, b""))
        self.by_path[path] = footer
        while self.size > _FOOTER_BYTES:
            first = next(iter(self.by_path))
            self.size -= len(self.by_path.pop(first))
            yield first


class Store(Struct, frozen=True, eq=False):
    """One folder of a store. Paths are relative to it, and `uri` is its address without secrets.

    `folder` is the folder on disk, None in an object store; there `prefix` is the folder's key.
    `identity` separates the store from others with the same address. Without a `cache` nothing is
    cached. `at_once` is how many reads run at the same time.
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
    footers: ReadFooters = field(default_factory=ReadFooters)

    def list(self, under: str = "", enter: Callable[[str], bool] = lambda _: True) -> pa.Table:
        """List all objects below `under` at any depth, without folders whose name `enter` refuses.

        An object store has no folders, so there `enter` is ignored.
        """
        if self.folder is not None:
            return disk.walk(self.folder, under, enter)
        return self._list_objects(under)

    def _list_objects(self, under: str) -> pa.Table:
        import obstore

        start = len(self.prefix) + 1 if self.prefix else 0
        batches = []
        with refusals(self.shown(under)):
            for page in obstore.list(
                self.backend, self._key(under) or None, chunk_size=_LISTED_AT_ONCE
            ):
                paths = pa.array([entry["path"][start:] for entry in page], pa.string())
                sizes = [entry["size"] for entry in page]
                times = [entry["last_modified"].replace(tzinfo=None) for entry in page]
                batches.append(pa.record_batch([paths, sizes, times], schema=LISTING))
                if self.cache is not None:
                    self.versions.note_listing(paths, pa.array(map(tag_of, page), pa.string()))
        return pa.Table.from_batches(batches, LISTING)

    def find(self, path: str) -> pa.Table:
        """The object with exactly this path, as a listing of one row or no row."""
        if self.folder is not None:
            return disk.entry(self.folder, path)
        import obstore

        with refusals(self.shown(path)):
            try:
                facts = obstore.head(self.backend, self._key(path))
            except FileNotFoundError:
                return LISTING.empty_table()
        self.versions.note(path, tag_of(facts))
        modified = facts["last_modified"].replace(tzinfo=None)
        return pa.table([[path], [facts["size"]], [modified]], schema=LISTING)

    def sizes(self, paths: Sequence[str]) -> Sequence[int | None]:
        """The size of each object in bytes, None where there is no object."""
        if self.folder is not None:
            return disk.sizes(self.folder, paths)
        with ThreadPoolExecutor(self.at_once) as pool:
            listings = pool.map(self.find, paths)
            return [next(iter(listing["size"].to_pylist()), None) for listing in listings]

    def holds(self, folder: str) -> bool:
        """Whether a folder has any content."""
        return self.which_hold([folder])[0]

    def which_hold(self, folders: Sequence[str]) -> Sequence[bool]:
        """Whether each folder has any content; requests to an object store run at the same time."""
        if self.folder is not None:
            return [disk.is_folder(Path(self.folder, folder)) for folder in folders]
        with ThreadPoolExecutor(len(folders)) as pool:
            return list(pool.map(self._holds_objects, folders))

    def _holds_objects(self, folder: str) -> bool:
        import obstore

        with refusals(self.shown(folder)):
            return any(obstore.list(self.backend, self._key(folder), chunk_size=1))

    def names(self, folder: str, at_most: int) -> Iterator[str]:
        """The first `at_most` names in a folder of an object store, in the store's order."""
        import obstore

        key = self._key(folder)
        with refusals(self.shown(folder)):
            stream = obstore.list(self.backend, key, chunk_size=_PAGE)
            for entry in islice(chain.from_iterable(stream), at_most):
                yield entry["path"][len(key) + 1 :]

    def read_object(self, path: str, at_most: int) -> pa.Buffer | None:
        """The first `at_most` bytes of an object; None if there is no object.

        For an object that is never cached one request is enough: its size is not needed.
        """
        if self.folder is None and (self.cache is None or not is_metadata(path)):
            import obstore

            # An empty object has no range; after any refusal the size is requested.
            with refusals(self.shown(path)), suppress(obstore.exceptions.BaseError):
                try:
                    content, _ = self._request(ByteRange(path, 0, at_most))
                except FileNotFoundError:
                    return None
                self.meter.count(path, len(content))
                return content
        sizes = self.find(path)["size"].to_pylist()
        return self.read(path, 0, min(sizes[0], at_most)) if sizes else None

    def read(self, path: str, start: int, length: int) -> pa.Buffer:
        """`length` bytes of one object from `start`."""
        return next(self.read_many([ByteRange(path, start, length)]))

    def read_many(
        self, ranges: Sequence[ByteRange], keep: Keep | None = None
    ) -> Iterator[pa.Buffer]:
        """The bytes of each range, in order. Many reads run at once; few results wait in memory.

        A range of metadata is cached completely. Of other ranges only the end that `keep` returns
        is cached: a later read of the same range gives only that end.
        """
        if self.cache is not None:
            self.versions.learn([piece.path for piece in ranges])
        for byte_range, piece in zip(ranges, self._pieces(ranges, keep), strict=True):
            count = self.meter.recall if piece.from_cache else self.meter.count
            count(byte_range.path, len(piece.content))
            yield piece.content

    def _pieces(self, ranges: Sequence[ByteRange], keep: Keep | None) -> Iterator[_Piece]:
        batch = LOCAL_BATCH if self.folder is not None else 1
        width = LOCAL_AT_ONCE if self.folder is not None else self.at_once
        if len(ranges) <= batch:
            yield from (self._piece(byte_range, keep) for byte_range in ranges)
            return
        pool = ThreadPoolExecutor(width)
        try:
            pending: deque[Future[Sequence[_Piece]]] = deque()
            for start in range(0, len(ranges), batch):
                pending.append(pool.submit(self._batch, ranges[start : start + batch], keep))
                if len(pending) > 2 * width:
                    yield from pending.popleft().result()
            while pending:
                yield from pending.popleft().result()
        finally:
            # After an error the reads that have not begun are cancelled.
            pool.shutdown(cancel_futures=True)

    def _batch(self, ranges: Sequence[ByteRange], keep: Keep | None) -> Sequence[_Piece]:
        return [self._piece(byte_range, keep) for byte_range in ranges]

    def _piece(self, byte_range: ByteRange, keep: Keep | None) -> _Piece:
        if byte_range.length == 0:
            return _Piece(pa.py_buffer(b""))
        local = self.folder is not None
        piece = (
            _Piece(self._fetch_local(byte_range)) if local else self._cached_piece(byte_range, keep)
        )
        if keep is not None and not piece.from_cache and len(piece.content) != byte_range.length:
            raise CorruptFile(self.shown(byte_range.path), "it is shorter than its listing said")
        return piece

    def _cached_piece(self, byte_range: ByteRange, keep: Keep | None) -> _Piece:
        """The bytes from the cache, else from the store, and then also put into the cache."""
        tag = self.versions.tag(byte_range.path)
        key = self._cache_key(byte_range, tag, keep)
        if self.cache is None or key is None:
            return _Piece(self._fetch(byte_range, keep)[0])
        if (cached := self.cache.get(key)) is not None:
            if tag is not None:
                self._refuse_changed(byte_range.path, tag, keep)
            return _Piece(cached, from_cache=True)
        content, fetched_tag = self._fetch(byte_range, keep)
        # Another tag: the object was written again after it was listed.
        if tag in {None, fetched_tag} and len(content) == byte_range.length:
            view = memoryview(content)
            self.cache.put(key, view if keep is None else keep(view))
        return _Piece(content)

    def _cache_key(self, byte_range: ByteRange, tag: str | None, keep: Keep | None) -> str | None:
        """The key of the bytes in the cache; None if nothing shows that an object has changed."""
        if keep is None and not is_metadata(byte_range.path):
            return None
        mark = written_once(byte_range.path) if tag is None else tag
        if mark is None:
            return None
        return json.dumps(
            [self.identity, self._key(byte_range.path), byte_range.start, byte_range.length, mark]
        )

    def _fetch_local(self, byte_range: ByteRange) -> pa.Buffer:
        import obstore

        disk.require_regular(f"{self.folder}/{byte_range.path}")
        with refusals(self.shown(byte_range.path)):
            return pa.py_buffer(
                obstore.get_range(
                    self.backend, byte_range.path, start=byte_range.start, length=byte_range.length
                )
            )

    def _fetch(self, byte_range: ByteRange, keep: Keep | None) -> tuple[pa.Buffer, str]:
        with refusals(self.shown(byte_range.path)):
            content, tag = self._request(byte_range)
        self._refuse_changed(byte_range.path, tag, keep)
        return content, tag

    def _refuse_changed(self, path: str, tag: str, keep: Keep | None) -> None:
        if keep is not None and not is_metadata(path):
            # A footer that is read again counts: what follows must fit to it.
            self.versions.read[path] = tag
        if self.versions.has_changed(path, tag):
            raise StorageError(
                f"{self.shown(path)} was written again while it was read",
                hint="open the table again",
            )

    def _request(self, byte_range: ByteRange) -> tuple[pa.Buffer, str]:
        """The bytes and the object's tag. A response that is cut off is requested once more.

        An object may be shorter than its table says. Then all bytes that exist are returned, and
        the caller decides.
        """
        import obstore

        end = byte_range.start + byte_range.length
        for _ in range(_ATTEMPTS):
            answer = obstore.get(
                self.backend, self._key(byte_range.path), options={"range": (byte_range.start, end)}
            )
            with suppress(obstore.exceptions.BaseError):
                content = answer.bytes()
                if len(content) == min(end, answer.meta["size"]) - byte_range.start:
                    return pa.py_buffer(content), tag_of(answer.meta)
        raise StorageError(
            f"cannot read {self.shown(byte_range.path)}: the answer was cut off, {_ATTEMPTS} times"
        )

    def keep_footer(self, path: str, footer: bytes) -> None:
        """Keep a footer for the reader of the file, which must not have changed until then."""
        for dropped in self.footers.put(path, footer):
            self.versions.read.pop(dropped, None)

    def unread_copy(self, unchanged: Sequence[str] = ()) -> Store:
        """A copy of this store without what was read so far: it is small to pickle.

        For the paths in `unchanged` it keeps the tags: a read fails if such an object has changed.
        """
        read = {path: tag for path, tag in self.versions.read.items() if path in unchanged}
        return replace(
            self, meter=Meter(), versions=ObjectVersions(read=read), footers=ReadFooters()
        )

    def shown(self, path: str) -> str:
        """The full address of an object, for people."""
        return f"{self.uri}/{path}" if path else self.uri

    def place(self, path: str) -> tuple[Store, str]:
        """The store that has an object, and the object's path in that store."""
        return self, path

    def _key(self, path: str) -> str:
        return "/".join(part for part in (self.prefix, path) if part)


def local_store(folder: str) -> Store:
    """The store of a folder on this machine."""
    from obstore.store import LocalStore

    return Store(folder, LocalStore(prefix=folder), folder=folder)
