"""What the JSON document of `whyscan explain` says that is read: files, bytes and money."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
THOUSAND = 1000
TENTH = 9.95


class Amount(NamedTuple):
    """Files and bytes that are read, of all; None is unknown. `cost` needs a price."""

    files: int
    all_files: int
    bytes: int | None
    all_bytes: int | None
    cost: float | None = None

    @property
    def pruned(self) -> float:
        """The share of the files that is skipped, in percent. An empty table is skipped whole."""
        if not self.all_files:
            return 100.0
        return 100.0 * (self.all_files - self.files) / self.all_files


def amount(text: str) -> Amount:
    """The sum of all scans of a document, or the one table of it."""
    document: dict[str, Any] = json.loads(text)
    scans = document.get("scans", [document])
    levels = [
        level for scan in scans for level in scan.get("levels", ()) if level["level"] == "files"
    ]
    cost = (document.get("cost") or {}).get("total")
    return Amount(
        sum(level["kept"] for level in levels),
        sum(level["total"] for level in levels),
        total(level["bytes_kept"] for level in levels),
        total(level["bytes_total"] for level in levels),
        cost,
    )


def together(amounts: Iterable[Amount]) -> Amount:
    """The sum of several answers."""
    listed = list(amounts)
    return Amount(
        sum(one.files for one in listed),
        sum(one.all_files for one in listed),
        total(one.bytes for one in listed),
        total(one.all_bytes for one in listed),
    )


def total(numbers: Iterable[int | None]) -> int | None:
    """The sum; None if one is unknown."""
    listed = list(numbers)
    numbers_only = [number for number in listed if number is not None]
    return sum(numbers_only) if len(numbers_only) == len(listed) else None


def size(count: int | None) -> str:
    """`999 B`, `1.1 kB`, `13 kB`, as the reports write it."""
    if count is None:
        return "unknown"
    shown, unit = float(count), 0
    while round(shown, 1) >= THOUSAND and unit < len(UNITS) - 1:
        shown, unit = shown / THOUSAND, unit + 1
    digits = 1 if unit and shown < TENTH else 0
    return f"{shown:,.{digits}f} {UNITS[unit]}"
