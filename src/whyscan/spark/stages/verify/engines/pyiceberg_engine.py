"""Run predicates with PyIceberg: the files of its plan, and its number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whyscan.spark.stages.verify.engines.engine import EngineAnswer, EngineRefusal, one_line
from whyscan.tables.iceberg.snapshot import IcebergSnapshot

if TYPE_CHECKING:
    from whyscan.spark.stages.verify.engines.engine import Target


class PyIcebergEngine:
    """A PyIceberg table at a snapshot."""

    dialect = "postgres"

    def __init__(self, table: Any, snapshot: int | None) -> None:
        self._table = table
        self._snapshot = snapshot

    def ask(self, sql: str) -> EngineAnswer:
        try:
            scan = self._table.scan(row_filter=sql, snapshot_id=self._snapshot)
            files = list(scan.plan_files())
            return EngineAnswer(scan.count(), files=len(files))
        except Exception as error:  # a parser's, a type's, a file's: all are its own
            raise EngineRefusal(one_line(error)) from error


def open_pyiceberg(target: Target) -> PyIcebergEngine:
    """PyIceberg with the table's metadata file; EngineRefusal if it is not installed."""
    try:
        from pyiceberg.exceptions import NoSuchTableError
        from pyiceberg.table import StaticTable
    except ImportError:
        raise EngineRefusal("PyIceberg is not installed") from None
    snapshot = target.snapshot
    if not isinstance(snapshot, IcebergSnapshot):
        raise EngineRefusal("PyIceberg reads Iceberg alone")
    if snapshot.opened.places.moved:
        raise EngineRefusal("the table was moved, and PyIceberg follows the paths that it records")
    try:
        table = StaticTable.from_metadata(snapshot.metadata.path)
    except (OSError, ValueError, NoSuchTableError) as error:
        raise EngineRefusal(one_line(error)) from error
    return PyIcebergEngine(table, snapshot.version)
