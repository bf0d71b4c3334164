"""What a catalog has: its namespaces and tables, or the catalogs that are configured."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from whyscan.errors import UsageError
from whyscan.fields import Name
from whyscan.reports.rendering import WrittenReport
from whyscan.reports.view import NameSpan, NotesBlock, Section, TitleBlock
from whyscan.reports.words import counted
from whyscan.tables.catalogs import configured
from whyscan.tables.catalogs.names import name_parts, quoted_name

MOST_NAMES = 10_000
"""How many names one answer may have."""


class Contents(WrittenReport, frozen=True):
    """The names in a catalog or a namespace, each whole, so that it can be used as it is."""

    place: Annotated[
        Name | None, Meta(description="The catalog or namespace; null for the catalogs themselves.")
    ]
    catalogs: tuple[Name, ...]
    namespaces: tuple[Name, ...]
    tables: tuple[Name, ...]

    def view(self) -> tuple[TitleBlock | Section, ...]:
        """Return one section for each kind of name."""
        return (
            TitleBlock(_answer(self), command="ls", subject=self.place or "all catalogs"),
            _section("catalogs", self.catalogs),
            _section("namespaces", self.namespaces),
            _section("tables", self.tables),
        )


def _answer(contents: Contents) -> str:
    if contents.place is None:
        return f"{counted(len(contents.catalogs), 'configured catalog')}"
    return (
        f"{contents.place}: {counted(len(contents.namespaces), 'namespace')}, "
        f"{counted(len(contents.tables), 'table')}"
    )


def _section(title: str, names: tuple[str, ...]) -> Section:
    return Section(title, (NotesBlock(tuple(NameSpan(name) for name in names)),))


def contents(place: str | None = None) -> Contents:
    """List a catalog or a namespace of it; None lists the catalogs that are configured."""
    if place is None:
        return Contents(None, tuple(configured.configured_catalogs()), (), ())
    parts = name_parts(place)
    if parts is None:
        raise UsageError(
            f"{place!r} is no name of a catalog", hint="write CATALOG or CATALOG.NAMESPACE"
        )
    catalog, *namespace = parts
    namespaces, tables = configured.listed(catalog, tuple(namespace))
    if len(namespaces) + len(tables) > MOST_NAMES:
        raise UsageError(
            f"{place} has more than {MOST_NAMES:,} names", hint="name a namespace of it"
        )
    return Contents(
        place,
        (),
        *(
            tuple(sorted(map(quoted_name, named)))
            for named in (
                ((catalog, *name) for name in namespaces),
                ((catalog, *name) for name in tables),
            )
        ),
    )
