"""The columns of an inventory's two tables, `containers` and `tables`.

`docs/tables.md` explains each column to people; a test keeps the two equal.
"""

from __future__ import annotations

import pyarrow as pa

from whyscan.tables.inventory.bounds import BOUND

MANIFEST, FILE, ROW_GROUP = "manifest", "file", "row_group"
"""The levels of containers."""

STATISTICS, PARTITION_VALUES = "statistics", "partition"
"""Where a line about a column comes from; `bucket[N]` and `substring[A, N]` are
partition fields from whose values no interval of the column follows."""

FOOTER_READ, OUT_OF_REACH = "read", "out of reach when the inventory was read"
"""Whether a file's footer was read, where nothing else says why not."""

PARQUET, OF_THE_FORMAT = "parquet", "of the format "

COLUMN = pa.struct(
    [
        ("name", pa.string()),
        ("type", pa.string()),
        ("source", pa.string()),
        ("lower", BOUND),
        ("upper", BOUND),
        ("lower_is_value", pa.bool_()),
        ("upper_is_value", pa.bool_()),
        ("nulls", pa.int64()),
        ("nans", pa.int64()),
        ("may_be_value", pa.bool_()),
        ("may_be_null", pa.bool_()),
        ("may_be_nan", pa.bool_()),
        ("may_raise", pa.bool_()),
        ("nulls_counted", pa.bool_()),
        ("contradicted", pa.bool_()),
        ("unreadable", pa.bool_()),
    ]
)
CHUNK = pa.struct([("column", pa.string()), ("start", pa.int64()), ("end", pa.int64())])
PARTITION = pa.map_(pa.string(), pa.string())
CONTAINERS = pa.schema(
    [
        ("uri", pa.string()),
        ("format", pa.string()),
        ("level", pa.string()),
        ("part", pa.int32()),
        ("position", pa.int64()),
        ("path", pa.string()),
        ("ordinal", pa.int32()),
        ("partition", PARTITION),
        ("partition_types", PARTITION),
        ("bytes", pa.int64()),
        ("rows", pa.int64()),
        ("live_rows", pa.int64()),
        ("deleted", pa.int64()),
        ("maybe_deleted", pa.int64()),
        ("files", pa.int64()),
        ("manifest", pa.string()),
        ("spec", pa.int32()),
        ("file_format", pa.string()),
        ("footer", pa.string()),
        ("wrong_counts", pa.int64()),
        ("rows_unreadable", pa.bool_()),
        ("columns", pa.list_(pa.field("element", COLUMN))),
        ("chunks", pa.list_(pa.field("element", CHUNK))),
        ("table", pa.string()),
        ("snapshot", pa.string()),
    ]
)
"""One row per container."""

TABLES = pa.schema(
    [
        ("table", pa.string()),
        ("uri", pa.string()),
        ("format", pa.string()),
        ("snapshot", pa.string()),
        ("mark", pa.string()),
        ("depth", pa.string()),
        ("parts", pa.int64()),
        ("manifests", pa.int64()),
        ("files", pa.int64()),
        ("row_groups", pa.int64()),
        ("files_opened", pa.int64()),
        ("bytes", pa.int64()),
        ("rows", pa.int64()),
        ("read_at", pa.timestamp("us", "UTC")),
        ("description", pa.string()),
    ]
)
"""One row per table and snapshot whose containers are all written."""
