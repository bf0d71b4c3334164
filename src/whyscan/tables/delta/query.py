"""DuckDB over the log: connections that read files, and names and values made safe for them."""

# ruff: noqa: S608 - every name and value in SQL went through query.name or query.text
from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from whyscan.errors import CorruptFile, TableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import duckdb
    import pyarrow as pa

_CONFIGURATION = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    # The files are read once; keeping their bytes would double what a checkpoint takes.
    "enable_external_file_cache": "false",
    "python_enable_replacements": "false",
}
LITTLE = 384_000_000
MUCH = 1_000_000_000
SMALL = 16_000_000
_KEPT = 4
_idle: dict[int, list[duckdb.DuckDBPyConnection]] = {}
"""Connections to use again, by process: a fork must not use its parent's."""
_FETCHED = 10_000
_INFLATION = 64
"""How many times the bytes of a log its rows may take: beyond that it is a decompression bomb."""


@contextmanager
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database of its own in memory, in UTC, that takes little room unless it must.

    To make one takes longer than to read a small log, so that one which stayed small serves the
    next log as well; one that grew is closed, which gives its memory back.
    """
    process = os.getpid()
    try:
        found = _idle.setdefault(process, []).pop()
    except IndexError:
        found = _connect()
    try:
        # The one before may have asked for more.
        found.execute(f"SET memory_limit = '{LITTLE}B'")
        yield found
    except BaseException:
        found.close()
        raise
    if _used(found) > SMALL or len(_idle[process]) >= _KEPT:
        found.close()
    else:
        _idle[process].append(found)


def _connect() -> duckdb.DuckDBPyConnection:
    import duckdb

    connection = duckdb.connect(config=dict(_CONFIGURATION))
    connection.execute("SET timezone = 'UTC'")
    # With its sides swapped a join gives rows in the order of a hash, not in that of the log.
    connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
    return connection


def _used(connection: duckdb.DuckDBPyConnection) -> int:
    sql = "SELECT sum(memory_usage_bytes) FROM duckdb_memory()"
    [(used,)] = connection.execute(sql).fetchall()
    return int(used)


def to_arrow(connection: duckdb.DuckDBPyConnection, sql: str, stored: int) -> pa.Table:
    """A query's rows; where they do not fit into little room, in what `stored` bytes may need."""
    import duckdb

    try:
        return connection.sql(sql).to_arrow_table()
    except duckdb.OutOfMemoryException:
        room = max(MUCH, _INFLATION * stored)
        there_is = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        connection.execute(f"SET memory_limit = '{min(room, there_is * 4 // 5)}B'")
    try:
        return connection.sql(sql).to_arrow_table()
    except duckdb.OutOfMemoryException:
        raise TableError(
            f"the log takes more memory than its size of {stored} bytes allows",
            hint="it may be a decompression bomb; a new checkpoint of the table may help",
        ) from None


def failures() -> tuple[type[Exception], ...]:
    """What a query raises: an error that quotes bytes which are not UTF-8 is none of DuckDB's."""
    import duckdb

    return duckdb.Error, UnicodeDecodeError, RuntimeError


def text(value: str) -> str:
    """A value as a literal of SQL."""
    return "'" + value.replace("'", "''") + "'"


def name(identifier: str) -> str:
    """A name as an identifier of SQL."""
    return '"' + identifier.replace('"', '""') + '"'


def texts(values: Iterable[str]) -> str:
    """Values as a list of SQL."""
    return "[" + ", ".join(text(value) for value in values) + "]"


def failure(
    connection: duckdb.DuckDBPyConnection, readers: Sequence[tuple[str, str]], error: Exception
) -> TableError:
    """What to tell of a query that failed: the file that cannot be read, where there is one.

    `readers` pairs each path with SQL that reads it alone. A file is blamed only if that fails
    too. DuckDB's own words may quote the file, so that only their kind is passed on.
    """
    for path, relation in readers:
        try:
            # A file may hold more than fits into memory at once.
            found = connection.execute(f"SELECT * FROM {relation}")
            while found.fetchmany(_FETCHED):
                pass
        except failures():
            return CorruptFile(path, "it does not hold the actions of a Delta log")
    return TableError(f"the log cannot be replayed: DuckDB failed with {type(error).__name__}")
