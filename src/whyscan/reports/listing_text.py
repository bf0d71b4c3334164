"""The files of a report as text: one line for the verdict, one line for the evidence."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from whyscan.reports.strips import LEGEND, signs, strip
from whyscan.reports.text_layout import GAP, Ink, Page, columns
from whyscan.reports.words import VERDICTS, counted, inert, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.listing import Bounds, FileLine, Listing
    from whyscan.reports.strips import Strip
    from whyscan.reports.values import JsonValue

INK = {"none": Ink.FAINT, "some": Ink.WARN, "all": Ink.GOOD}
LONGEST_BOUND = 32
MARGIN = " " * 9
"""As wide as `skipped` and the gap behind it."""


def listed(listing: Listing, page: Page) -> Iterator[str]:
    """Write the files in the table's order, up to the page's limit, and how many are left out."""
    drawn = next(filter(None, map(strip, listing.bounds)), None)
    if drawn is not None:
        yield page.wrap(_legend(drawn, page), hanging=GAP)
    for at, line in enumerate(islice(listing.lines(), page.files)):
        yield from _listed(line, None if drawn is None else drawn.drawn(at, page), page)
    more = len(listing) - page.files
    if more > 0:
        dots = "…" if page.unicode else "..."
        yield f"{dots} and {counted(more, 'more file')}: --show N lists N of them"


def _legend(drawn: Strip, page: Page) -> str:
    words = ", ".join(f"{signs(page)[sign]} {meaning}" for sign, meaning in LEGEND)
    return f"{inert(drawn.column)}, from its least bound to its greatest: {words}"


def _listed(line: FileLine, drawn: str | None, page: Page) -> Iterator[str]:
    """Write one file. Text that does not fit beside the path goes below it."""
    path = _tail(inert(line.path), page.width - len(MARGIN), page)
    fate, evidence = _fate(line), "; ".join(_evidence(line, page))
    fits_beside = columns(path) + columns(fate) + len(MARGIN) + len(GAP) <= page.width
    verdict = page.paint(f"{VERDICTS[line.verdict]:<7}", INK[line.verdict])
    yield f"{verdict}{GAP}{path}{GAP}{fate}" if fits_beside else f"{verdict}{GAP}{path}"
    below = evidence if fits_beside else "; ".join(filter(None, (fate, evidence)))
    if drawn is not None:
        head = f"{MARGIN}|{drawn}|"
        if columns(head) + len(GAP) + columns(below) <= page.width:
            yield f"{head}{GAP}{below}".rstrip()
            return
        yield head
    if below:
        yield page.wrap(below, indent=MARGIN)


def _fate(line: FileLine) -> str:
    why = line.reason if line.pruned_by is None else f"removed by {line.pruned_by}"
    rows = () if line.rows is None else (counted(line.rows, "row"),)
    return ", ".join((size(line.bytes), *rows, why or ""))


def _tail(path: str, room: int, page: Page) -> str:
    """Cut the beginning of a long path, because its end says more."""
    if columns(path) <= room:
        return path
    dots = "…" if page.unicode else "..."
    return dots + path[len(path) - (room - len(dots)) :]


def _evidence(line: FileLine, page: Page) -> Iterator[str]:
    for column, ends in line.bounds.items():
        yield f"{inert(column)} {_range(ends, page)}"
    if line.row_groups:
        yield f"row groups {', '.join(map(str, line.row_groups))}"
    if line.residual is not None:
        yield f"to check: {inert(' '.join(line.residual.split()))}"


def _range(ends: Bounds, page: Page) -> str:
    lower, upper = (_end(end, page) for end in ends)
    return f"[{lower}, {upper}]"


def _end(end: JsonValue, page: Page) -> str:
    if end is None:
        return "?"
    return page.cut(inert(str(end)), LONGEST_BOUND)
