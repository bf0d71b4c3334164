"""Files of Spark whose old dates and timestamps are in another calendar.

Spark before 3.0, and later versions in legacy mode (`LEGACY`), write dates before 1582 in the
Julian calendar and timestamps before 1900 in local mean time. Spark's reader converts them, so the
bounds in such a footer are not those of the values that a query sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.tables.parquet.schemas import Encoding
from whyscan.tree.types import DateType, TimestampType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whyscan.tables.parquet.schemas import ParquetColumn

SPARK_VERSION = b"org.apache.spark.version"
LEGACY = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_BEFORE_3 = (b"1", b"2")
_GREGORIAN = -141_427
"""1582-10-15 in days since 1970: from this day on both calendars have the same days."""
_STANDARD_TIME = -25_567
"""1900-01-01 in days since 1970: from this day on Spark converts no timestamps in any zone."""
_MILLISECONDS_A_DAY = 86_400_000


def has_hybrid_calendar(keys: Mapping[bytes, bytes]) -> bool:
    """Whether the writer's key-value metadata says that Spark converts old dates of the file."""
    version = keys.get(SPARK_VERSION)
    is_old = version is not None and version.partition(b".")[0] in _BEFORE_3
    return is_old or any(key in keys for key in LEGACY)


def in_both_calendars(bound: bytes | None, leaf: ParquetColumn) -> bytes | None:
    """Return the bound; None if the Julian and the Gregorian calendar differ at its time."""
    first_common = _first_common(leaf)
    if bound is None or first_common is None:
        return bound
    return bound if int.from_bytes(bound, "little", signed=True) >= first_common else None


def _first_common(leaf: ParquetColumn) -> int | None:
    """The first value from which both calendars agree; None for other types."""
    match leaf.type:
        case DateType():
            return _GREGORIAN
        case TimestampType(unit=unit):
            is_coarse = leaf.encoding is Encoding.MILLISECONDS
            steps = 1_000 if is_coarse else unit.per_second
            return _STANDARD_TIME * _MILLISECONDS_A_DAY // 1_000 * steps
        case _:
            return None
