"""A table in DuckDB: a PyArrow dataset under a name.

DuckDB pushes a comparison of floats only where NaN cannot satisfy it: `x < 3` is pushed, `x > 3` is
evaluated by DuckDB alone, and then no file is skipped for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.engines.dataset import TableDataset
from whyscan.engines.provider import required

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from whyscan.tables.snapshot import Snapshot


def register(
    snapshot: Snapshot, connection: DuckDBPyConnection, name: str, *, explain: bool
) -> TableDataset:
    """Register a snapshot in a connection, and return the dataset that DuckDB scans."""
    required("duckdb", "DuckDB")
    dataset = TableDataset(snapshot, explain=explain, engine="DuckDB")
    connection.register(name, dataset)
    return dataset
