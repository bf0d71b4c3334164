"""What a catalog says of a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Properties = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """Where a table's metadata is, and what opens its storage.

    `vended` is what the catalog gave for this table alone, the narrowest first; `configured` is
    what holds for all of its tables. `metadata` is the document itself, where there is no file.
    Properties may be secrets, and are never shown.
    """

    location: str | None
    configured: Properties = field(repr=False)
    vended: tuple[Properties, ...] = field(default=(), repr=False)
    metadata: Properties | None = field(default=None, repr=False)
    again: Callable[[], CatalogEntry] | None = field(default=None, repr=False)

    @property
    def layers(self) -> tuple[Properties, ...]:
        """All properties, the narrowest first."""
        return (*self.vended, self.configured)
