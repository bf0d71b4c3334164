"""Catalogs that record the location of a table's metadata file: SQL, Hive, Glue and others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from pyiceberg.exceptions import (
    NoSuchIcebergTableError,
    NoSuchIdentifierError,
    NoSuchNamespaceError,
    NoSuchPropertyException,
    NoSuchTableError,
)
from pyiceberg.io import FileIO

from whyscan.tables.catalogs import glue
from whyscan.tables.catalogs.entry import CatalogEntry
from whyscan.tables.catalogs.refusals import no_iceberg_table, no_table

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

    from whyscan.tables.catalogs.names import TableName


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
    try:
        return CatalogEntry(_location(catalog, name), dict(catalog.properties))
    except (NoSuchIcebergTableError, NoSuchPropertyException):
        folder = glue.delta_folder(catalog, name)
        if folder is None:
            raise no_iceberg_table(name) from None
        return CatalogEntry(folder, dict(catalog.properties), is_delta=True)
    finally:
        catalog.close()


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
