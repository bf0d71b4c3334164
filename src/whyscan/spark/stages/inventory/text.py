"""A run of the inventory for people: a line a table, then what failed, and where the rows are."""

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
    """The whole run, with a line break at its end."""
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
    containers = sum(line.found.containers for line in run.tables if line.found is not None)
    told = [f"{states.count(READ):,} read", f"{states.count(UNCHANGED):,} unchanged"]
    if run.failed:
        told.append(f"{len(run.failed):,} failed")
    tables = counted(len(states), "table")
    return f"{counted(containers, 'container')} of {tables}: {', '.join(told)}"


def _row(line: InventoriedTable) -> tuple[str, ...]:
    name, found = inert(line.name), line.found
    if found is None:
        return (name, *[""] * (len(HEAD) - 2), line.state)
    return (
        name,
        found.format,
        found.snapshot,
        f"{found.manifests:,}",
        f"{found.files:,}",
        "" if found.row_groups is None else f"{found.row_groups:,}",
        size(found.bytes),
        "unknown" if found.rows is None else f"{found.rows:,}",
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
    """Files of which no row group is known: they are missing, elsewhere, empty or no Parquet."""
    for line in run.tables:
        found = line.found
        if found is None or found.files_opened is None or found.files_opened == found.files:
            continue
        left = counted(found.files - found.files_opened, "file")
        yield f"{inert(line.name)}: no row groups of {left}"


def _places(run: InventoryRun, page: Page) -> Iterator[str]:
    yield f"{run.form}: {inert(page.place(run.containers_at))}, {inert(page.place(run.tables_at))}"
