"""Parquet: Hive tables and plain files, whose statistics are in their footers."""

__all__ = [
    "calendars",
    "data_files",
    "declared_tables",
    "file_columns",
    "footers",
    "levels_below",
    "metadata",
    "metadata_columns",
    "paged_files",
    "partitions",
    "paths",
    "schemas",
    "snapshot",
    "statistics",
    "thrift",
    "type_names",
    "values",
]
