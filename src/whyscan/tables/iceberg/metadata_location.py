"""Finds the metadata file of a table, and the present places of the files that it names.

Iceberg records absolute locations. A table that was moved or copied is read at its present place: a
path below the recorded location is read below the present location. No other path is followed,
because the user may be allowed to read files that the writer of the table is not.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import TableError
from whyscan.tables import budget
from whyscan.tables.iceberg.metadata import TableMetadata, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tables.storage.store import Store

FOLDER = "metadata"
HINT = f"{FOLDER}/version-hint.text"
_METADATA_FILE = re.compile(r"metadata/[^/]+\.metadata\.json(?:\.gz)?")
_NUMBER = re.compile(r"metadata/v?(\d{1,18})(?:\.gz|-[^/]*)?\.metadata\.json(?:\.gz)?")
_HINT = re.compile(r"[\w.-]{1,200}", re.ASCII)
_ENDINGS = (".metadata.json", ".gz.metadata.json", ".metadata.json.gz", "")
_LONGEST_HINT = 1_000
_UNNUMBERED_READ = 4
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?=/)")


class LocatedMetadata(Struct, frozen=True):
    """A table's metadata, the path of its file below the store's folder, and remarks."""

    metadata: TableMetadata
    path: str
    notes: tuple[str, ...]


def find_metadata(store: Store) -> LocatedMetadata | None:
    """The current metadata of the table in a folder: by the version hint, else the newest.

    None if the folder has no metadata file and so is no Iceberg table.
    """
    hinted = _hinted(store)
    if hinted is not None:
        return hinted
    listing = store.list(FOLDER, enter=lambda _: False)
    paths = listing["path"].to_pylist()
    times = listing["modified"].cast("int64").to_pylist()
    files = candidates(dict(zip(paths, times, strict=True)))
    if not files:
        return None
    located = _newest(store, files)
    return replace(
        located, notes=(f"no version hint: opened {located.path}, the newest metadata file",)
    )


def _newest(store: Store, paths: Sequence[str]) -> LocatedMetadata:
    """The metadata that was updated last. An unreadable file is an error: it may be the last."""
    readable = [LocatedMetadata(read_metadata(store, path), path, ()) for path in paths]
    return max(readable, key=lambda located: located.metadata.updated_ms)


def read_metadata(store: Store, path: str) -> TableMetadata:
    """One metadata file."""
    metadata = _metadata(store, path)
    if metadata is None:
        raise TableError(f"there is no {store.shown(path)}")
    return metadata


def _metadata(store: Store, path: str) -> TableMetadata | None:
    data = store.read_object(path, budget.largest_object() + 1)
    if data is None:
        return None
    budget.check_object_size(len(data), store.shown(path))
    return parse(store.shown(path), data.to_pybytes())


def _hinted(store: Store) -> LocatedMetadata | None:
    """The metadata file that the version hint names by its number or its name."""
    content = store.read_object(HINT, _LONGEST_HINT)
    if content is None:
        return None
    hint = content.to_pybytes().decode("utf-8", "replace").strip()
    if not _HINT.fullmatch(hint):
        return None
    usual, *alternatives = (
        f"{FOLDER}/{stem}{ending}" for stem in (f"v{hint}", hint) for ending in _ENDINGS
    )
    if (metadata := _metadata(store, usual)) is not None:
        return LocatedMetadata(metadata, usual, ())
    sizes = zip(alternatives, store.sizes(alternatives), strict=True)
    name = next((name for name, size in sizes if size is not None), None)
    return None if name is None else LocatedMetadata(read_metadata(store, name), name, ())


def candidates(times: dict[str, int]) -> tuple[str, ...]:
    """The metadata file with the highest number, and the newest files without a number.

    Of files with the same number the newest counts, then the last by name.
    """
    files = [path for path in times if _METADATA_FILE.fullmatch(path)]
    ordered = sorted(files, key=lambda path: (_version(path), times[path], path), reverse=True)
    unnumbered = [path for path in ordered if _version(path) < 0]
    return tuple(dict.fromkeys([*ordered[:1], *unnumbered[:_UNNUMBERED_READ]]))


def _version(path: str) -> int:
    number = _NUMBER.fullmatch(path)
    return -1 if number is None else int(number[1])


class Places(Struct, frozen=True):
    """Maps recorded paths to present ones: `location` is the recorded root, `root` the present.

    `folder` is the folder of the opened metadata file, below the root.
    """

    location: str
    root: str
    folder: str = FOLDER

    @property
    def moved(self) -> bool:
        """Whether the table is not at the location that its metadata records."""
        return plain(self.location) != plain(self.root)

    def below(self, recorded: str) -> str | None:
        """A recorded path relative to the root; None for a path outside of the table."""
        for base in (self.location, self.root):
            path = relative(recorded, base)
            if path is not None:
                return path
        return None

    def metadata(self, recorded: str) -> str:
        """The present path of a recorded metadata file, also if only `metadata/` was copied."""
        path = self.below(recorded)
        return posixpath.join(self.folder, _name(recorded)) if path is None else path


def _name(recorded: str) -> str:
    name = posixpath.basename(recorded)
    if name in ("", ".", ".."):
        raise TableError(f"the metadata names {recorded!r}, which is no file")
    return name


def relative(recorded: str, location: str) -> str | None:
    """A recorded path relative to a location; None for a path outside of the location."""
    path, base = plain(recorded), plain(location)
    if not path.startswith(f"{base}/"):
        return None
    parts = path[len(base) + 1 :].split("/")
    return None if ".." in parts else "/".join(part for part in parts if part not in ("", "."))


def plain(path: str) -> str:
    """A path without its scheme: `file:/x`, `file:///x` and `/x` are equal, and s3 and s3a."""
    scheme = _SCHEME.match(path)
    if scheme is not None:
        return "/" + path[scheme.end() :].strip("/")
    return path.removeprefix("./").rstrip("/")
