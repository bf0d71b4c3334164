"""Small tables whose files hold neighbouring values, as Parquet files and inside DuckDB."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

import whyscan
from oracle.dice import Rolled
from statements.generated.values import KINDS, NAMES, STEPS, Kind, value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TABLES = 4
ARROW = {
    Kind.INT: pa.int32(),
    Kind.TEXT: pa.string(),
    Kind.DATE: pa.date32(),
    Kind.DOUBLE: pa.float64(),
}
SCHEMA = pa.schema([(name, ARROW[kind]) for name, kind in KINDS.items()])


@dataclass(frozen=True)
class World:
    """Tables of a seed. DuckDB holds the rows, each with the name of its file."""

    tables: Sequence[whyscan.Table]
    connection: duckdb.DuckDBPyConnection

    def answer(
        self, sql: str, views: Mapping[str, tuple[int, Sequence[str] | None]]
    ) -> Counter[Any]:
        """The rows of a query; each name is a table, whole (None) or of some of its files."""
        for name, (table, files) in views.items():
            listed = (
                "" if files is None else f" WHERE list_contains({list(files)}::VARCHAR[], file)"
            )
            self.connection.execute(
                f"CREATE OR REPLACE TEMP VIEW {name} AS"
                f" SELECT {', '.join(NAMES)} FROM base{table}{listed}"
            )
        return Counter(self.connection.execute(sql).fetchall())


def make(folder: Path, seed: int) -> World:
    dice = Rolled.of(seed)
    connection = duckdb.connect(config={"memory_limit": "1GB"})
    # Rows in one order whatever the machine: what is left to chance would look like a lost row.
    connection.execute("SET threads = 1")
    tables = []
    for number in range(TABLES):
        place = folder / f"{seed}-{number}"
        place.mkdir()
        for file in range(dice.number(4, 9)):
            pq.write_table(_rows(dice), place / f"{file}.parquet")
        connection.execute(
            f"CREATE TABLE base{number} AS"
            f" SELECT {', '.join(NAMES)}, parse_filename(filename) AS file"
            f" FROM read_parquet('{place}/*.parquet', filename = true)"
        )
        tables.append(whyscan.open(place))
    return World(tables, connection)


def _rows(dice: Rolled) -> pa.Table:
    """One to five rows near each other in every column, some NULL, in some columns all."""
    count = dice.number(1, 5)
    columns = []
    for name in NAMES:
        middle = dice.number(0, STEPS)
        rare = dice.pick((1, 6, 12, 100, 100))
        steps = [min(max(middle + dice.number(-1, 1), 0), STEPS) for _ in range(count)]
        columns.append([None if dice.one_in(rare) else value(KINDS[name], step) for step in steps])
    return pa.table(dict(zip(NAMES, columns, strict=True)), SCHEMA)
