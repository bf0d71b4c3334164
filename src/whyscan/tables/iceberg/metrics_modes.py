"""Of which columns an Iceberg table has its writers keep bounds: the metrics modes.

| property | says |
|---|---|
| `write.metadata.metrics.column.NAME` | the mode of one column |
| `write.metadata.metrics.default` | of all the others, `truncate(16)` unless it is set |
| `write.metadata.metrics.max-inferred-column-defaults` | where it is not set: of so many columns |

`none` and `counts` keep no bounds, `truncate(N)` so many characters, `full` them all.
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
    """What the table's properties have writers record of a column; `numbers` are by `numbered`."""
    if isinstance(column.type, OtherType | StructType | NullType):
        return Recording(Collected.NEVER, f"Iceberg keeps no bounds of type {column.type}")
    own = f"{PREFIX}column.{'.'.join(column.path)}"
    told = next((name for name in (own, DEFAULT) if name in properties), None)
    if told is None:
        return _inferred(column, own, properties, numbers)
    return _of_mode(column, own, properties[told].strip().lower(), f"{told} is {properties[told]}")


def _inferred(
    column: Column, own: str, properties: Mapping[str, str], numbers: Mapping[Path, int]
) -> Recording:
    number = numbers.get(column.path)
    text = properties.get(INFERRED, "")
    budget = int(text) if text.isdecimal() else DEFAULT_INFERRED
    if number is None or number <= budget:
        return _of_mode(column, own, DEFAULT_MODE, "")
    why = f"it is column {number}, and {INFERRED} is {budget}"
    return Recording(Collected.BEYOND_BUDGET, why, (own, DEFAULT_MODE))


def numbered(leaves: Iterable[IcebergColumn]) -> dict[Path, int]:
    """The number of each column from 1: the columns of the table first, then members of structs."""
    plain = [leaf.path for leaf in leaves if not isinstance(leaf.type, StructType)]
    ordered = sorted(plain, key=lambda path: len(path) > 1)
    return {path: number for number, path in enumerate(ordered, start=1)}


def _of_mode(column: Column, own: str, mode: str, why: str) -> Recording:
    if mode in {"none", "counts"}:
        return Recording(Collected.SWITCHED_OFF, why, (own, DEFAULT_MODE))
    cut = _TRUNCATE.fullmatch(mode)
    if cut is None or not isinstance(column.type, StringType | BinaryType):
        return Recording(Collected.YES)
    return Recording(Collected.YES, prefix=int(cut[1]), longer=own)
