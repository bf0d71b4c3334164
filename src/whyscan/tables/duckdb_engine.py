"""Connections to DuckDB: databases in memory that read files, and that are used again.

Only DuckDB's native module is imported. The Python code of its package takes longer to import than
it takes to read a log of a hundred thousand files. Where the native module cannot be imported
alone, the package is used.
"""

from __future__ import annotations

import atexit
import os
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from whyscan.tables import budget

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    import pyarrow as pa

LITTLE = 384_000_000
SMALL = 16_000_000
_CONFIGURATION = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    # The files are read once; keeping their bytes would double what a checkpoint takes.
    "enable_external_file_cache": "false",
    "python_enable_replacements": "false",
}
_ROWS_A_BATCH = 131_072
_MOST_IDLE = 4
_idle: dict[int, list[duckdb.DuckDBPyConnection]] = {}
"""Connections to use again, by process: a fork must not use its parent's."""
_pending: dict[int, Future[duckdb.DuckDBPyConnection]] = {}
"""The first connection of a process, where `start` began to make it."""


def engine() -> Any:
    """DuckDB's module, which has `connect` and the error classes."""
    try:
        import _duckdb
    except ImportError:
        import duckdb

        return duckdb
    return _duckdb


def start() -> None:
    """Begin to make the first connection in a thread. The first `connection` waits for it."""
    _pending[os.getpid()] = ThreadPoolExecutor(1).submit(_connect)


@contextmanager
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to an own database in memory, in UTC, with a small memory limit.

    To make a connection takes longer than to read a small log. So a connection that stayed small
    is used again, and one that grew is closed, which frees its memory.
    """
    process = os.getpid()
    database = _take(process)
    try:
        # The last user may have raised the limit.
        limit = budget.limit()
        database.execute(f"SET memory_limit = '{min(LITTLE, limit)}B'")
        if limit < LITTLE:
            # Each thread that reads JSON takes a buffer, whatever the size of the file.
            database.execute("SET threads = 1")
        yield database
    except BaseException:
        database.close()
        raise
    idle = _idle.setdefault(process, [])
    if _used(database) > SMALL or len(idle) >= _MOST_IDLE:
        database.close()
    else:
        idle.append(database)


def arrow(connection: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """The rows of a query. The public way needs the package; `_submit` does not."""
    submit = getattr(connection, "_submit", None)
    if submit is None:
        import duckdb  # noqa: F401 - gives connections their `sql`

        return connection.sql(sql).to_arrow_table()
    return submit(sql, None, "arrow", _ROWS_A_BATCH).arrow_table()


def _take(process: int) -> duckdb.DuckDBPyConnection:
    pending = _pending.pop(process, None)
    if pending is not None:
        return pending.result()
    try:
        return _idle.get(process, []).pop()
    except IndexError:
        return _connect()


def _connect() -> duckdb.DuckDBPyConnection:
    connection: duckdb.DuckDBPyConnection = engine().connect(config=dict(_CONFIGURATION))
    connection.execute("SET timezone = 'UTC'")
    # With its sides swapped a join gives rows in the order of a hash, not in that of the log.
    connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
    return connection


@atexit.register
def _close_idle() -> None:
    """Close all connections: DuckDB reports those that outlive the interpreter as leaks."""
    process = os.getpid()
    pending = _pending.pop(process, None)
    for connection in (*_idle.pop(process, []), *(() if pending is None else (pending.result(),))):
        connection.close()


def _used(connection: duckdb.DuckDBPyConnection) -> int:
    sql = "SELECT sum(memory_usage_bytes) FROM duckdb_memory()"
    [(used,)] = connection.execute(sql).fetchall()
    return int(used)
