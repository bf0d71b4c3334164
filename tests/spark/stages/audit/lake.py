"""A small lake of all formats, by their own writers, and queries on it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from tables.iceberg.pyiceberg_lakes import Memory

if TYPE_CHECKING:
    from pathlib import Path

COUNTRIES = ("DE", "FR", "IT")
FIRST = datetime(2024, 1, 1)  # noqa: DTZ001 - a clock's reading has no zone


def rows(month: int, count: int = 60) -> pa.Table:
    """A month of a table: ids and times rise, countries take turns."""
    at = [FIRST + timedelta(days=30 * month, hours=12 * n) for n in range(count)]
    return pa.table(
        {
            "id": pa.array(range(month * count, (month + 1) * count), pa.int64()),
            "ts": pa.array(at, pa.timestamp("us")),
            "country": [COUNTRIES[n % 3] for n in range(count)],
            "amount": [n * 1.5 + month for n in range(count)],
            "code": [f"{n % 7:02}" for n in range(count)],
        }
    )


def write_delta(folder: Path, months: int, parts: tuple[str, ...] = ("country",)) -> None:
    from deltalake import write_deltalake

    for month in range(months):
        write_deltalake(folder, rows(month), mode="append", partition_by=list(parts) or None)


def write_iceberg(folder: Path, months: int, parts: dict[str, str] | None = None) -> None:
    from pyiceberg.io.pyarrow import _pyarrow_to_schema_without_ids
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import assign_fresh_schema_ids
    from pyiceberg.transforms import parse_transform

    schema = assign_fresh_schema_ids(_pyarrow_to_schema_without_ids(rows(0).schema))
    fields = [
        PartitionField(schema.find_field(name).field_id, 1000 + at, parse_transform(how), f"p{at}")
        for at, (name, how) in enumerate((parts or {"ts": "month"}).items())
    ]
    table = Memory(folder).create(schema, PartitionSpec(*fields), str(folder), 2)
    for month in range(months):
        table.append(rows(month))


def write_hive(folder: Path, months: int, column: str = "country") -> None:
    for month in range(months):
        table = rows(month)
        for value in table[column].unique().to_pylist():
            part = folder / f"{column}={value}" / f"{month}.parquet"
            part.parent.mkdir(parents=True, exist_ok=True)
            mine = table.filter(pa.compute.equal(table[column], value)).drop_columns([column])
            pq.write_table(mine, part, row_group_size=5)
