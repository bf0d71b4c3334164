"""The records of an inventory run: one per table."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from whyscan.errors import WhyscanError
from whyscan.fields import Count, Name, Outcome, Record, Sentence, TableFormat, Word, one_of
from whyscan.reports.rendering import WrittenReport

if TYPE_CHECKING:
    from whyscan.reports.view import Blocks

READ, UNCHANGED, FAILED = "read", "unchanged", "failed"


class TableRow(Record, frozen=True):
    """A table at a snapshot: one row of the inventory's `tables`. None means unknown or not read.

    `mark` is different for two snapshots with the same name. `parts` were read one by one, and
    `description` has what the containers do not say. `files_opened` counts the files whose footers
    gave `row_groups`. `bytes` and `rows` are sums over the files.
    """

    OMITTED: ClassVar = ("table", "uri", "mark", "parts", "description")

    table: Name
    uri: Name
    format: TableFormat
    snapshot: Annotated[
        Word,
        Meta(description="Delta: the version; Iceberg: the id; else a digest of the listing."),
    ]
    mark: str
    depth: Word
    parts: int
    manifests: Count
    files: Count
    row_groups: Annotated[Count | None, Meta(description="null if no footers were read.")]
    files_opened: Annotated[
        Count | None, Meta(description="The files whose footers gave the row groups.")
    ]
    bytes: Count | None
    rows: Annotated[
        Count | None, Meta(description="The rows of the files that record them; null if none do.")
    ]
    read_at: datetime
    description: str

    @property
    def containers(self) -> int:
        return self.manifests + self.files + (self.row_groups or 0)


class TableFailure(Record, frozen=True):
    """Why a table could not be read."""

    message: Sentence
    hint: Sentence | None


class InventoriedTable(Record, frozen=True):
    """The result of one table: `read`, `unchanged` since the last run, or `failed` with an error.

    `row` is the table's row in the inventory, None if the table failed.
    """

    OMITTED: ClassVar = ("error",)
    COMPUTED: ClassVar = {"error": "failure"}
    RULES: ClassVar = {
        "if": {"properties": {"state": {"const": FAILED}}},
        "then": {"properties": {"row": {"type": "null"}, "error": {"type": "object"}}},
        "else": {"properties": {"row": {"type": "object"}, "error": {"type": "null"}}},
    }

    name: Name
    uri: Name
    state: Annotated[Word, one_of(READ, UNCHANGED, FAILED)]
    row: TableRow | None = None
    error: WhyscanError | None = None

    @property
    def failure(self) -> TableFailure | None:
        """Why the table could not be read; null if it was."""
        return None if self.error is None else TableFailure(self.error.message, self.error.hint)


class InventoryOutput(Record, frozen=True):
    """The format and the addresses of the inventory's two tables."""

    format: Word
    containers: Name
    tables: Name


class InventoryRun(WrittenReport, frozen=True):
    """The results of one run."""

    OMITTED: ClassVar = ("containers_at", "tables_at", "form")
    COMPUTED: ClassVar = {"output": "output", "result": "result"}

    tables: Annotated[
        tuple[InventoriedTable, ...],
        Meta(description="The tables in the order of the user's list."),
    ]
    containers_at: Name
    tables_at: Name
    form: Word
    depth: Word
    seconds: float

    def redacted(self) -> InventoryRun:
        """The same report without literals and values, for sharing."""
        from whyscan.reports.redaction import redacted

        return redacted(self)

    def view(self) -> Blocks:
        from whyscan.spark.stages.inventory.view import view

        return view(self)

    @property
    def output(self) -> InventoryOutput:
        """The two tables that were written, or that were up to date."""
        return InventoryOutput(self.form, self.containers_at, self.tables_at)

    @property
    def result(self) -> Outcome:
        """`fail` if a table failed."""
        return "fail" if self.failed else "pass"

    @property
    def read(self) -> tuple[InventoriedTable, ...]:
        return tuple(line for line in self.tables if line.state == READ)

    @property
    def unchanged(self) -> tuple[InventoriedTable, ...]:
        return tuple(line for line in self.tables if line.state == UNCHANGED)

    @property
    def failed(self) -> tuple[InventoriedTable, ...]:
        return tuple(line for line in self.tables if line.state == FAILED)
