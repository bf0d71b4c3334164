"""Maxima of timestamps that Delta's writers cut to whole milliseconds."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_MILLISECOND = 1_000
_GREATEST = (1 << 63) - 1


def with_cut_microseconds(upper: pa.Array) -> pa.Array:
    """The maxima in microseconds; one in whole milliseconds is raised by the 999 it may have lost.

    No timestamp is after the greatest integer of 64 bits, so no maximum is raised beyond it.
    """
    steps = upper.view(pa.int64())
    is_cut = pc.equal(pc.multiply(pc.divide(steps, _MILLISECOND), _MILLISECOND), steps)
    lost = _MILLISECOND - 1
    raised = pc.add(pc.min_element_wise(steps, _GREATEST - lost), lost)
    return pc.if_else(is_cut, raised, steps).view(upper.type)
