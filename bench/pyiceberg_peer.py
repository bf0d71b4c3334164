"""What PyIceberg plans. Its cold processes import this module: nothing of ours is in it."""

from __future__ import annotations

import sys


def kept(location: str, predicate: str, properties: dict[str, str] | None = None) -> int:
    """How many files it plans to read of a table, opened by its metadata file."""
    from pyiceberg.table import StaticTable

    table = StaticTable.from_metadata(f"{location}/metadata/v1.metadata.json", properties or {})
    return len(list(table.scan(row_filter=predicate).plan_files()))


def cold(location: str, predicate: str, properties: dict[str, str] | None = None) -> list[str]:
    """The command of a process that plans and ends."""
    call = f"kept({location!r}, {predicate!r}, {properties!r})"
    return [sys.executable, "-c", f"from pyiceberg_peer import kept; {call}"]
