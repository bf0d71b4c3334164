"""DuckDB with a lake's rows, each of which knows its file and row group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import duckdb
import pyarrow.parquet as pq

import whyscan
from tpc.lakes import QUARTER, lake
from tpc.layouts import LAYOUTS, ByValue
from whyscan.tables.cached_snapshot import with_cache

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from whyscan.planning.plan.file_scans import FileScan

MOST_GROUPS = 1_000
"""A row's place is its file's number times this, and its row group's."""


@dataclass(frozen=True)
class Engine:
    """`files` numbers each table's data files by their path below the lake."""

    connection: duckdb.DuckDBPyConnection
    tables: Mapping[str, whyscan.Table]
    folder: Path
    files: Mapping[str, Mapping[str, int]]
    columns: Mapping[str, Sequence[str]]

    def whole(self, name: str, table: str) -> None:
        """Let a name be all rows of a table."""
        self._view(name, table, "TRUE")

    def only(self, name: str, table: str, scans: Iterable[FileScan]) -> None:
        """Let a name be the rows of these files and row groups alone."""
        numbers = self.files[table]
        whole, parts = [], []
        for scan in scans:
            file = numbers[self._below(table, scan.path)]
            if scan.row_groups is None:
                whole.append(file)
            else:
                parts.extend(file * MOST_GROUPS + group for group in scan.row_groups)
        self._view(
            name, table, f"place // {MOST_GROUPS} IN {_listed(whole)} OR place IN {_listed(parts)}"
        )

    def _view(self, name: str, table: str, condition: str) -> None:
        columns = ", ".join(self.columns[table])
        self.connection.execute(
            f"CREATE OR REPLACE TEMP VIEW {name} AS"
            f" SELECT {columns} FROM base_{table} WHERE {condition}"
        )

    def _below(self, table: str, path: str) -> str:
        """Delta and Hive record where a file is below the table, Iceberg its whole address."""
        root = f"{self.folder.as_uri()}/"
        return path.removeprefix(root) if path.startswith(root) else f"{table}/{path}"

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()

    def width(self, sql: str) -> int:
        """How many columns a query gives."""
        return len(self.connection.execute(f"DESCRIBE {sql}").fetchall())


def engine(benchmark: str, number: int) -> Engine:
    """A lake with its rows in memory."""
    folder = lake(benchmark, number)
    connection = duckdb.connect()
    files: dict[str, dict[str, int]] = {}
    columns: dict[str, list[str]] = {}
    # A footer is read once for all queries.
    tables = {
        name: whyscan.Table(with_cache(whyscan.open(folder / name).snapshot))
        for name in LAYOUTS[benchmark]
    }
    for name, layout in LAYOUTS[benchmark].items():
        paths = sorted(file for file in (folder / name).rglob("*.parquet"))
        files[name] = {str(file.relative_to(folder)): at for at, file in enumerate(paths)}
        key = layout.column if isinstance(layout, ByValue) else None
        columns[name] = [
            field.name for field in tables[name].schema.fields if field.name != QUARTER
        ]
        _load(connection, name, paths, columns[name], key)
    return Engine(connection, tables, folder, files, columns)


def _load(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    files: Sequence[Path],
    columns: Sequence[str],
    key: str | None,
) -> None:
    """Partition values that are not in the files are in the names of their folders."""
    parts = []
    for number, file in enumerate(files):
        described = pq.read_metadata(file)
        start = 0
        for group in range(described.num_row_groups):
            rows = described.row_group(group).num_rows
            parts.append(
                (str(file), number * MOST_GROUPS + group, start, start + rows, _value(file))
            )
            start += rows
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE parts"
        " (file VARCHAR, place BIGINT, first BIGINT, behind BIGINT, value VARCHAR)"
    )
    connection.executemany("INSERT INTO parts VALUES (?, ?, ?, ?, ?)", parts)
    names_in_files = set(pq.read_schema(files[0]).names)
    listed = ", ".join(
        f"d.{column}" if column in names_in_files else f"parts.value AS {column}"
        for column in columns
    )
    assert names_in_files.issuperset(set(columns) - {key})
    connection.execute(
        f"CREATE TABLE base_{name} AS SELECT {listed}, parts.place"
        f" FROM read_parquet({[str(file) for file in files]}, filename = true,"
        " file_row_number = true, hive_partitioning = false) d"
        " JOIN parts ON d.filename = parts.file"
        " AND d.file_row_number >= parts.first AND d.file_row_number < parts.behind"
    )


def _value(file: Path) -> str | None:
    _, equals, value = file.parent.name.partition("=")
    return None if not equals or value == "__HIVE_DEFAULT_PARTITION__" else unquote(value)


def _listed(numbers: Sequence[int]) -> str:
    return f"({', '.join(map(str, numbers)) or 'NULL'})"


def same(ours: list[tuple[Any, ...]], theirs: list[tuple[Any, ...]]) -> bool:
    """The same rows in whatever order; sums and means of doubles depend on the order of rows."""
    if len(ours) != len(theirs):
        return False
    return all(
        all(map(_close, one, other))
        for one, other in zip(sorted(ours, key=_key), sorted(theirs, key=_key), strict=True)
    )


def _close(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other) or (one is None and other is None)


def _key(row: tuple[Any, ...]) -> list[tuple[bool, str]]:
    """Doubles last of all that decides: they may differ in their last digits."""
    exact = [(v is None, str(v)) for v in row if not isinstance(v, float | Decimal)]
    return [*exact, *((v is None, f"{v:.6e}") for v in row if isinstance(v, float | Decimal))]
