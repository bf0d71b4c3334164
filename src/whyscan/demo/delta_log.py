"""Commits of a Delta table, written as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Action = dict[str, Any]

WRITTEN = 1_709_251_200_000
"""The time of every commit, in milliseconds: two runs write the same bytes."""


def write_log(
    root: Path, kinds: Mapping[str, str], by: str, commits: Sequence[list[Action]]
) -> None:
    """Write the log of a table: columns with their types, the partition column, and its files."""
    start = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": _metadata(kinds, by)},
    ]
    log = root / "_delta_log"
    log.mkdir(parents=True)
    for version, adds in enumerate(commits):
        actions = [*(() if version else start), *({"add": add} for add in adds)]
        lines = [json.dumps(action) for action in actions]
        (log / f"{version:020}.json").write_text("\n".join(lines), "utf-8")


def add_action(path: str, partition: Mapping[str, str], size: int, stats: Action) -> Action:
    """Return the log entry of a file."""
    return {
        "path": path,
        "partitionValues": dict(partition),
        "size": size,
        "modificationTime": WRITTEN,
        "dataChange": True,
        "stats": json.dumps(stats),
    }


def stats_of(rows: int, ends: Mapping[str, tuple[Any, Any]]) -> Action:
    """Return the statistics of a file without NULLs, from the lowest and highest of its columns."""
    return {
        "numRecords": rows,
        "minValues": {name: low for name, (low, _) in ends.items()},
        "maxValues": {name: high for name, (_, high) in ends.items()},
        "nullCount": dict.fromkeys(ends, 0),
    }


def _metadata(kinds: Mapping[str, str], by: str) -> Action:
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in kinds.items()
    ]
    return {
        "id": "0f6f6a5e-8d0c-4a34-9c25-2f3f6d1b7a90",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": [by] if by else [],
        "configuration": {},
        "createdTime": WRITTEN,
    }
