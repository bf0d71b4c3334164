"""What is there: the table formats, each a reader that fills the snapshot model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whyscan.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.tables.snapshot import Snapshot
    from whyscan.tables.storage import Store

# Reading one of these as plain Parquet would show rows that were deleted.
_OTHER_FORMATS = {"_delta_log": "Delta", ".hoodie": "Hudi"}
_ICEBERG = "metadata"


def open_snapshot(
    places: Sequence[str], partition_types: Mapping[str, str], options: Mapping[str, Any]
) -> Snapshot:
    """Open a folder, a file, a glob, or several of them."""
    from whyscan.tables.parquet.paths import is_visible_folder
    from whyscan.tables.parquet.snapshot import open_parquet
    from whyscan.tables.parquet.type_names import type_named
    from whyscan.tables.places import find

    given = {name: type_named(text) for name, text in partition_types.items()}
    found = find(places, options, is_visible_folder)
    _refuse_other_formats(found.store)
    return open_parquet(found.store, found.objects, given)


def _refuse_other_formats(store: Store) -> None:
    for folder, name in _OTHER_FORMATS.items():
        if store.holds(folder):
            raise _unread(store, name)
    if store.holds(_ICEBERG):
        names = store.list(_ICEBERG)["path"].to_pylist()
        if any(name.endswith(".metadata.json") for name in names):
            raise _unread(store, "Iceberg")


def _unread(store: Store, name: str) -> TableError:
    return TableError(
        f"{store.uri} is a {name} table, which this version does not read yet",
        hint="read as plain Parquet it would show deleted rows",
    )
