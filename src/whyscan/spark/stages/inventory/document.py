"""Write an inventory run as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from whyscan.reports.document import Json, version

if TYPE_CHECKING:
    from whyscan.spark.stages.inventory.report import InventoriedTable, InventoryRun

SCHEMA_VERSION = "1.0"
_ROW_FIELDS = (
    "format",
    "snapshot",
    "depth",
    "manifests",
    "files",
    "row_groups",
    "files_opened",
    "bytes",
    "rows",
)


def to_json(run: InventoryRun) -> str:
    """The document as ASCII text: escape codes in names stay inert."""
    return json.dumps(document(run), indent=2, allow_nan=False) + "\n"


def document(run: InventoryRun) -> Json:
    """The document as dictionaries and lists; unknown values are None."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "whyscan", "version": version()},
        "output": {"format": run.form, "containers": run.containers_at, "tables": run.tables_at},
        "depth": run.depth,
        "seconds": round(run.seconds, 3),
        "tables": [_line(line) for line in run.tables],
        "result": "fail" if run.failed else "pass",
    }


def _line(line: InventoriedTable) -> Json:
    error = line.error
    return {
        "name": line.name,
        "uri": line.uri,
        "state": line.state,
        **{name: None if line.row is None else getattr(line.row, name) for name in _ROW_FIELDS},
        "read_at": None if line.row is None else line.row.read_at.isoformat(),
        "error": None if error is None else {"message": error.message, "hint": error.hint},
    }
