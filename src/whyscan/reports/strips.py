"""The bounds of each file as a strip of characters, with the range of the predicate.

░░░░━━━━████░░ the axis runs from the least bound of the column to the greatest one
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.reports.predicate_values import range_ends

if TYPE_CHECKING:
    import numpy.typing as npt

    from whyscan.reports.file_bounds import ColumnBounds
    from whyscan.reports.text_layout import Page

    Numbers = npt.NDArray[np.float64]

CELLS = 24
_SIGNS = " ░━█"
_ASCII = " .-#"
LEGEND = ((3, "where both are"), (2, "the file alone"), (1, "the predicate alone"))


class Strip(Struct, frozen=True):
    """The strip of one column: the first and last cell of each file, -1 if a bound is unknown.

    `predicate_cells` is 1 in the cells that the predicate can match.
    """

    column: str
    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    predicate_cells: npt.NDArray[np.int64]

    def drawn(self, file: int, page: Page) -> str | None:
        """Draw the strip of one file; None if one of its bounds is unknown."""
        if self.first[file] < 0:
            return None
        cells = self.predicate_cells.copy()
        cells[self.first[file] : self.last[file] + 1] += 2
        return "".join(signs(page)[cell] for cell in cells)


def signs(page: Page) -> str:
    """Return the four characters: nothing, the predicate, the file, both."""
    return _SIGNS if page.unicode else _ASCII


def strip(column: ColumnBounds) -> Strip | None:
    """Make the strip of a column; None if the predicate has no range, or no file has bounds."""
    if column.domain is None:
        return None
    lower, upper, lows, highs = _positions(column)
    bounded = np.isfinite(lower) & np.isfinite(upper)
    if not bounded.any():
        return None
    start, end = float(lower[bounded].min()), float(upper[bounded].max())
    first, last = (_cells(ends, start, end) for ends in (lower, upper))
    predicate_cells = np.zeros(CELLS, np.int64)
    begins = _cells(np.where(np.isnan(lows), -np.inf, lows), start, end)
    ends = _cells(np.where(np.isnan(highs), np.inf, highs), start, end)
    inside = (np.nan_to_num(lows, nan=-np.inf) <= end) & (np.nan_to_num(highs, nan=np.inf) >= start)
    for begin, stop in zip(begins[inside], ends[inside], strict=True):
        predicate_cells[begin : stop + 1] = 1
    first[~bounded] = -1
    return Strip(column.column, first, last, predicate_cells)


def _cells(values: Numbers, start: float, end: float) -> npt.NDArray[np.int64]:
    # Halved, because the difference of the greatest and the least double overflows.
    begin, width = start / 2, (end / 2 - start / 2) or 1.0
    with np.errstate(over="ignore"):
        places = np.clip((np.nan_to_num(values, nan=start) / 2 - begin) / width, 0.0, 1.0)
    return np.minimum(places * CELLS, CELLS - 1).astype(np.int64)


def _positions(column: ColumnBounds) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Place bounds and predicate ranges on one axis: numbers by value, other types by rank."""
    parts = [column.lower, column.upper, *range_ends(column.domain, column.type)]
    positions = [_numbers(part) for part in parts]
    if any(numbers is None for numbers in positions):
        values = pa.concat_arrays(parts)
        ranks = pc.rank(values, tiebreaker="dense").to_numpy().astype(np.float64)
        ranks[values.is_null().to_numpy(zero_copy_only=False)] = np.nan
        positions = list(np.split(ranks, np.cumsum([len(part) for part in parts])[:-1]))
    lower, upper, lows, highs = (n for n in positions if n is not None)
    return lower, upper, lows, highs


def _numbers(values: pa.Array) -> Numbers | None:
    """Convert numbers and times to floats, null to NaN; None for any other type."""
    kind = values.type
    if pa.types.is_date32(kind):
        values = values.cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        values = values.cast(pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    numbers: Numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers.astype(np.float64)
