"""The metrics modes: for which columns an Iceberg table tells its writers to record bounds.

| property | meaning |
|---|---|
| `write.metadata.metrics.column.NAME` | the mode of one column |
| `write.metadata.metrics.default` | the mode of all other columns, default `truncate(16)` |
| `write.metadata.metrics.max-inferred-column-defaults` | without a default: for N columns |

`none` and `counts` record no bounds, `truncate(N)` the first N characters, `full` all of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from whyscan.tables.snapshot import Collected, Recording
from whyscan.tree.types import BinaryType, NullType, OtherType, StringType, StructType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from whyscan.tables.iceberg.schemas import IcebergColumn
    from whyscan.tree.nodes import Column, Path

PREFIX = "write.metadata.metrics."
DEFAULT = f"{PREFIX}default"
INFERRED = f"{PREFIX}max-inferred-column-defaults"
DEFAULT_MODE = "truncate(16)"
DEFAULT_INFERRED = 100
_TRUNCATE = re.compile(r"truncate\(\s*(\d{1,9})\s*\)")


def recording(
    column: Column, properties: Mapping[str, str], numbers: Mapping[Path, int]
) -> Recording:
    """The statistics of a column that the properties tell writers to record.

    `numbers` are the column numbers of `numbered`.
    """
    if isinstance(column.type, OtherType | StructType | NullType):
        return Recording(Collected.NEVER, f"Iceberg keeps no bounds of type {column.type}")
    column_setting = f"{PREFIX}column.{'.'.join(column.path)}"
    setting = next((name for name in (column_setting, DEFAULT) if name in properties), None)
    if setting is None:
        return _inferred(column, column_setting, properties, numbers)
    return _of_mode(
        column,
        column_setting,
        properties[setting].strip().lower(),
        f"{setting} is {properties[setting]}",
    )


def _inferred(
    column: Column, column_setting: str, properties: Mapping[str, str], numbers: Mapping[Path, int]
) -> Recording:
    number = numbers.get(column.path)
    text = properties.get(INFERRED, "")
    budget = int(text) if text.isdecimal() else DEFAULT_INFERRED
    if number is None or number <= budget:
        return _of_mode(column, column_setting, DEFAULT_MODE, "")
    why = f"it is column {number}, and {INFERRED} is {budget}"
    return Recording(Collected.BEYOND_BUDGET, why, (column_setting, DEFAULT_MODE))


def numbered(leaves: Iterable[IcebergColumn]) -> dict[Path, int]:
    """The number of each column, from 1: first the top-level columns, then struct members."""
    plain = [leaf.path for leaf in leaves if not isinstance(leaf.type, StructType)]
    ordered = sorted(plain, key=lambda path: len(path) > 1)
    return {path: number for number, path in enumerate(ordered, start=1)}


def _of_mode(column: Column, column_setting: str, mode: str, why: str) -> Recording:
    if mode in {"none", "counts"}:
        return Recording(Collected.SWITCHED_OFF, why, (column_setting, DEFAULT_MODE))
    truncation = _TRUNCATE.fullmatch(mode)
    if truncation is None or not isinstance(column.type, StringType | BinaryType):
        return Recording(Collected.YES)
    return Recording(Collected.YES, prefix=int(truncation[1]), longer=column_setting)
