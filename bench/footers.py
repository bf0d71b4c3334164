"""10,000 Parquet files in 1,000 partitions, against DuckDB's `parquet_metadata`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measure import Ratio, compare

import whyscan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PARTITIONS = 1_000
FILES_EACH = 10
COLUMNS = 20
ROW_GROUPS = 4


def measurements(folder: Path) -> Iterator[Ratio]:
    """All footers, and only those that a partition predicate leaves."""
    lake = folder / "footers"
    if not lake.exists():
        _write(lake)
    connection = duckdb.connect()

    def theirs() -> object:
        return connection.sql(
            f"SELECT count(*) FROM parquet_metadata('{lake}/**/*.parquet')"
        ).fetchall()

    yield compare(
        "10,000 footers, every row group judged",
        "DuckDB parquet_metadata",
        0.5,
        lambda: _kept(lake, "c7 > 900000"),
        theirs,
    )
    yield compare(
        "one partition of 1,000: 10 footers opened",
        "DuckDB, same filter",
        1.0,
        lambda: _kept(lake, "p = 7 AND c7 > 900000"),
        lambda: connection.sql(
            f"SELECT count(*) FROM read_parquet('{lake}/**/*.parquet', hive_partitioning=true)"
            " WHERE p = 7 AND c7 > 900000"
        ).fetchall(),
    )


def _kept(lake: Path, predicate: str) -> int:
    return whyscan.open(str(lake)).plan(predicate).summary.files_kept


def _write(lake: Path) -> None:
    """A hundred distinct files, copied: footers are what is measured."""
    random = np.random.default_rng(11)
    models = [_model(lake / f".model-{i}.parquet", random) for i in range(100)]
    for partition in range(PARTITIONS):
        target = lake / f"p={partition}"
        target.mkdir()
        for number in range(FILES_EACH):
            shutil.copyfile(
                models[(partition * 7 + number) % 100], target / f"part-{number}.parquet"
            )
    for model in models:
        model.unlink()


def _model(path: Path, random: np.random.Generator) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = 40
    table = pa.table({f"c{i}": random.integers(0, 1_000_000, rows) for i in range(COLUMNS)})
    pq.write_table(table, path, row_group_size=rows // ROW_GROUPS)
    return path
