"""A cache on disk for metadata that cannot change. It is bounded, and shared without locks.

An entry is one file, which gets its name when it is complete. Its first bytes are a digest of the
rest, so an entry that is damaged is fetched again. Any number of processes read, write and evict
at the same time; each expects that a file may be gone. A cache that cannot be written is empty.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from whyscan.tables.sizes import parse_size

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_SIZE = "1GiB"
SIZE_VARIABLE = "WHYSCAN_CACHE_SIZE"

# Part of the path, so that versions with another layout have other entries.
_LAYOUT = "objects-1"
_JOURNAL = "written"
_UNFINISHED = "tmp-"
_ABANDONED_AFTER = 3600
_DIGEST = 16
_BLOCK = 4096
_LARGEST_SHARE = 4
_SWEEP_SHARE = 16


class Usage(Struct, frozen=True):
    """How many entries there are, and the bytes they take on disk."""

    entries: int
    bytes: int


class _Entry(Struct, frozen=True):
    path: str
    used: float
    bytes: int


class Cache(Struct, frozen=True):
    """A folder of entries that take `bound` bytes at most; the least recently used go first."""

    folder: Path
    bound: int

    def get(self, key: str) -> pa.Buffer | None:
        """The content of a key; None if there is no entry or it is damaged."""
        path = self._path(key)
        try:
            entry = path.read_bytes()
            if entry[:_DIGEST] != _digest(key, memoryview(entry)[_DIGEST:]):
                path.unlink()
                return None
            os.utime(path)
        except OSError:
            return None
        return pa.py_buffer(entry).slice(_DIGEST)

    def takes(self, size: int) -> bool:
        """Whether an entry of this size is cached: a larger one would evict too many others."""
        return size <= self.bound // _LARGEST_SHARE

    def put(self, key: str, content: memoryview) -> None:
        """Cache a content, unless it is too large."""
        if not self.takes(len(content)):
            return
        with suppress(OSError):
            path = self._path(key)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(path, _digest(key, content), content)
            if self._is_full(_on_disk(len(content) + _DIGEST)):
                self.sweep()

    def sweep(self) -> None:
        """Evict the least recently used entries, and unfinished files of killed processes."""
        (self._root / _JOURNAL).unlink(missing_ok=True)
        entries = sorted(self._entries(), key=lambda entry: entry.used)
        # Below the bound by as much as is written until the next sweep.
        surplus = sum(e.bytes for e in entries) - (self.bound - self.bound // _SWEEP_SHARE)
        abandoned = time.time() - _ABANDONED_AFTER
        for entry in entries:
            unfinished = Path(entry.path).name.startswith(_UNFINISHED)
            if surplus > 0 or (unfinished and entry.used < abandoned):
                with suppress(OSError):
                    Path(entry.path).unlink()
                surplus -= entry.bytes

    def usage(self) -> Usage:
        """How many entries and bytes are in the cache."""
        sizes = [entry.bytes for entry in self._entries()]
        return Usage(len(sizes), sum(sizes))

    def clear(self) -> Usage:
        """Remove every entry, and return how many entries and bytes were removed."""
        removed = []
        for entry in list(self._entries()):
            with suppress(OSError):
                Path(entry.path).unlink()
                removed.append(entry.bytes)
        with suppress(OSError):
            (self._root / _JOURNAL).unlink()
        return Usage(len(removed), sum(removed))

    @property
    def _root(self) -> Path:
        return self.folder / _LAYOUT

    def _path(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._root / name[:2] / name

    def _is_full(self, written: int) -> bool:
        """Whether enough was written since the last sweep to look at all entries again.

        The journal's length counts written blocks: appending is atomic, so all processes count.
        """
        with (self._root / _JOURNAL).open("ab") as journal:
            journal.write(b"." * (written // _BLOCK))
            return journal.tell() * _BLOCK >= self.bound // _SWEEP_SHARE

    def _entries(self) -> Iterator[_Entry]:
        with suppress(OSError):
            for shelf in list(os.scandir(self._root)):
                if shelf.is_dir(follow_symlinks=False):
                    yield from _shelf(shelf.path)


def _shelf(folder: str) -> Iterator[_Entry]:
    for entry in _scanned(folder):
        with suppress(OSError):
            facts = entry.stat(follow_symlinks=False)
            yield _Entry(entry.path, facts.st_mtime, _on_disk(facts.st_size))


def _scanned(folder: str) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except OSError:
        return []


def _digest(key: str, content: memoryview) -> bytes:
    digest = hashlib.blake2b(key.encode(), digest_size=_DIGEST)
    digest.update(content)
    return digest.digest()


def _on_disk(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _write(path: Path, *parts: bytes | memoryview) -> None:
    handle, name = tempfile.mkstemp(prefix=_UNFINISHED, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as scratch:
            scratch.writelines(parts)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def location() -> Path:
    """The user's cache folder; a relative XDG_CACHE_HOME is ignored, as its specification says."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if Path(named).is_absolute() else Path.home() / ".cache"
    return base / "whyscan"


def users_cache() -> Cache:
    """The cache of this user, with the bound of WHYSCAN_CACHE_SIZE."""
    return Cache(location(), parse_size(os.environ.get(SIZE_VARIABLE) or DEFAULT_SIZE))
