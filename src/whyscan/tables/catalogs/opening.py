"""Opens a table of a catalog: the catalog says where the metadata is, then whyscan reads it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from whyscan.tables.catalogs import unity
from whyscan.tables.catalogs.configured import load, quiet
from whyscan.tables.catalogs.refusals import refusals
from whyscan.tables.catalogs.settings import storage_options
from whyscan.tables.iceberg.metadata import read_document
from whyscan.tables.iceberg.metadata_location import FOLDER, LocatedMetadata
from whyscan.tables.iceberg.opening import open_iceberg, open_located
from whyscan.tables.storage.locations import recorded_folder, split_metadata_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.tables.catalogs.entry import CatalogEntry
    from whyscan.tables.catalogs.hive_tables import HiveTable
    from whyscan.tables.catalogs.names import TableName
    from whyscan.tables.delta.snapshot import DeltaSnapshot
    from whyscan.tables.iceberg.snapshot import IcebergSnapshot
    from whyscan.tables.parquet.snapshot import ParquetSnapshot
    from whyscan.tables.storage.store import Store
    from whyscan.tables.time_travel import Travel


def open_named(
    name: TableName, options: Mapping[str, Any], travel: Travel
) -> IcebergSnapshot | DeltaSnapshot | ParquetSnapshot:
    """Open the table with this name, at its current or an earlier version."""
    entry = look_up(name)
    if entry.table is not None:
        return _without_iceberg(entry.table, entry, name, options, travel)
    travel.require_only("snapshot", "as_of", "ref", format_name="Iceberg")
    if entry.location is None:
        snapshot = _without_file(entry, name, options, travel)
        metadata = "its metadata, of which there is no file"
    else:
        located = split_metadata_path(entry.location)
        store = recorded_folder(located.table, storage_options(entry, located.table, name, options))
        snapshot = open_iceberg(store, travel, located.file)
        metadata = located.file
    note = f"by the catalog {name.catalog}, table {'.'.join(name.parts)}: {metadata}"
    return replace(snapshot, notes=(note, *snapshot.notes))


def _without_iceberg(
    table: HiveTable,
    entry: CatalogEntry,
    name: TableName,
    options: Mapping[str, Any],
    travel: Travel,
) -> DeltaSnapshot | ParquetSnapshot:
    """Open a Delta or a Hive table."""

    def store(location: str) -> Store:
        return recorded_folder(location, storage_options(entry, location, name, options))

    if table.is_delta:
        from whyscan.tables.delta.snapshot import open_delta

        travel.require_only("version", "as_of", format_name="Delta")
        return open_delta(store(table.folder), travel.version, travel.as_of)
    travel.require_only(format_name="Hive")
    from whyscan.tables.catalogs.hive_tables import open_hive

    with refusals(name.catalog), quiet():
        return open_hive(table, name, store)


def look_up(name: TableName) -> CatalogEntry:
    """The entry of the table in its catalog."""
    catalog = load(name)
    with refusals(name.catalog), quiet():
        if isinstance(catalog, unity.Unity):
            return unity.entry(catalog, name)
        # The import is slow, and not needed: a REST catalog has imported its module already.
        module = sys.modules.get("pyiceberg.catalog.rest")
        if module is not None and isinstance(catalog, module.RestCatalog):
            from whyscan.tables.catalogs import rest

            return rest.entry(catalog, name)
        from whyscan.tables.catalogs import metastores

        return metastores.entry(catalog, name)


def _without_file(
    entry: CatalogEntry, name: TableName, options: Mapping[str, Any], travel: Travel
) -> IcebergSnapshot:
    """Open a table whose metadata is only in the catalog's answer."""
    metadata = read_document(str(name), dict(entry.metadata or {}))
    location = metadata.location
    store = recorded_folder(location, storage_options(entry, location, name, options))
    return open_located(store, LocatedMetadata(metadata, f"{FOLDER}/", ()), travel)
