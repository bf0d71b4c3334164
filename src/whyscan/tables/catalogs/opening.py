"""Open a catalog's table: ask where its metadata is, then read it as that of a table by path."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from whyscan.tables.catalogs.configured import load, quiet
from whyscan.tables.catalogs.refusals import refusals
from whyscan.tables.catalogs.settings import storage_options
from whyscan.tables.iceberg.metadata import read_document
from whyscan.tables.iceberg.metadata_location import FOLDER, LocatedMetadata
from whyscan.tables.iceberg.opening import open_found, open_iceberg
from whyscan.tables.storage.locations import recorded_folder, split_metadata_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.tables.catalogs.entry import CatalogEntry
    from whyscan.tables.catalogs.names import TableName
    from whyscan.tables.iceberg.snapshot import IcebergSnapshot
    from whyscan.tables.time_travel import Travel


def open_named(name: TableName, options: Mapping[str, Any], travel: Travel) -> IcebergSnapshot:
    """The table of that name, as the catalog has it now or at a version of before."""
    travel.only("snapshot", "as_of", "ref", format_name="Iceberg")
    entry = look_up(name)
    if entry.location is None:
        found = _without_file(entry, name, options, travel)
        told = "its metadata, of which there is no file"
    else:
        named = split_metadata_path(entry.location)
        store = recorded_folder(named.table, storage_options(entry, named.table, name, options))
        found = open_iceberg(store, travel, named.file)
        told = named.file
    note = f"by the catalog {name.catalog}, table {'.'.join(name.parts)}: {told}"
    return replace(found, notes=(note, *found.notes))


def look_up(name: TableName) -> CatalogEntry:
    """What the catalog says of the table."""
    catalog = load(name)
    with refusals(name.catalog), quiet():
        # Of a class that nobody imported it cannot be; the import takes a while.
        module = sys.modules.get("pyiceberg.catalog.rest")
        if module is not None and isinstance(catalog, module.RestCatalog):
            from whyscan.tables.catalogs import rest

            return rest.entry(catalog, name)
        from whyscan.tables.catalogs import metastores

        return metastores.entry(catalog, name)


def _without_file(
    entry: CatalogEntry, name: TableName, options: Mapping[str, Any], travel: Travel
) -> IcebergSnapshot:
    """A table whose metadata is only in the catalog's answer."""
    metadata = read_document(str(name), dict(entry.metadata or {}))
    place = metadata.location
    store = recorded_folder(place, storage_options(entry, place, name, options))
    return open_found(store, LocatedMetadata(metadata, f"{FOLDER}/", ()), travel)
