"""Partitions without a preimage: the literals of a predicate are transformed instead.

A hash has no preimage that is an interval, and neither has a part of a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.functions.rules import mapped
from whyscan.pruning.functions.time.kernels import ticks_of
from whyscan.pruning.mask import Mask, Vector, all_of, both, either, may, opposite, surely
from whyscan.pruning.membership import any_within, below, search, up_to
from whyscan.pruning.same_representation import column_and_values
from whyscan.pruning.transforms.forward import forward
from whyscan.pruning.transforms.transform import Bucket

if TYPE_CHECKING:
    from whyscan.pruning.containers import Buckets, Containers
    from whyscan.pruning.interval import Interval
    from whyscan.tree.nodes import Comparison, In


def in_bucket(expression: Comparison | In, containers: Containers) -> Mask:
    """`column = v` and `column IN (v, …)` can be TRUE only if some v has a partition's value.

    Any other expression may be TRUE in every container.
    """
    pair = column_and_values(expression)
    if pair is None:
        return True
    column, values = pair
    fields = [b for b in containers.buckets if b.source == column.path]
    return all_of(_may_hold(b, containers.interval(column), values) for b in fields)


def _may_hold(buckets: Buckets, x: Interval, values: pa.Array) -> Mask:
    numbers = forward(buckets.transform, x.type, values)
    if numbers is None:
        return True
    distinct = pc.unique(numbers)
    lower, upper = buckets.lower, buckets.upper
    is_numbered = isinstance(buckets.transform, Bucket)
    if is_numbered:
        lower, upper = mapped(ticks_of, lower), mapped(ticks_of, upper)
    somewhere = any_within(lower, upper, distinct.take(pc.sort_indices(distinct)))
    if not is_numbered or len(values) <= 1 or lower is None or upper is None:
        return somewhere
    several = opposite(surely(pc.equal, lower, upper))
    return both(somewhere, either(several, _same_value(lower, x, numbers, values)))


def _same_value(bucket: Vector, x: Interval, numbers: pa.Array, values: pa.Array) -> Mask:
    """Some value falls into the bucket and also lies between the bounds of the column.

    The values between the bounds are a run of the sorted values. So among the values sorted by
    bucket and then by position, they are a run of each bucket.
    """
    width = pa.scalar(len(values), pa.int64())
    places = pa.array(np.arange(len(values)))
    keys = pc.add(pc.multiply(ticks_of(numbers), width), places)
    ordered = keys.take(pc.sort_indices(keys))
    start = pc.multiply(bucket, width)
    ends = (below(x.lower, values), up_to(x.upper, values))
    first, last = (search(ordered, pc.add(start, e.cast(pa.int64())), "left") for e in ends)
    return may(pc.less, first, last)
