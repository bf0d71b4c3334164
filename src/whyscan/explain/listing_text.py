"""Every file of a report for people: one line for its fate, one for its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.explain.layout import GAP, Ink, Page, columns
from whyscan.explain.wording import counted, inert, size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from whyscan.explain.listing import Bounds, FileLine
    from whyscan.explain.values import JsonValue

INK = {"none": Ink.FAINT, "some": Ink.WARN, "all": Ink.GOOD}
LONGEST_BOUND = 32
MARGIN = " " * 6


def listed(files: Iterable[FileLine], page: Page) -> Iterator[str]:
    """The files in the table's order. What does not fit beside the path goes below it."""
    for line in files:
        path = _tail(inert(line.path), page.width - len(MARGIN), page)
        fate, evidence = _fate(line), "; ".join(_evidence(line, page))
        beside = columns(path) + columns(fate) + len(MARGIN) + len(GAP) <= page.width
        verdict = page.paint(f"{line.verdict:<4}", INK[line.verdict])
        yield f"{verdict}{GAP}{path}{GAP}{fate}" if beside else f"{verdict}{GAP}{path}"
        below = evidence if beside else "; ".join(filter(None, (fate, evidence)))
        if below:
            yield page.wrap(below, indent=MARGIN)


def _fate(line: FileLine) -> str:
    why = line.reason if line.pruned_by is None else f"removed by {line.pruned_by}"
    rows = () if line.rows is None else (counted(line.rows, "row"),)
    return ", ".join((size(line.bytes), *rows, why or ""))


def _tail(path: str, room: int, page: Page) -> str:
    """The end of a path says more than its beginning."""
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
