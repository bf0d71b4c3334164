"""Hive and plain Parquet tables of several writers."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.damage import Kind
from fuzz.victims import Target, Victim

if TYPE_CHECKING:
    from pathlib import Path

ROWS = pa.table(
    {
        "i": pa.array([3, None, 1, 2], pa.int32()),
        "s": pa.array(["b", "a", None, "a" * 20]),
        "d": pa.array([1.5, float("nan"), -0.0, None]),
        "m": pa.array([Decimal("1.50"), None, Decimal("-2.25"), Decimal(0)], pa.decimal128(20, 2)),
        "t": pa.array([datetime(2024, 1, n) for n in range(1, 5)], pa.timestamp("us")),  # noqa: DTZ001
        "y": pa.array([date(2024, 1, n) for n in range(1, 5)]),
        "o": pa.array([{"x": 1, "l": [1]}, {"x": None, "l": None}, None, {"x": 7, "l": []}]),
    }
)
PREDICATE = (
    "i > 1 AND s < 'b' AND NOT d = 2 AND m <= 1.5 AND o.x IS NOT NULL "
    "AND t >= TIMESTAMP_NTZ '2024-01-02' AND y <> DATE '2024-01-01'"
)
FOOTER = Kind.PARQUET


def _pyarrow(folder: Path) -> None:
    pq.write_table(ROWS, folder / "f.parquet", row_group_size=2)


def _new_pages(folder: Path) -> None:
    """Format 2 with a page index; a second file of no rows at all."""
    settings = {"data_page_version": "2.0", "write_page_index": True, "compression": "zstd"}
    pq.write_table(ROWS, folder / "f.parquet", **settings)
    pq.write_table(ROWS.slice(0, 0), folder / "none.parquet", **settings)


def _hive(folder: Path) -> None:
    for at, name in enumerate(("k=1/z=a%20b", "k=2/z=__HIVE_DEFAULT_PARTITION__")):
        (folder / name).mkdir(parents=True)
        pq.write_table(ROWS.select(["i", "s"]).slice(at * 2, 2), folder / name / "f.parquet")


def _duckdb(folder: Path) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.register("rows", ROWS)
        connection.execute("SET threads = 1")
        connection.execute(f"COPY rows TO '{folder}/f.parquet' (FORMAT parquet)")


def _rust(folder: Path) -> None:
    """Written by DataFusion, which is parquet-rs."""
    import datafusion

    config = datafusion.SessionConfig().with_target_partitions(1)
    frame = datafusion.SessionContext(config).from_arrow(ROWS)
    frame.write_parquet(str(folder / "out"))
    written = next((folder / "out").glob("*.parquet"))
    written.rename(folder / "f.parquet")
    (folder / "out").rmdir()


ONE = (Target("f.parquet", FOOTER, lists_files=True),)
VICTIMS = (
    Victim("parquet-arrow", _pyarrow, PREDICATE, ONE),
    Victim(
        "parquet-pages",
        _new_pages,
        PREDICATE,
        (*ONE, Target("none.parquet", FOOTER, lists_files=True)),
    ),
    Victim(
        "hive",
        _hive,
        "i > 1 AND s < 'b' AND k = 1 AND z <> 'c'",
        (Target("k=1/z=a%20b/f.parquet", FOOTER, lists_files=True),),
    ),
    Victim("parquet-duckdb", _duckdb, PREDICATE, ONE),
    Victim("parquet-rust", _rust, PREDICATE, ONE),
)
