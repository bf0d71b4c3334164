"""Data files of Iceberg tables that are made by hand, and honest entries for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from tables.iceberg.by_hand import pairs

if TYPE_CHECKING:
    from tables.iceberg.by_hand import Lake


def write(lake: Lake, name: str, columns: dict[str, pa.Array], **entry: Any) -> dict[str, Any]:
    """A file with the columns, and its entry: counts as they are unless `entry` says otherwise."""
    path = lake.folder / "data" / name
    path.parent.mkdir(exist_ok=True)
    fields = [
        pa.field(column, array.type, metadata={"PARQUET:field_id": str(lake.id(column))})
        for column, array in columns.items()
    ]
    rows = pa.table(list(columns.values()), schema=pa.schema(fields))
    pq.write_table(rows, path)
    nans = entry.pop("nans", None)
    if nans is not None:
        entry["nan_value_counts"] = pairs({lake.id(column): n for column, n in nans.items()})
    honest = {
        "bounds": {},
        "nulls": {column: array.null_count for column, array in columns.items()},
        "rows": len(rows),
        "partition": None,
        "file_size_in_bytes": path.stat().st_size,
    }
    return lake.file(name, **(honest | entry))
