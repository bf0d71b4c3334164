"""Whether bounds prove that a column has no NaN, by the writer of the file.

| evidence | what it proves |
|---|---|
| `nan_count` | the count |
| parquet-mr 1.10 to 1.17 (Spark, Delta on Spark, Iceberg) | NaN would have been the greatest |
| parquet-mr before 1.10 | NaN was compared with `<` and hides |
| Arrow, delta-rs, Polars, DuckDB before 2.0, all other writers | NaN is left out of bounds |
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from whyscan.pruning.mask import Mask

_PARQUET_MR = re.compile(r"parquet-mr version 1\.(\d+)\b")
_GREATEST = range(10, 18)


@lru_cache(maxsize=1024)
def nan_is_greatest(created_by: str) -> bool:
    """Whether this writer would have made NaN the maximum."""
    match = _PARQUET_MR.match(created_by)
    return match is not None and int(match[1]) in _GREATEST


def may_be_nan(counts: pa.Array, greatest: pa.BooleanArray, upper: pa.Array | None) -> Mask:
    """Whether a row may be NaN, one boolean per container. A null in `counts` is unknown.

    Without a maximum nothing proves that NaN was not the maximum.
    """
    counted = pc.greater(counts, 0)
    if upper is None:
        return counted.fill_null(pa.scalar(True))
    finite_maximum = pc.invert(pc.is_nan(upper)).fill_null(pa.scalar(False))
    return pc.coalesce(counted, pc.invert(pc.and_(greatest, finite_maximum)))
