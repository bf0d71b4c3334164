"""The columns for which a Delta table tells its writers to collect bounds.

| property | meaning |
|---|---|
| `delta.dataSkippingStatsColumns` | only these columns |
| `delta.dataSkippingNumIndexedCols` | the first N columns, 32 by default, -1 for all |
| `delta.dataSkippingStringPrefixLength` | the first N characters of a text, 32 by default |

Every member of a struct counts as a column; partition columns do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.tables.snapshot import Collected, Recording
from whyscan.tree.names import folded
from whyscan.tree.types import (
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    StringType,
    StructType,
    TimestampType,
    Type,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tables.delta.state import TableState
    from whyscan.tree.nodes import Column, Path

STATS_COLUMNS = "delta.dataSkippingStatsColumns"
INDEXED_COLUMNS = "delta.dataSkippingNumIndexedCols"
PREFIX_LENGTH = "delta.dataSkippingStringPrefixLength"
DEFAULT_COLUMNS = 32
DEFAULT_PREFIX = 32
_ALL = -1


def recording(column: Column, state: TableState) -> Recording:
    """The statistics of a column that the table's properties tell writers to record."""
    if not _has_bounds(column.type):
        return Recording(Collected.NEVER, f"Delta keeps no bounds of type {column.type}")
    named = state.properties.get(STATS_COLUMNS)
    recorded = _by_name(column, named) if named is not None else _by_position(column, state)
    if recorded.collected is not Collected.YES or not isinstance(column.type, StringType):
        return recorded
    prefix = _number(state.properties.get(PREFIX_LENGTH), DEFAULT_PREFIX)
    return Recording(Collected.YES, prefix=prefix, longer=PREFIX_LENGTH, appended=True)


def _has_bounds(kind: Type) -> bool:
    """Whether Delta records bounds of a type. For booleans and binaries it counts only NULLs."""
    return isinstance(
        kind, IntegerType | FloatType | DecimalType | StringType | DateType | TimestampType
    )


def _by_name(column: Column, names: str) -> Recording:
    paths = [_path(name) for name in names.split(",") if name.strip()]
    path = folded(column.path)
    if any(path[: len(name)] == name for name in paths):
        return Recording(Collected.YES)
    extended = f"{names},{'.'.join(column.path)}" if paths else ".".join(column.path)
    why = f"{STATS_COLUMNS} names {names.strip() or 'no column'}"
    return Recording(Collected.BEYOND_BUDGET, why, (STATS_COLUMNS, extended))


def _path(name: str) -> Path:
    return folded(part.strip().strip("`") for part in name.split("."))


def _by_position(column: Column, state: TableState) -> Recording:
    budget = _number(state.properties.get(INDEXED_COLUMNS), DEFAULT_COLUMNS)
    counted = _counted(state)
    if budget == _ALL or column.path not in counted[budget:]:
        return Recording(Collected.YES)
    position = counted.index(column.path) + 1
    why = f"it is column {position}, and {INDEXED_COLUMNS} is {budget}"
    return Recording(Collected.BEYOND_BUDGET, why, (INDEXED_COLUMNS, str(position)))


def _counted(state: TableState) -> Sequence[Path]:
    """The columns in the order in which the budget counts them."""
    partitioned = {column.path for column, _ in state.partitioned_by}
    return [
        path
        for path, column in state.schema.columns.items()
        if path not in partitioned and not isinstance(column.type, StructType)
    ]


def _number(text: str | None, default: int) -> int:
    """The value of a property; the default if the text is not a number."""
    try:
        return default if text is None else int(text)
    except ValueError:
        return default
