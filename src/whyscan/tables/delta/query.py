"""DuckDB over the log: its queries and their failures, names and values made safe for them."""

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
"""How many times the bytes of a log its rows may take: beyond that it is a decompression bomb."""


def to_arrow(connection: duckdb.DuckDBPyConnection, sql: str, stored: int) -> pa.Table:
    """A query's rows; where they do not fit into little room, in what `stored` bytes may need."""
    try:
        return duckdb_engine.arrow(connection, sql)
    except duckdb_engine.engine().OutOfMemoryException:
        # What DuckDB gives to Arrow is held once more.
        room = max(budget.limit() * 3 // 4, _INFLATION * stored)
        there_is = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        connection.execute(f"SET memory_limit = '{min(room, there_is * 4 // 5)}B'")
    try:
        return duckdb_engine.arrow(connection, sql)
    except duckdb_engine.engine().OutOfMemoryException:
        why = f"it takes more memory than its {stored} bytes allow"
        raise budget.too_large(LOG, why, 0) from None


def failures() -> tuple[type[Exception], ...]:
    """What a query raises: an error that quotes bytes which are not UTF-8 is none of DuckDB's."""
    return duckdb_engine.engine().Error, UnicodeDecodeError, RuntimeError


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
    if isinstance(error, duckdb_engine.engine().OutOfMemoryException):
        return budget.too_large(LOG, "to replay it takes more memory than there is", 0)
    for path, relation in readers:
        try:
            # A file may hold more than fits into memory at once.
            found = connection.execute(f"SELECT * FROM {relation}")
            while found.fetchmany(_FETCHED):
                pass
        except failures():
            return CorruptFile(path, "it does not hold the actions of a Delta log")
    return TableError(f"the log cannot be replayed: DuckDB failed with {type(error).__name__}")
