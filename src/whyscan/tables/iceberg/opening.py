"""Opens an Iceberg table from its folder or a metadata file, at any of its versions."""

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
    """The table in a folder; `file` is the metadata file to read, None for the newest."""
    located = (
        find_metadata(store)
        if file is None
        else LocatedMetadata(read_metadata(store, file), file, ())
    )
    if located is None:
        raise TableError(
            f"{store.uri} has no Iceberg metadata",
            hint="name a folder with metadata/*.metadata.json",
        )
    return open_located(store, located, travel)


def open_located(store: Store, located: LocatedMetadata, travel: Travel) -> IcebergSnapshot:
    """The table in a folder with the metadata `located`."""
    metadata = located.metadata
    places = Places(metadata.location, store.uri, posixpath.dirname(located.path))
    notes = located.notes
    if places.moved:
        notes = (*notes, f"moved: the metadata records it at {metadata.location}")
    at = choose(metadata, travel)
    return IcebergSnapshot(store, metadata, at, MetadataFiles(store, places), notes)
