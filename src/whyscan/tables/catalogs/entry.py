"""The entry of a table in a catalog."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from whyscan.tables.catalogs.hive_tables import HiveTable

    Properties = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """The location of a table's metadata, and the properties that open its storage.

    `vended` are the properties for this table only, the narrowest first; `configured` are those
    for all tables of the catalog. `metadata` is the metadata itself if it is in no file. `again`
    gets a new entry from the catalog. `table` describes a table that is no Iceberg table; then
    `location` is its folder. Properties may be secrets, and are never shown.
    """

    location: str | None
    configured: Properties = field(repr=False)
    vended: tuple[Properties, ...] = field(default=(), repr=False)
    metadata: Properties | None = field(default=None, repr=False)
    again: Callable[[], CatalogEntry] | None = field(default=None, repr=False)
    table: HiveTable | None = None

    @property
    def layers(self) -> tuple[Properties, ...]:
        """All properties, the narrowest first."""
        return (*self.vended, self.configured)
