"""Resolves the name of a table in a statement."""

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
"""Spark's words before a path: delta.`/lake/t`. DuckDB writes 't.parquet' without one."""


class Base(Struct, frozen=True):
    """A table of the lake: its name, its snapshot, and the version that the statement names."""

    name: str
    snapshot: Snapshot
    version: WrittenVersion | None = None
    missed_columns: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[Field, ...]:
        """Its columns; columns in `missed_columns` are also looked for in the files."""
        return self.snapshot.schema(self.missed_columns).fields


class Catalogue(Struct, frozen=True):
    """The tables that a statement can name.

    `opener` opens other tables and other versions, None where only `tables` exist. `missed_columns`
    are columns that were missing in a first attempt. `within` is the catalog and schema of names
    without one, where that is known.
    """

    tables: Mapping[str, Snapshot]
    opener: Opener | None = None
    missed_columns: tuple[str, ...] = ()
    within: tuple[str, ...] = ()

    def find(
        self, parts: Sequence[str], version: WrittenVersion | None, span: TextSpan | None, text: str
    ) -> Base:
        """The table with this name: by its full name, else by the last parts, else by the opener.

        `sales` in `tables` matches `prod.db.sales` in the text, and `db.sales` matches `sales`.
        """
        names = matching_names(self.tables, parts, self.within)
        if len(names) == 1 and version is None:
            return Base(names[0], self.tables[names[0]], None, self.missed_columns)
        if len(names) == 1 and self.opener is not None:
            return Base(names[0], self.opener(names[0], version), version, self.missed_columns)
        if not names:
            return self._opened(parts, version, span, text)
        raise UnknownTable(
            f"{'.'.join(parts)!r} is ambiguous: {', '.join(sorted(names))}",
            text=text,
            span=span,
            hint="write more of its name",
        )

    def _opened(
        self, parts: Sequence[str], version: WrittenVersion | None, span: TextSpan | None, text: str
    ) -> Base:
        """Open a table that is not in `tables`, by its path or its name."""
        name = ".".join(parts)
        by_path = parts[0].lower() in _BY_PATH if len(parts) > 1 else name.endswith(".parquet")
        table_names = ", ".join(sorted(self.tables))
        hint = (
            f"the tables are {table_names}"
            if table_names
            else f"say where it is: --table {name}=URI"
        )
        unknown = UnknownTable(f"unknown table {name!r}", text=text, span=span, hint=hint)
        if self.opener is None or (not by_path and table_name(name) is None):
            raise unknown
        try:
            snapshot = self.opener(parts[-1] if by_path else name, version)
        except UsageError as error:
            raise unknown from error
        return Base(name, snapshot, version, self.missed_columns)


def matching_names(
    names: Iterable[str], parts: Sequence[str], within: Sequence[str] = ()
) -> list[str]:
    """The names that a written name can mean: equal names, else names with the same last parts."""
    written = tuple(part.lower() for part in parts)
    full_name = _full_name(written, tuple(part.lower() for part in within))
    parts_of = {name: _parts(name) for name in names}
    matches = [name for name, candidate in parts_of.items() if candidate == full_name]
    matches = matches or [name for name, candidate in parts_of.items() if candidate == written]
    return matches or [name for name, candidate in parts_of.items() if _ends(candidate, full_name)]


def _full_name(written: tuple[str, ...], within: tuple[str, ...]) -> tuple[str, ...]:
    """A name with its defaults: `t` is `catalog.schema.t`, `s.t` is `catalog.s.t`."""
    if written[0] in _BY_PATH or len(written) > len(within):
        return written
    return (*within[: len(within) - len(written) + 1], *written)


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip("`\"' ").lower() for part in name.split("."))


def _ends(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    shared = min(len(left), len(right))
    return left[-shared:] == right[-shared:]
