"""DuckDB's engine: databases in memory that read files, and are used again.

It is imported without the Python that its package builds around it, which takes longer than to
read the log of a hundred thousand files. Where it cannot be had so, the package serves.
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
_KEPT = 4
_idle: dict[int, list[duckdb.DuckDBPyConnection]] = {}
"""Connections to use again, by process: a fork must not use its parent's."""
_coming: dict[int, Future[duckdb.DuckDBPyConnection]] = {}
"""The first connection of a process, where it was begun before somebody asked for one."""


def engine() -> Any:
    """The module that connects and names the errors."""
    try:
        import _duckdb
    except ImportError:
        import duckdb

        return duckdb
    return _duckdb


def start() -> None:
    """Begin with the first connection beside other work. Whoever asks for it waits for it."""
    _coming[os.getpid()] = ThreadPoolExecutor(1).submit(_connect)


@contextmanager
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database of its own in memory, in UTC, that takes little room unless it must.

    To make one takes longer than to read a small log, so that one which stayed small serves the
    next log as well; one that grew is closed, which gives its memory back.
    """
    process = os.getpid()
    found = _take(process)
    try:
        # The one before may have asked for more.
        found.execute(f"SET memory_limit = '{min(LITTLE, budget.limit())}B'")
        yield found
    except BaseException:
        found.close()
        raise
    kept = _idle.setdefault(process, [])
    if _used(found) > SMALL or len(kept) >= _KEPT:
        found.close()
    else:
        kept.append(found)


def arrow(connection: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """A query's rows. The public way to them leads through the package."""
    submit = getattr(connection, "_submit", None)
    if submit is None:
        import duckdb  # noqa: F401 - gives connections their `sql`

        return connection.sql(sql).to_arrow_table()
    return submit(sql, None, "arrow", _ROWS_A_BATCH).arrow_table()


def _take(process: int) -> duckdb.DuckDBPyConnection:
    coming = _coming.pop(process, None)
    if coming is not None:
        return coming.result()
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
    """DuckDB's binding reports connections that outlive the interpreter as leaks."""
    process = os.getpid()
    first = _coming.pop(process, None)
    for connection in (*_idle.pop(process, []), *(() if first is None else (first.result(),))):
        connection.close()


def _used(connection: duckdb.DuckDBPyConnection) -> int:
    sql = "SELECT sum(memory_usage_bytes) FROM duckdb_memory()"
    [(used,)] = connection.execute(sql).fetchall()
    return int(used)
