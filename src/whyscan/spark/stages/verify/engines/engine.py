"""What an engine is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from whyscan.errors import WhyscanError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from whyscan.tables.snapshot import Snapshot


class EngineRefusal(WhyscanError):
    """An engine that cannot be asked, or does not answer; the message says why."""


class Target(Struct, frozen=True):
    """A table as engines see it.

    `rows` is the table as Spark's own reader has it, None where Spark cannot read it, and `why`
    says why. `paths` are the addresses of all its data files. `duckdb_python` is a Python that has
    DuckDB with its extensions for Delta and Iceberg, `trino` the address of the table in a Trino.
    """

    snapshot: Snapshot
    rows: DataFrame | None
    why: str | None
    paths: tuple[str, ...]
    timezone: str = "UTC"
    duckdb_python: str | None = None
    trino: str | None = None


class EngineAnswer(Struct, frozen=True):
    """How many rows an engine returned, and what it says that it read; None where it does not."""

    rows: int
    files: int | None = None
    row_groups: int | None = None
    rows_read: int | None = None


class OpenedEngine(Protocol):
    """An engine that was opened for one table."""

    @property
    def dialect(self) -> str:
        """The SQL that it reads, as sqlglot calls it."""
        ...

    def ask(self, sql: str) -> EngineAnswer:
        """Run one condition; Refused where the engine cannot."""
        ...


Opening = Callable[[Target], OpenedEngine]


def one_line(error: BaseException) -> str:
    """The first line of what an engine complains of."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
