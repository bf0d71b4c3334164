"""The layout of a table as an HTML page, and as a fragment for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whyscan.reports.pages.bars import part_of
from whyscan.reports.pages.shell import document, piece
from whyscan.reports.phrases import read
from whyscan.reports.stats.histogram import last_power, steps
from whyscan.reports.stats.phrases import MILLION, answer, contents, remarks, share, spread
from whyscan.reports.words import size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.pages.bars import Segment
    from whyscan.reports.stats.distribution import Distribution
    from whyscan.reports.stats.profile import TableStats


def page(stats: TableStats) -> str:
    """Write a whole document; only the sorting of columns needs a script."""
    return document(
        "stats.html.j2",
        scripts=("sorting.js", "start_stats.js"),
        styles=("stats.css",),
        stats=stats,
        **_words(stats),
    )


def fragment(stats: TableStats) -> str:
    """Write the HTML that a notebook shows."""
    return piece("stats_fragment.html.j2", stats=stats, **_words(stats))


def _words(stats: TableStats) -> dict[str, Any]:
    sentence = answer(stats)
    return {
        "answer": sentence[0].upper() + sentence[1:],
        "contents": contents(stats),
        "remarks": list(remarks(stats)),
        "measured": list(_measured(stats)),
        "deepest": max((last_power(c.depth.spread) for c in stats.columns if c.depth), default=0),
        "part": _part,
        "part_of": part_of,
        "read": read,
        "share": _share,
        "spread": spread,
        "steps": steps,
    }


def _share(fraction: float | None) -> str:
    return "\N{EN DASH}" if fraction is None else share(fraction)


def _part(fraction: float | None) -> tuple[Segment, ...]:
    return () if fraction is None else part_of(round(fraction * MILLION), MILLION)


def _measured(stats: TableStats) -> Iterator[tuple[str, str, Distribution, Any]]:
    """Yield the distributions of sizes: a title, the unit counted, the numbers, a formatter."""
    for name, noun, distribution, worded in (
        ("Bytes of a file", "file", stats.file_sizes, size),
        ("Bytes of a row group", "row group", stats.row_group_sizes, size),
        ("Rows of a row group", "row group", stats.row_group_rows, "{:,}".format),
    ):
        if distribution is not None:
            yield name, noun, distribution, worded
