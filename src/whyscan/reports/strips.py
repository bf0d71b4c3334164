"""The bounds of each file drawn against the predicate's range, a few characters a file.

░░░░━━━━████░░      the axis runs from the least bound of the column to its greatest one
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from whyscan.reports.predicate_values import asked_ends

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
    """One column: the first and last cell of each file, -1 where a bound is unknown."""

    column: str
    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    asked: npt.NDArray[np.int64]

    def drawn(self, file: int, page: Page) -> str | None:
        """The strip of a file; None where one of its bounds is unknown."""
        if self.first[file] < 0:
            return None
        cells = self.asked.copy()
        cells[self.first[file] : self.last[file] + 1] += 2
        return "".join(signs(page)[cell] for cell in cells)


def signs(page: Page) -> str:
    """Nothing, the predicate, the file, both."""
    return _SIGNS if page.unicode else _ASCII


def strip(column: ColumnBounds) -> Strip | None:
    """The strip of a column; None where the predicate or no file has a range of it."""
    if column.asked is None:
        return None
    lower, upper, lows, highs = _positions(column)
    known = np.isfinite(lower) & np.isfinite(upper)
    if not known.any():
        return None
    start, end = float(lower[known].min()), float(upper[known].max())
    first, last = (_cells(ends, start, end) for ends in (lower, upper))
    asked = np.zeros(CELLS, np.int64)
    begins = _cells(np.where(np.isnan(lows), -np.inf, lows), start, end)
    ends = _cells(np.where(np.isnan(highs), np.inf, highs), start, end)
    inside = (np.nan_to_num(lows, nan=-np.inf) <= end) & (np.nan_to_num(highs, nan=np.inf) >= start)
    for begin, stop in zip(begins[inside], ends[inside], strict=True):
        asked[begin : stop + 1] = 1
    first[~known] = -1
    return Strip(column.column, first, last, asked)


def _cells(values: Numbers, start: float, end: float) -> npt.NDArray[np.int64]:
    # In halves: from the least double to the greatest is more than a double.
    begin, width = start / 2, (end / 2 - start / 2) or 1.0
    with np.errstate(over="ignore"):
        places = np.clip((np.nan_to_num(values, nan=start) / 2 - begin) / width, 0.0, 1.0)
    return np.minimum(places * CELLS, CELLS - 1).astype(np.int64)


def _positions(column: ColumnBounds) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Bounds and the ends of what is asked on one axis: numbers as such, others by their rank."""
    parts = [column.lower, column.upper, *asked_ends(column.asked, column.type)]
    found = [_numbers(part) for part in parts]
    if any(numbers is None for numbers in found):
        whole = pa.concat_arrays(parts)
        ranks = pc.rank(whole, tiebreaker="dense").to_numpy().astype(np.float64)
        ranks[whole.is_null().to_numpy(zero_copy_only=False)] = np.nan
        found = list(np.split(ranks, np.cumsum([len(part) for part in parts])[:-1]))
    lower, upper, lows, highs = (n for n in found if n is not None)
    return lower, upper, lows, highs


def _numbers(values: pa.Array) -> Numbers | None:
    """Numbers and points in time as floats, null as NaN; None for any other type."""
    kind = values.type
    if pa.types.is_date32(kind):
        values = values.cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        values = values.cast(pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    numbers: Numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers.astype(np.float64)
