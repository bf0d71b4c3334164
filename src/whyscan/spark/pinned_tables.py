"""Fix each table of a run at the snapshot that the driver opened: executors read the same one."""

from __future__ import annotations

import pickle
import re
from collections import Counter, OrderedDict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from whyscan.errors import TableError, UsageError, WhyscanError
from whyscan.layouts.snapshot import hypothetical
from whyscan.predicate.syntax.column_guess import mentioned_columns
from whyscan.spark.errors import from_text, to_text
from whyscan.spark.jobs import packed
from whyscan.tables import open_snapshot
from whyscan.tables.cached_snapshot import CachedSnapshot, with_cache
from whyscan.tables.inventory.snapshot import InventorySnapshot
from whyscan.tables.parts import parts
from whyscan.tables.storage.connections import portable_options
from whyscan.tables.storage.refusals import refusals
from whyscan.tables.time_travel import Travel, moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from whyscan.spark.tables import NamedTable
    from whyscan.statements.sql.time_travel import WrittenVersion
    from whyscan.tables.inventory.opening import Inventory
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.nodes import Column

AT_ONCE = 16
FILES_A_SLICE = 1_000_000
"""A table with fewer files is explained in one task: slices are planned anew in each round."""
MOST_OPEN_TABLES = 16
"""The most tables that a worker process keeps open: each one caches metadata."""

_FROM = re.compile(r"\bfrom\b", re.IGNORECASE)


class Pinned(Struct, frozen=True):
    """A table at one snapshot, or the `error` of opening it, as `to_text` writes it.

    `declared` is True if the user named the table, False if it is only named in a query. A Delta
    table is fixed by its `version`. Else `snapshot` is the pickled snapshot of the driver: the
    schema of an Iceberg table may be newer than its last snapshot, files have no version, and a
    table of an inventory is opened without the table. `slices` are the pickled parts of a table
    that is too large for one task, empty for every other table. With a `layout` the table is
    planned as it would be in it, by a sample of `sample_bytes`.
    """

    name: str
    uri: str
    options: Mapping[str, Any]
    format: str = ""
    version: int | None = None
    snapshot: bytes | None = None
    error: str | None = None
    declared: bool = True
    slices: tuple[bytes, ...] = ()
    layout: str | None = None
    sample_bytes: int = 0

    def __repr__(self) -> str:
        """Without the options: some of them are secrets."""
        return f"Pinned({self.name!r}, {self.uri!r}, version={self.version!r})"

    def opened(self) -> Snapshot:
        """Open the table, in its layout; raise the error that the driver had, if any."""
        if self.layout is None:
            return self._as_it_is()
        return hypothetical(self._as_it_is(), self.layout, self.sample_bytes)

    def _as_it_is(self) -> Snapshot:
        if self.error is not None:
            raise from_text(self.error)
        if self.snapshot is not None:
            # The store of a folder that was removed cannot be unpickled.
            with refusals(self.uri):
                snapshot: Snapshot = pickle.loads(self.snapshot)  # noqa: S301 - written by the driver
            return snapshot
        try:
            return open_snapshot([self.uri], {}, self.options, Travel(version=self.version))
        except UsageError as error:
            raise TableError(
                f"{self.uri} is no Delta table any more", hint="it was one when this run began"
            ) from error

    @property
    def identity(self) -> tuple[object, ...]:
        """The key of this table in the cache of a worker, which lives longer than a run."""
        table = self.uri, self.version, self.snapshot, self.error, packed(dict(self.options))
        return *table, self.layout, self.sample_bytes


def pin(
    source: NamedTable,
    types: Mapping[str, str] = MappingProxyType({}),
    *,
    files_each: int = FILES_A_SLICE,
) -> Pinned:
    """Fix a table at its newest snapshot, and divide it into slices of about `files_each` files.

    Only the metadata that opening and dividing need is read. `types` are types of Hive partition
    columns; the types of the other partition columns are inferred.
    """
    try:
        snapshot = open_snapshot([source.uri], types, source.options, fetched_whole=0)
        slices = _slices(snapshot, files_each)
    except WhyscanError as error:
        return Pinned(source.name, source.uri, dict(source.options), error=to_text(error))
    kept = None if snapshot.format == "delta" else packed(snapshot)
    # Absolute address and full options: executors have another folder and another environment.
    options = portable_options(snapshot.uri, source.options)
    return Pinned(
        source.name,
        snapshot.uri,
        options,
        snapshot.format,
        snapshot.version,
        kept,
        slices=slices,
    )


def _slices(snapshot: Snapshot, files_each: int) -> tuple[bytes, ...]:
    """The pickled parts of a snapshot; empty if it is one part, or cannot be divided."""
    try:
        divided = parts(snapshot, files_each)
    except WhyscanError:
        return ()  # The queries that name the table have that error.
    return tuple(map(packed, divided)) if len(divided) > 1 else ()


def pin_inventory(
    inventory: Inventory,
    options: Mapping[str, Any],
    names: Iterable[str],
    *,
    files_each: int = FILES_A_SLICE,
) -> tuple[Pinned, ...]:
    """The tables of an inventory at the snapshots that it has; the tables are not touched.

    They are divided into slices of about `files_each` files.
    """

    def pinned(name: str) -> Pinned:
        row = inventory.tables[name]
        try:
            snapshot = inventory.open(name)
        except WhyscanError as error:
            return Pinned(name, row.uri, dict(options), error=to_text(error))
        return Pinned(
            name,
            row.uri,
            dict(options),
            snapshot.format,
            snapshot.version,
            packed(snapshot),
            slices=_slices(snapshot, files_each),
        )

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return tuple(pool.map(pinned, names))


def pin_all(
    sources: Iterable[NamedTable],
    types: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    *,
    files_each: int = FILES_A_SLICE,
) -> tuple[Pinned, ...]:
    """Fix each table, several at once, as most time is waiting. `types` has the tables' names."""

    def pinned(source: NamedTable) -> Pinned:
        return pin(source, types.get(source.name, {}), files_each=files_each)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return tuple(pool.map(pinned, sources))


def with_layouts(
    tables: Iterable[Pinned], layouts: Mapping[str, str], sample_bytes: int
) -> tuple[Pinned, ...]:
    """Give tables the layouts of their names; an error says which layout or name does not fit.

    A layout is planned in one piece: its table has no slices.
    """
    by_name = {table.name: table for table in tables}
    for name, layout in layouts.items():
        if name not in by_name:
            raise UsageError(
                f"there is no table {name!r} for a layout",
                hint=f"the tables are {', '.join(sorted(by_name))}",
            )
        laid_out = replace(by_name[name], layout=layout, sample_bytes=sample_bytes, slices=())
        laid_out.opened()
        by_name[name] = laid_out
    return tuple(by_name.values())


def column_types(pinned: Iterable[Pinned]) -> dict[str, dict[str, str]]:
    """The column types of Iceberg tables, as Iceberg scans in Spark's plans print times as numbers.

    Other formats are left out: their schemas cost reads, and Spark's plans have the types.
    """
    types = {}
    for table in pinned:
        if table.format == "iceberg" and table.error is None:
            with suppress(WhyscanError):  # The queries that name the table have that error.
                fields = table.opened().schema().fields
                types[table.name] = {field.name: str(field.type) for field in fields}
    return types


class MissingTable(Exception):
    """A statement names a table that the run does not have yet."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Tables(Mapping[str, "Snapshot"]):
    """The tables of some queries by name. A table is opened when a query first uses it.

    Opening reads the statistics of all columns that the `texts` of the queries seem to filter by.
    `requested` has the names of the tables that were used, and `failed` the errors of those that
    could not be opened; `forget` empties both.
    """

    def __init__(self, pinned: Iterable[Pinned], texts: Sequence[str] = ()) -> None:
        self._pinned = {table.name: table for table in pinned}
        self._texts = texts
        self.requested: dict[str, None] = {}
        self.failed: dict[str, WhyscanError] = {}

    def forget(self) -> None:
        """Empty `requested` and `failed` before the next query."""
        self.requested.clear()
        self.failed.clear()

    def __getitem__(self, name: str) -> Snapshot:
        pinned = self._pinned[name]
        self.requested[name] = None
        try:
            return cached(pinned, partial(_condition_columns, texts=self._texts))
        except WhyscanError as error:
            self.failed[name] = error
            raise

    def __iter__(self) -> Iterator[str]:
        """The names of the tables that the user named: a query may use a part of such a name."""
        return (name for name, table in self._pinned.items() if table.declared)

    def __len__(self) -> int:
        return sum(table.declared for table in self._pinned.values())

    def opened(self, name: str, version: WrittenVersion | None) -> Snapshot:
        """A table by its full name or path, at a version that the query names."""
        if name not in self._pinned:
            raise MissingTable(name)
        newest = self[name]
        if version is None:
            return newest
        number = version.number
        inventoried = newest.snapshot if isinstance(newest, CachedSnapshot) else newest
        if isinstance(inventoried, InventorySnapshot):
            inventoried.require_version(number)
            return newest
        if number is None:
            travel = Travel(ref=version.ref, as_of=moment(version.time))
        elif newest.format == "delta":
            travel = Travel(version=number)
        else:
            travel = Travel(snapshot=number)
        return open_snapshot([newest.uri], {}, self._pinned[name].options, travel)

    @property
    def pinned(self) -> tuple[Pinned, ...]:
        return tuple(self._pinned.values())

    def uri(self, name: str) -> str:
        """The address of a table."""
        return self._pinned[name].uri if name in self._pinned else name


_open: OrderedDict[tuple[object, ...], CachedSnapshot] = OrderedDict()
_lock = Lock()


def cached(
    pinned: Pinned, expected_columns: Callable[[Snapshot], Sequence[Column]]
) -> CachedSnapshot:
    """An open table from the cache of this process, with the metadata that earlier tasks read.

    A table that is not in the cache is opened; `expected_columns` are those that queries will name.
    """
    identity = pinned.identity
    with _lock:
        if identity in _open:
            _open.move_to_end(identity)
            return _open[identity]
        opened = pinned.opened()
        snapshot = _open[identity] = with_cache(opened, expected_columns(opened))
        while len(_open) > MOST_OPEN_TABLES:
            _open.popitem(last=False)
        return snapshot


def _condition_columns(snapshot: Snapshot, texts: Sequence[str]) -> tuple[Column, ...]:
    """The columns that the queries seem to filter by; the most frequent first.

    Columns before FROM are left out: they are selected, and rarely filtered by.
    """
    try:
        schema = snapshot.schema()
    except WhyscanError:
        return ()  # The query that names the table has that error.
    conditions = (_FROM.split(text, maxsplit=1)[-1] for text in texts)
    named = Counter(
        column for text in conditions for column in mentioned_columns(text, schema) or ()
    )
    return tuple(column for column, _ in named.most_common())
