"""The view of an inventory run: one row per table, then errors and the addresses of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.view import (
    FactsBlock,
    GridBlock,
    Head,
    NamedValue,
    NameSpan,
    NotesBlock,
    Section,
    TitleBlock,
    Tone,
)
from whyscan.reports.words import counted, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.view import Blocks, GridRow, Inline
    from whyscan.spark.stages.inventory.report import InventoriedTable, InventoryRun

NUMBERS = ("manifests", "files", "row groups", "bytes", "rows")
HEADS = (
    *map(Head, ("table", "format", "snapshot")),
    *(Head(name, number=True) for name in NUMBERS),
    Head("state"),
)


def view(run: InventoryRun) -> Blocks:
    """Return the blocks of a run."""
    return (
        TitleBlock(_answer(run), command="inventory", subject=run.containers_at),
        FactsBlock(
            (
                NamedValue("containers", NameSpan(run.containers_at), beside=run.form),
                NamedValue("tables", NameSpan(run.tables_at), beside=run.form),
            )
        ),
        Section("Tables", (_tables(run),), quiet=True),
        Section("failed", (NotesBlock(tuple(_failed(run))),), tone=Tone.BAD),
        Section("without row groups", (NotesBlock(tuple(_unopened(run))),), tone=Tone.WARN),
    )


def _answer(run: InventoryRun) -> str:
    """Write `120 containers of 3 tables: 2 read, 1 unchanged`."""
    containers = sum(line.row.containers for line in run.tables if line.row is not None)
    parts = [f"{len(run.read):,} read", f"{len(run.unchanged):,} unchanged"]
    if run.failed:
        parts.append(f"{len(run.failed):,} failed")
    tables = counted(len(run.tables), "table")
    return f"{counted(containers, 'container')} of {tables}: {', '.join(parts)}"


def _tables(run: InventoryRun) -> GridBlock:
    """Return a row for each table, without the columns that are empty in every row."""
    rows = [_row(line) for line in run.tables]
    filled = [at for at in range(len(HEADS)) if any(row[at] for row in rows)]
    return GridBlock(
        tuple(HEADS[at] for at in filled), tuple(tuple(row[at] for at in filled) for row in rows)
    )


def _row(line: InventoriedTable) -> GridRow:
    row = line.row
    if row is None:
        return (NameSpan(line.name), *[""] * (len(HEADS) - 2), line.state)
    return (
        NameSpan(line.name),
        row.format,
        row.snapshot,
        f"{row.manifests:,}",
        f"{row.files:,}",
        "" if row.row_groups is None else f"{row.row_groups:,}",
        size(row.bytes),
        "unknown" if row.rows is None else f"{row.rows:,}",
        line.state,
    )


def _failed(run: InventoryRun) -> Iterator[Inline]:
    for line in run.failed:
        why = "" if line.error is None else line.error.message
        yield NameSpan(line.name), f" failed: {why}"
        if line.error is not None and line.error.hint:
            yield f"{line.error.hint}"


def _unopened(run: InventoryRun) -> Iterator[Inline]:
    """Yield the tables that have files without row groups: missing, empty or not Parquet."""
    for line in run.tables:
        row = line.row
        if row is None or row.files_opened is None or row.files_opened == row.files:
            continue
        left = counted(row.files - row.files_opened, "file")
        yield NameSpan(line.name), f": no row groups of {left}"
