"""Run predicates with DuckDB: on Parquet in this process, on Delta and Iceberg in another Python.

The other Python has DuckDB with its extensions.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whyscan.spark.stages.verify.engines.duckdb_script import ANSWER, run_condition
from whyscan.spark.stages.verify.engines.engine import EngineAnswer, EngineRefusal, one_line
from whyscan.tables.iceberg.snapshot import IcebergSnapshot
from whyscan.tables.parquet.snapshot import ParquetSnapshot

if TYPE_CHECKING:
    from whyscan.spark.stages.verify.engines.engine import Target

SCRIPT = Path(__file__).with_name("duckdb_script.py")
BESIDE = Path(sys.prefix) / "duckdb" / "bin" / "python"
"""The Python that `make duckdb` installs."""
PATIENCE = 600


class DuckDBEngine:
    """DuckDB for one table, in this process or in another Python."""

    dialect = "duckdb"

    def __init__(self, relation: str, timezone: str, python: str | None) -> None:
        self._relation = relation
        self._timezone = timezone
        self._python = python

    def ask(self, sql: str) -> EngineAnswer:
        response = self._in_process(sql) if self._python is None else self._in_other_python(sql)
        if "error" in response:
            raise EngineRefusal(response["error"])
        return EngineAnswer(**response[ANSWER])

    def _in_process(self, sql: str) -> dict[str, Any]:
        import duckdb

        with duckdb.connect() as connection:
            return run_condition(connection, self._relation, sql, self._timezone)

    def _in_other_python(self, sql: str) -> dict[str, Any]:
        request = {"relation": self._relation, "sql": sql, "timezone": self._timezone}
        try:
            done = subprocess.run(  # noqa: S603 - the user names the program
                [str(self._python), str(SCRIPT)],
                input=json.dumps(request),
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EngineRefusal(f"{self._python} did not run: {one_line(error)}") from error
        try:
            response: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            lines = done.stderr.strip().splitlines() or ["it said nothing"]
            raise EngineRefusal(f"{self._python} failed: {lines[-1]}") from None
        return response


def open_duckdb(target: Target) -> DuckDBEngine:
    """DuckDB with the function that reads the table's format."""
    snapshot = target.snapshot
    if isinstance(snapshot, ParquetSnapshot):
        hive = "true" if snapshot.format == "hive" else "false"
        listed = ", ".join(_text(path) for path in target.paths)
        files = f"read_parquet([{listed}], union_by_name=true, hive_partitioning={hive})"
        return DuckDBEngine(files, target.timezone, None)
    python = target.duckdb_python or (str(BESIDE) if BESIDE.exists() else None)
    if python is None:
        raise EngineRefusal(f"DuckDB's {snapshot.format} extension: name a Python that has it")
    if isinstance(snapshot, IcebergSnapshot):
        if snapshot.opened.places.moved:
            raise EngineRefusal("the table was moved, and DuckDB follows the paths that it records")
        at = "" if snapshot.version is None else f", snapshot_from_id={snapshot.version}"
        relation = f"iceberg_scan({_text(snapshot.metadata.path)}{at})"
    else:
        at = "" if snapshot.version is None else f", version={snapshot.version}"
        relation = f"delta_scan({_text(snapshot.uri)}{at})"
    return DuckDBEngine(relation, target.timezone, python)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
