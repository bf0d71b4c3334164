"""Which table a name in a statement means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.errors import TextSpan, UnknownTable, UsageError
from whyscan.tables.catalogs.names import table_name

if TYPE_CHECKING:
    from whyscan.statements.sql.time_travel import WrittenVersion
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.types import Field

Opener = Callable[[str, "WrittenVersion | None"], "Snapshot"]
_BY_PATH = {"delta", "iceberg", "parquet"}
"""Spark's words before a path: delta.`/lake/t`. DuckDB has none before 't.parquet'."""


class Base(Struct, frozen=True):
    """A table of the lake, by the name that it was given, as it is or was."""

    name: str
    snapshot: Snapshot
    version: WrittenVersion | None = None
    named: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[Field, ...]:
        """Its columns; those in `named` are looked for harder before they are missed."""
        return self.snapshot.schema(self.named).fields


class Catalogue(Struct, frozen=True):
    """The tables that were given by name.

    `opener` finds those that were not, and other versions of those that were; None for nobody.
    `named` are columns that were missed once. `within` is the catalog and schema that names
    without one are of, where that is known.
    """

    given: Mapping[str, Snapshot]
    opener: Opener | None = None
    named: tuple[str, ...] = ()
    within: tuple[str, ...] = ()

    def find(
        self, parts: Sequence[str], version: WrittenVersion | None, span: TextSpan | None, text: str
    ) -> Base:
        """By its whole name, else by the last parts of it, else where names are resolved.

        `sales` may be given for `prod.db.sales`, and `db.sales` for `sales`.
        """
        found = meant(self.given, parts, self.within)
        if len(found) == 1 and version is None:
            return Base(found[0], self.given[found[0]], None, self.named)
        if len(found) == 1 and self.opener is not None:
            return Base(found[0], self.opener(found[0], version), version, self.named)
        if not found:
            return self._opened(parts, version, span, text)
        raise UnknownTable(
            f"{'.'.join(parts)!r} is ambiguous: {', '.join(sorted(found))}",
            text=text,
            span=span,
            hint="write more of its name",
        )

    def _opened(
        self, parts: Sequence[str], version: WrittenVersion | None, span: TextSpan | None, text: str
    ) -> Base:
        name = ".".join(parts)
        by_path = parts[0].lower() in _BY_PATH if len(parts) > 1 else name.endswith(".parquet")
        known = ", ".join(sorted(self.given))
        hint = f"the tables are {known}" if known else f"say where it is: --table {name}=URI"
        unknown = UnknownTable(f"unknown table {name!r}", text=text, span=span, hint=hint)
        if self.opener is None or (not by_path and table_name(name) is None):
            raise unknown
        try:
            found = self.opener(parts[-1] if by_path else name, version)
        except UsageError as error:
            raise unknown from error
        return Base(name, found, version, self.named)


def meant(names: Iterable[str], parts: Sequence[str], within: Sequence[str] = ()) -> list[str]:
    """The names that may be meant by one: those that are the same, else those that end alike."""
    asked = tuple(part.lower() for part in parts)
    whole = _whole(asked, tuple(part.lower() for part in within))
    known = {name: _parts(name) for name in names}
    found = [name for name, one in known.items() if one == whole]
    found = found or [name for name, one in known.items() if one == asked]
    return found or [name for name, one in known.items() if _ends(one, whole)]


def _whole(asked: tuple[str, ...], within: tuple[str, ...]) -> tuple[str, ...]:
    """A name with what goes without saying: `t` is `catalog.schema.t`, `s.t` is `catalog.s.t`."""
    if asked[0] in _BY_PATH or len(asked) > len(within):
        return asked
    return (*within[: len(within) - len(asked) + 1], *asked)


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip("`\"' ").lower() for part in name.split("."))


def _ends(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    shared = min(len(one), len(other))
    return one[-shared:] == other[-shared:]
