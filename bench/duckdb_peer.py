"""DuckDB with its own readers of Delta and Iceberg, in an environment of its own (`make duckdb`).

The process answers one line of SQL after the other: extensions fit one release of DuckDB.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PYTHON = Path(__file__).parent.parent / ".venv" / "duckdb" / "bin" / "python"


class OwnReaders:
    """A running DuckDB that is asked one statement after the other."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [PYTHON, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, sql: str) -> str:
        """The answer to a statement, as text."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(sql, file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def _answers(connection: Any) -> Iterator[str]:
    for line in sys.stdin:
        yield str(connection.sql(line).fetchall())


if __name__ == "__main__":
    import duckdb
    from duckdb_extensions import import_extension

    connected = duckdb.connect()
    # What a file had in the last round would come from memory; ours reads it again.
    connected.execute("SET enable_external_file_cache = false")
    for extension in ("avro", "delta", "iceberg"):
        import_extension(extension, con=connected)
        connected.load_extension(extension)
    for answer in _answers(connected):
        print(answer, flush=True)
