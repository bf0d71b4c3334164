"""Four small tables of Parquet files, each file named so that a case can name it.

orders   month=1…6, two files a month (`o1a`, `o1b`, …): amounts below 50 and from 50;
         user_id 10-28 in the first month, 20-38 in the second and so on
users    country=DE, FR, US, a file each (`de`, `fr`, `us`): ids 10-29, 30-49, 50-69
items    three files (`i1`, `i2`, `i3`): item_id 1-2, 3-4, 5-6
events   a file for each of the first three months of 2024 (`e1`, `e2`, `e3`)
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("orders", "users", "items", "events")
YEAR = 2024


def make(folder: Path) -> None:
    """Write the tables below a folder, one folder each."""
    for month in range(1, 7):
        for half, letter in enumerate("ab"):
            _write(folder / "orders" / f"month={month}" / f"o{month}{letter}", _orders(month, half))
    for start, country in ((10, "DE"), (30, "FR"), (50, "US")):
        _write(folder / "users" / f"country={country}" / country.lower(), _users(start))
    for number in (1, 2, 3):
        _write(folder / "items" / f"i{number}", _items(number))
        _write(folder / "events" / f"e{number}", _events(number))


def _write(path: Path, table: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path.with_suffix(".parquet"))


def _orders(month: int, half: int) -> pa.Table:
    """Ten rows of half a month. The first half of each month has no note."""
    rows = range(10)
    days = [dt.date(YEAR, month, 1 + 14 * half + row) for row in rows]
    return pa.table(
        {
            "id": pa.array([100 * month + 10 * half + row for row in rows], pa.int64()),
            "user_id": pa.array([10 * month + 2 * row for row in rows], pa.int32()),
            "item_id": pa.array([month] * 10, pa.int64()),
            "day": pa.array(days, pa.date32()),
            "amount": pa.array([50.0 * half + 5.0 * row for row in rows], pa.float64()),
            "status": pa.array(
                [("new", "open", "paid", "sent")[2 * half + row % 2] for row in rows]
            ),
            "note": pa.array([f"note {month}" if half else None for _ in rows], pa.string()),
            "tags": pa.array([["x", f"m{month}"] for _ in rows], pa.list_(pa.string())),
        }
    )


def _users(start: int) -> pa.Table:
    ids = range(start, start + 20)
    names = [f"{'adgjmps'[start // 10]}{number}" for number in ids]
    return pa.table(
        {
            "user_id": pa.array(ids, pa.int32()),
            "name": pa.array(names),
            "born": pa.array([dt.date(1940 + number, 3, 1) for number in ids], pa.date32()),
            "active": pa.array([start < 50] * 20),
        }
    )


def _items(number: int) -> pa.Table:
    prices = [Decimal(10 * number), Decimal(10 * number) + Decimal("9.99")]
    return pa.table(
        {
            "item_id": pa.array([2 * number - 1, 2 * number], pa.int64()),
            "label": pa.array([f"Tool {number}", f"Toy {number}"]),
            "kind": pa.array([("book", "game", "pen")[number - 1]] * 2),
            "price": pa.array(prices, pa.decimal128(10, 2)),
        }
    )


def _events(month: int) -> pa.Table:
    """An instant and a wall clock's reading of each day; keys wider than those of users."""
    instants = [dt.datetime(YEAR, month, day, 6, 30, tzinfo=dt.UTC) for day in range(1, 29)]
    times = [instant.replace(tzinfo=None) for instant in instants]
    return pa.table(
        {
            "seen": pa.array(instants, pa.timestamp("us", "UTC")),
            "wall": pa.array(times, pa.timestamp("us")),
            "user_id": pa.array([10 * month + t.day % 10 for t in times], pa.int64()),
            "kind": pa.array(["click" if t.day % 2 else "view" for t in times]),
            "place": pa.array(
                [{"city": f"c{month}", "zip": 1000 * month + t.day} for t in times],
                pa.struct([("city", pa.string()), ("zip", pa.int32())]),
            ),
        }
    )
