"""A Hive table with every kind of column that the peers prune on, and predicates over it."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

FILES_IN_A_PARTITION = 3
ROWS = 40
ROWS_IN_A_GROUP = 10
EPOCH = dt.date(2024, 1, 1)

SCHEMA = pa.schema(
    {
        "i": pa.int64(),
        "n": pa.int32(),
        "s": pa.string(),
        "d": pa.float64(),
        "x": pa.decimal128(10, 2),
        "day": pa.date32(),
        "t": pa.timestamp("us"),
        "flag": pa.bool_(),
    }
)


def write_lake(root: Path) -> None:
    """Twelve folders `p=…/q=…`, each with a few files of four row groups, loosely clustered."""
    chance = random.Random(5)
    for p in range(4):
        for q in ("a", "b", "c d"):
            folder = root / f"p={p}" / f"q={q.replace(' ', '%20')}"
            folder.mkdir(parents=True)
            for number in range(FILES_IN_A_PARTITION):
                start = (p * FILES_IN_A_PARTITION + number) * 20
                rows = [_row(chance, start) for _ in range(ROWS)]
                rows.sort(key=lambda row: row["i"])
                table = pa.Table.from_pylist(rows, SCHEMA)
                pq.write_table(table, folder / f"{number}.parquet", row_group_size=ROWS_IN_A_GROUP)


def _row(chance: random.Random, start: int) -> dict[str, object]:
    i = start + chance.randrange(30)
    return {
        "i": i,
        "n": None if i % 60 < 30 else chance.randrange(start, start + 10),
        "s": f"k{chance.randrange(start, start + 30):04d}",
        "d": (start + chance.randrange(30)) / 4,
        "x": Decimal(chance.randrange(start * 100, (start + 30) * 100)).scaleb(-2),
        "day": EPOCH + dt.timedelta(days=i),
        "t": dt.datetime(2024, 1, 1) + dt.timedelta(hours=6 * i, minutes=i % 7),  # noqa: DTZ001 - a wall clock
        "flag": i % 40 < 20,
    }


@dataclass(frozen=True, slots=True)
class Case:
    """One predicate as SQL that DuckDB and DataFusion read too, and as PyArrow's own."""

    sql: str
    arrow: pc.Expression


def cases(count: int) -> list[Case]:
    """Seeded predicates: atoms on every column, under AND, OR and NOT."""
    chance = random.Random(17)
    return [_tree(chance, depth=chance.choice((0, 1, 1, 2))) for _ in range(count)]


def _tree(chance: random.Random, depth: int) -> Case:
    if depth == 0:
        return _atom(chance)
    one, two = _tree(chance, depth - 1), _tree(chance, depth - 1)
    match chance.randrange(4):
        case 0:
            return Case(f"({one.sql} OR {two.sql})", one.arrow | two.arrow)
        case 1:
            return Case(f"({one.sql} AND NOT ({two.sql}))", one.arrow & ~two.arrow)
        case _:
            return Case(f"({one.sql} AND {two.sql})", one.arrow & two.arrow)


def _atom(chance: random.Random) -> Case:
    column = chance.choice(["p", "q", "i", "n", "s", "d", "x", "day", "t", "flag"])
    field = pc.field(column)
    match chance.randrange(8):
        case 0 if column not in ("q", "flag"):
            low, high = (_value(chance, column) for _ in range(2))
            return Case(
                f"{column} BETWEEN {low[0]} AND {high[0]}",
                (field >= low[1]) & (field <= high[1]),
            )
        case 1 if column != "flag":
            listed = [_value(chance, column) for _ in range(chance.randrange(1, 5))]
            sql = ", ".join(text for text, _ in listed)
            return Case(f"{column} IN ({sql})", field.isin([value for _, value in listed]))
        case 2 if column == "n":
            return Case("n IS NULL", field.is_null())
        case 3:
            return Case(f"{column} IS NOT NULL", field.is_valid())
        case _:
            return _comparison(chance, column, field)


def _comparison(chance: random.Random, column: str, field: pc.Expression) -> Case:
    text, value = _value(chance, column)
    operator = "=" if column == "flag" else chance.choice(["=", "<>", "<", "<=", ">", ">="])
    arrow = {
        "=": field == value,
        "<>": field != value,
        "<": field < value,
        "<=": field <= value,
        ">": field > value,
        ">=": field >= value,
    }[operator]
    return Case(f"{column} {operator} {text}", arrow)


def _value(chance: random.Random, column: str) -> tuple[str, object]:
    """A literal near the column's values: its text and PyArrow's scalar."""
    number = chance.randrange(-5, 260)
    match column:
        case "p":
            return str(number % 6), number % 6
        case "q":
            text = chance.choice(["a", "b", "c d", "e"])
            return f"'{text}'", text
        case "i" | "n":
            return str(number), number
        case "s":
            return f"'k{abs(number):04d}'", f"k{abs(number):04d}"
        case "d":
            return f"CAST({number / 4} AS DOUBLE)", number / 4
        case "x":
            value = Decimal(number).quantize(Decimal("0.01"))
            return f"CAST({value} AS DECIMAL(10,2))", pa.scalar(value, pa.decimal128(10, 2))
        case "day":
            day = EPOCH + dt.timedelta(days=number)
            return f"DATE '{day}'", day
        case "t":
            moment = dt.datetime(2024, 1, 1) + dt.timedelta(hours=6 * number)  # noqa: DTZ001 - a wall clock
            return f"TIMESTAMP '{moment}'", pa.scalar(moment, pa.timestamp("us"))
        case _:
            return ("TRUE", True) if number % 2 else ("FALSE", False)
