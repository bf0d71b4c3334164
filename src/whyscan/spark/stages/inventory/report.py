"""The records of an inventory run: one per table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from datetime import datetime

    from whyscan.errors import WhyscanError

READ, UNCHANGED, FAILED = "read", "unchanged", "failed"


class TableRow(Struct, frozen=True):
    """A table at a snapshot: one row of the inventory's `tables`. None means unknown or not read.

    `mark` is different for two snapshots with the same name. `files_opened` counts the files whose
    footers gave `row_groups`. `bytes` and `rows` are sums over the files.
    """

    table: str
    uri: str
    format: str
    snapshot: str
    mark: str
    depth: str
    manifests: int
    files: int
    row_groups: int | None
    files_opened: int | None
    bytes: int | None
    rows: int | None
    read_at: datetime

    @property
    def containers(self) -> int:
        return self.manifests + self.files + (self.row_groups or 0)


class InventoriedTable(Struct, frozen=True):
    """The result of one table: `read`, `unchanged` since the last run, or `failed` with an error.

    `row` is the table's row in the inventory, None if the table failed.
    """

    name: str
    uri: str
    state: str
    row: TableRow | None = None
    error: WhyscanError | None = None


class InventoryRun(Struct, frozen=True):
    """The results of one run, one per table in the order of the user's list.

    `containers_at` and `tables_at` are the addresses of the inventory's two tables.
    """

    tables: tuple[InventoriedTable, ...]
    containers_at: str
    tables_at: str
    form: str
    depth: str
    seconds: float

    @property
    def failed(self) -> tuple[InventoriedTable, ...]:
        return tuple(line for line in self.tables if line.state == FAILED)
