"""Tables: one reader per table format, each of which fills the snapshot model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whyscan.errors import TableError, UsageError
from whyscan.tables.parts import FETCHED_WHOLE

__all__ = [
    "avro",
    "bounded_cache",
    "budget",
    "cached_snapshot",
    "catalogs",
    "column_finder",
    "duckdb_engine",
    "file_columns",
    "history",
    "iceberg",
    "identity",
    "inventory",
    "open_snapshot",
    "parquet",
    "parts",
    "sizes",
    "snapshot",
    "storage",
    "time_travel",
]

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.tables.snapshot import Snapshot
    from whyscan.tables.storage.store import Store
    from whyscan.tables.time_travel import Travel


def open_snapshot(
    locations: Sequence[str],
    partition_types: Mapping[str, str],
    options: Mapping[str, Any],
    travel: Travel | None = None,
    fetched_whole: int = FETCHED_WHOLE,
) -> Snapshot:
    """Open a folder, a file, a glob, several of them or a catalog's table, at one version.

    A Delta checkpoint of at most `fetched_whole` bytes is fetched from its store at once. Callers
    pass 0 where other processes will read the checkpoint.
    """
    from whyscan.tables.time_travel import Travel

    version = travel or Travel()
    snapshot = _with_metadata(locations, options, version, fetched_whole)
    if snapshot is None:
        version.require_only(format_name="Parquet")
        return _open_files(locations, partition_types, options)
    if partition_types:
        raise UsageError("a table with metadata knows the types of its partition columns")
    return snapshot


def _with_metadata(
    locations: Sequence[str], options: Mapping[str, Any], travel: Travel, fetched_whole: int
) -> Snapshot | None:
    """The Delta or Iceberg table at a location, None for plain files.

    Read as plain files, a table with metadata would show deleted rows.
    """
    from whyscan.tables.catalogs.names import table_name
    from whyscan.tables.storage.locations import folder_of, metadata_file

    if len(locations) != 1:
        return None
    if (named := metadata_file(locations[0])) is not None:
        return _open_iceberg(folder_of(named.table, options), travel, named.file)
    if (name := table_name(locations[0])) is not None:
        from whyscan.tables.catalogs.opening import open_named

        return open_named(name, options, travel)
    store = folder_of(locations[0], options)
    if store is None:
        return None
    is_delta, is_hudi, has_metadata = store.which_hold(("_delta_log", ".hoodie", "metadata"))
    if is_delta:
        return _open_delta(store, travel, fetched_whole)
    if is_hudi:
        raise TableError(
            f"{store.uri} is a Hudi table, which whyscan does not read",
            hint="read as plain Parquet it would show deleted rows",
        )
    return _if_iceberg(store, travel) if has_metadata else None


def _if_iceberg(store: Store, travel: Travel) -> Snapshot | None:
    """The Iceberg table in a folder with a `metadata` folder, None where it is none."""
    from whyscan.tables.iceberg.metadata_location import find_metadata
    from whyscan.tables.iceberg.opening import open_located

    metadata = find_metadata(store)
    if metadata is None:
        return None
    travel.require_only("snapshot", "as_of", "ref", format_name="Iceberg")
    return open_located(store, metadata, travel)


def _open_delta(store: Store, travel: Travel, fetched_whole: int) -> Snapshot:
    from whyscan.tables.delta.snapshot import open_delta

    travel.require_only("version", "as_of", format_name="Delta")
    return open_delta(store, travel.version, travel.as_of, fetched_whole)


def _open_iceberg(store: Store | None, travel: Travel, file: str) -> Snapshot:
    from whyscan.tables.iceberg.opening import open_iceberg

    travel.require_only("snapshot", "as_of", "ref", format_name="Iceberg")
    if store is None:
        raise TableError("there is no such table", hint="name a folder or its metadata.json")
    return open_iceberg(store, travel, file)


def _open_files(
    locations: Sequence[str], partition_types: Mapping[str, str], options: Mapping[str, Any]
) -> Snapshot:
    from whyscan.tables.parquet.paths import is_visible_folder
    from whyscan.tables.parquet.snapshot import open_parquet
    from whyscan.tables.parquet.type_names import type_named
    from whyscan.tables.storage.locations import find

    types = {name: type_named(text) for name, text in partition_types.items()}
    located = find(locations, options, is_visible_folder)
    return open_parquet(located.store, located.objects, types)
