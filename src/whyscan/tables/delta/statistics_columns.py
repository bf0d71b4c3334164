"""Of which columns a Delta table has its writers collect bounds.

| property | says |
|---|---|
| `delta.dataSkippingStatsColumns` | these columns, and no others |
| `delta.dataSkippingNumIndexedCols` | so many from the first on, 32 by default, -1 for all |
| `delta.dataSkippingStringPrefixLength` | so many characters of a text, 32 by default |

Every member of a struct counts as a column of its own; partition columns do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.tables.snapshot import Collected, Recording
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
    """What the table's properties have writers record of a column."""
    if not _has_bounds(column.type):
        return Recording(Collected.NEVER, f"Delta keeps no bounds of type {column.type}")
    named = state.properties.get(STATS_COLUMNS)
    recorded = _by_name(column, named) if named is not None else _by_position(column, state)
    if recorded.collected is not Collected.YES or not isinstance(column.type, StringType):
        return recorded
    prefix = _number(state.properties.get(PREFIX_LENGTH), DEFAULT_PREFIX)
    return Recording(Collected.YES, prefix=prefix, longer=PREFIX_LENGTH, appended=True)


def _has_bounds(kind: Type) -> bool:
    """The types that Delta skips data by; it counts NULLs of booleans and binaries, no more."""
    return isinstance(
        kind, IntegerType | FloatType | DecimalType | StringType | DateType | TimestampType
    )


def _by_name(column: Column, named: str) -> Recording:
    listed = [_path(name) for name in named.split(",") if name.strip()]
    path = tuple(part.casefold() for part in column.path)
    if any(path[: len(name)] == name for name in listed):
        return Recording(Collected.YES)
    wanted = f"{named},{'.'.join(column.path)}" if listed else ".".join(column.path)
    why = f"{STATS_COLUMNS} names {named.strip() or 'no column'}"
    return Recording(Collected.BEYOND_BUDGET, why, (STATS_COLUMNS, wanted))


def _path(name: str) -> Path:
    return tuple(part.strip().strip("`").casefold() for part in name.split("."))


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
    """A property that is not a number is the default, as it is to a reader of statistics."""
    try:
        return default if text is None else int(text)
    except ValueError:
        return default
