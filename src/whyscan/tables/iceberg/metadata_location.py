"""Which metadata file is the table's, and where the files that it records are now.

Iceberg records absolute locations. A table that was moved or copied is read where it was found:
what lies below the recorded location is looked for below the present one, and nothing else is
followed: the operator's rights would open what the table's writer could not.
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
    """A table's metadata, its file below the store's folder, and what was guessed to find it."""

    metadata: TableMetadata
    path: str
    notes: tuple[str, ...]


def find_metadata(store: Store) -> LocatedMetadata | None:
    """The current metadata of the table in a folder: by the hint, else the newest.

    None where there is no metadata file: the folder is no Iceberg table.
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
    found = _newest(store, files)
    return replace(
        found, notes=(f"no version hint: opened {found.path}, the newest metadata file",)
    )


def _newest(store: Store, paths: Sequence[str]) -> LocatedMetadata:
    """The metadata that was updated last. One that cannot be read may be it: nothing is chosen."""
    readable = [LocatedMetadata(read_metadata(store, path), path, ()) for path in paths]
    return max(readable, key=lambda found: found.metadata.updated_ms)


def read_metadata(store: Store, path: str) -> TableMetadata:
    """One metadata file."""
    found = _metadata(store, path)
    if found is None:
        raise TableError(f"there is no {store.shown(path)}")
    return found


def _metadata(store: Store, path: str) -> TableMetadata | None:
    data = store.whole(path, budget.most_stored() + 1)
    if data is None:
        return None
    budget.check_stored(len(data), store.shown(path))
    return parse(store.shown(path), data.to_pybytes())


def _hinted(store: Store) -> LocatedMetadata | None:
    """The file that the hint names: a version's number, or a whole name."""
    stored = store.whole(HINT, _LONGEST_HINT)
    if stored is None:
        return None
    hint = stored.to_pybytes().decode("utf-8", "replace").strip()
    if not _HINT.fullmatch(hint):
        return None
    usual, *others = (
        f"{FOLDER}/{stem}{ending}" for stem in (f"v{hint}", hint) for ending in _ENDINGS
    )
    if (metadata := _metadata(store, usual)) is not None:
        return LocatedMetadata(metadata, usual, ())
    found = zip(others, store.sizes(others), strict=True)
    name = next((name for name, size in found if size is not None), None)
    return None if name is None else LocatedMetadata(read_metadata(store, name), name, ())


def candidates(times: dict[str, int]) -> tuple[str, ...]:
    """The metadata file with the highest number, and the last written ones without a number.

    Of equals it is the one written last, then the last by name.
    """
    files = [path for path in times if _METADATA_FILE.fullmatch(path)]
    ordered = sorted(files, key=lambda path: (_version(path), times[path], path), reverse=True)
    unnumbered = [path for path in ordered if _version(path) < 0]
    return tuple(dict.fromkeys([*ordered[:1], *unnumbered[:_UNNUMBERED_READ]]))


def _version(path: str) -> int:
    found = _NUMBER.fullmatch(path)
    return -1 if found is None else int(found[1])


class Places(Struct, frozen=True):
    """Where recorded files are: below `location` as the metadata says, below `root` in fact.

    `folder` is the folder of the metadata file that was opened, below the root.
    """

    location: str
    root: str
    folder: str = FOLDER

    @property
    def moved(self) -> bool:
        """The table is not where its metadata says."""
        return plain(self.location) != plain(self.root)

    def below(self, recorded: str) -> str | None:
        """A recorded path relative to the root; None for one that lies elsewhere."""
        for base in (self.location, self.root):
            found = relative(recorded, base)
            if found is not None:
                return found
        return None

    def metadata(self, recorded: str) -> str:
        """Where a recorded metadata file is: a copy of the metadata folder alone is enough."""
        found = self.below(recorded)
        return posixpath.join(self.folder, _name(recorded)) if found is None else found


def _name(recorded: str) -> str:
    name = posixpath.basename(recorded)
    if name in ("", ".", ".."):
        raise TableError(f"the metadata names {recorded!r}, which is no file")
    return name


def relative(recorded: str, location: str) -> str | None:
    """A recorded path below a location, None for one that lies, or leads, elsewhere."""
    path, base = plain(recorded), plain(location)
    if not path.startswith(f"{base}/"):
        return None
    parts = path[len(base) + 1 :].split("/")
    return None if ".." in parts else "/".join(part for part in parts if part not in ("", "."))


def plain(path: str) -> str:
    """A path without its scheme: one place is `file:/x`, `file:///x` and `/x`, or s3 and s3a."""
    scheme = _SCHEME.match(path)
    if scheme is not None:
        return "/" + path[scheme.end() :].strip("/")
    return path.removeprefix("./").rstrip("/")
