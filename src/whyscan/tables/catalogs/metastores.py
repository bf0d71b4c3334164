"""Catalogs that record the location of a table's metadata file: SQL, Hive, Glue and others."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

from pyiceberg.exceptions import (
    NoSuchIcebergTableError,
    NoSuchIdentifierError,
    NoSuchNamespaceError,
    NoSuchPropertyException,
    NoSuchTableError,
)
from pyiceberg.io import FileIO

from whyscan.tables.catalogs import glue, hive
from whyscan.tables.catalogs.entry import CatalogEntry
from whyscan.tables.catalogs.refusals import no_iceberg_table, no_table

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

    from whyscan.tables.catalogs.hive_tables import HiveTable
    from whyscan.tables.catalogs.names import TableName

    Parts = tuple[str, ...]

_DATABASE_AND_TABLE = 2


class MetadataLocation(Exception):
    """Raised when PyIceberg is about to read the metadata file at `location`.

    whyscan needs only this location.
    """

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.location = location


class NoFileIO(FileIO):
    """A file system for PyIceberg without files: the first read raises MetadataLocation."""

    def new_input(self, location: str) -> NoReturn:
        raise MetadataLocation(location)

    def new_output(self, location: str) -> NoReturn:
        raise NotImplementedError(location)

    def delete(self, location: object) -> NoReturn:
        raise NotImplementedError(location)


def entry(catalog: Catalog, name: TableName) -> CatalogEntry:
    """The entry of the table in the catalog."""
    properties = dict(catalog.properties)
    try:
        return CatalogEntry(_location(catalog, name), properties)
    except (NoSuchIcebergTableError, NoSuchPropertyException):
        table = _hive_table(catalog, name)
        if table is None:
            raise no_iceberg_table(name) from None
        return CatalogEntry(table.folder, properties, table=table)
    finally:
        catalog.close()


def table_names(catalog: Catalog, namespace: Parts) -> list[Parts]:
    """The tables of a namespace. PyIceberg lists only the Iceberg tables of Hive and Glue."""
    reader = _reader(catalog)
    if reader is None or len(namespace) != 1:
        return catalog.list_tables(namespace)
    return [(*namespace, table) for table in reader.table_names(catalog, *namespace)]


def _hive_table(catalog: Catalog, name: TableName) -> HiveTable | None:
    reader = _reader(catalog)
    if reader is None or len(name.parts) != _DATABASE_AND_TABLE:
        return None
    table: HiveTable | None = reader.table(catalog, *name.parts)
    return table


def _reader(catalog: Catalog) -> Any:
    """The module that reads all tables of a catalog; None for a catalog of Iceberg tables only."""
    # The modules of the catalogs import much, and are there if a catalog is theirs.
    glue_module = sys.modules.get("pyiceberg.catalog.glue")
    if glue_module is not None and isinstance(catalog, glue_module.GlueCatalog):
        return glue
    hive_module = sys.modules.get("pyiceberg.catalog.hive")
    if hive_module is not None and isinstance(catalog, hive_module.HiveCatalog):
        return hive
    return None


def _location(catalog: Catalog, name: TableName) -> str:
    try:
        # A catalog class of the user may read the metadata in another way.
        return catalog.load_table(name.parts).metadata_location
    except MetadataLocation as metadata:
        return metadata.location
    except (NoSuchIcebergTableError, NoSuchPropertyException):
        raise  # The first one is a NoSuchTableError, too.
    except (NoSuchTableError, NoSuchNamespaceError, NoSuchIdentifierError):
        raise no_table(name) from None
