"""Whether bounds say that there is no NaN, by who wrote them.

| evidence | what it says |
|---|---|
| `nan_count` | the count |
| parquet-mr 1.10 to 1.17 (Spark, Delta on Spark, Iceberg) | NaN would have been the greatest |
| parquet-mr before 1.10 | NaN was compared with `<` and hides |
| Arrow, delta-rs, Polars, DuckDB before 2.0, anybody else | NaN is left out of bounds |
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from whyscan.tables.parquet.thrift import Fields, Malformed, Reader

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARQUET_MR = re.compile(r"parquet-mr version (\d+)\.(\d+)\b")
_ARROW = re.compile(r"parquet-cpp-arrow version (\d+)\.")
_GREATEST = range(10, 18)
_ARROW_WITHOUT_COUNTS = 26


class Habit(Enum):
    """What a writer does with NaN."""

    GREATEST = "it would be the maximum"
    LEFT_OUT = "bounds say nothing of it"
    MAY_COUNT = "bounds say nothing of it, a count may"


def habit(created_by: str) -> Habit:
    """The habit of the writer that calls itself so.

    Counting is worth a second look at the footer only where the writer may have counted.
    """
    parquet_mr = _PARQUET_MR.match(created_by)
    if parquet_mr is not None:
        major, minor = int(parquet_mr[1]), int(parquet_mr[2])
        if major == 1 and minor in _GREATEST:
            return Habit.GREATEST
        return Habit.LEFT_OUT if (major, minor) < (1, _GREATEST.start) else Habit.MAY_COUNT
    arrow = _ARROW.match(created_by)
    if arrow is not None and int(arrow[1]) <= _ARROW_WITHOUT_COUNTS:
        return Habit.LEFT_OUT
    return Habit.MAY_COUNT


def nan_counts(footer: bytes, columns: Sequence[int]) -> list[list[int | None]]:
    """The NaN counts of some columns, row group by row group; None where none was written."""
    groups = Reader(footer).struct().get(4, [])
    return [[_nan_count(group, column) for column in columns] for group in groups]


def _nan_count(group: Fields, column: int) -> int | None:
    try:
        statistics = group[1][column][3].get(12, {})
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Malformed("a row group without its columns") from None
    return statistics.get(9) if isinstance(statistics, dict) else None
