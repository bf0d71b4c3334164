"""The total order of Spark's values: NaN is the greatest and equal to itself, -0.0 = 0.0,
text is ordered by the bytes of its UTF-8."""

from __future__ import annotations

import math
from typing import Any


def key(value: Any) -> Any:
    """What to compare instead of the value. Not for NULL."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return value.encode() if isinstance(value, str) else value


def less(a: Any, b: Any) -> bool:
    return key(a) < key(b)


def equal(a: Any, b: Any) -> bool:
    return key(a) == key(b)
