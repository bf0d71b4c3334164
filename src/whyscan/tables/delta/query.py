"""DuckDB queries on the log: their results, their failures, and quoting for SQL."""

# ruff: noqa: S608 - every name and value in SQL went through query.name or query.text
from __future__ import annotations

import os
from typing import TYPE_CHECKING

from whyscan.errors import CorruptFile, TableError
from whyscan.tables import budget, duckdb_engine
from whyscan.tables.delta.log import LOG

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import duckdb
    import pyarrow as pa

_FETCHED = 10_000
_INFLATION = 64
"""The rows of a log may take this many times its bytes; more is a decompression bomb."""


def to_arrow(connection: duckdb.DuckDBPyConnection, sql: str, log_bytes: int) -> pa.Table:
    """A query's rows. If memory is short, DuckDB's limit is raised once.

    The raised limit depends on `log_bytes`, the bytes of the files that are read.
    """
    try:
        return duckdb_engine.arrow(connection, sql)
    except duckdb_engine.engine().OutOfMemoryException:
        # The result is in memory twice: in DuckDB and in Arrow.
        limit = max(budget.limit() * 3 // 4, _INFLATION * log_bytes)
        physical_memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        connection.execute(f"SET memory_limit = '{min(limit, physical_memory * 4 // 5)}B'")
    try:
        return duckdb_engine.arrow(connection, sql)
    except duckdb_engine.engine().OutOfMemoryException:
        why = f"it takes more memory than its {log_bytes} bytes allow"
        raise budget.too_large(LOG, why, 0) from None


def failures() -> tuple[type[Exception], ...]:
    """The exceptions of a query. Python raises one itself if a message of DuckDB is no UTF-8."""
    return duckdb_engine.engine().Error, UnicodeDecodeError, RuntimeError


def text(value: str) -> str:
    """A value as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def name(identifier: str) -> str:
    """A name as an SQL identifier."""
    return '"' + identifier.replace('"', '""') + '"'


def texts(values: Iterable[str]) -> str:
    """Values as an SQL list."""
    return "[" + ", ".join(text(value) for value in values) + "]"


def failure(
    connection: duckdb.DuckDBPyConnection, readers: Sequence[tuple[str, str]], error: Exception
) -> TableError:
    """The error for a query that failed. It names the file that cannot be read, if there is one.

    `readers` pairs each path with SQL that reads this file alone. A file is named only if that
    SQL fails. DuckDB's message may quote the file, so that only its type is reported.
    """
    if isinstance(error, duckdb_engine.engine().OutOfMemoryException):
        return budget.too_large(LOG, "to replay it takes more memory than there is", 0)
    for path, relation in readers:
        try:
            # A file may have more rows than fit into memory.
            result = connection.execute(f"SELECT * FROM {relation}")
            while result.fetchmany(_FETCHED):
                pass
        except failures() as problem:
            if "Permission denied" in str(problem):
                return CorruptFile(path, "permission denied", hint="ls -l shows who may read it")
            return CorruptFile(path, "it does not hold the actions of a Delta log")
    return TableError(f"the log cannot be replayed: DuckDB failed with {type(error).__name__}")
