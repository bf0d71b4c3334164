"""Which metadata file is the table's: by its hint, else the newest; and where its files are now.

Iceberg records absolute locations. A table that was moved or copied is read where it was found:
what lies below the recorded location is looked for below the present one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whyscan.errors import TableError
from whyscan.tables.iceberg.metadata import Metadata, parse

if TYPE_CHECKING:
    from whyscan.tables.storage import Store

HINT = "metadata/version-hint.text"
_METADATA_FILE = re.compile(
    r"metadata/(?:v(?P<version>\d+)|(?P<number>\d+)-[^/]*?)(?:\.gz)?\.metadata\.json(?:\.gz)?"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A table's metadata and what had to be guessed to find it."""

    metadata: Metadata
    notes: tuple[str, ...]


def find_metadata(store: Store) -> Found:
    """The current metadata of the table in a folder."""
    listing = store.list("metadata")
    sizes = dict(zip(listing["path"].to_pylist(), listing["size"].to_pylist(), strict=True))
    hinted = _hinted(store, sizes)
    if hinted is not None:
        return Found(read_metadata(store, hinted, sizes[hinted]), ())
    path = newest(list(sizes))
    if path is None:
        raise TableError(
            f"{store.uri} has no Iceberg metadata", hint="name a folder with metadata/*.metadata.json"
        )
    note = f"no version hint: opened {path}, the newest metadata file"
    return Found(read_metadata(store, path, sizes[path]), (note,))


def read_metadata(store: Store, path: str, size: int) -> Metadata:
    """One metadata file."""
    return parse(store.shown(path), store.read(path, 0, size).to_pybytes())


def _hinted(store: Store, sizes: dict[str, int]) -> str | None:
    """The file that the hint names: a version's number, or a whole name."""
    if HINT not in sizes:
        return None
    hint = store.read(HINT, 0, sizes[HINT]).to_pybytes().decode("utf-8", "replace").strip()
    stems = (f"v{hint}", hint)
    endings = (".metadata.json", ".gz.metadata.json", ".metadata.json.gz", "")
    names = (f"metadata/{stem}{ending}" for stem in stems for ending in endings)
    return next((name for name in names if name in sizes), None)


def newest(paths: list[str]) -> str | None:
    """The metadata file with the highest number; the last by name among equals."""
    numbered = []
    for path in paths:
        found = _METADATA_FILE.fullmatch(path)
        if found is not None:
            numbered.append((int(found["version"] or found["number"]), path))
    return max(numbered, default=(0, None))[1]


def relative(recorded: str, location: str) -> str | None:
    """A recorded path below the recorded location, None for one that lies elsewhere."""
    plain, base = _without_scheme(recorded), _without_scheme(location)
    return plain[len(base) + 1 :] if plain.startswith(f"{base}/") else None


def _without_scheme(path: str) -> str:
    """Writers spell one place as `file:/x`, `file:///x` and `/x`, or `s3://` and `s3a://`."""
    scheme, separator, rest = path.partition(":")
    if not separator or "/" in scheme:
        return path.rstrip("/")
    return "/" + rest.strip("/")
