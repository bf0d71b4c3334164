"""Write an inventory run as text: one line per table, then errors and the addresses of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.text_layout import Page, headed, in_paragraphs, title_lines
from whyscan.reports.words import counted, inert, size
from whyscan.spark.stages.inventory.report import READ, UNCHANGED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.spark.stages.inventory.report import InventoriedTable, InventoryRun

HEAD = ("table", "format", "snapshot", "manifests", "files", "row groups", "bytes", "rows", "")
NUMBERS = frozenset({3, 4, 5, 6, 7})


def text(run: InventoryRun, page: Page | None = None) -> str:
    """The run as text, with a line break at the end."""
    where = Page() if page is None else page
    sections = (
        title_lines(answer(run), where),
        headed([HEAD, *map(_row, run.tables)], where, right=NUMBERS) if run.tables else (),
        _failed(run, where),
        _unopened(run),
        _places(run, where),
    )
    return in_paragraphs(sections)


def answer(run: InventoryRun) -> str:
    """The run in one line."""
    states = [line.state for line in run.tables]
    containers = sum(line.row.containers for line in run.tables if line.row is not None)
    parts = [f"{states.count(READ):,} read", f"{states.count(UNCHANGED):,} unchanged"]
    if run.failed:
        parts.append(f"{len(run.failed):,} failed")
    tables = counted(len(states), "table")
    return f"{counted(containers, 'container')} of {tables}: {', '.join(parts)}"


def _row(line: InventoriedTable) -> tuple[str, ...]:
    name, row = inert(line.name), line.row
    if row is None:
        return (name, *[""] * (len(HEAD) - 2), line.state)
    return (
        name,
        row.format,
        row.snapshot,
        f"{row.manifests:,}",
        f"{row.files:,}",
        "" if row.row_groups is None else f"{row.row_groups:,}",
        size(row.bytes),
        "unknown" if row.rows is None else f"{row.rows:,}",
        line.state,
    )


def _failed(run: InventoryRun, page: Page) -> Iterator[str]:
    for line in run.failed:
        why = "" if line.error is None else line.error.message
        near = why if page.folder is None else why.replace(f"{page.folder}/", "")
        yield f"{inert(line.name)} failed: {inert(near)}"
        if line.error is not None and line.error.hint:
            yield f"  {inert(line.error.hint)}"


def _unopened(run: InventoryRun) -> Iterator[str]:
    """One line per table with files without row groups: missing, empty or not Parquet."""
    for line in run.tables:
        row = line.row
        if row is None or row.files_opened is None or row.files_opened == row.files:
            continue
        left = counted(row.files - row.files_opened, "file")
        yield f"{inert(line.name)}: no row groups of {left}"


def _places(run: InventoryRun, page: Page) -> Iterator[str]:
    yield f"{run.form}: {inert(page.place(run.containers_at))}, {inert(page.place(run.tables_at))}"
