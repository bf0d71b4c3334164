"""Files of Spark that count old days in another calendar than everybody else.

Spark before 3.0, and a later one that is told to write as it did (`LEGACY`), has the Julian
calendar until 1582 and the mean times of places until 1900. Its reader counts such days again: what
a footer says of them is not what a query sees.
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
"""1582-10-15: from this day on both calendars have the same days."""
_STANDARD_TIME = -25_567
"""1900-01-01: from this day on Spark has the same moments in every zone."""
_MILLISECONDS_A_DAY = 86_400_000


def has_hybrid_calendar(told: Mapping[bytes, bytes]) -> bool:
    """Whether the writer's keys say that Spark counts old days of the file again."""
    version = told.get(SPARK_VERSION)
    is_old = version is not None and version.partition(b".")[0] in _BEFORE_3
    return is_old or any(key in told for key in LEGACY)


def in_both_calendars(end: bytes | None, leaf: ParquetColumn) -> bytes | None:
    """A bound as it is written; None for one of a time in which the calendars differ."""
    agreed = _agreed(leaf)
    if end is None or agreed is None:
        return end
    return end if int.from_bytes(end, "little", signed=True) >= agreed else None


def _agreed(leaf: ParquetColumn) -> int | None:
    """The first number from which on both calendars are one; None for what is no time."""
    match leaf.type:
        case DateType():
            return _GREGORIAN
        case TimestampType(unit=unit):
            is_coarse = leaf.encoding is Encoding.MILLISECONDS
            steps = 1_000 if is_coarse else unit.per_second
            return _STANDARD_TIME * _MILLISECONDS_A_DAY // 1_000 * steps
        case _:
            return None
