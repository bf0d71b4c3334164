"""Opens the tables of an inventory without the tables themselves.

The inventory's own two tables are tables in Parquet, Delta or Iceberg, and are opened as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.errors import StorageError, TableError, UsageError, WhyscanError
from whyscan.tables import open_snapshot
from whyscan.tables.inventory.container_rows import ContainerFile, ContainerFiles
from whyscan.tables.inventory.container_schema import TABLES
from whyscan.tables.inventory.description import description_from
from whyscan.tables.inventory.snapshot import InventorySnapshot
from whyscan.tree import zones

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from whyscan.tables.snapshot import Snapshot

_UTC = zones.zone("UTC")
_AS_TEXT = {"table": "string", "snapshot": "string"}
_ROW_GROUPS = "row-groups"


class InventoryTable(Struct, frozen=True):
    """One row of an inventory's `tables`, as far as opening the table needs it."""

    table: str
    uri: str
    snapshot: str
    depth: str
    parts: int
    files: int
    read_at: datetime
    description: str | None


class Inventory(Struct, frozen=True):
    """The inventory at `place`: its `tables` by name, each at the snapshot that was read last.

    `containers` is None if no table has a container.
    """

    place: str
    tables: Mapping[str, InventoryTable]
    containers: Snapshot | None

    def open(self, name: str) -> InventorySnapshot:
        """The table with this name, or at this address."""
        row = self.tables.get(name) or self._at(name)
        if row is None:
            names = ", ".join(sorted(self.tables))
            raise TableError(
                f"the inventory {self.place} has no table {name!r}", hint=f"it has {names}"
            )
        files = () if self.containers is None else tuple(_files_of(self.containers, row))
        if row.files and not files:
            raise TableError(f"the inventory {self.place} has lost the containers of {name!r}")
        return InventorySnapshot(
            place=self.place,
            read_at=f"{row.read_at:%Y-%m-%d %H:%M} UTC",
            description=description_from(row.description),
            containers=ContainerFiles(files),
            parts_written=max(row.parts, 1),
            file_count=row.files,
            row_groups_read=row.depth == _ROW_GROUPS,
        )

    def _at(self, address: str) -> InventoryTable | None:
        return next((row for row in self.tables.values() if row.uri == address), None)


def open_inventory(place: str, options: Mapping[str, Any]) -> Inventory:
    """Open an inventory by its folder, or by the namespace of a catalog for Iceberg.

    The tables that it lists are not touched.
    """
    is_name = "/" not in place and "." in place.strip(".")
    joint = "." if is_name else "/"
    tables, containers = (f"{place.rstrip('/')}{joint}{name}" for name in ("tables", "containers"))
    return open_inventory_tables(place, tables, containers, options)


def open_inventory_tables(
    place: str, tables: str, containers: str, options: Mapping[str, Any]
) -> Inventory:
    """Open the inventory `place` by the addresses of its two tables."""
    try:
        listed = open_snapshot([tables], {}, options)
    except StorageError:
        raise  # It says what keeps us from the place: no client, no key, no network.
    except WhyscanError as error:
        raise UsageError(
            f"there is no inventory at {place}", hint=f"whyscan inventory TABLE... -o {place}"
        ) from error
    rows = sorted(_rows(listed), key=_read_at)
    has_files = any(row.files for row in rows)
    opened = _containers(containers, options) if has_files else None
    return Inventory(place, {row.table: row for row in rows}, opened)


def _read_at(row: InventoryTable) -> datetime:
    return row.read_at


def _containers(address: str, options: Mapping[str, Any]) -> Snapshot:
    """The containers. Only Hive folders need types: those of digits would be numbers."""
    try:
        return open_snapshot([address], _AS_TEXT, options)
    except UsageError:
        return open_snapshot([address], {}, options)


def _rows(listed: Snapshot) -> Iterator[InventoryTable]:
    names = [name for name in TABLES.names if name in InventoryTable.__struct_fields__]
    files = listed.files((), _UTC)
    for file in _container_files(listed, np.arange(files.count)):
        table = file.opened().read()
        missing = [name for name in names if name not in table.column_names]
        for name in missing:
            table = table.append_column(name, pa.nulls(table.num_rows, TABLES.field(name).type))
        for row in table.select(names).to_pylist():
            yield InventoryTable(**{**row, "parts": row["parts"] or 1})


def _files_of(containers: Snapshot, row: InventoryTable) -> Iterator[ContainerFile]:
    """The files with the containers of a table's snapshot: it is a partition of its own."""
    values = containers.files((), _UTC).partition
    same = [
        pc.equal(values[name].cast(pa.string()), text)
        for name, text in (("table", row.table), ("snapshot", row.snapshot))
    ]
    wanted = pc.fill_null(pc.and_(*same), fill_value=False).to_numpy()
    yield from _container_files(containers, np.flatnonzero(wanted))


def _container_files(snapshot: Snapshot, at: Any) -> Iterator[ContainerFile]:
    positions = pa.array(at, pa.int64())
    files = snapshot.files((), _UTC)
    sizes = files.bytes.take(positions).to_pylist()
    reading = snapshot.reading(files, positions, _UTC)
    for file, size in zip(reading.files, sizes, strict=True):
        yield ContainerFile(file.store, file.path, size)
