"""Turn the tables that a user names (a table, a glob, a namespace of a catalog) into a list.

| name | tables |
|---|---|
| `NAME=URI` | one, under that name |
| a path, an address | one, under its last part |
| `catalog.db.table` | one, under its whole name |
| `lake/*` | one for each folder that the glob matches; if it matches only files, one for all |
| `catalog.db.*` | every table of the namespace |
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping  # noqa: TC003 - `help` resolves the types of fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from whyscan.errors import TableError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whyscan.tables.storage.locations import Location
    from whyscan.tables.storage.store import Store

_NAMED = re.compile(r"""([^=/\\:*?\[\]{}]+)=(.+)""", re.DOTALL)
_NAMESPACE = re.compile(r"""[^\s./\\:*?\[\]{}]+(\.[^\s./\\:*?\[\]{}]+)+\.\*""")
_PLAIN_PART = re.compile(r"[^\s./\\:*?\[\]{}\"`~]+")


class NamedTable(Struct, frozen=True):
    """A table of a run: its name in queries, its address, and its storage options."""

    name: str
    uri: str
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __repr__(self) -> str:
        """Without the options: some of them are secrets."""
        return f"NamedTable({self.name!r}, {self.uri!r})"

    def __reduce__(self) -> tuple[type[NamedTable], tuple[object, ...]]:
        return NamedTable, (self.name, self.uri, dict(self.options))


def canonical_uri(uri: str) -> str:
    """An address in one canonical spelling, however engines and people write it."""
    return re.sub(r"^file:(//)?(?=/)", "", uri).rstrip("/")


def sources(
    named: Iterable[str | tuple[str, str] | NamedTable], options: Mapping[str, Any] | None = None
) -> tuple[NamedTable, ...]:
    """The tables that a user names, in order. A pair is a name and an address.

    All names are different: tables of one glob with the same last part get more of their path.
    """
    storage_options = dict(options or {})
    tables: dict[str, NamedTable] = {}
    for entry in named:
        for source in (
            [entry] if isinstance(entry, NamedTable) else _sources(entry, storage_options)
        ):
            same_name = tables.setdefault(source.name, source)
            if same_name.uri != source.uri:
                raise UsageError(
                    f"two tables are called {source.name!r}: {same_name.uri} and {source.uri}",
                    hint="give one of them another name: NAME=URI",
                )
    return tuple(tables.values())


def _sources(entry: str | tuple[str, str], options: Mapping[str, Any]) -> Iterator[NamedTable]:
    from whyscan.tables.catalogs.names import table_name
    from whyscan.tables.storage.locations import parse

    pair = entry if isinstance(entry, tuple) else _pair(entry)
    if pair is not None:
        yield NamedTable(*pair, options)
        return
    text = str(entry)
    if _NAMESPACE.fullmatch(text) and not os.path.exists(text):  # noqa: PTH110 - takes any length
        yield from _of_namespace(text, options)
        return
    if (name := table_name(text)) is not None:
        yield NamedTable(str(name), text, options)
        return
    location = parse(text)
    if location.pattern is None:
        yield NamedTable(_last_part(location.path) or text, text, options)
    else:
        yield from _of_glob(text, location, options)


def _pair(text: str) -> tuple[str, str] | None:
    """Name and address of `NAME=URI`; None for an existing folder that is called `day=1`."""
    match = _NAMED.fullmatch(text)
    if match is None or os.path.exists(text):  # noqa: PTH110 - takes any length
        return None
    return match[1], match[2]


def _last_part(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _of_namespace(text: str, options: Mapping[str, Any]) -> Iterator[NamedTable]:
    """Every table of a catalog's namespace."""
    from whyscan.tables.catalogs.configured import listed
    from whyscan.tables.catalogs.names import TableName

    catalog, *namespace = text.removesuffix(".*").split(".")
    names = sorted(listed(catalog, tuple(namespace))[1])
    if not names:
        raise TableError(f"the catalog {catalog!r} has no tables in {'.'.join(namespace)}")
    for parts in names:
        name = TableName(catalog, parts)
        yield NamedTable(str(name), ".".join(map(_quoted, (catalog, *parts))), options)


def _quoted(part: str) -> str:
    return part if _PLAIN_PART.fullmatch(part) else "`" + part.replace("`", "``") + "`"


def _of_glob(text: str, location: Location, options: Mapping[str, Any]) -> Iterator[NamedTable]:
    """One table per folder that a glob matches."""
    from whyscan.tables.storage.locations import recorded_folder

    assert location.pattern is not None  # noqa: S101 - the caller looked
    if "**" in location.pattern:
        raise UsageError(
            f"the glob {text} has no end: ** matches folders inside tables",
            hint="name each level: lake/*/*",
        )
    root = f"{location.store}/{location.path}" if location.store else location.path
    store = recorded_folder(root, options)
    folders = [""]
    for part in location.pattern.strip("/").split("/"):
        folders = [below for above in folders for below in _matching(store, above, part)]
    if not folders:
        # The glob names files: all of them are one table.
        yield NamedTable(_last_part(location.path) or text, text, options)
        return
    repeated = Counter(_last_part(path) for path in folders)
    for path in folders:
        last = _last_part(path)
        name = last if repeated[last] == 1 else path.replace("/", ".")
        yield NamedTable(name, store.shown(path), options)


def _matching(store: Store, above: str, pattern: str) -> list[str]:
    """The subfolders of `above` whose names match one part of a glob."""
    from whyscan.tables.storage.locations import glob_regex

    regex = re.compile(glob_regex(pattern))
    names = [
        n for n in _folders(store, above) if regex.fullmatch(n) and not n.startswith((".", "_"))
    ]
    return [f"{above}/{name}" if above else name for name in sorted(names)]


def _folders(store: Store, above: str) -> Iterator[str]:
    if store.folder is not None:
        top = Path(store.folder, above)
        yield from (entry.name for entry in top.iterdir() if entry.is_dir())
        return
    import obstore

    from whyscan.tables.storage.refusals import refusals

    key = "/".join(part for part in (store.prefix, above) if part)
    with refusals(store.shown(above)):
        listed = obstore.list_with_delimiter(store.backend, key or None)
    yield from (_last_part(prefix) for prefix in listed["common_prefixes"])
