"""Checks of counts and sizes that metadata records: a count that cannot be true becomes null."""

from __future__ import annotations

from typing import TypeGuard

import pyarrow as pa
import pyarrow.compute as pc

MOST = 1 << 48
"""No file has this many rows or bytes. Sums of thousands of smaller numbers fit into 64 bits."""


def is_number(value: object) -> TypeGuard[int]:
    """Whether metadata has a whole number here; TRUE is 1 in Python, and no number."""
    return isinstance(value, int) and not isinstance(value, bool)


def plausible(counts: pa.Array) -> pa.Array:
    """The counts, null where a count is negative or at least MOST."""
    is_plausible = pc.and_(pc.greater_equal(counts, 0), pc.less(counts, MOST))
    if pc.all(is_plausible, min_count=0).as_py():
        return counts
    return pc.if_else(is_plausible, counts, pa.scalar(None, counts.type))
