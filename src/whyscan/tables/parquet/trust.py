"""Which bounds of a column chunk may be believed.

| bounds | believed |
|---|---|
| `min_value`, `max_value` in the order of the type | yes |
| the same, in IEEE 754's total order | for floats: NaN is outside of the bounds |
| the same, in no order or an unknown one | if the type has only one order |
| `min`, `max` (deprecated: bytes compared signed) | if the type has only one order |
| text and bytes of parquet-mr before 1.8.2, or of an unknown version of it | no (PARQUET-251) |
| old dates and timestamps of a writer with the Julian calendar | no (calendars.py) |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whyscan.tables.parquet.calendars import in_both_calendars
from whyscan.tables.parquet.chunk_patterns import statistic
from whyscan.tables.parquet.schemas import SIGNED, Encoding

if TYPE_CHECKING:
    from whyscan.tables.parquet.metadata import FooterMetadata
    from whyscan.tables.parquet.schemas import ParquetColumn
    from whyscan.tables.parquet.thrift import Fields

OLD_MAX, OLD_MIN, NULL_COUNT, MAX, MIN, NAN_COUNT = map(statistic, (1, 2, 3, 5, 6, 9))
_TYPE_ORDER, _TOTAL_ORDER = 1, 2
_FLOATS = (Encoding.HALF, Encoding.FLOAT, Encoding.DOUBLE)
_PARQUET_MR = re.compile(r"parquet-mr version (\d+)\.(\d+)\.(\d+)")
_REPAIRED = (1, 8, 2)


def has_new_bounds(leaf: ParquetColumn, metadata: FooterMetadata) -> bool:
    """Whether `min_value` and `max_value` of a column may be believed."""
    if leaf.encoding is Encoding.NONE:
        return False
    order = None if metadata.orders is None else metadata.orders[leaf.index]
    if leaf.encoding in _FLOATS:
        return order in (_TYPE_ORDER, _TOTAL_ORDER) or leaf.encoding in SIGNED
    if leaf.encoding is Encoding.BYTES and _is_broken(metadata.created_by):
        return False
    return order == _TYPE_ORDER or leaf.encoding in SIGNED


def has_old_bounds(leaf: ParquetColumn) -> bool:
    """Whether the deprecated `min` and `max` of a column may be believed."""
    return leaf.encoding in SIGNED


def _is_broken(created_by: str) -> bool:
    if not created_by.startswith("parquet-mr"):
        return False
    version = _PARQUET_MR.match(created_by)
    return version is None or tuple(map(int, version.groups())) < _REPAIRED


def bounds(
    chunk: Fields, leaf: ParquetColumn, metadata: FooterMetadata
) -> tuple[bytes | None, bytes | None]:
    """The encoded bounds of a chunk that may be believed, None where there is none."""
    lower, upper = _written(chunk, leaf, metadata)
    if metadata.hybrid_calendar:
        return in_both_calendars(lower, leaf), in_both_calendars(upper, leaf)
    return lower, upper


def _written(
    chunk: Fields, leaf: ParquetColumn, metadata: FooterMetadata
) -> tuple[bytes | None, bytes | None]:
    if has_new_bounds(leaf, metadata):
        lower, upper = chunk.get(MIN), chunk.get(MAX)
        if lower is not None or upper is not None:
            return lower, upper
    if has_old_bounds(leaf):
        return chunk.get(OLD_MIN), chunk.get(OLD_MAX)
    return None, None
