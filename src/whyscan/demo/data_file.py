"""The writer of one Parquet file of the demo."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


def write_file(path: Path, *groups: pa.Table) -> int:
    """Write a file with one row group per table, and return its size in bytes."""
    from pyarrow import parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    with parquet.ParquetWriter(path, groups[0].schema, store_schema=False) as writer:
        for group in groups:
            writer.write_table(group)
    return path.stat().st_size
