"""The sentences of a profile, for every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.words import counted, inert, percent, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from whyscan.reports.stats.columns import ColumnStats
    from whyscan.reports.stats.profile import ManifestOverlap, TableStats

MILLION = 1_000_000


def answer(stats: TableStats) -> str:
    """Name the column that prunes best, in one line."""
    if not stats.files:
        return "the table has no files"
    best = next((c for c in stats.columns if c.skipped), None)
    if best is None:
        return f"no column of this table can skip any of {counted(stats.files, 'file')}"
    return (
        f"filters on {inert(best.column)} prune best: {inert(best.column)} = value skips "
        f"{share(best.skipped)} of {counted(stats.files, 'file')} on average"
    )


def share(part: float | None) -> str:
    """Write `66.7 %`, or a dash if the share is unknown."""
    return "-" if part is None else percent(round(part * MILLION), MILLION)


def contents(stats: TableStats) -> str:
    """Write the number of files, bytes and rows of the table."""
    rows = "unknown rows" if stats.rows is None else counted(stats.rows, "row")
    return f"{counted(stats.files, 'file')}, {size(stats.bytes)}, {rows}"


def spread(overlap: ManifestOverlap) -> str:
    """Write how many manifests one value of a column falls into."""
    return f"a value falls into {overlap.median:,} (median), where {overlap.ideal:,} would do"


REMARKS: tuple[tuple[str, Callable[[ColumnStats], object]], ...] = (
    ("bounds that take room and help no filter", lambda c: c.never_tight),
    ("no bounds in any file", lambda c: not c.bounded and c.collected == "yes"),
    ("no bounds, beyond the column budget", lambda c: c.collected == "beyond the column budget"),
    ("no bounds, switched off", lambda c: c.collected == "switched off"),
    ("bounds in some files only", lambda c: 0 < c.bounded < c.files),
    ("bounds that a writer cut off", lambda c: c.cut),
    ("may hold NULL", lambda c: c.nulls),
    ("NULLs that nobody counted", lambda c: c.nulls_uncounted),
    ("may hold NaN", lambda c: c.nan),
)


def remarks(stats: TableStats) -> Iterator[tuple[str, list[str]]]:
    """Yield remarks about columns, each with the names of its columns."""
    for remark, which in REMARKS:
        named = [inert(column.column) for column in stats.columns if which(column)]
        if named:
            yield remark, named
