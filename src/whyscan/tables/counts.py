"""Counts and sizes as metadata records them; one that cannot be true is none at all."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

MOST = 1 << 48
"""No file has as many rows or bytes. Thousands of smaller numbers still add up in 64 bits."""


def plausible(counts: pa.Array) -> pa.Array:
    """The counts, null where one is negative or beyond what can be."""
    right = pc.and_(pc.greater_equal(counts, 0), pc.less(counts, MOST))
    if pc.all(right, min_count=0).as_py():
        return counts
    return pc.if_else(right, counts, pa.scalar(None, counts.type))
