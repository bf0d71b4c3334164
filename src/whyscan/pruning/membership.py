"""`x IN (…)`: compares thousands of values with thousands of containers by binary search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.mask import Mask, Vector, both, either, may, opposite, surely
from whyscan.pruning.truth import Truth

if TYPE_CHECKING:
    from whyscan.pruning.interval import Interval
    from whyscan.tree.nodes import In


def member(x: Interval, listed: In) -> Truth:
    """TRUE if a value is in the list; else FALSE, or NULL if the list contains NULL."""

    def hit() -> Mask:
        values = both(x.value, any_within(x.lower, x.upper, listed.values))
        return either(values, both(x.nan, listed.nan))

    def miss() -> Mask:
        values = both(x.value, opposite(all_within(x.lower, x.upper, listed.values)))
        return either(values, both(x.nan, not listed.nan))

    return Truth(
        hit,
        lambda: False if listed.null else miss(),
        lambda: either(x.null, miss()) if listed.null else x.null,
        lambda: x.raises,
    )


def any_within(lower: Vector | None, upper: Vector | None, values: pa.Array) -> Mask:
    """Some listed value lies between the bounds. An unknown bound excludes nothing."""
    if not len(values):
        return False
    return may(pc.less, below(lower, values), up_to(upper, values))


def all_within(lower: Vector | None, upper: Vector | None, values: pa.Array) -> Mask:
    """Every value between the bounds is listed: a single point, or a run of integers."""
    if not len(values):
        return False
    hits = may_count(lower, upper, values)
    if hits is None:
        return False
    points = both(surely(pc.equal, lower, upper), surely(lambda n: pc.equal(n, 1), hits))
    if not pa.types.is_int64(values.type) and not pa.types.is_date32(values.type):
        return points
    return either(points, surely(_covers, lower, upper, hits))


def may_count(lower: Vector | None, upper: Vector | None, values: pa.Array) -> Vector | None:
    """The number of listed values between the bounds; None if a bound is unknown everywhere."""
    if lower is None or upper is None:
        return None
    return pc.subtract(up_to(upper, values).cast(pa.int64()), below(lower, values).cast(pa.int64()))


def _covers(lower: Vector, upper: Vector, hits: Vector) -> Vector:
    """hits = upper - lower + 1. A wide interval is excluded first, as its width may overflow."""
    low, high = (pc.cast(_integers(v), pa.float64(), safe=False) for v in (lower, upper))
    near = pc.less(pc.subtract(high, low), 1e9)
    steps = pc.subtract(_integers(upper), _integers(lower))
    return pc.and_(near, pc.equal(pc.add(steps, 1), hits))


def _integers(values: Vector) -> Vector:
    return values.cast(pa.int32()).cast(pa.int64()) if pa.types.is_date32(values.type) else values


def below(lower: Vector | None, values: pa.Array) -> Vector:
    """The number of listed values below the bound; 0 where the bound is unknown."""
    if lower is None:
        return pa.scalar(0, pa.uint64())
    return pc.fill_null(search(values, lower, "left"), pa.scalar(0, pa.uint64()))


def up_to(upper: Vector | None, values: pa.Array) -> Vector:
    """The number of listed values at or below the bound; all where the bound is unknown."""
    everything = pa.scalar(len(values), pa.uint64())
    if upper is None:
        return everything
    return pc.fill_null(search(values, upper, "right"), everything)


def search(values: pa.Array, needles: Vector, side: str) -> Vector:
    """The number of sorted values before each needle."""
    if pa.types.is_decimal(values.type):
        return _search_decimals(values, needles, side)
    return pc.search_sorted(values, needles, side=side)


def _search_decimals(values: pa.Array, needles: Vector, side: str) -> Vector:
    """The same for decimals, by sorting: Arrow has no binary search over decimals.

    With side `left` a needle comes before the values that equal it, with `right` after them.
    """
    points = needles if isinstance(needles, pa.Array) else pa.array([needles.as_py()], needles.type)
    is_value = pa.concat_arrays(
        [pa.repeat(pa.scalar(True), len(values)), pa.repeat(pa.scalar(False), len(points))]
    )
    tie = is_value if side == "left" else pc.invert(is_value)
    common = pa.decimal256(76, max(values.type.scale, points.type.scale))
    combined = pa.concat_arrays([values.cast(common), points.cast(common)])
    table = pa.table({"x": combined, "tie": tie.cast(pa.int8())})
    order = pc.sort_indices(table, sort_keys=[("x", "ascending"), ("tie", "ascending")])
    counted = pc.cumulative_sum(is_value.take(order).cast(pa.uint64()))
    back = pc.sort_indices(order).slice(len(values))
    ranks = pc.if_else(pc.is_valid(points), counted.take(back), pa.scalar(None, pa.uint64()))
    return ranks if isinstance(needles, pa.Array) else ranks[0]
