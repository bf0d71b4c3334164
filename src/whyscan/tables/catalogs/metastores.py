"""Catalogs that keep the place of a table's metadata file: SQL, Hive, Glue and their like."""

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

from whyscan.tables.catalogs.entry import CatalogEntry
from whyscan.tables.catalogs.refusals import no_iceberg_table, no_table

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

    from whyscan.tables.catalogs.names import TableName


class MetadataLocation(Exception):
    """PyIceberg is about to read the metadata file at `location`, which is all we want to know."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.location = location


class NoFileIO(FileIO):
    """A file system for PyIceberg that has no files: the first one to be read ends the search."""

    def new_input(self, location: str) -> NoReturn:
        raise MetadataLocation(location)

    def new_output(self, location: str) -> NoReturn:
        raise NotImplementedError(location)

    def delete(self, location: object) -> NoReturn:
        raise NotImplementedError(location)


def entry(catalog: Catalog, name: TableName) -> CatalogEntry:
    """What the catalog says of the table."""
    return CatalogEntry(_location(catalog, name), dict(catalog.properties))


def _location(catalog: Catalog, name: TableName) -> str:
    try:
        # A catalog of the user's own may have read the metadata elsewhere.
        return catalog.load_table(name.parts).metadata_location
    except MetadataLocation as found:
        return found.location
    except (NoSuchIcebergTableError, NoSuchPropertyException):
        raise no_iceberg_table(name) from None
    except (NoSuchTableError, NoSuchNamespaceError, NoSuchIdentifierError):
        raise no_table(name) from None
    finally:
        catalog.close()
