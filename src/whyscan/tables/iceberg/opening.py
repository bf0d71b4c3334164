"""Open an Iceberg table: a folder or one of its metadata files, today or at another version."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from whyscan.errors import TableError
from whyscan.tables.iceberg.history import choose
from whyscan.tables.iceberg.metadata_files import MetadataFiles
from whyscan.tables.iceberg.metadata_location import (
    LocatedMetadata,
    Places,
    find_metadata,
    read_metadata,
)
from whyscan.tables.iceberg.snapshot import IcebergSnapshot
from whyscan.tables.time_travel import Travel

if TYPE_CHECKING:
    from whyscan.tables.storage.store import Store

_TODAY = Travel()


def open_iceberg(store: Store, travel: Travel = _TODAY, file: str | None = None) -> IcebergSnapshot:
    """The table in a folder; `file` is the metadata file to read, None to look for the newest."""
    found = (
        find_metadata(store)
        if file is None
        else LocatedMetadata(read_metadata(store, file), file, ())
    )
    if found is None:
        raise TableError(
            f"{store.uri} has no Iceberg metadata",
            hint="name a folder with metadata/*.metadata.json",
        )
    return open_found(store, found, travel)


def open_found(store: Store, found: LocatedMetadata, travel: Travel) -> IcebergSnapshot:
    """The table in a folder whose metadata was found."""
    metadata = found.metadata
    places = Places(metadata.location, store.uri, posixpath.dirname(found.path))
    notes = found.notes
    if places.moved:
        notes = (*notes, f"moved: the metadata records it at {metadata.location}")
    at = choose(metadata, travel)
    return IcebergSnapshot(store, metadata, at, MetadataFiles(store, places), notes)
