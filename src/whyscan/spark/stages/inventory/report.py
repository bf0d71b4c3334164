"""What a run of the inventory did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from datetime import datetime

    from whyscan.errors import WhyscanError

READ, UNCHANGED, FAILED = "read", "unchanged", "failed"


class TableRow(Struct, frozen=True):
    """A table at a snapshot, as the inventory has it; None is what was not looked for, or told.

    `mark` tells the snapshot from another of its name. `files_opened` are those whose footers gave
    `row_groups`; `bytes` and `rows` are those of the files.
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
    """A table of a run: `read`, `unchanged` since it was, or `failed` with an error.

    `found` is what there is of it, None where it failed.
    """

    name: str
    uri: str
    state: str
    found: TableRow | None = None
    error: WhyscanError | None = None


class InventoryRun(Struct, frozen=True):
    """A line a table, in the order in which they were named, and where the inventory is.

    `containers_at` and `tables_at` are the two tables that it wrote, or found as they should be.
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
