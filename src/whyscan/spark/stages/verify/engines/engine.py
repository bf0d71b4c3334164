"""The interface of an engine: its target table and its answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from whyscan.errors import WhyscanError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from whyscan.tables.snapshot import Snapshot


class EngineRefusal(WhyscanError):
    """An engine cannot run a predicate; the message is the reason."""


class Target(Struct, frozen=True):
    """A table that engines read.

    `rows` is the table in Spark's reader, None if Spark cannot read it; then `why` is the reason.
    `paths` are the addresses of all data files. `duckdb_python` is a Python that has DuckDB with
    its extensions for Delta and Iceberg. `trino` is the address of the table in a Trino server.
    """

    snapshot: Snapshot
    rows: DataFrame | None
    why: str | None
    paths: tuple[str, ...]
    timezone: str = "UTC"
    duckdb_python: str | None = None
    trino: str | None = None


class EngineAnswer(Struct, frozen=True):
    """The number of rows that an engine returned, and what it reports as read, None if unknown.

    `version` is that of the engine, None if it is the installed one.
    """

    rows: int
    files: int | None = None
    row_groups: int | None = None
    rows_read: int | None = None
    version: str | None = None


class OpenedEngine(Protocol):
    """An engine that was opened for one table."""

    @property
    def dialect(self) -> str:
        """The engine's dialect, by sqlglot's name."""
        ...

    def ask(self, sql: str) -> EngineAnswer:
        """Run one condition; EngineRefusal if the engine cannot."""
        ...


Opening = Callable[[Target], OpenedEngine]


def one_line(error: BaseException) -> str:
    """The first line of an engine's error message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
