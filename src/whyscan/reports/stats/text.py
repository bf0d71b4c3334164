"""The layout of a table as text: which columns prune, then files, row groups and manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.reports.phrases import LEVEL_NAMES, version_of
from whyscan.reports.stats.phrases import answer, contents, remarks, share, spread
from whyscan.reports.text_layout import GAP, Ink, Page, columns, in_paragraphs, table, title_lines
from whyscan.reports.words import counted, inert, percent, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from whyscan.reports.stats.columns import ColumnStats
    from whyscan.reports.stats.distribution import Distribution
    from whyscan.reports.stats.profile import TableStats

STEPS = "▁▂▃▄▅▆▇█"
ASCII_STEPS = ".:-=+*#@"
LONGEST_NAME = 28
HEAD = ("column", "type", "bounds", "constant", "width", "depth", "ideal", "", "= skips")


def text(stats: TableStats, page: Page | None = None) -> str:
    """Write the whole profile; the text ends with a line break."""
    where = Page() if page is None else page
    sections = (
        title_lines(answer(stats), where),
        _subject(stats, where),
        _columns(stats, where),
        _remarks(stats, where),
        _sizes(stats, where),
        _manifests(stats, where),
        _unchecked(stats, where),
    )
    return in_paragraphs(sections)


def _subject(stats: TableStats, page: Page) -> Iterator[str]:
    subject = stats.table
    about = [subject.format]
    if version := version_of(subject):
        about.append(version)
    if subject.partitioned_by:
        about.append("partitioned by " + inert(", ".join(subject.partitioned_by)))
    yield page.wrap(
        f"table  {inert(page.place(subject.uri))} ({', '.join(about)})", hanging=" " * 7
    )
    yield f"holds  {contents(stats)}"


def _columns(stats: TableStats, page: Page) -> Iterator[str]:
    rows = [HEAD, *(_column(column, page) for column in stats.columns)]
    title, *lines = table(rows, right=frozenset({2, 3, 4, 5, 6, 8}))
    yield page.paint(title, Ink.FAINT)
    yield from lines


def _column(column: ColumnStats, page: Page) -> tuple[str, ...]:
    depth = column.depth
    return (
        page.cut(inert(column.column), LONGEST_NAME) + (" *" if column.partitioned else ""),
        page.cut(inert(column.type), 14),
        percent(column.bounded, column.files),
        f"{column.constant:,}",
        share(column.width),
        "-" if depth is None else f"{depth.median:,}",
        "-" if depth is None else f"{depth.ideal:,}",
        "" if depth is None else spark(depth.spread, page),
        share(column.skipped),
    )


def spark(distribution: Distribution, page: Page) -> str:
    """Draw the bins as a row of block characters; an empty bin is a blank."""
    steps = STEPS if page.unicode else ASCII_STEPS
    most = max(distribution.bins)
    return "".join(
        " " if not count else steps[(count * len(steps) - 1) // most] for count in distribution.bins
    ).rstrip()


def _remarks(stats: TableStats, page: Page) -> Iterator[str]:
    if any(column.partitioned for column in stats.columns):
        yield "* partition values tell it"
    for remark, named in remarks(stats):
        yield page.wrap(f"{remark}: {', '.join(named)}", hanging="  ")


def _sizes(stats: TableStats, page: Page) -> Iterator[str]:
    rows = [
        ("", "least", "median", "greatest", ""),
        *_size("file bytes", stats.file_sizes, size, page),
        *_size("row group bytes", stats.row_group_sizes, size, page),
        *_size("row group rows", stats.row_group_rows, lambda n: f"{n:,}", page),
    ]
    if len(rows) > 1:
        title, *lines = table(rows, right=frozenset({1, 2, 3}))
        yield page.paint(title, Ink.FAINT)
        yield from lines


def _size(
    name: str, distribution: Distribution | None, shown: Callable[[int], str], page: Page
) -> Iterator[tuple[str, ...]]:
    if distribution is not None:
        yield (
            name,
            shown(distribution.least),
            shown(distribution.median),
            shown(distribution.greatest),
            spark(distribution, page),
        )


def _manifests(stats: TableStats, page: Page) -> Iterator[str]:
    if stats.manifests is None:
        return
    yield f"{counted(stats.manifests, 'manifest')}"
    width = max((columns(inert(o.column)) for o in stats.manifest_overlap), default=0)
    for overlap in stats.manifest_overlap:
        name = inert(overlap.column).ljust(width)
        yield page.wrap(f"  {name}{GAP}{spread(overlap)}")


def _unchecked(stats: TableStats, page: Page) -> Iterator[str]:
    for entry in stats.unchecked:
        line = f"not checked: {LEVEL_NAMES.get(entry.level, entry.level)} ({inert(entry.why)})"
        yield page.wrap(line, hanging="  ")
