"""The view of a profile: which columns prune, then files, row groups and manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.distribution import first_power, last_power
from whyscan.reports.filters import readers_sentence
from whyscan.reports.pages.bars import part_of
from whyscan.reports.phrases import read, unchecked_lines
from whyscan.reports.report_view import subject
from whyscan.reports.view import (
    Cell,
    FactsBlock,
    GridBlock,
    Head,
    Histogram,
    NamedValue,
    NameSpan,
    NotesBlock,
    Section,
    TitleBlock,
)
from whyscan.reports.words import counted, percent, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from whyscan.reports.distribution import Distribution
    from whyscan.reports.stats.columns import ColumnStats
    from whyscan.reports.stats.profile import TableStats
    from whyscan.reports.view import Blocks, GridRow

MILLION = 1_000_000
TERMS = (
    "Depth is the number of files that a value falls into, in the median; ideal is the depth of a "
    'sorted table. Width is the share of the column that the median file spans. "= skips" is the '
    "share of files that column = value skips on average."
)
REMARKS: tuple[tuple[str, Callable[[ColumnStats], bool]], ...] = (
    ("partition columns", lambda c: c.partitioned),
    ("bounds that take room and help no filter", lambda c: c.never_tight),
    ("no bounds in any file", lambda c: not c.bounded and c.collected == "yes"),
    ("no bounds, beyond the column budget", lambda c: c.collected == "beyond the column budget"),
    ("no bounds, switched off", lambda c: c.collected == "switched off"),
    ("bounds in some files only", lambda c: 0 < c.bounded < c.files),
)
COUNTED_REMARKS: tuple[tuple[str, Callable[[ColumnStats], int]], ...] = (
    ("bounds that a writer cut off", lambda c: c.cut),
    ("may hold NULL", lambda c: c.nulls),
    ("NULLs that were not counted", lambda c: c.nulls_uncounted),
    ("may hold NaN", lambda c: c.nan),
)
"""Remarks with the number of files that each is about."""


def view(stats: TableStats) -> Blocks:
    """Return the blocks; the columns that prune best come first."""
    rows = "unknown rows" if stats.rows is None else counted(stats.rows, "row")
    contents = f"{counted(stats.files, 'file')}, {size(stats.bytes)}, {rows}"
    return (
        TitleBlock(_answer(stats), command="stats", subject=stats.table.uri),
        FactsBlock((subject(stats.table), NamedValue("holds", contents))),
        Section("Columns", (_columns(stats), NotesBlock((TERMS,))), quiet=True),
        Section("remarks", (FactsBlock(tuple(_remarks(stats))),)),
        Section("bloom filters", (FactsBlock(tuple(_bloom_filters(stats))),)),
        Section("Sizes", (_sizes(stats),), quiet=True),
        Section("manifests", (FactsBlock(tuple(_manifests(stats))),)),
        Section(
            "what this rests on",
            (
                FactsBlock((NamedValue("metadata", read(stats.metadata)),)),
                NotesBlock(unchecked_lines(stats.unchecked)),
            ),
            aside=True,
        ),
    )


def _answer(stats: TableStats) -> str:
    """Name the column that prunes best, in one line."""
    if not stats.files:
        return "the table has no files"
    best = next((c for c in stats.columns if c.skipped), None)
    if best is None:
        return f"no column of this table can skip any of {counted(stats.files, 'file')}"
    return (
        f"filters on {best.column} prune best: {best.column} = value skips "
        f"{_share(best.skipped)} of {counted(stats.files, 'file')} on average"
    )


def _share(part: float | None) -> str:
    """Write `66.7 %`, or a dash if the share is unknown."""
    return "-" if part is None else percent(round(part * MILLION), MILLION)


def _columns(stats: TableStats) -> GridBlock:
    heads = (
        Head("column"),
        Head("type"),
        Head("bounds", number=True),
        Head("constant", number=True),
        Head("width", number=True),
        Head("depth", number=True),
        Head("ideal", number=True),
        Head("", meaning="files by depth"),
        Head("= skips", number=True),
    )
    deepest = max((last_power(c.depth.spread) for c in stats.columns if c.depth), default=0)
    rows = tuple(_column(column, deepest) for column in stats.columns)
    return GridBlock(heads, rows, label="Columns", sortable=True, sorted_by=len(heads) - 1)


def _column(column: ColumnStats, deepest: int) -> GridRow:
    spread = column.depth
    depth, ideal = (None, None) if spread is None else (spread.median, spread.ideal)
    skipped = 0 if column.skipped is None else round(column.skipped * MILLION)
    return (
        Cell(NameSpan(column.column), key=column.column),
        Cell(column.type, key=column.type),
        Cell(
            percent(column.bounded, column.files),
            key=column.bounded,
            bar=part_of(column.bounded, column.files),
        ),
        Cell(f"{column.constant:,}", key=column.constant),
        Cell(_share(column.width), key=column.width),
        Cell("-" if depth is None else f"{depth:,}", key=depth),
        Cell("-" if ideal is None else f"{ideal:,}", key=ideal),
        "" if spread is None else Histogram(spread.spread, "file", 0, deepest, ideal=ideal),
        Cell(
            _share(column.skipped),
            key=column.skipped,
            bar=() if column.skipped is None else part_of(skipped, MILLION),
        ),
    )


def _remarks(stats: TableStats) -> Iterator[NamedValue]:
    """Yield remarks about columns, each with the names of its columns."""
    for remark, which in REMARKS:
        named = [column.column for column in stats.columns if which(column)]
        if named:
            yield NamedValue(remark, ", ".join(named))
    for remark, files_of in COUNTED_REMARKS:
        named = [
            f"{column.column} in {counted(files_of(column), 'file')}"
            for column in stats.columns
            if files_of(column)
        ]
        if named:
            yield NamedValue(remark, ", ".join(named))


def _bloom_filters(stats: TableStats) -> Iterator[NamedValue]:
    """Yield where each column has bloom filters; explain --depth pages says what they prove."""
    for line in stats.bloom_filters or ():
        groups = f"{line.present:,} of {counted(line.row_groups, 'row group')}"
        files = f"{line.files_with_filter:,} of {counted(line.files, 'file')}"
        where = f"in {groups} and {files}, {size(line.bytes)}"
        yield NamedValue(line.column, f"{where}{readers_sentence(line)}")


def _sizes(stats: TableStats) -> GridBlock:
    heads = (
        Head("sizes"),
        *(Head(name, number=True) for name in ("count", "least", "25 %", "median", "75 %")),
        Head("greatest", number=True),
        Head("", meaning="distribution"),
    )
    measured = (
        ("file bytes", "file", stats.file_sizes, True),
        ("row group bytes", "row group", stats.row_group_sizes, True),
        ("row group rows", "row group", stats.row_group_rows, False),
    )
    rows = [
        _size_row(name, noun, distribution, weighs=weighs)
        for name, noun, distribution, weighs in measured
        if distribution is not None
    ]
    return GridBlock(heads, tuple(rows), label="Sizes")


def _size_row(name: str, noun: str, sizes: Distribution, *, weighs: bool) -> GridRow:
    numbers = (sizes.least, *sizes.quartiles, sizes.greatest)
    shown = (size(number) if weighs else f"{number:,}" for number in numbers)
    spread = Histogram(sizes, noun, first_power(sizes), last_power(sizes), weighs)
    return (name, f"{sizes.count:,}", *shown, spread)


def _manifests(stats: TableStats) -> Iterator[NamedValue]:
    if stats.manifests is not None:
        yield NamedValue("count", f"{stats.manifests:,}")
    for overlap in stats.manifest_overlap:
        depth = f"a value falls into {overlap.median:,} (median), where {overlap.ideal:,} would do"
        yield NamedValue(overlap.column, depth)
