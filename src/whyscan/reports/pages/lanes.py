"""Draws joins as lines beside a list of scans: each line gets a lane, and no line hides another.

  ┌──  orders       lane 1, row 0
┌─┼─▶  customers    lane 0 begins elsewhere
│ └─▶  lines        lane 1 ends, row 2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.reports.view import JoinedScans

ROW = 44
MARGIN = 16
WIDEST = 180
LANE = 18
CORNER = 6
MOST_DRAWN = 300
"""With more joins than this no line is drawn: a reader could not follow the lines."""


class Line(Struct, frozen=True):
    """The line of a join from one row to another; `path` and `head` are SVG paths."""

    join: JoinedScans
    path: str
    head: str

    @property
    def style(self) -> str:
        """The CSS class."""
        kind = self.join.kind
        if "cross" in kind:
            return "cross"
        return "outer" if {"left", "right", "full"} & set(kind.split()) else "inner"


class Drawing(Struct, frozen=True):
    """All lines, with the width and height of the drawing in pixels."""

    width: int
    height: int
    lines: tuple[Line, ...]


def drawing(joins: Sequence[JoinedScans], rows: int) -> Drawing:
    """Draw joins as lines, beside rows of `ROW` pixels."""
    drawn = [join for join in joins if join.left != join.right]
    if len(drawn) > MOST_DRAWN:
        drawn = []
    lanes = _lanes(drawn)
    count = max(lanes, default=-1) + 1
    step = min(LANE, WIDEST // max(count, 1))
    width = MARGIN + step * count
    lines = tuple(
        _line(join, width - MARGIN - step * lane, width)
        for join, lane in zip(drawn, lanes, strict=True)
    )
    return Drawing(width, ROW * rows, lines)


def _lanes(joins: Sequence[JoinedScans]) -> list[int]:
    """Choose a lane for each join: short lines near the list, no two of a lane overlap."""
    lane_of = [0] * len(joins)
    lane_spans: list[list[tuple[int, int]]] = []
    order = sorted(range(len(joins)), key=lambda at: abs(joins[at].left - joins[at].right))
    for at in order:
        low, high = sorted((joins[at].left, joins[at].right))
        free = (
            n for n, spans in enumerate(lane_spans) if all(high < a or low > b for a, b in spans)
        )
        lane = next(free, len(lane_spans))
        if lane == len(lane_spans):
            lane_spans.append([])
        lane_spans[lane].append((low, high))
        lane_of[at] = lane
    return lane_of


def _line(join: JoinedScans, x: int, width: int) -> Line:
    """Draw from the left scan's row to the lane, along it, and to the right scan's row."""
    begin, end = (ROW * at + ROW // 2 for at in (join.left, join.right))
    # A line that begins at a row does not cover a line that ends there.
    begin, end = (begin + 5, end - 5) if begin < end else (begin - 5, end + 5)
    turn = CORNER if begin < end else -CORNER
    edge_of_list = width - 4
    path = (
        f"M{edge_of_list} {begin}H{x + CORNER}Q{x} {begin} {x} {begin + turn}"
        f"V{end - turn}Q{x} {end} {x + CORNER} {end}H{edge_of_list - 5}"
    )
    head = f"M{edge_of_list - 6} {end - 4}L{edge_of_list + 2} {end}L{edge_of_list - 6} {end + 4}Z"
    return Line(join, path, head)
