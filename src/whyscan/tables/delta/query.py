"""DuckDB over the log: one connection that reads files, and names and values made safe for it."""

# ruff: noqa: S608 - every name and value in SQL went through query.name or query.text
from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.errors import CorruptFile, TableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import duckdb
    import pyarrow as pa

_CONFIGURATION = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    # The files are read once; keeping their bytes would double what a checkpoint takes.
    "enable_external_file_cache": "false",
    "python_enable_replacements": "false",
}
_ROOM = "384MB"


def connect() -> duckdb.DuckDBPyConnection:
    """A database of its own in memory, in UTC, that takes little room unless it must."""
    import duckdb

    connection = duckdb.connect(config=dict(_CONFIGURATION))
    connection.execute("SET timezone = 'UTC'")
    connection.execute(f"SET memory_limit = '{_ROOM}'")
    # With its sides swapped a join gives rows in the order of a hash, not in that of the log.
    connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
    return connection


def to_arrow(connection: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """A query's rows; where they do not fit into little room, in all that there is."""
    import duckdb

    try:
        return connection.sql(sql).to_arrow_table()
    except duckdb.OutOfMemoryException:
        connection.execute("RESET memory_limit")
        return connection.sql(sql).to_arrow_table()


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
    import duckdb

    for path, relation in readers:
        try:
            connection.sql(f"SELECT * FROM {relation}").fetchall()
        except duckdb.Error:
            return CorruptFile(path, "it does not hold the actions of a Delta log")
    return TableError(f"the log cannot be replayed: DuckDB failed with {type(error).__name__}")
