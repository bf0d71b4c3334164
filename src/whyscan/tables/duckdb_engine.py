"""Connections to DuckDB: databases in memory that are used again.

Only DuckDB's native module is imported. The Python code of its package takes longer to import than
it takes to read a log of a hundred thousand files. Where the native module cannot be imported
alone, the package is used.
"""

from __future__ import annotations

import atexit
import os
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any

from whyscan.tables import budget

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    import pyarrow as pa

LITTLE = 384_000_000
SMALL = 16_000_000


class Purpose(Enum):
    """What a connection runs: queries of files, or expressions over values of an Arrow table."""

    FILES = "files"
    VALUES = "values"


_FILES = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    # The files are read once; keeping their bytes would double what a checkpoint takes.
    "enable_external_file_cache": "false",
    "python_enable_replacements": "false",
}
_VALUES = {"enable_external_access": "false", "max_temp_directory_size": "0B", "threads": "1"}
_ROWS_A_BATCH = 131_072
_MOST_IDLE = 4
_idle: dict[tuple[int, Purpose], list[duckdb.DuckDBPyConnection]] = {}
"""Connections to use again, by process: a fork must not use its parent's."""
_pending: dict[int, Future[duckdb.DuckDBPyConnection]] = {}
"""The first connection of a process to files, where `start` began to make it."""


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
    _pending[os.getpid()] = ThreadPoolExecutor(1).submit(_connect, Purpose.FILES)


@contextmanager
def connection(purpose: Purpose = Purpose.FILES) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to an own database in memory, in UTC, with a small memory limit.

    To make a connection takes longer than to read a small log. So a connection that stayed small
    is used again, and one that grew is closed, which frees its memory.
    """
    process = os.getpid()
    database = _take(process, purpose)
    try:
        # The last user may have raised the limit, or have read with one thread.
        limit = budget.limit()
        database.execute(f"SET memory_limit = '{min(LITTLE, limit)}B'")
        # Each thread that reads JSON takes a buffer, whatever the size of the file.
        has_one = limit < LITTLE or purpose is Purpose.VALUES
        database.execute("SET threads = 1" if has_one else "RESET threads")
        yield database
    except BaseException:  # after an interrupt, too, the next user must not get half of a query
        database.close()
        raise
    idle = _idle.setdefault((process, purpose), [])
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


def _take(process: int, purpose: Purpose) -> duckdb.DuckDBPyConnection:
    pending = _pending.pop(process, None) if purpose is Purpose.FILES else None
    if pending is not None:
        return pending.result()
    try:
        return _idle.get((process, purpose), []).pop()
    except IndexError:
        return _connect(purpose)


def _connect(purpose: Purpose) -> duckdb.DuckDBPyConnection:
    configuration = _FILES if purpose is Purpose.FILES else _VALUES
    connection: duckdb.DuckDBPyConnection = engine().connect(config=dict(configuration))
    connection.execute("SET timezone = 'UTC'")
    # With its sides swapped a join gives rows in the order of a hash, not in that of the log.
    connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
    return connection


@atexit.register
def _close_idle() -> None:
    """Close all connections: DuckDB reports those that outlive the interpreter as leaks."""
    process = os.getpid()
    pending = _pending.pop(process, None)
    idle = [each for purpose in Purpose for each in _idle.pop((process, purpose), [])]
    for connection in (*idle, *(() if pending is None else (pending.result(),))):
        connection.close()


def _used(connection: duckdb.DuckDBPyConnection) -> int:
    sql = "SELECT sum(memory_usage_bytes) FROM duckdb_memory()"
    [(used,)] = connection.execute(sql).fetchall()
    return int(used)
