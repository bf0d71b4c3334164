"""Overlap depth: in how many files a value of a column may be, by the bounds of the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

if TYPE_CHECKING:
    import numpy.typing as npt

FILES_AT_MOST = 200_000
"""If there are more files, this many at even steps are measured."""


class OverlapDepth(Struct, frozen=True):
    """How many containers overlap at the values of a column, by the bounds of `files` containers.

    `depths` has for each container how many containers, including itself, may hold one of its
    values, on average. `widths` has the share of the column's extent that each container spans.
    `ideal` is the best depth of a sorted table: more than 1 where the column has fewer values than
    files.
    """

    files: int
    ideal: int
    depths: npt.NDArray[np.float64]
    widths: npt.NDArray[np.float64]

    @property
    def median(self) -> int:
        return round(median(self.depths))


def median(values: npt.NDArray[np.float64]) -> float:
    """The median, as NumPy computes it, without NumPy's import of masked arrays."""
    middle = [(len(values) - 1) // 2, len(values) // 2]
    return float(np.partition(values, middle)[middle].mean())


def overlap(lower: pa.Array, upper: pa.Array) -> OverlapDepth | None:
    """The overlap of containers by their bounds; None where fewer than two have both bounds.

    Values are assumed to be spread evenly between the bounds; text is spread evenly over all
    bounds.
    """
    both = pc.and_(lower.is_valid(), upper.is_valid())
    lower, upper = lower.filter(both), upper.filter(both)
    count = len(lower)
    if count <= 1:
        return None
    if count > FILES_AT_MOST:
        chosen = pa.array(sampled(count))
        lower, upper = lower.take(chosen), upper.take(chosen)
    return overlap_of(lower, upper, count)


def sampled(count: int) -> npt.NDArray[np.int64]:
    """The positions of the containers that are measured: all, or some at even steps."""
    if count <= FILES_AT_MOST:
        return np.arange(count)
    return np.linspace(0, count - 1, FILES_AT_MOST).astype(np.int64)


def overlap_of(lower: pa.Array, upper: pa.Array, count: int) -> OverlapDepth:
    """The overlap of `count` containers, from the bounds of those that are measured."""
    ends = pa.concat_arrays([lower, upper])
    ranks = pc.rank(ends, tiebreaker="dense").to_numpy().astype(np.int64) - 1
    below, above = ranks[: len(lower)], ranks[len(lower) :]
    places = _places(ends, ranks)
    scale = count / len(lower)
    extent = places[-1] - places[0]
    ideal = max(1, -(-len(lower) // _values_at_most(below, above, ends)))
    return OverlapDepth(
        files=count,
        ideal=round(ideal * scale) if ideal > 1 else 1,
        depths=_depths(below, above, places) * scale,
        widths=(places[above] - places[below]) / (extent or 1),
    )


def _values_at_most(
    below: npt.NDArray[np.int64], above: npt.NDArray[np.int64], ends: pa.Array
) -> int:
    """How many values the column may have, but no more than there are containers.

    Containers of one value each have exactly these values. Integers and dates have as many values
    as fit between the bounds, other numbers and times any number; for text only the bounds are
    counted.
    """
    bounds = int(max(below.max(), above.max())) + 1
    if (below == above).all() or not pa.types.is_primitive(ends.type):
        return bounds
    if pa.types.is_boolean(ends.type):
        return bounds
    if pa.types.is_integer(ends.type) or pa.types.is_date32(ends.type):
        extent = pc.min_max(ends.view(pa.int32()) if pa.types.is_date32(ends.type) else ends)
        return int(min(extent["max"].as_py() - extent["min"].as_py() + 1, len(below)))
    return len(below)


def _depths(
    below: npt.NDArray[np.int64], above: npt.NDArray[np.int64], places: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The mean depth over each container: depths between neighbouring bounds, by their length."""
    begun = np.bincount(below, minlength=len(places)).cumsum()
    ended = np.bincount(above, minlength=len(places)).cumsum()
    at_points = begun - np.concatenate(([0], ended[:-1]))
    pieces = (begun - ended)[:-1] * np.diff(places)
    area = np.concatenate(([0.0], pieces.cumsum()))
    length = places[above] - places[below]
    spans = length > 0
    mean = (area[above] - area[below]) / np.where(spans, length, 1)
    return np.where(spans, mean, at_points[below])


def _places(ends: pa.Array, ranks: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The distinct bounds as numbers; one step apart where the type has no numbers."""
    steps = np.arange(int(ranks.max()) + 1, dtype=np.float64)
    if pa.types.is_temporal(ends.type):
        ends = ends.view(pa.int64() if ends.type.bit_width == 64 else pa.int32())  # noqa: PLR2004 - bits
    elif pa.types.is_decimal(ends.type):
        ends = ends.cast(pa.float64())
    elif not pa.types.is_primitive(ends.type) or pa.types.is_boolean(ends.type):
        return steps
    numbers = ends.to_numpy(zero_copy_only=False).astype(np.float64)
    if not np.isfinite(numbers).all():
        return steps
    places = np.empty_like(steps)
    places[ranks] = numbers
    return places
