"""The files of a sorted table as far as today's bounds prove them, without reading a row.

Every row lies between the bounds of its container. So the row at place k of the sorted table is at
least the k-th of all rows taken at their lower bounds, and at most the k-th of all rows taken at
their upper bounds. The bounds of each file follow from its first and its last row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from whyscan.errors import UsageError
from whyscan.layouts.layout import OrderKind
from whyscan.pruning.interval import Interval
from whyscan.tree.types import FloatType

if TYPE_CHECKING:
    import numpy.typing as npt

    from whyscan.layouts.applied import AppliedLayout
    from whyscan.pruning.containers import Containers
    from whyscan.pruning.mask import Mask, Vector
    from whyscan.tables.snapshot import Files
    from whyscan.tree.nodes import Column

    Numbers = npt.NDArray[np.int64]


def proved_column(layout: AppliedLayout) -> Column:
    """Return the one column whose bounds can be proved; an error says why there is none."""
    order = layout.order
    if order is None or order.kind is not OrderKind.SORT:
        raise UsageError(
            "bounds alone prove nothing about this layout", hint="sort by a column, or sample rows"
        )
    if layout.partitions:
        raise UsageError(
            "bounds alone do not say which rows are in which partition",
            hint="sample rows, or write partition by none",
        )
    first = order.columns[0]
    if first.descending:
        raise UsageError("bounds are proved for ascending order", hint="sort without desc")
    return next(column for column in layout.columns if column.path == first.path)


def counted_deletes(files: Files) -> int:
    """How many rows of the table are deleted; an error if metadata does not say it exactly."""
    maybe = files.maybe_deleted
    if maybe is not None and not pc.all(pc.equal(maybe, 0), skip_nulls=False).as_py():
        raise UsageError(
            "the table has delete files, and bounds do not say what they delete", hint="sample rows"
        )
    return 0 if files.deleted is None else pc.sum(files.deleted).as_py() or 0


def proved_interval(
    containers: Containers, column: Column, starts: Numbers, ends: Numbers
) -> Interval:
    """The interval of the column in files that hold the rows `starts` to `ends` of the order.

    NULL comes first and NaN last, as Spark sorts. A container that may hold NULL or NaN, or whose
    bound is unknown, is open at that end.
    """
    interval = containers.interval(column)
    counts = containers.rows
    if counts is None or counts.null_count:
        raise UsageError("the rows of some files are not counted", hint="sample rows")
    rows = counts.to_numpy()
    lower = _open_where(interval.lower, interval.null, containers.count)
    upper = _open_where(interval.upper, interval.nan, containers.count)
    # Unknown ends sort first among lower bounds and last among upper bounds.
    least = _row_at(lower, rows, starts, unknown="at_start")
    greatest = _row_at(upper, rows, ends - 1, unknown="at_end")
    return Interval(
        column.type,
        least,
        greatest,
        null=least.is_null(),
        nan=greatest.is_null() if isinstance(column.type, FloatType) else False,
    )


def _open_where(bounds: Vector | None, possible: Mask, count: int) -> pa.Array:
    """The bounds; unknown where NULL or NaN may lie beyond them."""
    if not isinstance(bounds, pa.Array):
        bounds = pa.nulls(count) if bounds is None else pa.repeat(bounds, count)
    if possible is False:
        return bounds
    if possible is True:
        return pa.nulls(count, bounds.type)
    return pc.if_else(possible, pa.scalar(None, bounds.type), bounds)


def _row_at(bounds: pa.Array, rows: Numbers, places: Numbers, *, unknown: str) -> pa.Array:
    """The bound of the row at each place, if every row had the bound of its container."""
    if pa.types.is_null(bounds.type):
        return pa.nulls(len(places), pa.null())
    order = pc.array_sort_indices(bounds, null_placement=unknown)
    behind = np.cumsum(rows[order.to_numpy()])
    return bounds.take(order).take(pa.array(np.searchsorted(behind, places, side="right")))
