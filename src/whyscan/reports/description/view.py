"""The view of a description: facts, then columns, settings, versions, branches and tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.phrases import read, unchecked_lines
from whyscan.reports.report_view import subject
from whyscan.reports.view import (
    Cell,
    FactsBlock,
    GridBlock,
    Head,
    NamedValue,
    NameSpan,
    NotesBlock,
    Section,
    TitleBlock,
)
from whyscan.reports.words import counted, percent, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.description.description import DescribedColumn, Description
    from whyscan.reports.view import Blocks, GridRow
    from whyscan.tables.history import TableVersion

NAMED_COLUMNS = 5
"""If more columns than this lack bounds, the first ones are named and the others counted."""
MINUTE = len("2026-01-01 00:00")
FORMATS = {
    "delta": "a Delta table",
    "iceberg": "an Iceberg table",
    "hive": "a Hive table",
    "parquet": "Parquet files",
}


def view(described: Description) -> Blocks:
    """Return the blocks; each part is left out where the format has nothing of it."""
    return (
        TitleBlock(_answer(described), command="describe", subject=described.table.uri),
        FactsBlock((subject(described.table), *_facts(described))),
        Section("Columns", (_columns(described),), quiet=True),
        Section(
            "settings",
            (FactsBlock(tuple(NamedValue(p.name, p.value) for p in described.properties)),),
        ),
        Section("Versions", (_versions(described),), quiet=True),
        Section(
            "branches and tags",
            (
                FactsBlock(
                    tuple(
                        NamedValue(ref.name, f"snapshot {ref.version}", ref.kind)
                        for ref in described.references
                    )
                ),
            ),
        ),
        Section(
            "what this rests on",
            (
                FactsBlock((NamedValue("metadata", read(described.metadata)),)),
                NotesBlock(unchecked_lines(described.unchecked)),
            ),
            aside=True,
        ),
    )


def _answer(described: Description) -> str:
    """Say what the table is and how large, in one line."""
    rows = "" if described.rows is None else f", {counted(described.rows, 'row')}"
    files = counted(described.files, "file")
    return f"{FORMATS[described.table.format]} of {files}, {size(described.bytes)}{rows}"


def _facts(described: Description) -> Iterator[NamedValue]:
    if described.protocol is not None:
        yield NamedValue("protocol", described.protocol)
    for spec in described.table.specs:
        fields = ", ".join(spec.fields) or "no partitions"
        yield NamedValue(f"spec {spec.id}", fields, "of new files" if spec.current else None)
    if described.order is not None:
        yield NamedValue("order", described.order)
    sizes = described.file_bytes
    if sizes is not None:
        ends = f"{size(sizes.least)} to {size(sizes.greatest)}"
        yield NamedValue("file sizes", f"{size(sizes.median)} in the median, {ends}")
    yield NamedValue("statistics", coverage(described))
    if described.other_properties:
        yield NamedValue("properties", f"{described.other_properties:,} more, which change no plan")


def coverage(described: Description) -> str:
    """Say in one line how many columns have bounds in every file, in some and in none."""
    if not described.files:
        return "none: the table has no files"
    leaves = [c for c in described.columns if c.files_with_bounds is not None]
    if not leaves:
        return "not looked at"
    complete = [c for c in leaves if c.files_with_bounds == described.files]
    some = [c.name for c in leaves if 0 < (c.files_with_bounds or 0) < described.files]
    none = [c.name for c in leaves if not c.files_with_bounds]
    parts = [f"bounds of {len(complete):,} of {counted(len(leaves), 'column')} in every file"]
    parts += [
        f"{_named(names)} {where}"
        for names, where in ((some, "in some"), (none, "in none"))
        if names
    ]
    return "; ".join(parts)


def _named(names: list[str]) -> str:
    more = len(names) - NAMED_COLUMNS
    shown = ", ".join(names[:NAMED_COLUMNS])
    return shown if more <= 0 else f"{shown} and {more:,} more"


def _columns(described: Description) -> GridBlock:
    has_ids = any(column.field_id is not None for column in described.columns)
    heads = (
        Head("column"),
        Head("type"),
        *((Head("id", number=True),) if has_ids else ()),
        Head("bounds", number=True),
        Head("", meaning="role"),
    )
    rows = tuple(_column(column, described.files, has_ids) for column in described.columns)
    return GridBlock(heads, rows, label="Columns", flexible=1)


def _column(column: DescribedColumn, files: int, has_ids: bool) -> GridRow:  # noqa: FBT001 - a column of the grid
    bounded = column.files_with_bounds
    share = "-" if bounded is None or not files else percent(bounded, files)
    return (
        Cell(NameSpan(column.name), depth=column.name.count(".")),
        column.type,
        *(("" if column.field_id is None else str(column.field_id),) if has_ids else ()),
        share,
        "partition" if column.partitioned else "",
    )


def _versions(described: Description) -> GridBlock:
    """Return the newest versions; columns that no version fills are left out."""
    heads = (
        Head("snapshot" if described.table.format == "iceberg" else "version"),
        Head("time (UTC)"),
        Head("operation"),
        Head("added", number=True),
        Head("removed", number=True),
        Head("files", number=True),
        Head("bytes", number=True),
        Head("", meaning="the described one"),
    )
    rows = [_version(version) for version in described.versions]
    filled = [at for at in range(len(heads)) if any(row[at] != "" for row in rows)]
    return GridBlock(
        tuple(heads[at] for at in filled),
        tuple(tuple(row[at] for at in filled) for row in rows),
        label="Versions",
        flexible=2,
    )


def _version(version: TableVersion) -> GridRow:
    def number(count: int | None) -> str:
        return "" if count is None else f"{count:,}"

    return (
        str(version.version),
        "" if version.time is None else str(version.time)[:MINUTE],
        version.operation or "",
        number(version.added_files),
        number(version.removed_files),
        number(version.files),
        "" if version.bytes is None else size(version.bytes),
        "this one" if version.opened else "",
    )
